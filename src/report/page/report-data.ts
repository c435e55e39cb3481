/**
 * What the HTML report shows, as plain data: JSON keeps it. The commands make it of what they print as text; the page (`page/`) draws it and decides
 * nothing. A field that a tool has no use for is empty.
 */
import type { Key, Value } from '../../history/index.ts';

export interface ReportData {
  /** `moirai test cart.ts`. */
  readonly heading: string;
  /** What the program ran on: `PostgreSQL, read committed`, `causal`. */
  readonly database: string;
  /** `described`: no question was asked that has a yes or a no. */
  readonly verdict: { readonly kind: 'violated' | 'satisfied' | 'unknown' | 'described'; readonly text: string };
  /** Seed, scope, what a green verdict takes for granted. */
  readonly notes: readonly string[];
  /** Levels, marks. */
  readonly tables: readonly ReportTable[];
  /** Failing runs, the first one first. */
  readonly runs: readonly RunPicture[];
}

export interface ReportTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly cells: readonly string[]; readonly tone: 'good' | 'bad' | null }[];
  /** A sentence below it. */
  readonly note: string | null;
}

/** One failing run: who did what, in the order of the schedule, and who saw what. */
export interface RunPicture {
  /** What the invariant says. */
  readonly message: string;
  /** How many runs end like this: `4 schedules`; `null` where it is not counted. */
  readonly count: string | null;
  /** Why it happened, in sentences. */
  readonly cause: readonly string[];
  readonly cycle: readonly PictureEdge[];
  /** The command that repeats the run. */
  readonly replay: string | null;
  /** What is below the picture of why: the versions of a row. */
  readonly tables: readonly ReportTable[];
  /** What downwards means, in a sentence, where it is not the order of the schedule. */
  readonly order: string | null;
  /** What is known at each step: who has seen what, or the values of variables; `null`: neither. */
  readonly state: 'sessions' | 'values' | null;
  /** Columns. */
  readonly sessions: readonly string[];
  readonly transactions: readonly PictureTransaction[];
  /** In the order of the schedule: where a statement ended, and where it began if others committed in between. */
  readonly steps: readonly PictureStep[];
  readonly messages: readonly PictureMessage[];
  /** What was stored before, of the keys that the run read or wrote; a key that is not here was not there. */
  readonly initial: readonly (readonly [Key, Value])[];
}

/** A box of the picture. */
export interface PictureTransaction {
  /** As the cycle names it: `alice/0`. */
  readonly name: string;
  readonly session: number;
  readonly status: TransactionEnd | 'unknown';
}

export type TransactionEnd = 'committed' | 'aborted';

export interface PictureStep {
  readonly session: number;
  /** A position in `transactions`. */
  readonly transaction: number;
  readonly part: 'whole' | 'begin' | 'end';
  /** On the clock of the trace; `null`: the step has its number. */
  readonly time: string | null;
  /** What it has to do with the violation. */
  readonly role: string | null;
  /** A statement, or `read x`. */
  readonly text: string;
  readonly parameters: readonly string[];
  /** What came of it: `2 rows`, an error; empty where nothing is to be said. */
  readonly outcome: string;
  readonly isError: boolean;
  /** `row lock on accounts 1`. */
  readonly waitedFor: string | null;
  readonly takesSnapshot: 'statement' | 'transaction' | null;
  /** Does it read a snapshot that was taken before others committed? */
  readonly readsOlder: boolean;
  readonly reads: readonly PictureRead[];
  readonly writes: readonly PictureWrite[];
  /** How the transaction ended with it. */
  readonly ends: TransactionEnd | null;
}

export interface PictureRead {
  readonly key: Key;
  readonly value: Value;
  /** The condition that the row did not satisfy. */
  readonly condition: string | null;
  /** The name of the transaction that wrote it, also where that is not drawn; `null`: the initial state. */
  readonly from: string | null;
  /** The step that wrote what it saw; `null`: none of the picture. */
  readonly writer: number | null;
  /**
   * `stale`: a newer version was committed. `dirty`: its writer had not committed. `own`: the transaction wrote it itself. `unknown`: what is
   * drawn does not tell which version it is.
   */
  readonly sight: 'current' | 'stale' | 'dirty' | 'own' | 'unknown';
}

export interface PictureWrite {
  readonly key: Key;
  readonly value: Value;
}

/** Steps; `to`: it was not received, as far as the run goes. */
export interface PictureMessage {
  readonly text: string;
  readonly from: number;
  readonly to: number | null;
}

/** An edge of the cycle; `from` is before `to`. */
export interface PictureEdge {
  /** Positions in `transactions`; `null`: the initial state. */
  readonly from: number | null;
  readonly to: number | null;
  readonly relation: string;
  readonly text: string;
  /** The steps that make it: the read or write of `from`, then that of `to`. */
  readonly steps: readonly number[];
}
