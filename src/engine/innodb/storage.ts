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
import type { TableId, TableShape, TransactionOptions, SqlValue } from '../../sql/model/index.ts';
import { purge } from './records.ts';
import { InnodbTable, type InnodbRow } from './table.ts';
import { InnodbTransaction } from './transaction.ts';
import * as footprints from './footprint.ts';
import type { LockableRecord } from './gap-locks.ts';
import { WeighedWaits } from '../weighed-waits.ts';
import { MetadataLocks } from './metadata-locks.ts';
import { VersionedStorage, type VersionedStorageOptions } from '../versioned-storage.ts';

export interface InnodbStorageOptions extends VersionedStorageOptions {
  /**
   * Which transactions of a deadlock may be its victim: the one that is lightest by the locks as they are counted where every index has one page (default:
   * false), or any that is where the pages are others; of several the scheduler chooses.
   */
  readonly anyPage?: boolean;
  /** A row is inserted before one that another transaction has locked: it would wait if a page began with that row. */
  readonly onPageBegin?: (record: string) => void;
  /** Records that begin a page of their index, by name (default: none): a search that begins there locks the end of the page before. */
  readonly pageBegins?: ReadonlySet<string>;
  /** Where deadlocks of metadata locks are looked for, with those of GET_LOCK. */
  readonly waits?: WeighedWaits;
}

export function innodbStorage(options: InnodbStorageOptions = {}): InnodbStorage {
  return new InnodbStorage(options);
}

const noRecords: ReadonlySet<string> = new Set();

export class InnodbStorage extends VersionedStorage<InnodbTable, InnodbRow, InnodbTransaction> {
  /** Records of which locks have gone since deadlocks were looked for. */
  readonly unlocked = new Set<LockableRecord>();
  readonly anyPage: boolean;
  readonly onPageBegin: (record: string) => void;
  readonly pageBegins: ReadonlySet<string>;
  readonly metadata: MetadataLocks;
  readonly tableLocks = new MetadataLocks('table lock', new WeighedWaits());

  constructor(options: InnodbStorageOptions) {
    super(options);
    this.anyPage = options.anyPage === true;
    this.metadata = new MetadataLocks('metadata lock', options.waits ?? new WeighedWaits());
    this.onPageBegin = options.onPageBegin ?? (() => {});
    this.pageBegins = options.pageBegins ?? noRecords;
  }

  protected newTable(shape: TableShape): InnodbTable {
    return new InnodbTable(shape, this.nextCommit());
  }

  protected copyOfTable(table: InnodbTable): InnodbTable {
    return table.copy();
  }

  protected newTransaction(id: number, session: number, options: TransactionOptions): InnodbTransaction {
    return new InnodbTransaction(this, id, session, options);
  }

  protected snapshotOf({ readView }: InnodbTransaction): number {
    return readView;
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

  /** A transaction has ended, its locks are released. */
  ended(transaction: InnodbTransaction, overwritten: readonly InnodbRow[]): void {
    this.close(transaction, overwritten);
    if (this.overwritten.length > 0) footprints.recordPurge(this, this.overwritten);
    this.dropUnseen((row, oldest) => purge(this, row, oldest));
    this.lookForDeadlocks();
  }

  /** Locks have gone: those who wait for the next in line may now close a cycle. */
  lookForDeadlocks(): void {
    // A deadlock's victim ends meanwhile.
    for (const waiting of this.open.values().slice()) {
      if (!waiting.isOpen) continue;
      footprints.recordDeadlockSearch(waiting);
      waiting.lockWait.breakDeadlock(null);
    }
    this.unlocked.clear();
  }
}
