/** What a statement of the PostgreSQL profile sees and does. */
import { assert } from '../base/assert.ts';
import { SqlError } from '../sql/sql-error.ts';
import type {
  AccessPath,
  Duplicate,
  IndexId,
  InsertResult,
  LockRequest,
  Row,
  RowCondition,
  StatementView,
  TableId,
  TableLockMode,
  UpdateResult,
  Waiting,
} from '../sql/storage.ts';
import type { SqlValue } from '../sql/value.ts';
import type { IndexPath } from './index-tree.ts';
import { changesKey, readPath, readRow, writeKey, writeRow } from './postgres-dependencies.ts';
import type { ObservedScan } from './observer.ts';
import {
  hasKey,
  isComparable,
  isReferable,
  mayHaveKey,
  pathIndex,
  sameKey,
  type PostgresTable,
  type StoredRow,
  type Version,
} from './postgres-table.ts';
import { keepsKeys, waitsAnyway } from './key-share.ts';
import type { PostgresTransaction } from './postgres-transaction.ts';
import * as footprints from './postgres-footprint.ts';
import type { Watched } from './serializable.ts';
import { rowsUpTo } from './rows-before.ts';
import { filtered, goesOn } from './take.ts';
import { currentVersion, openWriter, RowVersion, versionAt, type VersionContent } from './versions.ts';

/** So many versions with one key are looked at before the first is asked for; a statement may stop at the first. */
const rowsAtOnceMax = 32;

export class PostgresStatement implements StatementView {
  readonly scansInOrder = true;
  readonly #transaction: PostgresTransaction;
  readonly #command: number;
  readonly #snapshot: number;
  readonly #mark: ReturnType<PostgresTransaction['mark']>;

  constructor(transaction: PostgresTransaction, command: number) {
    this.#transaction = transaction;
    this.#command = command;
    this.#snapshot = transaction.snapshot;
    this.#mark = transaction.mark();
  }

  scan(tableId: TableId, path: AccessPath, condition: RowCondition): Iterable<Row> {
    const { storage } = this.#transaction;
    const table = storage.table(tableId);
    if (storage.observer?.isRecording === true) return this.#observedScan(table, path, condition);
    return this.#visible(table, path, condition.matches);
  }

