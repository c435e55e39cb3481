/** A transaction of the axiomatic store. It takes no locks; it waits only where a key that it needs is in another's hands. */
import { assert } from '../../base/index.ts';
import {
  type AccessPath,
  SqlError,
  type StatementView,
  type StorageTransaction,
  type TableId,
  type Waiting,
} from '../../sql/model/index.ts';
import type { ConstrainingLevel } from '../../isolation/index.ts';
import type { AxiomaticTransaction, ReadPoint } from '../../mockdb/index.ts';
import type { WaitsFor } from '../waits-for.ts';
import type { Version, Writer } from './version.ts';
import { type Mark, OwnWrites } from './own-writes.ts';
import type { Key } from './row-index.ts';
import { atOnce } from './seen-row.ts';
import type { Cell, StoredRow, Table } from './table.ts';
import type { Held } from './held.ts';

interface TransactionIdentity {
  readonly id: number;
  readonly session: number;
  readonly attempt: number;
  readonly node: number;
  readonly level: ConstrainingLevel;
}

/** What a transaction and its statements ask of the store that holds them. */
export interface Store {
  readonly waitsFor: WaitsFor;
  /** The next moment of its clock, which counts reads and writes. */
  tick(): number;
  table(id: TableId): Table;
  /** The rows that the latest state, or an open transaction, may have for this path. */
  latestCandidates(table: Table, path: AccessPath): StoredRow[];
  /** Who else has written this row and is open. */
  holders(row: StoredRow, but: Transaction): Transaction[];
  tookInHand(row: StoredRow, transaction: Transaction): void;
  letGo(row: StoredRow, transaction: Transaction): void;
  externalRead(reader: Transaction, cell: Cell, point: ReadPoint): Version;
  statement(transaction: Transaction, number: number): StatementView;
  /** @throws SqlError 40001 */
  commit(writer: Transaction): void;
  rollback(transaction: Transaction): void;
}

/** Where a transaction looked for rows. */
export interface Scan {
  readonly table: Table;
  readonly path: AccessPath;
  readonly at: number;
}

export class Transaction implements StorageTransaction, Writer, AxiomaticTransaction {
  readonly id: number;
  readonly session: number;
  readonly level: ConstrainingLevel;
  /** Which of its session's attempts it is: those that were rolled back count. */
  readonly attempt: number;
  node: number;
  fixedAt = -1;
  status: AxiomaticTransaction['status'] = 'open';
  readonly own: OwnWrites;
  /** Rows that it has written: others wait for it where they need to know how it ends. */
  readonly inHand = new Set<StoredRow>();
  readonly #storage: Store;
  readonly #pending: { readonly row: StoredRow; readonly index: number; readonly key: Key }[] = [];
  readonly #marks: Mark[] = [];
  /** Where it looked for rows, above read-committed: phantoms.ts. */
  readonly scans: Scan[] = [];
  readonly #readCells = new Map<Cell, Held>();
  #statements = 0;
  #externalReads = 0;

  constructor(storage: Store, options: TransactionIdentity) {
    this.#storage = storage;
    this.own = new OwnWrites(() => storage.tick());
    this.id = options.id;
    this.session = options.session;
    this.attempt = options.attempt;
    this.node = options.node;
    this.level = options.level;
  }

  statement(): StatementView {
    this.#mustBeOpen();
    this.own.flush();
    this.#statements += 1;
    return this.#storage.statement(this, this.#statements);
  }

  savepoint(): number {
    this.#mustBeOpen();
    return this.#marks.push(this.own.mark()) - 1;
  }

  rollbackTo(savepoint: number): void {
    this.#mustBeOpen();
    this.own.undoTo(this.#marks[savepoint] as Mark);
    this.#marks.length = savepoint + 1;
  }

  commit(): Waiting<void> {
    return atOnce(() => {
      this.#mustBeOpen();
      this.own.flush();
      this.#storage.commit(this);
    });
  }

  rollback(): void {
    if (this.status !== 'open') return;
    this.own.flush();
    this.#storage.rollback(this);
  }

  /** What a statement reads: its transaction's writes before it, else any committed write that the level allows. */
  read(cell: Cell, statement: number): Held {
    this.#mustBeOpen();
    const own = this.own.lastBefore(cell, statement);
    if (own !== undefined) {
      this.own.noteRead(cell, own.held, own);
      return own.held;
    }
    const point = { session: this.session, attempt: this.attempt, read: this.#externalReads };
    this.#externalReads += 1;
    const version: Version = this.#storage.externalRead(this, cell, point);
    if (this.level !== 'read-committed') this.#readCells.set(cell, version.held);
    this.own.noteRead(cell, version.held, version.writer);
    return version.held;
  }

  noteScan(table: Table, path: AccessPath): void {
    if (this.level !== 'read-committed') this.scans.push({ table, path, at: this.#storage.tick() });
  }

  hasRead(cell: Cell): boolean {
    return this.#readCells.has(cell);
  }

  /** What it saw last of a cell that it has read. */
  lastRead(cell: Cell): Held {
    return this.#readCells.get(cell) ?? null;
  }

  /** A row that was not there when it looked. @param at when it did */
  noteMissed(cell: Cell, version: Version, at: number): void {
    this.#readCells.set(cell, version.held);
    this.own.noteRead(cell, version.held, version.writer, at);
  }

  /** The keys that it has given rows. */
  get pendingKeys(): readonly { readonly row: StoredRow; readonly index: number; readonly key: Key }[] {
    return this.#pending;
  }

  /** Its own last write, this statement's among them, or the last one committed: outside of its reads. */
  latest(row: StoredRow, slot: number): Held {
    const cell = row.cells?.[slot];
    const own = cell === undefined ? undefined : this.own.last(cell);
    return own === undefined ? row.latest(slot) : own.held;
  }

  /** It writes the row, and gives it these keys (by index). */
  take(row: StoredRow, keys: readonly (readonly Key[])[]): void {
    this.inHand.add(row);
    this.#storage.tookInHand(row, this);
    for (const [index, list] of keys.entries()) {
      for (const key of list) {
        row.table.indexes[index]?.addPending(row, key, this);
        this.#pending.push({ row, index, key });
      }
    }
  }

  /** It has ended: nothing is in its hands. */
  release(): void {
    for (const { row, index, key } of this.#pending) row.table.indexes[index]?.removePending(row, key, this);
    this.#pending.length = 0;
    for (const row of this.inHand) this.#storage.letGo(row, this);
    this.inHand.clear();
  }

  /** @throws SqlError 40001 when the store had to give it up */
  #mustBeOpen(): void {
    assert(this.status === 'open' || this.status === 'forgotten', `transaction ${this.id} is ${this.status}`);
    if (this.status === 'forgotten')
      throw new SqlError('40001', 'could not serialize access: this transaction was open for too long');
  }
}
