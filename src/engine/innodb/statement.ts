/** What a statement of the InnoDB profile sees and does. */
import { assert } from '../../base/index.ts';
import {
  SqlError,
  type AccessPath,
  type DuplicateLock,
  type IndexChecks,
  type InsertResult,
  type LockRequest,
  type MetadataLocking,
  type Row,
  type RowCondition,
  type StatementView,
  type TableId,
  type UpdateResult,
  type Waiting,
  type SqlValue,
} from '../../sql/model/index.ts';
import * as footprints from './footprint.ts';
import { type LockMode, modeOf } from './gap-locks.ts';
import { lockRange } from './locking-read.ts';
import { lockReferences } from './references.ts';
import { IndexRecord, type InnodbIndex, type InnodbTable, type InnodbVersion } from './table.ts';
import type { InnodbTransaction } from './transaction.ts';
import { deleteRow, insertRow, updateRow } from './writes.ts';
import type { IndexPath } from '../index-tree.ts';
import type { ObservedReading, ObservedScan } from '../observer.ts';
import { rowsBefore } from '../rows-before.ts';
import { wantsMore } from '../take.ts';
import { RowVersion, versionAt } from '../versions.ts';

export class InnodbStatement implements StatementView {
  readonly scansLock: boolean;
  readonly scansInOrder = true;
  readonly checksByIndex = true;
  readonly #transaction: InnodbTransaction;
  readonly #command: number;
  readonly #mark: number;
  /** Locked anew in each mode, and not looked at to the end. */
  readonly #undecided: Readonly<Record<LockMode, Set<IndexRecord>>> = { S: new Set(), X: new Set() };

  constructor(transaction: InnodbTransaction, command: number) {
    this.#transaction = transaction;
    this.#command = command;
    this.#mark = transaction.position();
    this.scansLock = transaction.isolation === 'serializable';
  }

  get metadata(): MetadataLocking {
    return this.#transaction.metadataLocking;
  }

