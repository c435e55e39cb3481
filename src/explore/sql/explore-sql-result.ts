/** What an exploration of a SQL program found. */
import type { Evidence, UnsupportedStatement } from '../../evidence/index.ts';
import type { Replayed } from '../../program/index.ts';
import type { AssumedAccess, Profile } from '../../database/index.ts';
import type { Late, SqlFailure } from '../../sql-program/index.ts';

/** What an exploration of a SQL program found. */
export interface ExploreSqlResult {
  readonly profile: Profile;
  /** Runs of the program that were no repetitions. */
  readonly schedules: number;
  /** Runs that turned out to repeat a schedule with independent steps swapped. */
  readonly repetitions: number;
  /** Distinct histories: which rows each transaction read, from whom, and wrote, and whether it was committed. */
  readonly histories: number;
  /** Distinct outcomes: what each statement answered to its session, what it returned, and the verdict of the invariant. */
  readonly outcomes: number;
  /** Schedules that fail: `invariantBroken` and `notRetried` together. */
  readonly violations: number;
  /** Schedules whose invariant is broken, or in which a session ended with an error that asks for no other try. */
  readonly invariantBroken: number;
  /** Schedules in which a session ended with an error after which its transaction should have run again: 40001, 40P01, MySQL's 1213 and 1205. */
  readonly notRetried: number;
  /** Were there no more? */
  readonly complete: boolean;
  /** Why not. */
  readonly stopped: 'histories' | 'schedules' | 'time' | 'interrupted' | 'violation' | 'replay' | 'plans' | Late | null;
  /** Of a replay: did the run do what the token recorded? */
  readonly replayed: Replayed | null;
  /** For each `sometimes(name)`: schedules in which its condition held. */
  readonly marks: ReadonlyMap<string, number>;
  /** The kinds of failures by message and anomaly, each with the run of the fewest decisions that leave the first session, the most frequent first. */
  readonly failures: readonly SqlFailureKind[];
  /** Where one was made. */
  readonly estimate: ScheduleEstimate | null;
  /** Statements of all schedules that moirai cannot do and the engine could; schedules with one of them are not among the violations. */
  readonly unsupported: readonly UnsupportedStatement[];
  /** Ways to rows on which the verdict depends, where a server may take others. */
  readonly accesses: readonly AssumedAccess[];
  /** Combinations of access paths that were explored: 1 is the likely one alone. */
  readonly plans: number;
  /** What was looked at: `conclude` makes the verdict of it. */
  readonly evidence: Evidence;
}

/** One kind of failure, with its shortest run. */
export interface SqlFailureKind extends SqlFailure {
  /** Schedules that end like this. */
  readonly schedules: number;
}

/** Broken invariants first, then the most frequent. */
export function inOrder(
  a: Pick<SqlFailureKind, 'kind' | 'schedules'>,
  b: Pick<SqlFailureKind, 'kind' | 'schedules'>,
): number {
  if (a.kind !== b.kind) return a.kind === 'invariant-broken' ? -1 : 1;
  return b.schedules - a.schedules;
}

/** How many schedules there are, nothing left out: random probes are right on average, and most often too low. */
export interface ScheduleEstimate {
  readonly schedules: number;
  /** Standard error of `schedules`, as far as the probes tell. */
  readonly error: number;
  /** Decisions between several ways in the longest probe. */
  readonly decisionsMax: number;
  /** Fewer than asked for when a session did not end, or the time was over. */
  readonly probes: number;
}
