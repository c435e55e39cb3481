/** What a campaign of a SQL program found. */
import type { Profile, AssumedAccess } from '../../database/index.ts';
import type { SqlFailure } from '../../sql-program/index.ts';
import type { UnsupportedStatement, Evidence } from '../../evidence/index.ts';
import type { StopReason } from '../../base/index.ts';
import type { Replayed } from '../../program/index.ts';

/** What many random runs of a SQL program showed. */
export interface SqlCampaignResult {
  readonly profile: Profile;
  readonly seed: number;
  readonly runs: number;
  /** Runs that fail: `invariantBroken` and `notRetried` together. */
  readonly violations: number;
  /** Runs whose invariant is broken, or in which a session ended with an error that asks for no other try. */
  readonly invariantBroken: number;
  /** Runs in which a session ended with an error after which its transaction should have run again: 40001, 40P01, MySQL's 1213 and 1205. */
  readonly notRetried: number;
  /** Distinct sequences of decisions among the runs. */
  readonly distinctSchedules: number;
  /** Distinct combinations of access paths that the runs took: 1 is the likely one alone. */
  readonly distinctPlans: number;
  readonly firstFailingRun: number | null;
  readonly failure: SqlFailure | null;
  readonly marks: ReadonlyMap<string, number>;
  /** What did not end in time: `session "a"`, `the invariant`, `the determinism check`. */
  readonly timeout: string | null;
  /** Which statement waited for whom then, as a clause; `null`: none did, or it is not known. */
  readonly waiting: string | null;
  /** Statements of all runs that moirai cannot do and the engine could; runs with one of them are not among the violations. */
  readonly unsupported: readonly UnsupportedStatement[];
  /** Ways to rows on which the verdict depends, where a server may take others. */
  readonly accesses: readonly AssumedAccess[];
  /** Why fewer runs were made than were asked for; `null` where all were, or one did not end. */
  readonly stopped: StopReason | 'violation' | null;
  /** Of a replay: did the run do what the token recorded? */
  readonly replayed: Replayed | null;
  /** What was looked at: `conclude` makes the verdict of it. */
  readonly evidence: Evidence;
}
