/**
 * Evidence: what a tool looked at. Every tool fills one record, and `conclude` alone turns it into a verdict and an exit code, so that
 * nothing green is said where the record is not whole. A field that a tool has no use for is empty, never left out: forgetting one does not compile.
 */
import { type InvariantEvidence, noInvariant } from './invariant-evidence.ts';
import type { AnswerEvidence } from './answer-evidence.ts';

/** What a tool looked at: plain data, of which `conclude` makes the verdict. */
export interface Evidence {
  /** Runs, schedules, histories or states that violate what was asked. One in which moirai refused a statement proves nothing and is not counted. */
  readonly violations: number;
  /** What has to be there for an answer to mean anything. A count of 0 is a gap. */
  readonly looked: readonly Looked[];
  /** What each session of a program did, over all runs. */
  readonly sessions: readonly SessionEvidence[];
  /** Sessions that awaited another one, or something else beside the store: a lock in memory, a shared promise. */
  readonly awaiting: readonly string[];
  /** What the invariant of a SQL program looked at; of others `noInvariant`. */
  readonly invariant: InvariantEvidence;
  /** Statements that moirai cannot do and the engine could, each once. */
  readonly unsupported: readonly UnsupportedStatement[];
  /** What kept the tool from looking at everything, each as a clause: `stopped by --max-time`, `the trace ends without its last mark`. */
  readonly cut: readonly string[];
  /** What the sessions speak to, for the words of a gap. */
  readonly store: 'keys' | 'sql';
  /** What a green verdict takes for granted, each as a clause: `accounts is read by its primary key`. */
  readonly assumed: readonly string[];
}

/** Something that has to be there for an answer to mean anything. */
export interface Looked {
  readonly count: number;
  /** The clause for a count of 0: `no state observed a transaction`. */
  readonly nothing: string;
}

/** What one session of a program did, over all runs. */
export interface SessionEvidence {
  readonly name: string;
  /** Runs that began it. */
  readonly runs: number;
  /** Statements or operations that reached the store. */
  readonly operations: number;
  /** Runs that ended with an error of its last transaction: nothing was committed after its last error. */
  readonly failedRuns: number;
  /** The first of these errors. */
  readonly failure: string | null;
  /** Runs in which it gave up what it had begun, and no error made it. */
  readonly lostRuns: number;
  /** How: the first of these. */
  readonly loss: Loss | null;
  /** Runs in which an error rolled back a transaction of it, and no timing was to blame: a duplicate key, a value that is no number. */
  readonly rolledBackRuns: number;
  /** The first of these errors. */
  readonly rolledBack: RolledBack | null;
  /** Was there ever a choice between its next step and that of another session? */
  readonly overlapped: boolean;
  /** What the database answered it; of a key-value store `noAnswers`. */
  readonly answers: AnswerEvidence;
}

/** An error that rolled back its transaction. */
export interface RolledBack {
  /** `error 23505`; of keys what the transaction threw, `Error: no funds`. */
  readonly error: string;
  /** That failed; `null`: of keys. */
  readonly statement: string | null;
}

/** `left-open`: a connection ended with its transaction open. `rolled-back`: the session wrote, and rolled back all that it had written. */
export type Loss = 'left-open' | 'rolled-back';

/** A statement that moirai cannot do and the engine could. */
export interface UnsupportedStatement {
  readonly session: string;
  readonly statement: string;
  /** `function pg_advisory_lock is not supported by moirai (0A000)`. */
  readonly reason: string;
  /** `src/jobs.ts:31`, where it is known. */
  readonly place: string | null;
  /** How often it was sent. */
  readonly count: number;
}

/** Evidence of which nothing is known yet: for tools to fill. */
export const noEvidence: Evidence = {
  violations: 0,
  looked: [],
  sessions: [],
  awaiting: [],
  invariant: noInvariant,
  unsupported: [],
  cut: [],
  store: 'sql',
  assumed: [],
};
