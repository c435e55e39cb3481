/** What a campaign is asked for, and what it showed. */
import type { BudgetOptions, StopReason } from '../base/index.ts';
import type { Evidence } from '../evidence/index.ts';
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { StrategyName } from '../mockdb/index.ts';
import type { JudgingLimits, Replayed } from '../program/index.ts';
import type { Failure } from './failure.ts';
import type { RunLimits, Timeout } from './single-run.ts';

export const campaignDefaults = { level: 'causal', runs: 1_000, seed: 1, timeoutMs: 10_000 } as const;

export interface CampaignOptions extends BudgetOptions {
  /** Default `causal`. */
  readonly level?: ConstrainingLevel;
  /** Default 1,000. */
  readonly runs?: number;
  /** Run i of a seed is always the same run. Default 1. */
  readonly seed?: number;
  /** Default `uniform`: over the values that a read may return. */
  readonly strategy?: StrategyName;
  /** Default: what the program says, which is `retry` unless it says otherwise. */
  readonly conflicts?: 'retry' | 'abort';
  /** The share of commits that fail although they could succeed, so that retries are tested. Default 0. */
  readonly abortRate?: number;
  /** For one run. Default 10,000. */
  readonly timeoutMs?: number;
  /** Of final states with one value changed, before a green verdict. */
  readonly judging?: JudgingLimits;
  /** Only this run: the token that a failing run printed. */
  readonly replay?: string;
  /** Stop at the first run that fails, or after a short search for a shorter one. Default false: count them. */
  readonly stopAtFirst?: boolean | 'then-shorter';
  /**
   * Called before the first run, with what tells the result so far at any moment, also from within a run: for those who end one that never gives the
   * thread back. The failing run in it is the first, not reduced.
   */
  readonly onStart?: (soFar: () => CampaignResult) => void;
  /** Called now and then, at most every 50 ms. */
  readonly onProgress?: (progress: Progress) => void;
  /** Called whenever a session, or the invariant, gets to run. */
  readonly onTurn?: RunLimits['onTurn'];
}

/** How far the runs are. */
export interface Progress {
  readonly level: ConstrainingLevel;
  readonly runs: number;
  readonly runsMax: number;
  readonly violations: number;
}

/** What many random runs of a program showed. */
export interface CampaignResult {
  readonly level: ConstrainingLevel;
  readonly seed: number;
  readonly runs: number;
  /** Runs in which the invariant did not hold. */
  readonly violations: number;
  /** Distinct vectors of values read. */
  readonly distinctStates: number;
  /** For each `sometimes(name)`: runs in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The smallest of the first ten failing runs, reduced. */
  readonly failure: Failure | null;
  /** The first failing run, counting from 1. */
  readonly firstFailingRun: number | null;
  /** Set when a run did not end in time: a session that had not ended, and what it did last. */
  readonly timeout: Timeout | null;
  /** What was looked at: `conclude` makes the verdict of it. */
  readonly evidence: Evidence;
  /** Why fewer runs were made than were asked for; `null` where all were, or one did not end. */
  readonly stopped: StopReason | 'violation' | null;
  /** Of a replay: did the run do what the token recorded? */
  readonly replayed: Replayed | null;
}
