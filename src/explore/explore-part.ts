/** The messages between an exploration and its threads: plain data. */
import type { Waiting } from './checkpoint.ts';
import type { ExploreResult } from './explore-result.ts';
import type { Example } from './counterexamples.ts';
import type { KeysSeen } from '../program/index.ts';
import type { JobWorker } from '../base/index.ts';

/** What a thread is asked to do: plain data. */
export interface ExploreJob {
  readonly waiting: readonly Waiting[];
  /** For the whole job, however much is left. */
  readonly timeMs: number;
}

/** What came of it: plain data. */
export interface ExplorePart {
  /** Without counterexamples. */
  readonly result: ExploreResult;
  /** Violations that the whole may not know yet. */
  readonly examples: readonly Example[];
  readonly doneMass: number;
  /** What its verdicts take for granted, whatever other threads find, as clauses. */
  readonly assumed: readonly string[];
  readonly keys: KeysSeen;
  readonly waiting: readonly Waiting[];
}

export type ExploreThread = JobWorker<ExploreJob, ExplorePart>;
