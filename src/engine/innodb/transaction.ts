/** A transaction of the InnoDB profile: its read view, what it has written and locked, and how a deadlock ends it. */
import {
  SqlError,
  type LockRequest,
  type StorageTransaction,
  type MetadataLocking,
  type TableLockMode,
  type TransactionOptions,
  type Waiting,
} from '../../sql/model/index.ts';
import {
  blockersOf,
  covers,
  newLock,
  type LockableRecord,
  type LockKind,
  type LockMode,
  type LockOwner,
  type RecordLock,
} from './gap-locks.ts';
import { type Footprint, waitName } from '../footprint.ts';
import * as footprints from './footprint.ts';
import { HeldRecordLocks } from './held-record-locks.ts';
import { LockWait } from './lock-wait.ts';
import { pop } from './records.ts';
import { InnodbStatement } from './statement.ts';
import type { InnodbStorage } from './storage.ts';
import { IndexRecord, type InnodbTable, type InnodbVersion } from './table.ts';
import { HeldMetadata } from './metadata-locks.ts';
import type { Writer } from '../versions.ts';

export type Granted = 'granted' | 'skipped' | 'gone';

export class InnodbTransaction implements StorageTransaction, LockOwner {
  readonly id: number;
  readonly session: number;
  readonly storage: InnodbStorage;
  readonly writer: Writer;
  readonly isolation: TransactionOptions['isolation'];
  readonly #checksSnapshot: boolean;
  /** Infinity: none is open. */
  readView = Infinity;
  /** Of the step that opened it: what is read with it is recorded there. */
  readViewFootprint: Footprint | null = null;
  #command = 0;
  #written: InnodbVersion[] = [];
  readonly recordLocks: HeldRecordLocks;
  readonly lockWait = new LockWait(this);
  /** `null`: before the transaction had to do with any table. */
  #savepoints: { readonly written: number | null; readonly metadata: number }[] = [];
  readonly #metadata: HeldMetadata;
  readonly #tableLocks: HeldMetadata;
  #hasBegun = false;
  duplicateMode: LockMode = 'S';

  constructor(storage: InnodbStorage, id: number, session: number, options: TransactionOptions) {
    this.storage = storage;
    this.recordLocks = new HeldRecordLocks(storage);
    this.id = id;
    this.session = session;
    this.isolation = options.isolation;
    this.#checksSnapshot = options.checksSnapshot === true && this.locksGaps;
    this.writer = { id, commitSequence: Infinity, watched: null };
    this.#metadata = new HeldMetadata(storage.metadata, this, () => storage.footprint);
    this.#tableLocks = new HeldMetadata(storage.tableLocks, this, () => storage.footprint);
    this.#hasBegun = options.takesSnapshot === true;
    if (options.takesSnapshot === true && this.isolation === 'repeatable read') this.openReadView();
  }

  /** Are ranges locked, or single records only? */
  get locksGaps(): boolean {
    return this.isolation === 'repeatable read' || this.isolation === 'serializable';
  }

  statement(): InnodbStatement {
    if (!this.locksGaps) this.#closeReadView();
    this.duplicateMode = 'S';
    return new InnodbStatement(this, ++this.#command);
  }

  /** The read view for a consistent read, opened when it is first needed. */
  openReadView(): number {
    if (this.readView !== Infinity) return this.readView;
    this.readView = this.storage.lastCommit;
    this.storage.footprint?.touch('read views', 'read');
    this.readViewFootprint = this.storage.footprint;
    return this.readView;
  }

  #closeReadView(): void {
    if (this.readView !== Infinity) this.storage.footprint?.touch('read views', 'read');
    this.readView = Infinity;
  }

  savepoint(): number {
    const written = this.#hasBegun ? this.#written.length : null;
    return this.#savepoints.push({ written, metadata: this.#metadata.mark() }) - 1;
  }

  readonly metadataLocking: MetadataLocking = {
    lock: (table, mode) => this.lockTable(table, mode),
    holds: (table, mode) => this.#metadata.holds(table, mode),
    downgrade: (table) => this.#metadata.downgrade(table),
  };

