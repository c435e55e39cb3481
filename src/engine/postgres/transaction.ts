/** A transaction of the PostgreSQL profile: its snapshot, what it has written and locked, and how that is rolled back. */
import { assert } from '../../base/index.ts';
import {
  type StorageTransaction,
  type TableId,
  type TableLockMode,
  type TransactionOptions,
  type Waiting,
  SqlError,
} from '../../sql/model/index.ts';
import { PostgresStatement } from './statement.ts';
import type { Footprint } from '../footprint.ts';
import * as footprints from './footprint.ts';
import type { PostgresStorage } from './storage.ts';
import type { PostgresTable, StoredRow, Version } from './table.ts';
import { HeldHeavyweightLocks } from './held-heavyweight-locks.ts';
import { HeldRowLocks, type RowLocker } from './held-row-locks.ts';
import { waitForBlockers } from './lock-wait.ts';
import { type Watched, watchName } from './serializable.ts';
import type { Writer } from '../versions.ts';

interface Mark {
  readonly written: number;
  readonly locked: number;
  readonly heavy: number;
  readonly truncated: number;
}

export class PostgresTransaction implements StorageTransaction, RowLocker {
  readonly id: number;
  readonly session: number;
  readonly storage: PostgresStorage;
  readonly writer: Writer;
  /** Does one snapshot serve the whole transaction? */
  readonly keepsSnapshot: boolean;
  readonly options: TransactionOptions;
  /** Infinity: none has been taken, or the statement that took it is over. */
  snapshot = Infinity;
  /** Of the step that took it. */
  snapshotFootprint: Footprint | null = null;
  /** Infinity until it writes or locks. */
  writerNumber = Infinity;
  #command = 0;
  #written: Version[] = [];
  readonly rowLocks = new HeldRowLocks(this);
  readonly #heavyweight = new HeldHeavyweightLocks(this);
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
    footprints.recordFlagsRead(this);
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
    return new PostgresStatement(this, ++this.#command, this.storage.lastCommit, this.storage.footprint);
  }

  /** A query of a constraint: of the same transaction, after the statement that made it necessary. */
  constraintQuery(): PostgresStatement {
    if (!this.keepsSnapshot) this.#takeSnapshot();
    return new PostgresStatement(this, ++this.#command);
  }

  #takeSnapshot(): void {
    this.snapshot = this.storage.lastCommit;
    if (this.options.isolation === 'serializable') {
      const { watch, oldestWriterNumber } = this.storage;
      this.writer.watched = watch.begin(this.id, this.session, oldestWriterNumber, this.options.isReadOnly);
    }
    this.snapshotFootprint = footprints.recordSnapshot(this);
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
      locked: this.rowLocks.mark(),
      heavy: this.#heavyweight.mark(),
      truncated: this.#truncated.length,
    };
  }

  /** Of a statement that failed, or back to a savepoint. */
  undoTo(mark: Mark): void {
    this.storage.observer?.onUndo(this.id, this.#written.slice(mark.written));
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
    this.rowLocks.release(mark.locked);
    this.#heavyweight.release(mark.heavy);
  }

  wrote(version: Version): void {
    this.number();
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
  undoLastWrite(version: Version): void {
    assert(this.#written.pop() === version, `version of row ${version.id} is the last written`);
    footprints.recordWrite(this, version);
    version.stored.table.pop(version);
  }

  number(): number {
    if (this.writerNumber !== Infinity) return this.writerNumber;
    this.writerNumber = this.storage.newWriterNumber();
    return this.writerNumber;
  }

  lockTable(table: TableId, mode: TableLockMode, ifLocked: 'wait' | 'error'): Waiting<boolean> {
    return this.#heavyweight.lock(`table ${table}`, mode, ifLocked, () => {
      const name = this.storage.nameOf(table);
      return { reason: `${mode} lock on ${name}`, title: `relation "${name}"` };
    });
  }

  lockName(name: string): Waiting<boolean> {
    return this.#heavyweight.lock(`name ${name}`, 'exclusive', 'wait', () => ({
      reason: `the name ${name}`,
      title: name,
    }));
  }

  tryLockName(name: string): boolean {
    return this.#heavyweight.tryLock(`name ${name}`, 'exclusive');
  }

  /** Until no transaction blocks this one. @throws SqlError 40P01 */
  wait(blockers: () => readonly number[], reason: string, touch: () => void): Waiting<void> {
    return waitForBlockers(this, blockers, reason, touch);
  }

  #end(outcome: 'committed' | 'aborted', overwritten: readonly StoredRow[]): void {
    this.#written = [];
    this.rowLocks.release(0);
    this.#heavyweight.release(0);
    this.snapshot = Infinity;
    footprints.recordEnd(this);
    this.storage.ended(this, overwritten);
    const { watched } = this.writer;
    if (watched !== null && !watched.isSafe)
      this.storage.watch.ended(watched, outcome === 'committed', this.storage.nextWriterNumber);
    this.storage.observer?.onEnd(this.id, outcome, this.writer.commitSequence);
  }
}
