/**
 * Tables as PostgreSQL keeps them: row versions and snapshots, row locks, first updater wins, and serializable snapshot isolation.
 *
 * READ UNCOMMITTED is READ COMMITTED: each statement has a snapshot, and a write goes to the latest version of a row it has waited for, if that
 * still matches. REPEATABLE READ takes its snapshot at the first statement and fails when a row has changed since. SERIALIZABLE adds the
 * watch over read-write conflicts (ssi.ts). PostgreSQL manual, chapter 13; `src/backend/access/heap/README.tuplock`.
 *
 * An error ends the transaction, or goes back to the last savepoint: PostgreSQL does that at once, so that locks are released; who drives
 * this storage calls `rollback` or `rollbackTo` when a statement throws. Snapshots, tables and indexes are not transactional: DDL is at once.
 */
import { assert } from '../../base/index.ts';
import type {
  Storage,
  StorageTransaction,
  TableId,
  TableShape,
  TransactionOptions,
  SqlValue,
} from '../../sql/model/index.ts';
import type { Footprint, FootprintRecorder } from '../footprint.ts';
import { HeavyweightLocks } from '../heavyweight-locks.ts';
import type { StorageObserver } from '../observer.ts';
import { PostgresTable, type ScanOrder, type StoredRow } from './table.ts';
import { PostgresTransaction } from './transaction.ts';
import { SerializableWatch } from './serializable.ts';
import { WaitsFor } from '../waits-for.ts';

export interface PostgresStorageOptions {
  readonly observer?: StorageObserver;
  /** Collects the footprint of every step. */
  readonly footprints?: FootprintRecorder | null;
  /**
   * What a serializable transaction that reads a range of an index is remembered to have read: that range (the default), or the whole index,
   * as PostgreSQL does while the index has one page.
   */
  readonly predicateReads?: 'range' | 'index';
  /** Default: `insertion`. Footprints record no other order. */
  readonly scanOrder?: ScanOrder;
  /**
   * Which transaction of a deadlock gets 40P01: the one that began to wait last, as when `deadlock_timeout` has passed for the others
   * (the default), or any, as the timers come.
   */
  readonly deadlockVictim?: 'last' | 'any';
  /** Where others take heavyweight locks too: for advisory locks. Default: none do. */
  readonly heavyweight?: HeavyweightLocks;
}

export function postgresStorage(options: PostgresStorageOptions = {}): Storage {
  return new PostgresStorage(options);
}

export class PostgresStorage implements Storage {
  readonly waitsFor = new WaitsFor();
  readonly heavyweight: HeavyweightLocks;
  readonly watch: SerializableWatch;
  readonly observer: StorageObserver | null;
  readonly #footprints: FootprintRecorder | null;
  readonly readsWholeIndex: boolean;
  readonly #scanOrder: ScanOrder;
  readonly anyVictim: boolean;
  readonly open = new Map<number, PostgresTransaction>();
  readonly #tables = new Map<TableId, PostgresTable>();
  #commits = 0;
  #transactions = 0;
  #writers = 0;
  /** Rows with versions to drop when no snapshot is older than the commit that wrote over them. In order of commit. */
  readonly #overwritten: { readonly rows: readonly StoredRow[]; readonly commit: number }[] = [];

  constructor(options: PostgresStorageOptions) {
    this.observer = options.observer ?? null;
    this.#footprints = options.footprints ?? null;
    this.watch = new SerializableWatch(this.#footprints);
    this.readsWholeIndex = options.predicateReads === 'index';
    this.#scanOrder = options.scanOrder ?? 'insertion';
    this.anyVictim = options.deadlockVictim === 'any';
    this.heavyweight = options.heavyweight ?? new HeavyweightLocks();
  }

  /** Of the step under way; `null` without a recorder. */
  get footprint(): Footprint | null {
    return this.#footprints === null ? null : this.#footprints.current;
  }

  createTable(shape: TableShape): void {
    this.footprint?.touchAll();
    assert(!this.#tables.has(shape.id), `table ${shape.id} is new`);
    this.#tables.set(shape.id, new PostgresTable(shape, this.#scanOrder));
  }

  alterTable(shape: TableShape, convert?: (values: readonly SqlValue[]) => SqlValue[]): void {
    this.footprint?.touchAll();
    this.table(shape.id).alter(shape, convert);
  }

  dropTable(table: TableId): void {
    this.footprint?.touchAll();
    this.#tables.delete(table);
  }

  begin(session: number, options: TransactionOptions): StorageTransaction {
    const transaction = new PostgresTransaction(this, ++this.#transactions, session, options);
    this.open.set(transaction.id, transaction);
    return transaction;
  }

  table(id: TableId): PostgresTable {
    const table = this.#tables.get(id);
    assert(table !== undefined, `table ${id} exists`);
    return table;
  }

  /** For messages; sequences are locked, too, and stored elsewhere. */
  nameOf(id: TableId): string {
    return this.#tables.get(id)?.shape.name ?? `sequence ${id}`;
  }

  /** The number of the last commit: a snapshot. */
  get snapshot(): number {
    return this.#commits;
  }

  /** Transactions are numbered again when they first write or lock. */
  newWriterNumber(): number {
    return ++this.#writers;
  }

  get nextWriterNumber(): number {
    return this.#writers + 1;
  }

  /** The smallest number of an open writer. */
  get oldestWriterNumber(): number {
    let oldest = this.nextWriterNumber;
    for (const { writerNumber } of this.open.values()) if (writerNumber < oldest) oldest = writerNumber;
    return oldest;
  }

  nextCommit(): number {
    return ++this.#commits;
  }

  /** A transaction has ended and written over these rows. */
  ended(transaction: PostgresTransaction, overwritten: readonly StoredRow[]): void {
    this.open.delete(transaction.id);
    this.waitsFor.end(transaction.id);
    if (overwritten.length > 0) this.#overwritten.push({ rows: overwritten, commit: this.#commits });
    this.#prune();
  }

  #prune(): void {
    const first = this.#overwritten[0];
    if (first === undefined) return;
    let oldest = this.#commits;
    for (const { snapshot } of this.open.values()) if (snapshot < oldest) oldest = snapshot;
    let done = 0;
    for (; done < this.#overwritten.length; done++) {
      const { rows, commit } = this.#overwritten[done] as { rows: readonly StoredRow[]; commit: number };
      if (commit > oldest) break;
      for (const row of rows) row.table.prune(row, oldest);
    }
    if (done > 0) this.#overwritten.splice(0, done);
  }
}
