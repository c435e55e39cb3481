/** A transaction of the PostgreSQL profile: its snapshot, what it has written and locked, and how that is rolled back. */
import { assert } from '../../base/index.ts';
import {
  type LockStrength,
  type StorageTransaction,
  type TableId,
  type TableLockMode,
  type TransactionOptions,
  type Wait,
  type Waiting,
  SqlError,
} from '../../sql/model/index.ts';
import { PostgresStatement } from './statement.ts';
import { type LockMode, type LockTag, touchLock } from '../heavyweight-locks.ts';
import { waitName } from '../footprint.ts';
import * as footprints from './footprint.ts';
import type { PostgresStorage } from './storage.ts';
import type { PostgresTable, StoredRow, Version } from './table.ts';
import { RowLocks, type RowLock } from './row-locks.ts';
import { type Watched, watchName } from './serializable.ts';
import type { Writer } from '../versions.ts';

interface Mark {
  readonly written: number;
  readonly locked: number;
  readonly heavy: number;
  readonly truncated: number;
}

export class PostgresTransaction implements StorageTransaction {
  readonly id: number;
  readonly session: number;
  readonly storage: PostgresStorage;
  readonly writer: Writer;
  /** Does one snapshot serve the whole transaction? */
  readonly keepsSnapshot: boolean;
  readonly options: TransactionOptions;
  /** Infinity: none has been taken, or the statement that took it is over. */
  snapshot = Infinity;
  /** Infinity until it writes or locks. */
  writerNumber = Infinity;
  #command = 0;
  #written: Version[] = [];
  #locked: { readonly row: StoredRow; readonly lock: RowLock }[] = [];
  /** Heavyweight locks, in order. */
  #heavy: { readonly tag: LockTag; readonly mode: LockMode }[] = [];
  /** Tables that TRUNCATE has emptied, in order: they are back when that is undone. */
  #truncated: PostgresTable[] = [];
  #savepoints: Mark[] = [];

  constructor(storage: PostgresStorage, id: number, session: number, options: TransactionOptions) {
    this.storage = storage;
    this.id = id;
    this.session = session;
    this.options = options;
    this.writer = { id, commitSequence: Infinity, watched: null };
    this.keepsSnapshot = options.isolation === 'repeatable read' || options.isolation === 'serializable';
  }

