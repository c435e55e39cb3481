/**
 * `moirai explore`: every history of a program at its level, each exactly once.
 *
 * explore-ce(I0) for read-committed, read-atomic and causal; explore-ce*(causal, I) for prefix, snapshot-isolation and serializable, which
 * are not causally extensible: their histories are the causal ones that pass the level's check. Bouajjani, Enea, Roman-Calvo, PLDI 2023,
 * sections 5 and 6. Stateless: the program runs again for every history, from its prefix; memory is the stack of prefixes, polynomial in
 * the size of the program and flat in the number of histories.
 */
import { Budget, type BudgetOptions, seeded } from '../base/index.ts';
import type { Evidence } from '../evidence/index.ts';
import type { History } from '../history/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { JudgingLimits, Program, Replayed } from '../program/index.ts';
import type { BaseLevel } from './base-level.ts';
import type { ExploreCheckpoint } from './checkpoint.ts';
import { type Estimate, estimateHistories } from './estimate.ts';
import { Exploration } from './exploration.ts';
import { RUNS_BEFORE_GROWTH, smallestViolation } from './growth.ts';
import { replayHistory } from './replay.ts';
import { requireResumable } from './resumable.ts';
import { Runs } from './runs.ts';

export interface ExploreOptions extends BudgetOptions {
  /** Default `causal`. */
  readonly level?: ConstrainingLevel;
  /** The level that is explored where `level` cannot be; it changes the number of runs, never the histories. Default `causal`, the best. */
  readonly base?: BaseLevel;
  /** Histories to list before the answer is `unknown`. Default: all. */
  readonly historiesMax?: number;
  /** Decisions that one search for a commit order may take, before the answer is `unknown`. Default 100,000. */
  readonly stepsMax?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** Called whenever a session gets to run, by its index, or the invariant: `null`. For those who watch. */
  readonly onTurn?: (session: number | null, lastOperation: () => string) => void;
  /** Transactions of one run; a program that runs for ever on some path has no end of histories. Default 1,000. */
  readonly turnsMax?: number;
  /** Kinds of violations, by their anomalies, to keep a counterexample of. Default 5. */
  readonly violationsMax?: number;
  /**
   * End with the first violation. Where a session throws, that is one with the fewest transactions of all: prefixes of the program are tried, the
   * smallest first. One of the invariant, which is judged for the whole program, need not be the smallest. Default false.
   */
  readonly failsFast?: boolean;
  /**
   * Run every session in every run. By default a session that reads what it read before is not run again: it is a function of what it reads, and
   * the invariant one of results and final state (one that takes neither looks elsewhere: then every session runs). Samples are run all the same, and
   * a difference ends the exploration.
   */
  readonly reruns?: boolean;
  /** The samples: this many runs at first, and one of 64 after them. Default 32. */
  readonly samplesFirst?: number;
  /** Steps of sessions, keys and values to remember before all are forgotten, so that memory does not grow with the histories. Default 200,000. */
  readonly rememberedMax?: number;
  /** Of final states with one value changed, before a green verdict. */
  readonly judging?: JudgingLimits;
  /** Only this history: the token of a counterexample. */
  readonly replay?: string;
  /** Called for each history of the whole program at its level, in a fixed order. */
  readonly onHistory?: (history: () => History) => void;
  /** Estimate how many histories there are when it is not over after so long: 0 is before the first run. Default: never. */
  readonly estimateAfterMs?: number;
  /** Called with the estimate that `estimateAfterMs` asks for. */
  readonly onEstimate?: (estimate: Estimate) => void;
  /**
   * Called before the first run, with what tells the result so far at any moment, also from within a run, and where the exploration then stands; `null`
   * is rare: at this moment the checkpoint before is still the last.
   */
  readonly onStart?: (soFar: () => ExploreResult, checkpoint: () => ExploreCheckpoint | null) => void;
  /** Continue from here: an exploration of the same program with the same `level`, `base` and `reruns`. Budgets may differ. */
  readonly resume?: ExploreCheckpoint;
  /** Called every `checkpointEveryMs` and at the end, complete or not. Not with `failsFast` or `replay`. */
  readonly onCheckpoint?: (checkpoint: ExploreCheckpoint) => void;
  /** Default 30,000. */
  readonly checkpointEveryMs?: number;
  /** Called now and then, at most every 50 ms. */
  readonly onProgress?: (progress: ExploreProgress) => void;
}

/** How far an exploration is. */
export interface ExploreProgress {
  readonly histories: number;
  readonly runs: number;
  readonly violations: number;
  /** The share of the tree that was walked, if every branch were of the same size: between 0 and 1. */
  readonly share: number;
  /** Runs to expect altogether: those that were made, and of what is left its share of the estimate. `null`: there is no estimate yet. */
  readonly expectedRuns: number | null;
}

