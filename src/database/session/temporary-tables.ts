/** What COMMIT does to the temporary tables of a session: PostgreSQL manual, CREATE TABLE, ON COMMIT. */
import { type Catalog, dropTemporary, type Table } from '../../sql/index.ts';
import {
  everyRow,
  type Row,
  type StatementView,
  type StorageTransaction,
  type Waiting,
} from '../../sql/model/index.ts';

/** ON COMMIT DELETE ROWS. */
export function* emptyAtCommit(tables: readonly Table[], transaction: StorageTransaction): Waiting<void> {
  for (const table of tables) if (table.onCommit === 'delete rows') yield* deleteAll(table, transaction.statement());
}

/** ON COMMIT DROP. */
export function dropAtCommit(tables: readonly Table[], catalog: Catalog): void {
  dropTemporary(
    catalog,
    tables.filter(({ onCommit }) => onCommit === 'drop'),
  );
}

function* deleteAll({ id }: Table, view: StatementView): Waiting<void> {
  const rows: Row[] = [];
  const request = { strength: 'update', ifLocked: 'wait', reading: 'latest' } as const;
  yield* view.lock(id, { kind: 'all' }, everyRow, request, (row) => rows.push(row) > 0);
  for (const row of rows) yield* view.delete(row);
}
