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
  readonly #clouded = new Set<string>();

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

  /** Any row of these tables may have been written, by nobody knows whom; `*`: of all tables. */
  cloud(tables: readonly string[]): void {
    for (const table of tables) this.#clouded.add(table);
  }

  /** Can nothing be said about what reads of this row should see? */
  isClouded(key: string): boolean {
    if (this.#clouded.size === 0) return false;
    if (this.#clouded.has('*')) return true;
    for (const table of this.#clouded) if (key.startsWith(`${table}/`)) return true;
    return false;
  }

  all(): Iterable<Row> {
    return this.#rows.values();
  }
}
