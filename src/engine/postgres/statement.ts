/** What a statement of the PostgreSQL profile sees and does. */
import { assert } from '../../base/index.ts';
import {
  SqlError,
  type AccessPath,
  type Duplicate,
  type IndexId,
  type InsertResult,
  type LockRequest,
  type Row,
  type RowCondition,
  type StatementView,
  type TableId,
  type TableLockMode,
  type TableShape,
  type UpdateResult,
  type Waiting,
  type SqlValue,
} from '../../sql/model/index.ts';
import { writeKey, writeRow } from './dependencies.ts';
import type { ObservedScan } from '../observer.ts';
import { changesKey, isReferable, sameKey, type PostgresTable, type StoredRow, type Version } from './table.ts';
import { keepsKeys, waitsAnyway } from './key-share.ts';
import type { PostgresTransaction } from './transaction.ts';
import * as footprints from './footprint.ts';
import { latestVersions, snapshotScanner, type SnapshotReader, visibleVersions } from './scan.ts';
import { findDuplicate, mayHaveDuplicate } from './unique.ts';
import { rowsUpTo } from '../rows-before.ts';
import { wantsMore } from '../take.ts';
import { currentVersion, RowVersion, type VersionContent } from '../versions.ts';

export class PostgresStatement implements StatementView {
  readonly scansInOrder = true;
  readonly #transaction: PostgresTransaction;
  readonly #command: number;
  readonly #snapshot: number;
  readonly #reader: SnapshotReader;
  readonly #mark: ReturnType<PostgresTransaction['mark']>;

  constructor(transaction: PostgresTransaction, command: number, snapshot = transaction.snapshot) {
    this.#transaction = transaction;
    this.#command = command;
    this.#snapshot = snapshot;
    this.#reader = { transaction, command, snapshot: this.#snapshot };
    this.#mark = transaction.mark();
  }

  scan(tableId: TableId, path: AccessPath, condition: RowCondition): Iterable<Row> {
    return this.scanner(tableId, condition)(path);
  }

