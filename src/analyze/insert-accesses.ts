/** INSERT: the rows that VALUES makes, under every unique key that it says. */
import type { Node } from '@pgsql/types';
import { columnNamed, type MysqlInsert, type Table } from '../sql/index.ts';
import { type Access, existence } from './access.ts';
import type { Dialect, Value } from './application.ts';
import { indexColumns, keyRow, uniqueIndexes, type ValueOf } from './row-keys.ts';

export interface InsertedRow {
  readonly access: Access;
  /** What it gives to columns, as far as parameters say it. */
  readonly values: ReadonlyMap<string, Value>;
}

/** @param reads what ON CONFLICT and RETURNING read */
export function insertAccesses(
  insert: MysqlInsert,
  table: Table,
  reads: ReadonlySet<string>,
  valueOf: ValueOf,
  dialect: Dialect,
): readonly InsertedRow[] {
  const writes = new Set([existence, ...table.columns.map(({ name }) => name)]);
  const onDuplicate = onDuplicateOf(insert);
  // DO NOTHING leaves a row that is there as it is, without a lock.
  const mayMiss =
    onDuplicate === 'keep' || onDuplicate === 'replace' || insert.onConflictClause?.whereClause !== undefined;
  const overwrites = onDuplicate === 'overwrite' || onDuplicate === 'replace';
  const base = { table, reads, writes, locks: false, mayMiss, inserts: true, overwrites };
  const rows = rowsOf(insert, table, dialect);
  if (rows === undefined) return [{ access: { ...base, row: { kind: 'condition' } }, values: new Map() }];
  return rows.flatMap((row) => {
    const values = new Map<string, Value>();
    for (const [column, node] of row) {
      const value = valueOf(node);
      if (value !== undefined) values.set(column, value);
    }
    const keys = uniqueIndexes(table).flatMap((index) => {
      const found = indexColumns(table, index).map((column) => values.get(column));
      return found.every((value) => value !== undefined) ? [keyRow(index, found)] : [];
    });
    const named = keys.some((key) => key.kind === 'key' && key.isPrimary) ? keys : [{ kind: 'new' as const }, ...keys];
    return named.map((key) => ({ access: { ...base, row: key }, values }));
  });
}

/** What an INSERT does to a row that is there. */
export function onDuplicateOf({
  onConflictClause,
  onDuplicate,
}: MysqlInsert): 'fail' | 'keep' | 'overwrite' | 'replace' {
  if (onConflictClause !== undefined) return onConflictClause.action === 'ONCONFLICT_NOTHING' ? 'keep' : 'overwrite';
  switch (onDuplicate?.kind) {
    case undefined:
      return 'fail';
    case 'update':
      return 'overwrite';
    case 'ignore':
      return 'keep';
    case 'replace':
      return 'replace';
  }
}

/** Each row as column and expression; `undefined`: INSERT ... SELECT. */
function rowsOf(
  { cols, selectStmt }: MysqlInsert,
  table: Table,
  dialect: Dialect,
): readonly (readonly (readonly [string, Node])[])[] | undefined {
  if (selectStmt === undefined) return [[]];
  const lists = 'SelectStmt' in selectStmt ? selectStmt.SelectStmt.valuesLists : undefined;
  if (lists === undefined) return undefined;
  const nameOf = (name: string): string => columnNamed(table, name, dialect)?.name ?? name;
  const columns =
    cols === undefined
      ? table.columns.map(({ name }) => name)
      : cols.flatMap((node) => ('ResTarget' in node ? [nameOf(node.ResTarget.name ?? '')] : []));
  return lists.map((list) => {
    const items = 'List' in list ? (list.List.items ?? []) : [];
    return items.flatMap((item, at) => (columns[at] === undefined ? [] : [[columns[at], item] as const]));
  });
}
