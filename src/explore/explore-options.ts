/** What an exploration of a program is asked for. */
import type { BudgetOptions } from '../base/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { BaseLevel } from './base-level.ts';
import type { JudgingLimits } from '../program/index.ts';
import type { History } from '../history/index.ts';
import type { ExploreCheckpoint } from './checkpoint.ts';
import type { ExploreResult, Estimate } from './explore-result.ts';

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
