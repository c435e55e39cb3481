/** What the parts of the verifier share: rows, the mechanisms to check, what was counted and where violations go. */
import type { Mechanisms } from './mechanisms.ts';
import { initialVersion, type Relation, type Row, type VerifiedTransaction } from './state.ts';
import type { RowImage } from './trace.ts';
import type { Violation } from './violation.ts';

export interface VerifierCounts {
  operations: number;
  transactions: number;
  violations: number;
  /** Dependencies between transactions that are certain. */
  deduced: number;
  /** Reads that several versions explain, and pairs of versions without an order. */
  uncertain: number;
  /** Reads that nothing could be said about: of transactions that were given up on. */
  skipped: number;
  /** Transactions whose fate nobody knows. */
  unknown: number;
}

export interface Mirror {
  readonly mechanisms: Mechanisms;
  readonly counts: VerifierCounts;
  readonly base: () => bigint;
  readonly report: (violation: Violation) => void;
  /** `to` comes after `from` in every explanation of the trace. */
  readonly depend: (from: VerifiedTransaction, to: VerifiedTransaction, relation: Relation, key: string) => void;
  readonly rows: Rows;
  /** Nothing that is open or still to come has a moment before it. */
  readonly horizon: () => number;
}

/** Rows by key; one that was never written holds its initial value, known or not. */
export class Rows {
  readonly #rows = new Map<string, Row>();
  readonly #initial: ReadonlyMap<string, RowImage>;

  constructor(initial: ReadonlyMap<string, RowImage>) {
    this.#initial = initial;
    for (const key of initial.keys()) this.get(key);
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row: Row = { key, versions: [initialVersion(this.#initial.get(key))], locks: [] };
    this.#rows.set(key, row);
    return row;
  }

  all(): Iterable<Row> {
    return this.#rows.values();
  }
}