  statement(): PostgresStatement {
    if (!this.keepsSnapshot || this.snapshot === Infinity) this.#takeSnapshot();
    footprints.recordStatementBegin(this);
    return new PostgresStatement(this, ++this.#command);
  }

  /**
   * READ ONLY DEFERRABLE at SERIALIZABLE: waits for the writers that are open at the snapshot; when one of them commits in a way that makes the snapshot
   * unsafe, it takes another. `GetSafeSnapshot` in predicate.c.
   */
  *takeSafeSnapshot(): Waiting<void> {
    const { isDeferrable, isReadOnly, isolation } = this.options;
    if (isDeferrable !== true || !isReadOnly || isolation !== 'serializable' || this.snapshot !== Infinity) return;
    const { storage } = this;
    const look = (): void => storage.footprint?.touch(watchName(this.session), 'read');
    for (;;) {
      this.#takeSnapshot();
      const { watched } = this;
      look();
      if (watched === null) return;
      const writers = watched.possiblyUnsafe;
      while (writers.size > 0) {
        const blockers = [...writers].map(({ id }) => id);
        yield { blockers, reason: 'a safe snapshot', isReady: () => writers.size === 0 };
        look();
      }
      if (watched.isSafe) return;
      storage.watch.ended(watched, false, storage.nextWriterNumber);
    }
  }

  /** A query that has a snapshot of its own, whatever the level: PostgreSQL's `GetLatestSnapshot`. Only definitions need it, and they conflict with every step. */
  latestQuery(): PostgresStatement {
    return new PostgresStatement(this, ++this.#command, this.storage.lastCommit);
  }

  /** A query of a constraint: of the same transaction, after the statement that made it necessary. */
  constraintQuery(): PostgresStatement {
    if (!this.keepsSnapshot) this.#takeSnapshot();
    return new PostgresStatement(this, ++this.#command);
  }

  #takeSnapshot(): void {
    this.snapshot = this.storage.lastCommit;
    footprints.recordSnapshot(this);
    if (this.options.isolation !== 'serializable') return;
    const { watch, oldestWriterNumber } = this.storage;
    this.writer.watched = watch.begin(this.id, this.session, oldestWriterNumber, this.options.isReadOnly);
  }

  /** When its reads and writes are to be watched. */
  get watched(): Watched | null {
    const { watched } = this.writer;
    return watched === null || watched.isSafe ? null : watched;
  }

  savepoint(): number {
    this.#savepoints.push(this.mark());
    return this.#savepoints.length - 1;
  }

  rollbackTo(savepoint: number): void {
    const mark = this.#savepoints[savepoint];
    if (mark === undefined) throw new SqlError('3B001', 'savepoint does not exist');
    this.#savepoints.length = savepoint + 1;
    this.undoTo(mark);
  }

  // A generator for stores that wait at commit; this one does not.
  // oxlint-disable-next-line require-yield
  *commit(): Waiting<void> {
    this.#prepare();
    const written = this.#written;
    footprints.recordCommit(this, written);
    if (written.length > 0) this.writer.commitSequence = this.storage.nextCommit();
    for (const table of this.#truncated) table.pruneAll(this.writer.commitSequence);
    this.#end(
      'committed',
      written.filter((version) => version.older !== null || version.isDeleted).map((version) => version.stored),
    );
  }

  /** @throws SqlError 40001, and is rolled back then */
  #prepare(): void {
    const { watched } = this;
    if (watched === null) return;
    try {
      this.storage.watch.prepare(watched);
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  rollback(): void {
    if (!this.isOpen) return;
    this.#undo({ written: 0, locked: 0, heavy: 0, truncated: 0 });
    this.#end('aborted', []);
  }

  get isOpen(): boolean {
    return this.storage.open.has(this.id);
  }

  mark(): Mark {
    return {
      written: this.#written.length,
      locked: this.#locked.length,
      heavy: this.#heavy.length,
      truncated: this.#truncated.length,
    };
  }

  /** Of a statement that failed, or back to a savepoint. */
  undoTo(mark: Mark): void {
    const { observer } = this.storage;
    for (const { table, id, sequence } of this.#written.slice(mark.written))
      observer?.onUndo(this.id, table, id, sequence);
    this.#undo(mark);
  }

  #undo(mark: Mark): void {
    for (let i = this.#written.length - 1; i >= mark.written; i--) {
      const version = this.#written[i] as Version;
      footprints.recordWrite(this, version);
      version.stored.table.pop(version);
    }
    this.#written.length = mark.written;
    this.#truncated.length = mark.truncated;
    this.#release(mark.locked);
    this.#releaseHeavy(mark.heavy);
  }

  wrote(version: Version): void {
    this.#number();
    footprints.recordWrite(this, version);
    this.#written.push(version);
  }

  /** No other transaction reads the table: this one has its ACCESS EXCLUSIVE lock. */
  truncated(table: PostgresTable): void {
    this.#truncated.push(table);
  }

  /**
   * The snapshot in which a statement that has `snapshot` reads a table. One that this transaction has truncated is empty but for its own rows: its lock
   * keeps others out, so in the newest snapshot every other row is deleted, also those whose deletion `snapshot` does not see.
   */
  snapshotOf(table: PostgresTable, snapshot: number): number {
    return this.#truncated.includes(table) ? this.storage.lastCommit : snapshot;
  }

  /** The last version written was refused. */
  takeBack(version: Version): void {
    assert(this.#written.pop() === version, `version of row ${version.id} is the last written`);
    footprints.recordWrite(this, version);
    version.stored.table.pop(version);
  }

  /** Lock on a row for the rest of the transaction or savepoint. @throws SqlError 55P03, 40P01 */
  *lock(row: StoredRow, strength: LockStrength, ifLocked: 'wait' | 'error' | 'skip'): Waiting<'granted' | 'skipped'> {
    const locks = (row.locks ??= new RowLocks());
    if (locks.holds(this.writer, strength)) return 'granted';
    this.#number();
    const lock: RowLock = { owner: this.writer, number: this.writerNumber, strength };
    const isBlocked = locks.isBlocked(lock);
    this.storage.footprint?.touch(
      footprints.rowName(row),
      isBlocked && ifLocked !== 'wait' ? footprints.tries[strength] : strength,
    );
    if (isBlocked) {
      if (ifLocked === 'skip') return 'skipped';
      if (ifLocked === 'error')
        throw new SqlError('55P03', `could not obtain lock on row in relation "${row.table.shape.name}"`);
      yield* this.#standInLine(row, locks, lock);
    }
    locks.grant(lock);
    this.#locked.push({ row, lock });
    return 'granted';
  }

  #number(): void {
    if (this.writerNumber !== Infinity) return;
    this.writerNumber = this.storage.newWriterNumber();
    this.storage.footprint?.touch('writers', 'left');
    this.storage.footprint?.touch('writer numbers', 'left');
  }

  *#standInLine(row: StoredRow, locks: RowLocks, lock: RowLock): Waiting<void> {
    const isInLine = !locks.held.some(({ owner }) => owner === this.writer);
    if (isInLine) locks.queue.push(lock);
    try {
      const touch = (): void => this.storage.footprint?.touch(footprints.rowName(row), lock.strength);
      // Where any on a cycle may be the victim, when a deadlock is found is left to timers as well.
      const blockers = (): number[] => (this.storage.anyVictim ? locks.blockers(lock) : locks.nextBlockers(lock));
      yield* this.wait(blockers, `row lock on ${row.table.shape.name} ${row.id}`, touch);
    } finally {
      locks.leave(lock);
    }
  }

  lockTable(table: TableId, mode: TableLockMode, ifLocked: 'wait' | 'error'): Waiting<boolean> {
    return this.lockHeavy(`table ${table}`, mode, ifLocked, () => {
      const name = this.storage.nameOf(table);
      return { reason: `${mode} lock on ${name}`, title: `relation "${name}"` };
    });
  }

  lockName(name: string): Waiting<boolean> {
    return this.lockHeavy(`name ${name}`, 'exclusive', 'wait', () => ({ reason: `the name ${name}`, title: name }));
  }

  /** A heavyweight lock until the end of the transaction, or of the savepoint. @returns did it have to wait? @throws SqlError 55P03, 40P01 */
  *lockHeavy(
    tag: LockTag,
    mode: LockMode,
    ifLocked: 'wait' | 'error',
    describe: () => { readonly reason: string; readonly title: string },
  ): Waiting<boolean> {
    if (this.#heavy.some((lock) => lock.tag === tag && lock.mode === mode)) return false;
    const { heavyweight } = this.storage;
    const touch = (): void => {
      if (this.storage.footprint !== null) touchLock(this.storage.footprint, tag, mode);
    };
    touch();
    const isFree = heavyweight.tryAcquire(tag, this, mode, ifLocked === 'wait' ? 'wait' : 'refuse');
    if (!isFree) {
      if (ifLocked === 'error') throw new SqlError('55P03', `could not obtain lock on ${describe().title}`);
      const request = heavyweight.request(tag, this, mode);
      try {
        if (heavyweight.isEarlyDeadlock(request)) throw deadlock([this.id, ...heavyweight.blockers(request)]);
        yield* this.wait(() => heavyweight.blockers(request), describe().reason, touch);
        heavyweight.acquire(request);
      } finally {
        heavyweight.leave(request);
      }
    }
    this.#heavy.push({ tag, mode });
    return !isFree;
  }

  /**
   * Waits until no transaction blocks this one. @throws SqlError 40P01 when that would be for ever: who closes the cycle is the victim, or, where any may
   * be, who of those on it is resumed first.
   * @param touch tells the footprint what `blockers` looks at
   */
  *wait(blockers: () => readonly number[], reason: string, touch: () => void): Waiting<void> {
    const { waitsFor, anyVictim } = this.storage;
    const isStuck = (): boolean => this.#deadlock(false).length > 0;
    try {
      for (let ids = blockers(); ids.length > 0; ids = blockers()) {
        touch();
        footprints.recordWait(this);
        waitsFor.begin(this.id, blockers, touch);
        // One that waits for the next of several holders looks for a deadlock again.
        const isLate = (now: readonly number[]): boolean => now[0] !== ids[0] && isStuck();
        const isReady = (): boolean => {
          const now = blockers();
          return now.length === 0 || (anyVictim ? isStuck() : isLate(now));
        };
        const wait: Wait = { blockers: ids, reason, isReady };
        if (anyVictim) yield wait;
        const cycle = this.#deadlock(true);
        if (cycle.length > 0) throw deadlock(cycle);
        if (!anyVictim && blockers().length > 0) yield wait;
      }
    } finally {
      if (waitsFor.end(this.id)) this.storage.footprint?.touch(waitName(this.session), 'change');
      touch();
    }
  }

  /** The cycle of waits through this transaction that no change of a queue opens; empty when there is none. */
  #deadlock(isLooking: boolean): readonly number[] {
    const { waitsFor, heavyweight } = this.storage;
    const onLook = isLooking ? (id: number): void => footprints.recordWaitRead(this.storage, id) : undefined;
    const cycle = waitsFor.cycleThrough(this.id, onLook);
    for (const [i, waiter] of cycle.entries()) {
      const goBack = heavyweight.overtake(waiter, cycle[(i + 1) % cycle.length] ?? waiter);
      if (goBack === null) continue;
      if (cycle.every((id) => waitsFor.cycleThrough(id).length === 0)) return [];
      goBack();
    }
    return cycle;
  }

  #release(from: number): void {
    for (let i = from; i < this.#locked.length; i++) {
      const { row, lock } = this.#locked[i] as { row: StoredRow; lock: RowLock };
      const { locks } = row;
      if (locks === null) continue;
      this.storage.footprint?.touch(footprints.rowName(row), lock.strength);
      locks.release(lock);
      if (locks.held.length === 0 && locks.queue.length === 0) row.locks = null;
    }
    this.#locked.length = from;
  }

  #releaseHeavy(from: number): void {
    const { heavyweight, footprint } = this.storage;
    for (const { tag, mode } of this.#heavy.splice(from)) {
      if (footprint !== null) touchLock(footprint, tag, mode);
      heavyweight.release(tag, this.session, mode);
    }
  }

  #end(outcome: 'committed' | 'aborted', overwritten: readonly StoredRow[]): void {
    this.#written = [];
    this.#release(0);
    this.#releaseHeavy(0);
    this.snapshot = Infinity;
    footprints.recordEnd(this);
    this.storage.ended(this, overwritten);
    const { watched } = this.writer;
    if (watched !== null && !watched.isSafe)
      this.storage.watch.ended(watched, outcome === 'committed', this.storage.nextWriterNumber);
    this.storage.observer?.onEnd(this.id, outcome, this.writer.commitSequence);
  }
}

function deadlock(cycle: readonly number[]): SqlError {
  const lines = cycle.map((id, i) => `Transaction ${id} waits for transaction ${cycle[(i + 1) % cycle.length]}.`);
  return new SqlError('40P01', 'deadlock detected', {
    detail: lines.join('\n'),
    hint: 'See server log for query details.',
  });
}
