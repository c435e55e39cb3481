/**
 * Before the test starts: rows become the initial state, one compact array each, without history. Transactions of this phase are taken one
 * after another; where they overlap they see each other's rows.
 */
import type { InsertResult, Row, StorageTransaction, TableId, UpdateResult, Waiting } from '../../sql/storage.ts';
import type { SqlValue } from '../../sql/value.ts';
import { type Pictured, SnapshotStatement } from './snapshot.ts';
import { SeenRow } from './statement.ts';
import type { Key } from './row-index.ts';
import type { StoredRow, Table } from './table.ts';

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
      put(row, before);
    }
  }

  *commit(): Waiting<void> {
    this.#end();
  }

  rollback(): void {
    if (this.#hasEnded) return;
    this.rollbackTo(0);
    this.#end();
  }

  change(row: StoredRow, values: Key | null): void {
    this.#changes.push({ row, before: row.values });
    put(row, values);
  }

  #end(): void {
    if (!this.#hasEnded) this.#onEnd();
    this.#hasEnded = true;
  }
}

function put(row: StoredRow, values: Key | null): void {
  row.values = values;
  if (values === null) row.table.unlist(row);
  else {
    row.table.list(row);
    row.table.indexInitial(row);
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

  override *insert(tableId: TableId, values: Key): Waiting<InsertResult> {
    const table = this.#pictured.table(tableId);
    const duplicate = this.#duplicate(table, values, null);
    if (duplicate !== null) return { kind: 'duplicate', ...duplicate };
    const row = table.rowFor(values);
    this.#transaction.change(row, [...values]);
    return { kind: 'inserted', row: new SeenRow(row, [...values]) };
  }

  override *update(row: Row, values: Key, columns: readonly number[]): Waiting<UpdateResult> {
    const { stored } = row as SeenRow;
    const now = (stored.values ?? row.values).map((value, i) => (columns.includes(i) ? values[i] : value) as SqlValue);
    const duplicate = this.#duplicate(stored.table, now, stored);
    if (duplicate !== null) return { kind: 'duplicate', ...duplicate };
    const primary = stored.table.primary?.shape;
    const key = primary?.keyOf(now) ?? null;
    const stays = key === null || stored.primaryKey === null || primary?.compare(key, stored.primaryKey) === 0;
    const target = stays ? stored : stored.table.rowFor(now);
    if (!stays) this.#transaction.change(stored, null);
    this.#transaction.change(target, now);
    return { kind: 'updated', row: new SeenRow(target, [...now]) };
  }

  override *delete(row: Row): Waiting<void> {
    this.#transaction.change((row as SeenRow).stored, null);
  }

  override undo(): void {
    this.#transaction.rollbackTo(this.#mark);
  }

  #duplicate(table: Table, values: Key, self: StoredRow | null): { readonly index: number; readonly row: Row } | null {
    for (const index of table.indexes) {
      const key = index.shape.isUnique ? index.keyOf(values) : null;
      if (!index.isChecked(key)) continue;
      const there = index.committed.allWith(key).find(({ row }) => row !== self);
      if (there !== undefined) return { index: index.shape.id, row: this.see(there.row) as Row };
    }
    return null;
  }
}
