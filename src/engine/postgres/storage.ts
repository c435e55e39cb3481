/**
 * Tables as PostgreSQL keeps them: row versions and snapshots, row locks, first updater wins, and serializable snapshot isolation.
 *
 * READ UNCOMMITTED is READ COMMITTED: each statement has a snapshot, and a write goes to the latest version of a row it has waited for, if that
 * still matches. REPEATABLE READ takes its snapshot at the first statement and fails when a row has changed since. SERIALIZABLE adds the
 * watch over read-write conflicts (`serializable.ts`). PostgreSQL manual, chapter 13; `src/backend/access/heap/README.tuplock`.
 *
 * An error ends the transaction, or goes back to the last savepoint: PostgreSQL does that at once, so that locks are released; who drives
 * this storage calls `rollback` or `rollbackTo` when a statement throws. Snapshots, tables and indexes are not transactional: DDL is at once.
 */
import type { TableShape, TransactionOptions, SqlValue } from '../../sql/model/index.ts';
import { HeavyweightLocks, holdersFirst } from '../heavyweight-locks.ts';
import { VersionedStorage, type VersionedStorageOptions } from '../versioned-storage.ts';
import { PostgresTable, type ScanOrder, type StoredRow } from './table.ts';
import { PostgresTransaction } from './transaction.ts';
import { SerializableFootprints } from './serializable-footprints.ts';
import { SerializableWatch } from './serializable.ts';
import { WaitsFor } from '../waits-for.ts';

export interface PostgresStorageOptions extends VersionedStorageOptions {
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

export function postgresStorage(options: PostgresStorageOptions = {}): PostgresStorage {
  return new PostgresStorage(options);
}

export class PostgresStorage extends VersionedStorage<PostgresTable, StoredRow, PostgresTransaction> {
  readonly waitsFor = new WaitsFor();
  readonly heavyweight: HeavyweightLocks;
  readonly watch: SerializableWatch;
  /** What its transactions access of the watch. */
  readonly serializable: SerializableFootprints | null;
  readonly readsWholeIndex: boolean;
  readonly #scanOrder: ScanOrder;
  readonly anyVictim: boolean;
  #writers = 0;

  constructor(options: PostgresStorageOptions) {
    super(options);
    const { footprints = null } = options;
    this.serializable = footprints === null ? null : new SerializableFootprints(footprints);
    this.watch = new SerializableWatch(this.serializable);
    this.readsWholeIndex = options.predicateReads === 'index';
    this.#scanOrder = options.scanOrder ?? 'insertion';
    this.anyVictim = options.deadlockVictim === 'any';
    this.heavyweight = options.heavyweight ?? new HeavyweightLocks(holdersFirst);
  }

  protected newTable(shape: TableShape): PostgresTable {
    return new PostgresTable(shape, this.#scanOrder);
  }

  protected copyOfTable(table: PostgresTable): PostgresTable {
    return table.copy(this.#scanOrder);
  }

  override copyFrom(other: PostgresStorage): void {
    super.copyFrom(other);
    this.#writers = other.#writers;
  }

  protected newTransaction(id: number, session: number, options: TransactionOptions): PostgresTransaction {
    return new PostgresTransaction(this, id, session, options);
  }

  protected snapshotOf({ snapshot }: PostgresTransaction): number {
    return snapshot;
  }

  alterTable(shape: TableShape, convert?: (values: readonly SqlValue[]) => SqlValue[]): void {
    this.footprint?.touchAll();
    this.table(shape.id).alter(shape, convert);
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

  /** A transaction has ended and written over these rows. */
  ended(transaction: PostgresTransaction, overwritten: readonly StoredRow[]): void {
    this.close(transaction, overwritten);
    this.waitsFor.end(transaction.id);
    this.dropUnseen((row, oldest) => row.table.prune(row, oldest));
  }
}
