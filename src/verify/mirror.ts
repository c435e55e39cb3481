/** What the parts of the verifier share: the mirror of the database's inside, the mechanisms to check, what was counted and where violations go. */
import type { Mechanisms } from './mechanisms.ts';
import type { OperationTable } from './operation-table.ts';
import type { PredicateReaders } from './predicate-readers.ts';
import type { RowTable } from './row-table.ts';
import type { TransactionTable } from './transaction-table.ts';
import type { UndoneWrites } from './undone-writes.ts';
import type { Violation } from './violation.ts';

/** `rw+`: the other wrote a later version, not surely the next one. */
export type Relation = 'wr' | 'ww' | 'rw' | 'rw+';

/** How much was looked at. */
export interface VerifierCounts {
  operations: number;
  transactions: number;
  committed: number;
  /** Reads and writes that succeeded and name a row, or a condition: what can contradict a mechanism. */
  named: number;
  /** Statements that may have read or written rows that they do not name. */
  opaque: number;
  violations: number;
  /** Dependencies between transactions that are certain. */
  deduced: number;
  /** Reads that several versions explain, and pairs of versions without an order. */
  uncertain: number;
  /** Reads that nothing could be said about: of transactions that were given up on. */
  skipped: number;
  /** Transactions of unknown fate. */
  unknown: number;
}

export const noCounts = (): VerifierCounts => ({
  operations: 0,
  transactions: 0,
  committed: 0,
  named: 0,
  opaque: 0,
  violations: 0,
  deduced: 0,
  uncertain: 0,
  skipped: 0,
  unknown: 0,
});

export interface Mirror {
  readonly mechanisms: Mechanisms;
  readonly counts: VerifierCounts;
  readonly base: () => bigint;
  readonly report: (violation: Violation) => void;
  /** `to` comes after `from` in every explanation of the trace. */
  readonly depend: (from: number, to: number, relation: Relation, row: number) => void;
  readonly operations: OperationTable;
  readonly transactions: TransactionTable;
  readonly rows: RowTable;
  readonly undone: UndoneWrites;
  readonly predicateReaders: PredicateReaders;
  /** Nothing that is open or still to come has a moment before it. */
  readonly horizon: () => number;
}
