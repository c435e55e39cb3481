/**
 * What a statement sees and does: MonkeyDB (OOPSLA 2021), section 5, figure 9. It reads the existence of every row that may be there (along
 * an index: of every row that may have such a key), then of each row that exists the columns of its condition, then those that it returns:
 * each cell once a statement. Its writes come after its reads.
 *
 * Locks mean nothing to the axioms: FOR UPDATE is a read like any other and protects nothing, as in the paper. (The engine family has
 * locks.) What SQL promises whatever the level, unique and foreign keys, is looked up in the latest state, outside of the reads; who needs a
 * key that an open transaction has in hand waits for its end.
 */
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
  UpdateResult,
  Waiting,
  SqlValue,
} from '../../sql/model/index.ts';
import { assert } from '../../base/index.ts';
import type { Key } from './row-index.ts';
import { answer, atOnce, ours, SeenRow } from './seen-row.ts';
import { isThere, type StoredRow, type Table, type Cell, type TableIndex } from './table.ts';
import type { Store, Transaction } from './transaction.ts';
import { findDuplicate, waitForRow } from './unique.ts';
import type { Held } from './held.ts';

export class Statement implements StatementView {
  readonly #storage: Store;
  readonly #transaction: Transaction;
  readonly #number: number;
  readonly #seen = new Map<Cell, Held>();
  readonly #load = (row: Row, column: number): SqlValue =>
    (row.values[column] = this.#read(ours(row).stored, column + 1) as SqlValue);

  constructor(storage: Store, transaction: Transaction, number: number) {
    this.#storage = storage;
    this.#transaction = transaction;
    this.#number = number;
  }

  *scan(table: TableId, path: AccessPath, { matches }: RowCondition): Iterable<Row> {
    for (const row of this.#rows(this.#storage.table(table), path)) if (matches(row)) yield row;
  }

  *lock(
    tableId: TableId,
    path: AccessPath,
    { matches }: RowCondition,
    request: LockRequest,
    take: (row: Row) => boolean | Waiting<boolean>,
  ): Waiting<void> {
    const table = this.#storage.table(tableId);
    if (request.reading === 'statement') {
      for (const row of this.#rows(table, path)) if (matches(row) && !(yield* answer(take(row)))) return;
      return;
    }
    for (const stored of this.#storage.latestCandidates(table, path)) {
      yield* waitForRow(this.#storage, this.#transaction, stored, matches);
      const row = this.#latest(stored);
      if (row !== null && matches(row) && !(yield* answer(take(row)))) return;
    }
  }

  *lockRow(row: Row, matches: (row: Row) => boolean, request: LockRequest): Waiting<Row | null> {
    if (request.reading === 'statement') return matches(row) ? row : null;
    const { stored } = ours(row);
    yield* waitForRow(this.#storage, this.#transaction, stored, matches);
    const latest = this.#latest(stored);
    return latest !== null && matches(latest) ? latest : null;
  }

  *insert(tableId: TableId, values: Key): Waiting<InsertResult> {
    const table = this.#storage.table(tableId);
    const keys = table.keysOf(values);
    const duplicate = yield* findDuplicate(this.#storage, this.#transaction, table, keys, null);
    if (duplicate !== null) return { kind: 'duplicate', index: duplicate.index, row: this.#latestRow(duplicate.row) };
    const stored = table.rowFor(keys);
    table.remember(stored);
    this.#insertInto(stored, values, keys);
    return { kind: 'inserted', row: new SeenRow(stored, [...values]) };
  }

  *findConflict(tableId: TableId, values: Key, arbiters: readonly IndexId[]): Waiting<Duplicate | null> {
    const table = this.#storage.table(tableId);
    const keys = table
      .keysOf(values)
      .map((key, i) => (arbiters.includes(table.indexes[i]?.shape.id ?? -1) ? key : null));
    const duplicate = yield* findDuplicate(this.#storage, this.#transaction, table, keys, null);
    if (duplicate === null) return null;
    const { index, row: stored } = duplicate;
    const slots = table.granularity === 'row' ? 1 : table.shape.columns.length + 1;
    const isOwn = Array.from({ length: slots }, (_, slot) => this.#transaction.own.last(stored.cell(slot))).some(
      (write) => write?.statement === this.#number,
    );
    return { kind: 'duplicate', index, row: this.#latestRow(stored), isOwn };
  }

  *update(row: Row, values: readonly SqlValue[], columns: readonly number[]): Waiting<UpdateResult> {
    const { stored } = ours(row);
    const { table } = stored;
    // At row granularity the whole row is written, with what this statement saw of the other columns.
    const image = table.granularity === 'row' ? this.#seenImage(row) : this.#latestImage(stored);
    for (const column of columns) image[column] = values[column] as SqlValue;
    const before = table.granularity === 'row' ? this.#latestImageOrNull(stored) : this.#latestImage(stored);
    const keys = table.indexes.map((index) =>
      before !== null && !index.dependsOn(columns) ? null : index.keyOf(image),
    );
    if (hasMoved(table, stored, keys)) return yield* this.#move(row, image, columns);
    const changed = keys.map((key, i) =>
      key === null || isKeyOf(table.indexes[i] as TableIndex, key, before) ? null : key,
    );
    const duplicate = yield* findDuplicate(this.#storage, this.#transaction, table, changed, stored);
    if (duplicate !== null) return { kind: 'duplicate', index: duplicate.index, row: this.#latestRow(duplicate.row) };
    if (table.granularity === 'row') this.#write(stored, 0, image);
    else for (const column of columns) this.#write(stored, column + 1, values[column] as SqlValue);
    const hasNewKey = changed.some((key) => key !== null);
    this.#transaction.take(stored, hasNewKey ? this.#ownKeys(stored, changed, columns) : []);
    const seen = row.values.map((value, column) => (columns.includes(column) ? values[column] : value));
    return { kind: 'updated', row: new SeenRow(stored, seen, row.load) };
  }

  delete(row: Row): Waiting<void> {
    return atOnce(() => this.#delete(ours(row).stored));
  }

  /** What constraints read is the latest state, whatever the statement. */
  constraintQuery(): this {
    return this;
  }

  isOwn(row: Row): boolean {
    const { stored } = ours(row);
    const { own } = this.#transaction;
    return row.values.some((_, column) => own.last(stored.cell(column + 1)) !== undefined) || this.#isInserted(stored);
  }

  #isInserted(stored: StoredRow): boolean {
    return this.#transaction.own.last(stored.cell(0)) !== undefined;
  }

  isCurrent(row: Row): boolean {
    const latest = this.#latest(ours(row).stored);
    return latest !== null && row.values.every((value, i) => value === undefined || value === latest.values[i]);
  }

  isUnique(): never {
    return assert(false, 'the store refuses deferrable keys') as never;
  }

  undo(): void {
    this.#transaction.own.undoStatement();
  }

  /** Existence first, of all of them. */
  #rows(table: Table, path: AccessPath): SeenRow[] {
    const rows: SeenRow[] = [];
    this.#transaction.noteScan(table, path);
    for (const stored of table.candidates(path, this.#transaction, this.#transaction.inHand)) {
      if (!stored.isListed && this.#isNewHere(stored)) continue;
      const held = this.#read(stored, 0);
      if (!isThere(held)) continue;
      if (table.granularity === 'row') rows.push(new SeenRow(stored, [...(held as Key)]));
      else rows.push(new SeenRow(stored, Array.from<undefined>({ length: table.shape.columns.length }), this.#load));
    }
    return rows;
  }

  /** Only this statement has inserted it, or its transaction before it rolled back to a savepoint. */
  #isNewHere(stored: StoredRow): boolean {
    return this.#transaction.own.lastBefore(stored.cell(0), this.#number) === undefined;
  }

  /** Each cell once a statement: what it wrote meanwhile is not seen. */
  #read(stored: StoredRow, slot: number): Held {
    const cell = stored.cell(slot);
    let held = this.#seen.get(cell);
    if (held === undefined) this.#seen.set(cell, (held = this.#transaction.read(cell, this.#number)));
    return held;
  }

  #write(stored: StoredRow, slot: number, held: Held): void {
    this.#transaction.own.write(stored.cell(slot), held, this.#number);
  }

  #insertInto(stored: StoredRow, values: Key, keys: readonly (Key | null)[]): void {
    if (stored.table.granularity === 'row') this.#write(stored, 0, [...values]);
    else {
      this.#write(stored, 0, true);
      for (const [column, value] of values.entries()) this.#write(stored, column + 1, value);
    }
    this.#transaction.take(
      stored,
      keys.map((key) => (key === null ? [] : [key])),
    );
  }

  #delete(stored: StoredRow): void {
    this.#write(stored, 0, stored.table.granularity === 'row' ? null : false);
    this.#transaction.take(stored, []);
  }

  /** Its primary key changes: another row is inserted, with what this statement sees of the columns that are not assigned. */
  *#move(row: Row, image: SqlValue[], columns: readonly number[]): Waiting<UpdateResult> {
    const { stored } = ours(row);
    const { table } = stored;
    const values = image.map((value, column) => (columns.includes(column) ? value : this.#cell(row, column)));
    const keys = table.keysOf(values);
    const duplicate = yield* findDuplicate(this.#storage, this.#transaction, table, keys, stored);
    if (duplicate !== null) return { kind: 'duplicate', index: duplicate.index, row: this.#latestRow(duplicate.row) };
    this.#delete(stored);
    const moved = table.rowFor(keys);
    table.remember(moved);
    this.#insertInto(moved, values, keys);
    return { kind: 'updated', row: new SeenRow(moved, values) };
  }

  /** The keys that the row can have for this transaction's own later statements, where they change. */
  #ownKeys(stored: StoredRow, changed: readonly (Key | null)[], columns: readonly number[]): (readonly Key[])[] {
    if (stored.table.granularity === 'row') return changed.map((key) => (key === null ? [] : [key]));
    const choices = stored.table.choices(stored);
    for (const column of columns) choices[column] = [this.#transaction.latest(stored, column + 1) as SqlValue];
    return changed.map((key, i) =>
      key === null ? [] : ((stored.table.indexes[i] as TableIndex).keysOf(choices) ?? [key]),
    );
  }

  #cell(row: Row, column: number): SqlValue {
    return row.values[column] === undefined ? row.load(row, column) : row.values[column];
  }

  #seenImage(row: Row): SqlValue[] {
    return row.values.map((_, column) => this.#cell(row, column));
  }

  #latestImageOrNull(stored: StoredRow): SqlValue[] | null {
    return isThere(this.#transaction.latest(stored, 0)) ? this.#latestImage(stored) : null;
  }

  #latestImage(stored: StoredRow): SqlValue[] {
    if (stored.table.granularity === 'row') return [...((this.#transaction.latest(stored, 0) ?? []) as Key)];
    return stored.table.shape.columns.map((_, column) => this.#transaction.latest(stored, column + 1) as SqlValue);
  }

  #latest(stored: StoredRow): SeenRow | null {
    return isThere(this.#transaction.latest(stored, 0)) ? this.#latestRow(stored) : null;
  }

  #latestRow(stored: StoredRow): SeenRow {
    return new SeenRow(stored, this.#latestImage(stored));
  }
}

function isKeyOf(index: TableIndex, key: Key, values: Key | null): boolean {
  const old = values === null ? null : index.shape.keyOf(values);
  return old !== null && index.shape.compare(old, key) === 0;
}

/** Does the update give the row another primary key? `keys`: `null` where an index is not touched. */
function hasMoved(table: Table, stored: StoredRow, keys: readonly (Key | null)[]): boolean {
  const key = table.indexes.findIndex(({ shape }) => shape.isPrimary);
  const newKey = keys[key];
  if (newKey === undefined || newKey === null || stored.primaryKey === null) return false;
  return (table.indexes[key] as TableIndex).shape.compare(newKey, stored.primaryKey) !== 0;
}