  scanner(tableId: TableId, condition: RowCondition): (path: AccessPath) => Iterable<Row> {
    const { storage } = this.#transaction;
    const table = storage.table(tableId);
    if (storage.observer?.isRecording === true) return (path) => this.#observedScan(table, path, condition);
    return snapshotScanner(this.#readerOf(table), table, condition.matches);
  }

  *#observedScan(table: PostgresTable, path: AccessPath, condition: RowCondition): Iterable<Row> {
    const scan = this.#beginScan(table.shape.id, condition);
    let stop: Version | null = null;
    try {
      for (const version of visibleVersions(this.#readerOf(table), table, path, condition.matches)) {
        this.#observeRead(version);
        stop = version;
        yield version;
        stop = null;
      }
      scan?.ended();
    } finally {
      if (stop !== null) scan?.stopped(rowsUpTo(table, path, stop));
    }
  }

  *lock(
    tableId: TableId,
    path: AccessPath,
    condition: RowCondition,
    request: LockRequest,
    take: (row: Row) => boolean | Waiting<boolean>,
  ): Waiting<void> {
    const table = this.#transaction.storage.table(tableId);
    const scan = request.ifLocked === 'skip' ? null : this.#beginScan(tableId, condition);
    for (const version of this.#versionsFor(request, table, path, condition.matches)) {
      const locked = yield* this.#lockVersion(version, condition.matches, request);
      if (locked === null) {
        this.#observeChange(version);
        continue;
      }
      this.#observeRead(locked);
      if (!(yield* wantsMore(take(locked)))) return scan?.stopped(rowsUpTo(table, path, version));
    }
    scan?.ended();
  }

  *lockRow(row: Row, matches: (row: Row) => boolean, request: LockRequest): Waiting<Row | null> {
    const version = ours(row);
    const locked =
      request.reading === 'conflict'
        ? yield* this.#lockConflict(version, request)
        : yield* this.#lockVersion(version, matches, request);
    if (locked !== version) this.#observeUnread(version);
    if (locked === null) this.#observeChange(version);
    else this.#observeRead(locked);
    return locked;
  }

  *insert(tableId: TableId, values: readonly SqlValue[]): Waiting<InsertResult> {
    const table = this.#transaction.storage.table(tableId);
    const content = { values: [...values], keys: table.keysOf(values), isDeleted: false };
    this.#watchWrite(table, null);
    // Rows of a table are read in the order in which they were made.
    this.#transaction.storage.footprint?.touch(`order of ${tableId}`, 'change');
    const written = this.#push(table.newRow(), content);
    const rechecks: IndexId[] = [];
    const duplicate = yield* this.#enterKeys(written, null, rechecks);
    if (duplicate !== null && duplicate.isUnseen !== true) this.#observeRead(ours(duplicate.row));
    return duplicate ?? { kind: 'inserted', row: written, rechecks };
  }

  *findConflict(
    tableId: TableId,
    values: readonly SqlValue[],
    arbiters: readonly IndexId[],
  ): Waiting<Duplicate | null> {
    const table = this.#transaction.storage.table(tableId);
    const keys = table.keysOf(values);
    for (const id of arbiters) {
      const position = table.indexPosition(id);
      const key = keys[position] ?? null;
      const duplicate = key === null ? null : yield* this.#duplicate(table, position, key, null);
      if (duplicate === null) continue;
      if (duplicate.isUnseen !== true) this.#observeRead(ours(duplicate.row));
      return duplicate;
    }
    return null;
  }

  *update(row: Row, values: readonly SqlValue[], _columns: readonly number[]): Waiting<UpdateResult> {
    const version = ours(row);
    const { stored } = version;
    const { table } = stored;
    assert(version === currentVersion(stored.newest, this.#transaction.writer), `row ${row.id} is locked and current`);
    const keys = table.keysOf(values).map((key, i) => sameKey(table, i, version.keys[i] ?? null, key));
    const isKeyChanged = keys.some((key, i) => key !== version.keys[i] && isReferable(table.shape.indexes[i]));
    yield* this.#transaction.lock(stored, isKeyChanged ? 'update' : 'no key update', 'wait');
    this.#watchWrite(table, version);
    const isLocked = stored.locks?.holds(this.#transaction.writer, 'update') === true;
    const rechecks: IndexId[] = [];
    const written = this.#push(stored, { values: [...values], keys, isDeleted: false, changesKey: isLocked });
    const duplicate = yield* this.#enterKeys(written, version, rechecks);
    return duplicate ?? { kind: 'updated', row: written, rechecks };
  }

  *delete(row: Row): Waiting<void> {
    const version = ours(row);
    const { stored } = version;
    assert(version === currentVersion(stored.newest, this.#transaction.writer), `row ${row.id} is locked and current`);
    yield* this.#transaction.lock(stored, 'update', 'wait');
    this.#watchWrite(stored.table, version);
    this.#observeWrite(this.#push(stored, { values: version.values, keys: version.keys, isDeleted: true }));
  }

  lockTable(table: TableId, mode: TableLockMode): Waiting<unknown> {
    return this.#transaction.lockTable(table, mode, 'wait');
  }

  constraintQuery(): PostgresStatement {
    return this.#transaction.constraintQuery();
  }

  latestView(): PostgresStatement {
    return this.#transaction.latestQuery();
  }

  isOwn(row: Row): boolean {
    return ours(row).writer === this.#transaction.writer;
  }

  isCurrent(row: Row): boolean {
    return ours(row).stored.newest === row;
  }

  *isUnique(row: Row, index: IndexId): Waiting<boolean> {
    const { stored, keys } = ours(row);
    const { table, newest } = stored;
    const position = table.indexPosition(index);
    const key = keys[position] ?? null;
    // The version of an update that keeps the key stands for this one; one with another key has a check of its own.
    if (key === null || newest === null || newest.isDeleted || newest.keys[position] !== key) return true;
    return (yield* findDuplicate(this.#transaction, table, position, key, stored)) === null;
  }

  truncated(table: TableId): void {
    this.#transaction.truncated(this.#transaction.storage.table(table));
  }

  undo(): void {
    this.#transaction.undoTo(this.#mark);
  }

  #observeRead(version: Version): void {
    const { storage, id } = this.#transaction;
    if (storage.observer?.isRecording === true)
      storage.observer.onRead(id, version.table, version.id, version.observed);
  }

  /** A row that was found has changed before it was locked: the statement passes over it because of the current version. */
  #observeChange(found: Version): void {
    const current = currentVersion(found.stored.newest, this.#transaction.writer);
    if (current !== null && current !== found) this.#observeRead(current);
  }

  #observeUnread({ table, id, sequence }: Version): void {
    this.#transaction.storage.observer?.onUnread(this.#transaction.id, table, id, sequence);
  }

  #observeWrite(version: Version): void {
    const { older } = version;
    const before = older === null ? null : older.observed;
    const { storage, id } = this.#transaction;
    storage.observer?.onWrite(id, version.table, version.id, version.observed, before);
  }

  #beginScan(table: TableId, { keep }: RowCondition): ObservedScan | null {
    const { storage, id } = this.#transaction;
    if (storage.observer?.isRecording !== true || keep === null) return null;
    return storage.observer.onScan(id, table, keep, this.#transaction.snapshotOf(storage.table(table), this.#snapshot));
  }

  #watchWrite(table: PostgresTable, version: Version | null): void {
    const me = this.#transaction.watched;
    if (me !== null) writeRow(this.#transaction, me, table, version);
  }

  #watchKey(version: Version, position: number): void {
    const me = this.#transaction.watched;
    if (me !== null) writeKey(this.#transaction, me, version, position);
  }

  #push(row: StoredRow, content: VersionContent): Version {
    const version = row.table.push(row, this.#transaction.writer, this.#command, content);
    this.#transaction.wrote(version);
    return version;
  }

  /**
   * Index by index, as PostgreSQL does: while one key waits, the keys before it are taken already. The version goes when one is not free.
   * @param rechecks gets the deferrable indexes in which a key may not be free
   */
  *#enterKeys(written: Version, previous: Version | null, rechecks: IndexId[]): Waiting<Duplicate | null> {
    const { table } = written.stored;
    const watchesAllKeys =
      this.#transaction.storage.readsWholeIndex && previous !== null && changesKey(previous, written);
    for (let i = 0; i < written.keys.length; i++) {
      const key = written.keys[i] ?? null;
      if (key === null) continue;
      if (key === previous?.keys[i]) {
        // PostgreSQL enters unchanged keys again when another one has changed.
        if (watchesAllKeys) this.#watchKey(written, i);
        continue;
      }
      const index = table.shape.indexes[i];
      const isDeferrable = index?.isDeferrable === true;
      if (isDeferrable && mayHaveDuplicate(this.#transaction, table, i, key, written.stored)) rechecks.push(index.id);
      const duplicate = isDeferrable ? null : yield* this.#duplicate(table, i, key, written.stored);
      this.#watchKey(written, i);
      if (duplicate !== null) {
        this.#transaction.takeBack(written);
        return duplicate;
      }
      table.enter(written, i);
    }
    this.#observeWrite(written);
    return null;
  }

  #readerOf(table: PostgresTable): SnapshotReader {
    const snapshot = this.#transaction.snapshotOf(table, this.#snapshot);
    return snapshot === this.#snapshot ? this.#reader : { ...this.#reader, snapshot };
  }

  #versionsFor(
    { reading }: LockRequest,
    table: PostgresTable,
    path: AccessPath,
    matches: RowCondition['matches'],
  ): Iterable<Version> {
    if (reading === 'latest') return latestVersions(this.#transaction, table, path, matches);
    const reader = this.#readerOf(table);
    if (reading !== 'referencing') return visibleVersions(reader, table, path, matches);
    footprints.recordPathRead(this.#transaction, table, path, 'see');
    return visibleVersions({ ...reader, snapshot: this.#transaction.storage.lastCommit }, table, path, matches);
  }

  /**
   * Locks the row of a version that was found. Under READ COMMITTED the latest version counts if it still matches (EvalPlanQual in
   * PostgreSQL's words); with a snapshot for the transaction a row that has changed since is an error. @throws SqlError 40001, 55P03, 40P01
   */
  *#lockVersion(found: Version, matches: (row: Row) => boolean, request: LockRequest): Waiting<Version | null> {
    const { stored } = found;
    footprints.recordLatestRead(this.#transaction, stored, request);
    if (request.reading === 'statement' && this.#hasWritten(stored)) return null;
    const ifLocked = waitsAnyway(found, request, this.#transaction.writer) ? 'wait' : request.ifLocked;
    const strength = request.strengthFor?.(found) ?? request.strength;
    const mustBeUnchanged = this.#transaction.keepsSnapshot && usesSnapshot(request);
    if (mustBeUnchanged) this.#checkUnchanged(found, strength === 'key share');
    const outcome = yield* this.#transaction.lock(stored, strength, ifLocked);
    if (outcome === 'skipped') return null;
    if (mustBeUnchanged) this.#checkUnchanged(found, strength === 'key share');
    const current = currentVersion(stored.newest, this.#transaction.writer);
    if (request.reading === 'referencing' && strength !== 'key share' && this.#isUnseen(found))
      throw concurrent('update');
    if (current === found) return found;
    if (current === null || current.isDeleted) return null;
    if (strength === 'key share' && usesSnapshot(request) && keepsKeys(found, current)) return found;
    if (!matches(current)) return null;
    // The new version may need a stronger lock than the old one did.
    return request.strengthFor === undefined ? current : yield* this.#lockVersion(current, matches, request);
  }

  /** Of a row that a statement comes to twice (it has a WITH that writes) it changes the first time only. */
  #hasWritten({ newest }: StoredRow): boolean {
    return newest?.writer === this.#transaction.writer && newest.command === this.#command;
  }

  /** @throws SqlError 40001 */
  #checkUnchanged(found: Version, keyIsEnough: boolean): void {
    const current = currentVersion(found.stored.newest, this.#transaction.writer);
    if (current === found) return;
    if (current === null || current.isDeleted) throw concurrent('delete');
    if (!keyIsEnough || !keepsKeys(found, current)) throw concurrent('update');
  }

  /** The version that is in the way of an upsert (`ExecOnConflictUpdate`). `null`: it has changed since. @throws SqlError 40001, 40P01 */
  *#lockConflict(found: Version, { strength }: LockRequest): Waiting<Version | null> {
    const { stored } = found;
    const transaction = this.#transaction;
    transaction.storage.footprint?.touch(footprints.rowName(stored), 'see');
    yield* transaction.lock(stored, strength, 'wait');
    if (transaction.keepsSnapshot) this.#checkUnchanged(found, false);
    if (this.#isUnseen(found)) throw concurrent('update');
    return currentVersion(stored.newest, transaction.writer) === found ? found : null;
  }

  *#duplicate(
    table: PostgresTable,
    position: number,
    key: readonly SqlValue[],
    except: StoredRow | null,
  ): Waiting<Duplicate | null> {
    const row = yield* findDuplicate(this.#transaction, table, position, key, except);
    if (row === null) return null;
    const isOwn = row.writer === this.#transaction.writer && row.command === this.#command;
    const { id: index } = table.shape.indexes[position] as TableShape['indexes'][number];
    return { kind: 'duplicate', index, row, isUnseen: this.#isUnseen(row), isOwn };
  }

  #isUnseen(version: Version): boolean {
    const { writer, keepsSnapshot } = this.#transaction;
    return keepsSnapshot && version.writer !== writer && version.writer.commitSequence > this.#snapshot;
  }
}

function usesSnapshot({ reading }: LockRequest): boolean {
  return reading !== 'latest' && reading !== 'conflict';
}

function ours(row: Row): Version {
  assert(row instanceof RowVersion, `row ${row.id} comes from this storage`);
  return row as Version;
}

function concurrent(what: 'update' | 'delete'): SqlError {
  return new SqlError('40001', `could not serialize access due to concurrent ${what}`);
}