/** What an exploration found. */
export interface ExploreResult {
  readonly level: ConstrainingLevel;
  /** Histories at the level. */
  readonly histories: number;
  /** Those in which the invariant fails, for some final state where it looks at one. */
  readonly violations: number;
  /** Runs of the program: the histories of the level that was explored. */
  readonly runs: number;
  /** Were there no more? */
  readonly complete: boolean;
  /** Why not. */
  readonly stopped: 'histories' | 'time' | 'interrupted' | 'endless' | 'search' | 'violation' | 'replay' | Stuck | null;
  /** For each `sometimes(name)`: histories in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The transactions of the prefix of the program that was explored last, where the violation was found in one; else `null`. */
  readonly prefix: number | null;
  /** Where a replay could not follow its token; `null` where it could. */
  readonly divergence: string | null;
  /** Of a replay: did the run do what the token recorded? */
  readonly replayed: Replayed | null;
  /** What was looked at: `conclude` makes the verdict of it. */
  readonly evidence: Evidence;
  /** The failing history with the fewest reads that see anything but the newest write in its order. */
  readonly counterexample: Counterexample | null;
  /** The smallest of each kind of violation, the smallest first. */
  readonly counterexamples: readonly Counterexample[];
  /** Where one was made. */
  readonly estimate: Estimate | null;
}

/** A session that did not end in time, and what it did last. */
export interface Stuck {
  /** `null`: the invariant. */
  readonly session: string | null;
  readonly lastOperation: string;
}

/** A history that fails, and how to come back to it. */
export interface Counterexample {
  readonly message: string;
  readonly history: History;
  /** Reads that saw an older write than the newest that had been committed in the order of the history: `transaction operation`. */
  readonly olderReads: ReadonlySet<string>;
  /** The token of this history for `replay`. */
  readonly replay: string;
  /** What the sessions did, without values: a replay has to do the same. */
  readonly steps: readonly string[];
  /** What the history shows; `null` where it is serializable or undecided. */
  readonly anomaly: string | null;
}

/** @throws InputError when the program or an option is at fault */
export async function explore(program: Program, options: ExploreOptions = {}): Promise<ExploreResult> {
  requireResumable(options, 'one history');
  const budget = new Budget(options);
  const made = new Runs(program, options, budget);
  return made.watching(() => drained(made, exploreBy(program, options, made)));
}

async function exploreBy(program: Program, options: ExploreOptions, made: Runs): Promise<ExploreResult> {
  const exploration = new Exploration(program, options, made);
  options.onStart?.(
    () => exploration.soFar(),
    () => exploration.checkpoint(),
  );
  if (options.replay !== undefined) return replayHistory(program, options, exploration, made);
  begin(exploration, options);
  if (options.failsFast === true) {
    await exploration.run({ runsMax: RUNS_BEFORE_GROWTH });
    const small = await smallestViolation(program, options, made, exploration);
    if (small !== null) return small;
  }
  await exploration.run({ timeMs: options.estimateAfterMs ?? Infinity });
  if (exploration.canContinue) exploration.setEstimate(await estimate(program, options, made.budget));
  await exploration.run();
  await finish(exploration, options, made);
  return exploration.result();
}

/** Before a result is said, what the program left open comes; not where a limit or the user ended it. */
export async function drained(made: Runs, exploring: Promise<ExploreResult>): Promise<ExploreResult> {
  const result = await exploring;
  if (result.stopped === null || result.stopped === 'violation' || result.stopped === 'replay') await made.drain();
  return result;
}

/** From the root of the tree, or where an earlier exploration stopped. @throws InputError `explore/checkpoint` */
export function begin(exploration: Exploration, { resume }: ExploreOptions): void {
  if (resume === undefined) exploration.add([{ prefix: [], mass: 1 }]);
  else exploration.restore(resume);
}

/** A proof needs the same of the program in another order. Gives the checkpoint of where it ended. */
export async function finish(exploration: Exploration, { onCheckpoint }: ExploreOptions, made: Runs): Promise<void> {
  const { complete, violations, stopped } = exploration.result([]);
  if (stopped === null) await made.drain();
  if (complete && violations === 0) {
    await made.lastSessionFirst();
    await made.judgeAgain();
  }
  const checkpoint = onCheckpoint === undefined ? null : exploration.checkpoint();
  if (checkpoint !== null) onCheckpoint?.(checkpoint);
}

/** Probes while there is time. `null`: it ran out before one was made. */
export async function estimate(program: Program, options: ExploreOptions, budget: Budget): Promise<Estimate | null> {
  // One that was asked for takes its time.
  const timeMaxMs = options.estimateAfterMs === 0 ? budget.leftMs : Math.min(ESTIMATE_MS, budget.leftMs);
  const { signal } = budget;
  const { onEstimate, onProgress: _onProgress, ...same } = options;
  const limits = { ...same, timeMaxMs, ...(signal === undefined ? {} : { signal }) };
  const found = await estimateHistories(program, { ...limits, chooser: seeded(1) });
  if (found !== null) onEstimate?.(found);
  return found;
}

const ESTIMATE_MS = 1_000;
