/**
 * Before the test starts: rows become the initial state, one compact array each, without history. Transactions of this phase are taken one
 * after another; where they overlap they see each other's rows.
 */
import type {
  Duplicate,
  IndexId,
  InsertResult,
  Row,
  StorageTransaction,
  TableId,
  UpdateResult,
  Waiting,
  SqlValue,
} from '../../sql/model/index.ts';
import { type Pictured, SnapshotStatement } from './snapshot.ts';
import { atOnce, ours, SeenRow } from './seen-row.ts';
import type { Key } from './row-index.ts';
import { StoredRow, type Table } from './table.ts';

interface Change {
  readonly row: StoredRow;
  readonly before: Key | null;
}

export class LoadTransaction implements StorageTransaction {
  readonly id: number;
  readonly #pictured: Pictured;
  readonly #onEnd: () => void;
  readonly #changes: Change[] = [];
  #hasEnded = false;

  constructor(id: number, pictured: Pictured, onEnd: () => void) {
    this.id = id;
    this.#pictured = pictured;
    this.#onEnd = onEnd;
  }

  statement(): LoadStatement {
    return new LoadStatement(this.#pictured, this);
  }

  savepoint(): number {
    return this.#changes.length;
  }

  rollbackTo(savepoint: number): void {
    while (this.#changes.length > savepoint) {
      const { row, before } = this.#changes.pop() as Change;
      const now = this.#rowNow(row);
      put(now, before, before === null ? [] : now.table.keysOf(before));
    }
  }

  /** ALTER TABLE may have made another table of it. */
  #rowNow(row: StoredRow): StoredRow {
    const table = this.#pictured.table(row.table.shape.id);
    return table === row.table ? row : (table.rows.get(row.id) ?? new StoredRow(table, row.id, row.primaryKey));
  }

  commit(): Waiting<void> {
    return atOnce(() => this.#end());
  }

  rollback(): void {
    if (this.#hasEnded) return;
    this.rollbackTo(0);
    this.#end();
  }

  /** @param keys of `values`, by index */
  /** Since this savepoint. */
  hasChanged(row: StoredRow, savepoint: number): boolean {
    return this.#changes.slice(savepoint).some((change) => change.row === row);
  }

  change(row: StoredRow, values: Key | null, keys: readonly (Key | null)[]): void {
    this.#changes.push({ row, before: row.values });
    put(row, values, keys);
  }

  #end(): void {
    if (!this.#hasEnded) this.#onEnd();
    this.#hasEnded = true;
  }
}

function put(row: StoredRow, values: Key | null, keys: readonly (Key | null)[]): void {
  row.values = values;
  if (values === null) row.table.unlist(row);
  else {
    row.table.list(row);
    row.table.indexInitial(row, keys);
  }
}

class LoadStatement extends SnapshotStatement {
  readonly #pictured: Pictured;
  readonly #transaction: LoadTransaction;
  readonly #mark: number;

  constructor(pictured: Pictured, transaction: LoadTransaction) {
    super(pictured);
    this.#pictured = pictured;
    this.#transaction = transaction;
    this.#mark = transaction.savepoint();
  }

  override insert(tableId: TableId, values: Key): Waiting<InsertResult> {
    return atOnce(() => this.#insert(tableId, values));
  }

  findConflict(tableId: TableId, values: Key, arbiters: readonly IndexId[]): Waiting<Duplicate | null> {
    const table = this.#pictured.table(tableId);
    const keys = table
      .keysOf(values)
      .map((key, i) => (arbiters.includes(table.indexes[i]?.shape.id ?? -1) ? key : null));
    const duplicate = this.#duplicate(table, keys, null);
    if (duplicate === null) return atOnce(() => null);
    const isOwn = this.#transaction.hasChanged(ours(duplicate.row).stored, this.#mark);
    return atOnce(() => ({ kind: 'duplicate', ...duplicate, isOwn }));
  }

  override update(row: Row, values: Key, columns: readonly number[]): Waiting<UpdateResult> {
    return atOnce(() => this.#update(ours(row), values, columns));
  }

  override delete(row: Row): Waiting<void> {
    return atOnce(() => this.#transaction.change(ours(row).stored, null, []));
  }

  override undo(): void {
    this.#transaction.rollbackTo(this.#mark);
  }

  #insert(tableId: TableId, values: Key): InsertResult {
    const table = this.#pictured.table(tableId);
    const keys = table.keysOf(values);
    const duplicate = this.#duplicate(table, keys, null);
    if (duplicate !== null) return { kind: 'duplicate', ...duplicate };
    const row = table.rowFor(keys);
    const copy = [...values];
    this.#transaction.change(row, copy, keys);
    return { kind: 'inserted', row: new SeenRow(row, copy) };
  }

  #update(row: SeenRow, values: Key, columns: readonly number[]): UpdateResult {
    const { stored } = row;
    const now = (stored.values ?? row.values).map((value, i) => (columns.includes(i) ? values[i] : value) as SqlValue);
    const keys = stored.table.keysOf(now);
    const duplicate = this.#duplicate(stored.table, keys, stored);
    if (duplicate !== null) return { kind: 'duplicate', ...duplicate };
    const { primary, indexes } = stored.table;
    const key = (primary === null ? null : keys[indexes.indexOf(primary)]) ?? null;
    const stays = key === null || stored.primaryKey === null || primary?.shape.compare(key, stored.primaryKey) === 0;
    const target = stays ? stored : stored.table.rowFor(keys);
    if (!stays) this.#transaction.change(stored, null, []);
    this.#transaction.change(target, now, keys);
    return { kind: 'updated', row: new SeenRow(target, [...now]) };
  }

  #duplicate(
    table: Table,
    keys: readonly (Key | null)[],
    self: StoredRow | null,
  ): { readonly index: number; readonly row: Row } | null {
    for (const [i, index] of table.indexes.entries()) {
      const key = keys[i] ?? null;
      if (!index.isChecked(key)) continue;
      const there = index.committed.firstWith(key);
      // The keys of a unique index are each in one row.
      if (there !== undefined && there.row !== self) return { index: index.shape.id, row: this.see(there.row) as Row };
    }
    return null;
  }
}
