/** What an exploration of a program found. */
import type { ConstrainingLevel } from '../isolation/index.ts';
import type { Replayed } from '../program/index.ts';
import type { Evidence } from '../evidence/index.ts';
import type { History } from '../history/index.ts';

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

/** How many histories and runs there are, by random probes. */
export interface Estimate {
  /** Runs of the program: the histories of the level that is explored. */
  readonly runs: number;
  /** Histories at the level. */
  readonly histories: number;
  /** Standard error of `runs`, as far as the probes tell. */
  readonly runsError: number;
  readonly probes: number;
}
