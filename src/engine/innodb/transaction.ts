/** A transaction of the InnoDB profile: its read view, what it has written and locked, and how a deadlock ends it. */
import { assert } from '../../base/index.ts';
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
  dequeue,
  enqueue,
  newLock,
  type LockableRecord,
  type LockKind,
  type LockOwner,
  type RecordLock,
} from './gap-locks.ts';
import { waitName } from '../footprint.ts';
import * as footprints from './footprint.ts';
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
  #command = 0;
  #written: InnodbVersion[] = [];
  #locks: RecordLock[] = [];
  /** `null`: before the transaction had to do with any table. */
  #savepoints: { readonly written: number | null; readonly metadata: number }[] = [];
  readonly #metadata: HeldMetadata;
  readonly #tableLocks: HeldMetadata;
  #hasBegun = false;
  /** Tables it has said it will lock rows of, and how. */
  readonly #intentions = new Set<string>();
  readonly #indexNumbers = new Map<object, number>();
  /** Lock structures whose last lock was released early; they still count. */
  readonly #emptied = new Set<string | RecordLock>();
  #waiting: RecordLock | null = null;
  replacesDuplicates = false;
  /** How often it has waited: what was read before a wait may have changed. */
  waits = 0;
  /** It was a deadlock's victim and is rolled back; its statement does not know yet. */
  #isVictim = false;
  /** Those of which one is to be the victim of a deadlock that this transaction is in; the first to be resumed is. */
  #candidates: readonly InnodbTransaction[] = [];

  constructor(storage: InnodbStorage, id: number, session: number, options: TransactionOptions) {
    this.storage = storage;
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
    this.replacesDuplicates = false;
    return new InnodbStatement(this, ++this.#command);
  }

  /** The read view for a consistent read, opened when it is first needed. */
  openReadView(): number {
    if (this.readView !== Infinity) return this.readView;
    this.readView = this.storage.lastCommit;
    this.storage.footprint?.touch('read views', 'read');
    if (this.locksGaps) this.storage.footprint?.touch('snapshot', 'left');
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
    for (const lock of this.#locks) this.#dequeue(lock);
    this.#locks = [];
    this.#tableLocks.release(0);
    this.#intentions.clear();
    this.#emptied.clear();
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
    if (mode === 'X' || !this.#intentions.has(`${table} X`)) this.#intentions.add(`${table} ${mode}`);
  }

  position(): number {
    return this.#written.length;
  }

  /** Of a statement that failed, or back to a savepoint. */
  undoTo(mark: number): void {
    const { observer } = this.storage;
    for (const { table, id, sequence } of this.#written.slice(mark)) observer?.onUndo(this.id, table, id, sequence);
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
    const isOver = ({ isGone, isImplicit, record }: RecordLock): boolean =>
      isGone ||
      (isImplicit && rows.has(record.row) && !(record instanceof IndexRecord && record.isWrittenBy(this.writer)));
    for (const lock of this.#locks) {
      if (!isOver(lock)) continue;
      if (!lock.isImplicit) this.#emptied.add(this.#structure(lock));
      this.#dequeue(lock);
    }
    this.#locks = this.#locks.filter((lock) => !isOver(lock));
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
    enqueue(lock);
    this.#locks.push(lock);
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
    this.replacesDuplicates = false;
    const ended = this.#locks.filter(({ kind }) => kind === 'auto-increment');
    if (ended.length === 0) return;
    for (const lock of ended) this.#dequeue(lock);
    this.#locks = this.#locks.filter(({ kind }) => kind !== 'auto-increment');
    this.storage.lookForDeadlocks();
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
    for (const blocker of blockers) blocker.isImplicit = false;
    if (ifLocked === 'skip') return 'skipped';
    if (ifLocked === 'error') throw lockedError();
    yield* this.#wait(lock, reason);
    if (lock.isGone) return 'gone';
    this.#checkSnapshot(lock);
    return 'granted';
  }

  /** To a row before this record: if a page began with that, a search for it would have locked the end of the page before, and so the gap. */
  insertsBefore({ locks }: LockableRecord): void {
    const isBySearch = ({ owner, kind, isImplicit }: RecordLock): boolean =>
      owner instanceof InnodbTransaction && owner !== this && owner.locksGaps && kind === 'record' && !isImplicit;
    if (locks.some(isBySearch)) this.storage.onPageBegin();
  }

  /** MariaDB's `lock_clust_rec_read_check_and_lock`. @throws SqlError HY000 (1020), and the transaction is rolled back */
  #checkSnapshot({ record, kind }: RecordLock): void {
    if (!this.#checksSnapshot || this.readView === Infinity || kind === 'gap' || kind === 'insert') return;
    if (!(record instanceof IndexRecord) || !record.index.isClustered) return;
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
    const at = this.#locks.findLastIndex((lock) => lock.record === record && lock.mode === mode && lock.kind === kind);
    const lock = this.#locks[at];
    // After a wait the server takes the lock for one that it had before.
    if (lock === undefined || lock.hasWaited) return;
    this.#locks.splice(at, 1);
    this.#emptied.add(this.#structure(lock));
    this.#dequeue(lock);
    this.storage.lookForDeadlocks();
  }

  *#wait(lock: RecordLock, reason: string): Waiting<void> {
    this.waits += 1;
    lock.isWaiting = true;
    lock.hasWaited = true;
    this.grant(lock);
    this.#waiting = lock;
    footprints.recordWait(this);
    try {
      const isOver = (): boolean => this.#isVictim || lock.isGone || blockersOf(lock).length === 0;
      const isUrgent = (): boolean => this.#candidates.length > 0;
      const isReady = (): boolean => isOver() || isUrgent();
      if (!isOver()) this.breakDeadlock(this);
      while (!isOver()) {
        yield { blockers: blockersOf(lock).map(({ owner }) => owner.id), reason, isReady, isUrgent };
        if (isUrgent()) this.#becomeVictim();
      }
      if (this.#isVictim) throw deadlockError();
      lock.isWaiting = false;
    } finally {
      this.#waiting = null;
      this.#settleDeadlock();
      footprints.recordWaitEnd(this, lock);
      if (lock.isWaiting) this.#withdraw(lock);
    }
  }

  #dequeue(lock: RecordLock): void {
    if (!lock.isGone) footprints.recordLock(this.storage, lock, 'take');
    this.storage.unlocked.add(lock.record);
    dequeue(lock);
  }

  #withdraw(lock: RecordLock): void {
    this.#dequeue(lock);
    this.#locks = this.#locks.filter((other) => other !== lock);
    if (this.isOpen) this.storage.lookForDeadlocks();
  }

  /** The lock it waits for. */
  get waiting(): RecordLock | null {
    return this.#waiting;
  }

  /** The transaction that it waits for first; a lock's first conflict counts, as in the server. */
  get waitsFor(): InnodbTransaction | null {
    if (this.#waiting === null || this.#waiting.isGone) return null;
    const [first] = blockersOf(this.#waiting);
    return first?.owner instanceof InnodbTransaction ? first.owner : null;
  }

  /** Rolls the lightest on a cycle of waits back, if this is on one; of several that may be, the scheduler chooses. @param preferred the victim among equals */
  breakDeadlock(preferred: InnodbTransaction | null): void {
    const cycle: InnodbTransaction[] = [this];
    for (let next = this.waitsFor; next !== this; next = next.waitsFor) {
      if (next === null || cycle.includes(next)) return;
      cycle.push(next);
    }
    if (cycle.some((transaction) => transaction.#candidates.length > 0)) return;
    const candidates = this.storage.anyPage ? lightestOnSomePages(cycle) : [];
    if (candidates.length > 1) {
      for (const candidate of candidates) candidate.#candidates = candidates;
      return;
    }
    const least = Math.min(...cycle.map(({ weight }) => weight.least));
    const lightest = cycle.filter(({ weight }) => weight.least === least);
    const victim = preferred !== null && lightest.includes(preferred) ? preferred : lightest.at(-1);
    assert(victim !== undefined, 'a cycle has a lightest transaction');
    victim.#becomeVictim();
  }

  #becomeVictim(): void {
    this.#settleDeadlock();
    this.#isVictim = true;
    this.storage.footprint?.touch(waitName(this.session), 'change');
    this.rollback();
  }

  #settleDeadlock(): void {
    for (const candidate of this.#candidates) candidate.#candidates = [];
  }

  /**
   * Rows written and lock structures, as InnoDB weighs: the locks of one kind on one page of an index are one structure, one that had to wait is its
   * own; each table has one, or two where it was first locked for sharing. `least`: every index has one page; `most`: every record has its own, and
   * where gaps are locked the end of the page before it has a lock, too: a search begins there, or the page was split there.
   */
  get weight(): { readonly least: number; readonly most: number } {
    const structures = new Set<string | RecordLock>(this.#emptied);
    const explicit = this.#locks.filter(({ isImplicit }) => !isImplicit);
    for (const lock of explicit) structures.add(this.#structure(lock));
    const others = this.#written.length + this.#intentions.size;
    const most = this.locksGaps ? 2 * (this.#emptied.size + this.#locks.length) : this.#emptied.size + explicit.length;
    return { least: others + structures.size, most: others + most };
  }

  #structure(lock: RecordLock): string | RecordLock {
    if (lock.hasWaited) return lock;
    const { mode, kind, record } = lock;
    const index = this.#indexNumbers.get(record.index) ?? this.#indexNumbers.size;
    this.#indexNumbers.set(record.index, index);
    return `${index} ${mode} ${record.isSupremum ? 'next-key' : kind}`;
  }

  #end(outcome: 'committed' | 'aborted', overwritten: readonly InnodbVersion['stored'][]): void {
    for (const lock of this.#locks) this.#dequeue(lock);
    this.#locks = [];
    this.#written = [];
    this.#metadata.release(0);
    this.#tableLocks.release(0);
    this.#closeReadView();
    this.storage.observer?.onEnd(this.id, outcome, this.writer.commitSequence);
    this.storage.ended(this, overwritten);
  }
}

/** Those of a cycle that weigh no more than any other, as their locks may lie on few pages and those of the others on many. */
function lightestOnSomePages(cycle: readonly InnodbTransaction[]): readonly InnodbTransaction[] {
  const weights = cycle.map(({ weight }) => weight);
  return cycle.filter((_, i) => weights.every(({ most }, j) => i === j || (weights[i]?.least ?? 0) <= most));
}

function deadlockError(): SqlError {
  return new SqlError('40001', 'Deadlock found when trying to get lock; try restarting transaction', {
    mysqlNumber: 1213,
  });
}

function lockedError(): SqlError {
  const message = 'Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.';
  return new SqlError('55P03', message, { mysqlNumber: 3572 });
}