  *scan(tableId: TableId, path: AccessPath, condition: RowCondition): Iterable<Row> {
    this.#transaction.takePart();
    const table = this.#transaction.storage.table(tableId);
    const { index, range } = rangeOf(table, path);
    const { isolation, writer } = this.#transaction;
    const view = isolation === 'read uncommitted' ? Infinity : this.#transaction.openReadView();
    footprints.recordRead(this.#transaction, index, range);
    if (index.since > view) throw changedDefinition();
    const scan = this.#beginScan(tableId, condition, view === Infinity ? 'current' : 'snapshot', view);
    const point = index.shape.isUnique ? index.tree.point(range) : null;
    let stop: InnodbVersion | null = null;
    try {
      for (const { key, row } of point ?? index.tree.range(range)) {
        const version = versionAt(row.newest, writer, view, this.#command);
        if (version === null || version.isDeleted || !index.hasKey(version, key)) continue;
        if (!condition.matches(version)) continue;
        this.#observeRead(version);
        stop = version;
        yield version;
        stop = null;
      }
      scan?.ended();
    } finally {
      if (stop !== null) scan?.stopped(rowsBefore(index.shape, range, stop));
    }
  }

  *lock(
    tableId: TableId,
    path: AccessPath,
    condition: RowCondition,
    request: LockRequest,
    take: (row: Row) => boolean | Waiting<boolean>,
  ): Waiting<void> {
    const { storage } = this.#transaction;
    const { index, range } = rangeOf(storage.table(tableId), path);
    this.#transaction.intend(tableId, modeOf(request));
    const isOfKey = request.reading === 'referenced' || request.reading === 'referencing';
    if (!isOfKey && index.since > this.#transaction.readView) throw changedDefinition();
    const scan =
      request.ifLocked === 'skip' ? null : this.#beginScan(tableId, condition, 'current', storage.lastCommit);
    const matches = scan === null ? condition.matches : observedMatches(condition, scan);
    let stop: InnodbVersion | null = null;
    const takeObserved = function* (this: InnodbStatement, version: InnodbVersion): Waiting<boolean> {
      this.#observeRead(version);
      stop = version;
      const isWanted = yield* wantsMore(take(version));
      if (isWanted) stop = null;
      return isWanted;
    };
    const read = isOfKey ? lockReferences : lockRange;
    try {
      yield* read(
        this.#transaction,
        index,
        range,
        { ...condition, matches },
        request,
        takeObserved.bind(this),
        this.#undecided[modeOf(request)],
      );
      if (stop === null) scan?.ended();
    } finally {
      if (stop !== null) scan?.stopped(rowsBefore(index.shape, range, stop));
    }
  }

  *lockRow(row: Row, matches: (row: Row) => boolean, request: LockRequest): Waiting<Row | null> {
    const found = ours(row);
    const { stored } = found;
    const { table } = stored;
    const { clustered } = table;
    const record = clustered.tree.getEntry(new IndexRecord(clustered, stored.clusteredKey, stored));
    footprints.recordWalk(this.#transaction.storage, clustered, stored.clusteredKey, stored.clusteredKey);
    if (record === undefined) return null;
    const reason = `row lock on ${table.shape.name} ${row.id}`;
    const outcome = yield* this.#transaction.lock(record, modeOf(request), 'record', request.ifLocked, reason);
    const current = stored.newest;
    if (outcome !== 'granted' || current === null) return null;
    if (current !== found) this.#observeUnread(found);
    this.#observeRead(current);
    return current.isDeleted || (current !== found && !matches(current)) ? null : current;
  }

  *insert(
    tableId: TableId,
    values: readonly SqlValue[],
    duplicateLock: DuplicateLock,
    checks?: IndexChecks,
  ): Waiting<InsertResult> {
    const table = this.#transaction.storage.table(tableId);
    const mark = this.#transaction.position();
    this.#transaction.intend(tableId, 'X');
    const mode = duplicateLock === 'share' ? 'S' : 'X';
    this.#transaction.duplicateMode = mode;
    const writing = { transaction: this.#transaction, command: this.#command, checks };
    const result = yield* this.#undoneOnError(mark, insertRow(writing, table, [...values]));
    if (result.kind === 'duplicate') {
      this.#transaction.undoTo(mark);
      this.#observeRead(result.row);
      // REPLACE and ON DUPLICATE KEY UPDATE read the row.
      if (mode === 'X' && table.clustered.since > this.#transaction.readView) throw changedDefinition();
    } else this.#observeWrite(result.row);
    return result;
  }

  *lockCounter(table: TableId, isBulk: boolean): Waiting<void> {
    yield* this.#transaction.lockCounter(this.#transaction.storage.table(table), isBulk);
  }

  *update(
    row: Row,
    values: readonly SqlValue[],
    _columns: readonly number[],
    checks?: IndexChecks,
  ): Waiting<UpdateResult> {
    const version = ours(row);
    assert(version === version.stored.newest, `row ${row.id} is locked and current`);
    // The server compares the records and leaves alone what does not change: no version, so an old read view still hides it.
    if (values.every((value, i) => value === version.values[i])) return { kind: 'updated', row };
    const mark = this.#transaction.position();
    const writing = { transaction: this.#transaction, command: this.#command, checks };
    const result = yield* updateRow(writing, version, [...values]);
    if (result.kind === 'duplicate') this.#transaction.undoTo(mark);
    else {
      // A new primary key is a new record; the old one is deleted.
      if (result.row.stored !== version.stored && version.stored.newest !== null)
        this.#observeWrite(version.stored.newest);
      this.#observeWrite(result.row);
    }
    return result;
  }

  *delete(row: Row, checks?: IndexChecks): Waiting<void> {
    const version = ours(row);
    assert(version === version.stored.newest, `row ${row.id} is locked and current`);
    const writing = { transaction: this.#transaction, command: this.#command, checks };
    this.#observeWrite(yield* deleteRow(writing, version));
  }

  truncated(table: TableId): void {
    this.#transaction.storage.truncated(table);
  }

  /** INSERT IGNORE passes over a row whose check fails. */
  *#undoneOnError<T>(mark: number, steps: Waiting<T>): Waiting<T> {
    try {
      return yield* steps;
    } catch (error) {
      if (this.#transaction.isOpen) this.#transaction.undoTo(mark);
      throw error;
    }
  }

  /** InnoDB checks each row as it is written. */
  constraintQuery(): this {
    return this;
  }

  isOwn(): boolean {
    return false;
  }

  isCurrent(row: Row): boolean {
    return ours(row).stored.newest === row && !ours(row).isDeleted;
  }

  isUnique(): never {
    return assert(false, 'InnoDB has no deferrable keys') as never;
  }

  ended(): void {
    if (this.#transaction.isOpen) this.#transaction.endStatement();
  }

  undo(): void {
    if (this.#transaction.isOpen) this.#transaction.undoTo(this.#mark);
  }

  #observeRead(version: InnodbVersion): void {
    const { storage, id } = this.#transaction;
    if (storage.observer?.isRecording === true)
      storage.observer.onRead(id, version.table, version.id, version.observed);
  }

  #observeUnread({ table, id, sequence }: InnodbVersion): void {
    this.#transaction.storage.observer?.onUnread(this.#transaction.id, table, id, sequence);
  }

  #observeWrite(version: InnodbVersion): void {
    const { storage, id } = this.#transaction;
    const before = version.older === null ? null : version.older.observed;
    storage.observer?.onWrite(id, version.table, version.id, version.observed, before);
  }

  #beginScan(table: TableId, { keep }: RowCondition, reading: ObservedReading, snapshot: number): ObservedScan | null {
    const { storage, id } = this.#transaction;
    if (storage.observer?.isRecording !== true || keep === null) return null;
    return storage.observer.onScan(id, this.#command, table, keep, reading, snapshot);
  }
}

/** MariaDB's `row_merge_is_index_usable`: an index that is newer than the read view lacks what the view would see. */
function changedDefinition(): SqlError {
  return new SqlError('HY000', 'Table definition has changed, please retry transaction', { mysqlNumber: 1412 });
}

function observedMatches({ matches }: RowCondition, scan: ObservedScan): (row: Row) => boolean {
  return (row) => {
    const isMatch = matches(row);
    if (!isMatch) scan.passed(row.id, ours(row).sequence);
    return isMatch;
  };
}

function rangeOf(table: InnodbTable, path: AccessPath): { index: InnodbIndex; range: IndexPath } {
  if (path.kind === 'index') return { index: table.index(path.index), range: path };
  const index = table.clustered;
  return { index, range: { kind: 'index', index: index.shape.id, prefix: [], isDescending: false } };
}

function ours(row: Row): InnodbVersion {
  assert(row instanceof RowVersion, `row ${row.id} comes from this storage`);
  return row as InnodbVersion;
}