  *#observedScan(table: PostgresTable, path: AccessPath, condition: RowCondition): Iterable<Row> {
    const scan = this.#beginScan(table.shape.id, condition);
    let stop: Version | null = null;
    try {
      for (const version of this.#visible(table, path, condition.matches)) {
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
      if (!(yield* goesOn(take(locked)))) return scan?.stopped(rowsUpTo(table, path, version));
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

  isOwn(row: Row): boolean {
    return ours(row).writer === this.#transaction.writer;
  }

  isCurrent(row: Row): boolean {
    return ours(row).stored.newest === row;
  }

  *isUnique(row: Row, index: IndexId): Waiting<boolean> {
    const { stored, keys } = ours(row);
    const position = stored.table.indexPosition(index);
    const key = keys[position] ?? null;
    return key === null || (yield* this.#duplicate(stored.table, position, key, stored)) === null;
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
      if (isDeferrable && this.#mayBeTaken(table, i, key, written.stored)) rechecks.push(index.id);
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

  #versionsFor(
    { reading }: LockRequest,
    table: PostgresTable,
    path: AccessPath,
    matches: RowCondition['matches'],
  ): Iterable<Version> {
    if (reading === 'latest') return this.#latest(table, path, matches);
    if (reading !== 'referencing') return this.#visible(table, path, matches);
    footprints.recordPathRead(this.#transaction, table, path, 'see');
    return this.#visible(table, path, matches, this.#transaction.storage.snapshot);
  }

  /** The matching versions of a snapshot, this statement's own when none is named, that a path leads to. */
  #visible(
    table: PostgresTable,
    path: AccessPath,
    matches: RowCondition['matches'],
    snapshot = this.#transaction.snapshotOf(table, this.#snapshot),
  ): Iterable<Version> {
    footprints.recordSnapshotRead(this.#transaction, table, path);
    const me = this.#transaction.watched;
    const position = pathIndex(table, path);
    if (path.kind === 'all' || position === null) return this.#walkTable(table, me, matches, snapshot);
    const found = me === null ? this.#lookUp(table, position, path, snapshot) : null;
    if (found !== null) return found.length === 0 ? found : filtered(found, matches);
    return this.#walkIndex(table, position, path, me, matches, snapshot);
  }

  /** The visible versions with one key; `null`: the path is no key, or many rows have it. */
  #lookUp(table: PostgresTable, position: number, path: IndexPath, snapshot: number): readonly Version[] | null {
    const entries = table.tree(position).point(path);
    if (entries === null || entries.length > (path.isDescending ? 1 : rowsAtOnceMax)) return null;
    const versions: Version[] = [];
    for (const { key, row } of entries) {
      const version = versionAt(row.newest, this.#transaction.writer, snapshot, this.#command);
      if (version !== null && !version.isDeleted && hasKey(table, position, version, key)) versions.push(version);
    }
    return versions;
  }

  *#walkTable(
    table: PostgresTable,
    me: Watched | null,
    matches: RowCondition['matches'],
    snapshot: number,
  ): Iterable<Version> {
    const transaction = this.#transaction;
    const { writer } = transaction;
    if (me !== null) {
      table.reads.readTable(me);
      // PostgreSQL looks at all rows of a page when it comes to the page.
      if (transaction.storage.readsWholeIndex) this.#readAll(me, table, snapshot);
    }
    for (const row of table.rows.values()) {
      const version = versionAt(row.newest, writer, snapshot, this.#command);
      if (me !== null) readRow(transaction, me, row, version, null);
      if (version !== null && !version.isDeleted && matches(version)) yield version;
    }
  }

  *#walkIndex(
    table: PostgresTable,
    position: number,
    path: IndexPath,
    me: Watched | null,
    matches: RowCondition['matches'],
    snapshot: number,
  ): Iterable<Version> {
    const transaction = this.#transaction;
    if (me !== null) readPath(transaction, me, table, path);
    for (const { key, row } of table.tree(position).range(path)) {
      const version = versionAt(row.newest, transaction.writer, snapshot, this.#command);
      if (me !== null) readRow(transaction, me, row, version, (other) => hasKey(table, position, other, key));
      if (version !== null && !version.isDeleted && hasKey(table, position, version, key) && matches(version))
        yield version;
    }
  }

  #readAll(me: Watched, table: PostgresTable, snapshot: number): void {
    for (const row of table.rows.values()) {
      const version = versionAt(row.newest, this.#transaction.writer, snapshot, this.#command);
      readRow(this.#transaction, me, row, version, null);
    }
  }

  /** The latest versions, committed or own, whatever the snapshot. */
  *#latest(table: PostgresTable, path: AccessPath, matches: RowCondition['matches']): Iterable<Version> {
    footprints.recordPathRead(this.#transaction, table, path, 'see');
    const position = pathIndex(table, path);
    const entries = path.kind === 'all' || position === null ? null : table.tree(position).range(path);
    for (const entry of entries ?? table.rows.values()) {
      const row = 'row' in entry ? entry.row : entry;
      const version = currentVersion(row.newest, this.#transaction.writer);
      if (version === null || version.isDeleted) continue;
      if ('row' in entry && position !== null && !hasKey(table, position, version, entry.key)) continue;
      if (matches(version)) yield version;
    }
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

  #isUnseen(version: Version): boolean {
    const { writer, keepsSnapshot } = this.#transaction;
    return keepsSnapshot && version.writer !== writer && version.writer.commitSequence > this.#snapshot;
  }

  /** Is the key in another row, or may it be when an open transaction has ended? */
  #mayBeTaken(table: PostgresTable, position: number, key: readonly SqlValue[], except: StoredRow): boolean {
    const index = table.shape.indexes[position];
    if (index === undefined || !isComparable(key, index.nullsAreEqual)) return false;
    const { writer, storage } = this.#transaction;
    storage.footprint?.touchKey(footprints.indexName(table, position), 'peek', key, index.compare);
    return table
      .tree(position)
      .allWith(key)
      .some(({ row }) => {
        if (row === except) return false;
        const current = currentVersion(row.newest, writer);
        const isThere = current !== null && !current.isDeleted && hasKey(table, position, current, key);
        return isThere || (openWriter(row.newest, writer) !== null && mayHaveKey(table, position, row, key));
      });
  }

  /** Waits for open transactions that have inserted, deleted or changed the row with this key, then says whether it is in the way. */
  *#duplicate(
    table: PostgresTable,
    position: number,
    key: readonly SqlValue[],
    except: StoredRow | null,
  ): Waiting<Duplicate | null> {
    const index = table.shape.indexes[position];
    if (index === undefined || !index.isUnique || !isComparable(key, index.nullsAreEqual)) return null;
    const { writer } = this.#transaction;
    const blockers = (): number[] =>
      table
        .tree(position)
        .allWith(key)
        .flatMap(({ row }) => {
          const open = row === except ? null : openWriter(row.newest, writer);
          return open !== null && mayHaveKey(table, position, row, key) ? [open.id] : [];
        });
    const touch = (): void =>
      this.#transaction.storage.footprint?.touchKey(footprints.indexName(table, position), 'peek', key, index.compare);
    for (;;) {
      touch();
      for (const { row } of table.tree(position).allWith(key)) {
        if (row === except) continue;
        const current = currentVersion(row.newest, writer);
        const isThere = current !== null && !current.isDeleted && hasKey(table, position, current, key);
        if (isThere && openWriter(row.newest, writer) === null)
          return {
            kind: 'duplicate',
            index: index.id,
            row: current,
            isUnseen: this.#isUnseen(current),
            isOwn: current.writer === writer && current.command === this.#command,
          };
      }
      if (blockers().length === 0) return null;
      yield* this.#transaction.wait(blockers, `key of ${index.name}`, touch);
    }
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
