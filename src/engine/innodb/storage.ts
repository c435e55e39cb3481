/**
 * Tables as InnoDB keeps them: consistent reads by read view, locking reads and writes on the current rows under record and gap locks.
 *
 * READ UNCOMMITTED reads the newest version, committed or not; READ COMMITTED takes a read view for each statement, REPEATABLE READ one at the
 * first consistent read; at SERIALIZABLE plain reads lock (`StatementView.scansLock`). Writes never look at the read view: they see and lock the
 * latest row, so REPEATABLE READ loses updates that were computed by the application, as InnoDB does. MySQL manual, "InnoDB Locking and
 * Transaction Model"; MariaDB 10.11 is what this is compared with, its option innodb_snapshot_isolation off as it is there by default.
 *
 * A deadlock rolls back the whole transaction of the victim at once, whichever of those on the cycle has done least; its statement gets
 * 40001 (MySQL 1213) when it is resumed, which its `Wait` then asks for. `rollback` afterwards does nothing. Other errors leave the transaction
 * open: who drives this storage calls `undo` of the statement. Delete-marked records are purged as soon as no read view can want them.
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
import { purge } from './records.ts';
import { InnodbTable, type InnodbRow } from './table.ts';
import { InnodbTransaction } from './transaction.ts';
import type { Footprint, FootprintRecorder } from '../footprint.ts';
import * as footprints from './footprint.ts';
import type { LockableRecord } from './gap-locks.ts';
import { WeighedWaits } from '../weighed-waits.ts';
import { MetadataLocks } from './metadata-locks.ts';
import type { StorageObserver } from '../observer.ts';

export interface InnodbStorageOptions {
  readonly observer?: StorageObserver;
  /** Collects the footprint of every step. */
  readonly footprints?: FootprintRecorder | null;
  /**
   * Which transactions of a deadlock may be its victim: the one that is lightest by the locks as they are counted where every index has one page (default:
   * false), or any that is where the pages are others; of several the scheduler chooses.
   */
  readonly anyPage?: boolean;
  /** A row is inserted before one that another transaction has locked: it would wait if a page began with that row. */
  readonly onPageBegin?: () => void;
  /** Where deadlocks of metadata locks are looked for, with those of GET_LOCK. */
  readonly waits?: WeighedWaits;
}

export function innodbStorage(options: InnodbStorageOptions = {}): Storage {
  return new InnodbStorage(options);
}

export class InnodbStorage implements Storage {
  readonly observer: StorageObserver | null;
  /** Records of which locks have gone since deadlocks were looked for. */
  readonly unlocked = new Set<LockableRecord>();
  readonly #footprints: FootprintRecorder | null;
  readonly anyPage: boolean;
  readonly onPageBegin: () => void;
  readonly open = new Map<number, InnodbTransaction>();
  readonly metadata: MetadataLocks;
  readonly tableLocks = new MetadataLocks('table lock', new WeighedWaits());
  readonly #tables = new Map<TableId, InnodbTable>();
  #commits = 0;
  #transactions = 0;
  /** Rows with versions to drop when no read view is older than the commit that wrote over them. In order of commit. */
  readonly #overwritten: { readonly rows: readonly InnodbRow[]; readonly commit: number }[] = [];

  constructor(options: InnodbStorageOptions) {
    this.observer = options.observer ?? null;
    this.#footprints = options.footprints ?? null;
    this.anyPage = options.anyPage === true;
    this.metadata = new MetadataLocks('metadata lock', options.waits ?? new WeighedWaits());
    this.onPageBegin = options.onPageBegin ?? (() => {});
  }

  /** Of the step under way; `null` without a recorder. */
  get footprint(): Footprint | null {
    return this.#footprints === null ? null : this.#footprints.current;
  }

  createTable(shape: TableShape): void {
    this.footprint?.touchAll();
    assert(!this.#tables.has(shape.id), `table ${shape.id} is new`);
    this.#tables.set(shape.id, new InnodbTable(shape, this.nextCommit()));
  }

  alterTable(shape: TableShape, convert?: (values: readonly SqlValue[]) => SqlValue[]): void {
    this.footprint?.touchAll();
    this.table(shape.id).alter(shape, this.nextCommit(), convert);
  }

  /** Its indexes are new: older read views cannot read them. */
  truncated(id: TableId): void {
    this.footprint?.touchAll();
    const { indexes, shape } = this.table(id);
    if (shape.isTemporary === true) return;
    const since = this.nextCommit();
    for (const index of indexes) index.since = since;
  }

  dropTable(table: TableId): void {
    this.footprint?.touchAll();
    this.#tables.delete(table);
  }

  begin(session: number, options: TransactionOptions): StorageTransaction {
    const transaction = new InnodbTransaction(this, ++this.#transactions, session, options);
    this.open.set(transaction.id, transaction);
    return transaction;
  }

  table(id: TableId): InnodbTable {
    const table = this.#tables.get(id);
    assert(table !== undefined, `table ${id} exists`);
    return table;
  }

  /** The number of the last commit: a read view. */
  get readView(): number {
    return this.#commits;
  }

  nextCommit(): number {
    return ++this.#commits;
  }

  /** A transaction has ended, its locks are released. */
  ended(transaction: InnodbTransaction, overwritten: readonly InnodbRow[]): void {
    this.open.delete(transaction.id);
    if (overwritten.length > 0) this.#overwritten.push({ rows: overwritten, commit: this.#commits });
    this.#purge();
    this.lookForDeadlocks();
  }

  /** Locks have gone: those who wait for the next in line may now close a cycle. */
  lookForDeadlocks(): void {
    for (const waiting of this.open.values()) {
      footprints.recordDeadlockSearch(waiting);
      waiting.breakDeadlock(null);
    }
    this.unlocked.clear();
  }

  #purge(): void {
    if (this.#overwritten.length === 0) return;
    footprints.recordPurge(this, this.#overwritten);
    let oldest = this.#commits;
    for (const { readView } of this.open.values()) if (readView < oldest) oldest = readView;
    let done = 0;
    for (; done < this.#overwritten.length; done++) {
      const { rows, commit } = this.#overwritten[done] as { rows: readonly InnodbRow[]; commit: number };
      if (commit > oldest) break;
      for (const row of rows) purge(this, row, oldest);
    }
    if (done > 0) this.#overwritten.splice(0, done);
  }
}