  /** A definition has tables that refer to its own `exclusive`ly: in InnoDB alone. */
  *lockTable(table: number, mode: TableLockMode): Waiting<boolean> {
    const { name } = this.storage.table(table).shape;
    const hasWaited = mode !== 'exclusive' && (yield* this.#metadata.lock(table, mode, name));
    const isOfInnodb = mode === 'row exclusive' || mode === 'exclusive';
    return (isOfInnodb && (yield* this.#tableLocks.lock(table, mode, name))) || hasWaited;
  }

  /** A statement reads or writes a table. */
  takePart(): void {
    this.#hasBegun = true;
  }

  /**
   * Locks stay, but for those on records that were inserted since. Of a savepoint from before its first statement the server knows nothing in InnoDB:
   * it rolls the transaction back there, and a new one begins, without locks and read view.
   */
  rollbackTo(savepoint: number): void {
    const mark = this.#savepoints[savepoint];
    if (mark === undefined) throw new SqlError('3B001', 'SAVEPOINT does not exist', { mysqlNumber: 1305 });
    this.#savepoints.length = savepoint + 1;
    this.undoTo(mark.written ?? 0);
    if (mark.written === null) this.#startAgain();
    this.#metadata.release(mark.metadata);
  }

  #startAgain(): void {
    this.recordLocks.clear();
    this.#tableLocks.release(0);
    this.#hasBegun = false;
    this.#closeReadView();
    this.storage.lookForDeadlocks();
  }

  // A generator for stores that wait at commit; this one does not.
  // oxlint-disable-next-line require-yield
  *commit(): Waiting<void> {
    if (!this.isOpen) return;
    const written = this.#written;
    footprints.recordCommit(this.storage, written);
    if (written.length > 0) this.writer.commitSequence = this.storage.nextCommit();
    this.#end(
      'committed',
      written.filter((version) => version.older !== null || version.isDeleted).map((version) => version.stored),
    );
  }

  rollback(): void {
    if (!this.isOpen) return;
    this.#undo(0);
    this.#end('aborted', []);
  }

  get isOpen(): boolean {
    return this.storage.open.has(this.id);
  }

  /** Before rows of a table are locked. It only counts when deadlocks are weighed. */
  intend(table: number, mode: RecordLock['mode']): void {
    this.takePart();
    this.recordLocks.intend(table, mode);
  }

  position(): number {
    return this.#written.length;
  }

  /** Of a statement that failed, or back to a savepoint. */
  undoTo(mark: number): void {
    this.storage.observer?.onUndo(this.id, this.#written.slice(mark));
    this.#undo(mark);
  }

  #undo(mark: number): void {
    if (this.#written.length === mark) return;
    const rows = new Set<LockableRecord['row']>();
    while (this.#written.length > mark) {
      const version = this.#written.pop() as InnodbVersion;
      footprints.recordWrite(this.storage, version);
      pop(this.storage, version);
      rows.add(version.stored);
    }
    // What is no longer written is no longer locked by having been written.
    this.recordLocks.empty(
      ({ isGone, isImplicit, record }) =>
        isGone ||
        (isImplicit && rows.has(record.row) && !(record instanceof IndexRecord && record.isWrittenBy(this.writer))),
    );
  }

  wrote(version: InnodbVersion): void {
    footprints.recordWrite(this.storage, version);
    this.#written.push(version);
  }

  holds(lock: RecordLock): boolean {
    return lock.record.locks.some((held) => covers(held, lock));
  }

  /** A lock that conflicts with no other. */
  grant(lock: RecordLock): void {
    this.recordLocks.add(lock);
  }

  makeExplicit(lock: RecordLock): void {
    this.recordLocks.makeExplicit(lock);
  }

  /** What a write locks without a check: no other transaction can have a lock on it. */
  grantImplicit(record: LockableRecord): void {
    const lock = newLock(this, record, 'X', 'record');
    if (this.holds(lock)) return;
    footprints.recordLock(this.storage, lock, 'take');
    lock.isImplicit = true;
    this.grant(lock);
  }

  /** What a write locks, where others may have a lock: without a structure of its own when it need not wait. */
  *lockImplicitly(record: LockableRecord, reason: string): Waiting<void> {
    const lock = newLock(this, record, 'X', 'record');
    if (blockersOf(lock).length === 0) this.grantImplicit(record);
    else yield* this.lock(record, 'X', 'record', 'wait', reason);
  }

  /** @param isBulk does the statement insert rows that it has not counted? @throws SqlError 40001 (1213) */
  *lockCounter({ counter, shape }: InnodbTable, isBulk: boolean): Waiting<void> {
    footprints.recordAutoIncrementRead(this.storage, counter);
    if (isBulk || counter.locks.length > 0)
      yield* this.lock(counter, 'X', 'auto-increment', 'wait', `AUTO-INC lock on ${shape.name}`);
  }

  /** Releases its AUTO-INC locks. */
  endStatement(): void {
    this.duplicateMode = 'S';
    if (this.recordLocks.remove(({ kind }) => kind === 'auto-increment')) this.storage.lookForDeadlocks();
  }

  /** @returns `gone`: the record has left the index while this waited. @throws SqlError 40001 (1213), 55P03 (3572) */
  *lock(
    record: LockableRecord,
    mode: RecordLock['mode'],
    kind: LockKind,
    ifLocked: LockRequest['ifLocked'],
    reason: string,
  ): Waiting<Granted> {
    if (kind === 'next-key' && this.holds(newLock(this, record, mode, 'record'))) kind = 'gap';
    const lock = newLock(this, record, mode, kind);
    if (kind !== 'insert' && this.holds(lock)) return 'granted';
    const blockers = blockersOf(lock);
    footprints.recordLock(this.storage, lock, blockers.length === 0 || ifLocked === 'wait' ? 'take' : 'try');
    if (blockers.length === 0) {
      if (kind !== 'insert') this.grant(lock);
      this.#checkSnapshot(lock);
      return 'granted';
    }
    for (const blocker of blockers) blocker.owner.makeExplicit(blocker);
    if (ifLocked === 'skip') return 'skipped';
    if (ifLocked === 'error') throw lockedError();
    yield* this.lockWait.until(lock, reason);
    if (lock.isGone) return 'gone';
    this.#checkSnapshot(lock);
    return 'granted';
  }

  /** To a row before this record: if a page began with that, a search for it would have locked the end of the page before, and so the gap. */
  insertsBefore(record: LockableRecord): void {
    if (!(record instanceof IndexRecord)) return;
    const isBySearch = ({ owner, kind, isImplicit }: RecordLock): boolean =>
      owner instanceof InnodbTransaction && owner !== this && owner.locksGaps && kind === 'record' && !isImplicit;
    if (record.locks.some(isBySearch)) this.storage.onPageBegin(record.name);
  }

  /** A search begins at this record: where a page begins with it, at the end of the page before, and locks the gap there (`row_search_mvcc`). */
  lockPageBefore(record: IndexRecord, mode: LockMode): void {
    if (!this.locksGaps || !this.storage.pageBegins.has(record.name)) return;
    const lock = newLock(this, record, mode, 'gap');
    if (this.holds(lock)) return;
    footprints.recordLock(this.storage, lock, 'take');
    this.grant(lock);
  }

  /** MariaDB's `lock_clust_rec_read_check_and_lock`. @throws SqlError HY000 (1020), and the transaction is rolled back */
  #checkSnapshot({ record, kind }: RecordLock): void {
    if (!this.#checksSnapshot || this.readView === Infinity || kind === 'gap' || kind === 'insert') return;
    if (!(record instanceof IndexRecord) || !record.index.isClustered) return;
    footprints.recordIsSeen(this, record);
    const { newest, table } = record.row;
    if (newest === null || newest.writer === this.writer || newest.writer.commitSequence <= this.readView) return;
    this.storage.footprint?.touch(waitName(this.session), 'change');
    this.rollback();
    const name = table.shape.name.replace(/^.*\./, '');
    throw new SqlError('HY000', `Record has changed since last read in table '${name}'; try restarting transaction`, {
      mysqlNumber: 1020,
    });
  }

  release(record: LockableRecord, mode: RecordLock['mode'], kind: LockKind): void {
    if (this.recordLocks.release(record, mode, kind)) this.storage.lookForDeadlocks();
  }

  /** Rows written and lock structures, as InnoDB weighs. */
  get weight(): { readonly least: number; readonly most: number } {
    const { least, most } = this.recordLocks.structures(this.locksGaps);
    return { least: this.#written.length + least, most: this.#written.length + most };
  }

  #end(outcome: 'committed' | 'aborted', overwritten: readonly InnodbVersion['stored'][]): void {
    this.recordLocks.clear();
    this.#written = [];
    this.#metadata.release(0);
    this.#tableLocks.release(0);
    this.#closeReadView();
    this.storage.observer?.onEnd(this.id, outcome, this.writer.commitSequence);
    this.storage.ended(this, overwritten);
  }
}

function lockedError(): SqlError {
  const message = 'Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.';
  return new SqlError('55P03', message, { mysqlNumber: 3572 });
}
