/** What a statement of the PostgreSQL profile sees and does. */
import { assert } from '../../base/index.ts';
import {
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
import { changesKey, isReferable, sameKey, type PostgresTable, type StoredRow, type Version } from './table.ts';
import { isUnseen, lockConflict, lockVersion, never } from './lock-version.ts';
import { StatementObservations } from './observations.ts';
import type { PostgresTransaction } from './transaction.ts';
import type { SnapshotReader } from './index-walk.ts';
import { ObservedRows } from './observed-rows.ts';
import { latestVersions, snapshotScanner, visibleVersions } from './scan.ts';
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
  readonly #observations: StatementObservations;
  readonly #mark: ReturnType<PostgresTransaction['mark']>;

  constructor(
    transaction: PostgresTransaction,
    command: number,
    snapshot = transaction.snapshot,
    snapshotFootprint = transaction.snapshotFootprint,
  ) {
    this.#transaction = transaction;
    this.#command = command;
    this.#snapshot = snapshot;
    this.#reader = { transaction, command, snapshot, snapshotFootprint };
    this.#observations = new StatementObservations(transaction, command);
    this.#mark = transaction.mark();
  }

  scan(tableId: TableId, path: AccessPath, condition: RowCondition): Iterable<Row> {
    return this.scanner(tableId, condition)(path);
  }

  scanner(tableId: TableId, condition: RowCondition): (path: AccessPath) => Iterable<Row> {
    const { storage } = this.#transaction;
    const table = storage.table(tableId);
    if (storage.observer?.isRecording === true) return (path) => this.#observedScan(table, path, condition);
    return snapshotScanner(this.#readerOf(table), table, condition);
  }

  unobservedRows(table: TableId): number | null {
    const { storage, watched } = this.#transaction;
    const isObserved = watched !== null || storage.footprint !== null || storage.observer?.isRecording === true;
    return isObserved ? null : storage.table(table).rows.size;
  }

  #observedScan(table: PostgresTable, path: AccessPath, condition: RowCondition): Iterable<Row> {
    return new ObservedRows(
      () => this.#observations.beginScan(table.shape.id, condition, 'snapshot', this.#snapshot),
      () => visibleVersions(this.#readerOf(table), table, path, condition),
      (version) => this.#observations.read(version),
      (stop) => rowsUpTo(table, path, stop),
    );
  }

  *lock(
    tableId: TableId,
    path: AccessPath,
    condition: RowCondition,
    request: LockRequest,
    take: (row: Row) => boolean | Waiting<boolean>,
  ): Waiting<void> {
    const table = this.#transaction.storage.table(tableId);
    const { matches, stillMatches } = condition;
    const scan =
      request.ifLocked === 'skip' ? null : this.#observations.beginScan(tableId, condition, 'current', this.#snapshot);
    for (const version of this.#versionsFor(request, table, path, condition)) {
      const again = stillMatches === undefined ? matches : (newer: Row) => stillMatches(newer, version);
      const locked = yield* lockVersion(version, again, request, this.#reader);
      if (locked === null) this.#observations.change(version);
      if (locked === null || locked === 'skipped') continue;
      this.#observations.read(locked);
      if (!(yield* wantsMore(take(locked)))) return scan?.stopped(rowsUpTo(table, path, version));
    }
    scan?.ended();
  }

  *lockRow(row: Row, matches: (row: Row) => boolean, request: LockRequest): Waiting<Row | null> {
    const version = ours(row);
    const locked =
      request.reading === 'conflict'
        ? yield* lockConflict(version, request, this.#reader)
        : yield* lockVersion(version, matches, request, this.#reader);
    if (locked !== version) this.#observations.unread(version);
    if (locked === 'skipped') return null;
    if (locked === null) this.#observations.change(version);
    else this.#observations.read(locked);
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
    if (duplicate !== null && duplicate.isUnseen !== true) this.#observations.read(ours(duplicate.row));
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
      if (duplicate.isUnseen !== true) this.#observations.read(ours(duplicate.row));
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
    yield* this.#transaction.rowLocks.lock(stored, isKeyChanged ? 'update' : 'no key update', 'wait', never);
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
    yield* this.#transaction.rowLocks.lock(stored, 'update', 'wait', never);
    this.#watchWrite(stored.table, version);
    this.#observations.write(this.#push(stored, { values: version.values, keys: version.keys, isDeleted: true }));
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
    if ((yield* findDuplicate(this.#transaction, table, position, key, stored)) === null) return true;
    // _bt_check_unique: a serialization failure comes before the duplicate key.
    this.#watchKey(newest, position);
    return false;
  }

  truncated(table: TableId): void {
    this.#transaction.truncated(this.#transaction.storage.table(table));
  }

  undo(): void {
    this.#transaction.undoTo(this.#mark);
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
        this.#transaction.undoLastWrite(written);
        return duplicate;
      }
      table.enter(written, i);
    }
    this.#observations.write(written);
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
    condition: RowCondition,
  ): Iterable<Version> {
    if (reading === 'latest') return latestVersions(this.#transaction, table, path, condition.matches);
    const reader = this.#readerOf(table);
    if (reading !== 'referencing') return visibleVersions(reader, table, path, condition);
    const { lastCommit, footprint } = this.#transaction.storage;
    return visibleVersions({ ...reader, snapshot: lastCommit, snapshotFootprint: footprint }, table, path, condition);
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
    return { kind: 'duplicate', index, row, isUnseen: isUnseen(row, this.#reader), isOwn };
  }
}

function ours(row: Row): Version {
  assert(row instanceof RowVersion, `row ${row.id} comes from this storage`);
  return row as Version;
}
