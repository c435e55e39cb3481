/** ALTER TABLE: the latest state in a new shape. The axioms know no DDL; it is outside of the history. */
import { SqlError, type TableShape, type SqlValue } from '../../sql/model/index.ts';
import { type Key, RowIndex } from './row-index.ts';
import { StoredRow, Table, type TableIndex } from './table.ts';

/** Has a transaction read or written a cell of it? */
export function isTouched(table: Table): boolean {
  return [...table.rows.values()].some(({ cells }) => cells !== null);
}

/** @throws SqlError 23505 */
export function alteredTable(
  table: Table,
  shape: TableShape,
  name: string,
  convert?: (values: Key) => SqlValue[],
): Table {
  const sameColumns = shape.columns.join('\0') === table.shape.columns.join('\0');
  if (convert === undefined && sameColumns && samePrimaryKey(table, shape)) return reindexed(table, shape);
  const positions = shape.columns.map((column, i) =>
    shape.columns.length === table.shape.columns.length ? i : table.shape.columns.indexOf(column),
  );
  const toNew = convert ?? ((values: Key) => positions.map((i) => values[i] ?? null));
  const images = [...table.rows.values()].map((row) => ({ row, image: row.image((slot) => row.latest(slot)) }));
  const altered = new Table(shape, name, table.granularity);
  for (const { row, image } of images) {
    if (image === null) continue;
    const values = toNew(image);
    const primaryKey = altered.primary?.shape.keyOf(values) ?? null;
    const copy = new StoredRow(altered, row.id, primaryKey);
    copy.values = values;
    refuseDuplicate(altered.indexes, copy);
    altered.adopt(copy);
  }
  return altered;
}

function samePrimaryKey(table: Table, shape: TableShape): boolean {
  return table.primary?.shape.id === shape.indexes.find(({ isPrimary }) => isPrimary)?.id;
}

/** The same cells; other indexes. */
function reindexed(table: Table, shape: TableShape): Table {
  const indexes = shape.indexes.map((index) => new RowIndex<StoredRow>(index));
  for (const row of table.rows.values()) {
    const values = row.image((slot) => row.latest(slot));
    if (values === null) continue;
    for (const index of indexes) {
      const key = index.keyOf(values);
      if (!index.isChecked(key)) continue;
      if (index.committed.firstWith(key) !== undefined) throw duplicateKey(index);
      index.committed.insert({ key, id: row.id, row });
    }
  }
  table.reshape(shape);
  return table;
}

function refuseDuplicate(indexes: readonly TableIndex[], row: StoredRow): void {
  for (const index of indexes) {
    const key = index.keyOf(row.values as Key);
    if (index.isChecked(key) && index.committed.firstWith(key) !== undefined) throw duplicateKey(index);
  }
}

function duplicateKey(index: TableIndex): SqlError {
  return new SqlError('23505', `could not create unique index "${index.shape.name}"`, {
    constraint: index.shape.name,
  });
}
