/** INSERT: the rows that VALUES makes, under every unique key that it says. */
import type { Node } from '@pgsql/types';
import { columnNamed, exactColumn, type MysqlInsert, type Table } from '../sql/index.ts';
import { type Access, type AccessedRow, existence } from './access.ts';
import type { Dialect, Value } from './application.ts';
import { indexColumns, keyRow, rowOfValues, uniqueIndexes, type ValueOf } from './row-keys.ts';
import type { Schema } from './schema.ts';
import { namesOf } from './sql-tree.ts';
import { sameWhereEqual } from './version-updates.ts';

export interface InsertedRow {
  readonly access: Access;
  /** What it gives to columns, as far as parameters say it. */
  readonly values: ReadonlyMap<string, Value>;
}

export interface InsertReading {
  readonly valueOf: ValueOf;
  readonly schema: Schema;
  /** The name by which later statements use its row. */
  readonly result: string | null;
}

/** @param reads what ON CONFLICT and RETURNING read */
export function insertAccesses(
  insert: MysqlInsert,
  table: Table,
  reads: ReadonlySet<string>,
  { valueOf, schema, result }: InsertReading,
): readonly InsertedRow[] {
  const { dialect } = schema;
  const writes = new Set([existence, ...table.columns.map(({ name }) => name)]);
  const onDuplicate = onDuplicateOf(insert);
  // DO NOTHING leaves a row that is there as it is, without a lock.
  const mayMiss =
    onDuplicate === 'keep' || onDuplicate === 'replace' || insert.onConflictClause?.whereClause !== undefined;
  const overwrites = onDuplicate === 'overwrite' || onDuplicate === 'replace';
  // What is there under the key may have other values.
  const creates = onDuplicate === 'fail';
  const base = { table, reads, writes, locks: false, mayMiss, inserts: true, overwrites, creates };
  const rows = rowsOf(insert, table, dialect);
  if (rows === undefined)
    return [{ access: { ...base, row: { kind: 'condition' }, creates: false }, values: new Map() }];
  return rows.flatMap((row) => {
    const values = new Map<string, Value>();
    for (const [column, node] of row) {
      const value = valueOf(node, exactColumn(table, column));
      if (value !== undefined) values.set(column, value);
    }
    const keys = uniqueIndexes(table).flatMap((index) => {
      const found = indexColumns(table, index).map((column) => values.get(column));
      return found.every((value) => value !== undefined) ? [keyRow(table, index, found, schema)] : [];
    });
    const having = creates ? sameWhereEqual(values, table, dialect) : new Map<string, Value>();
    const isOne = rows.length === 1 && creates && result !== null;
    const ofResult = isOne ? generatedKey(insert, table, values, result, dialect) : undefined;
    const named = keys.some((key) => key.isPrimary) ? keys : [ofResult ?? { kind: 'new' as const }, ...keys];
    return named.map((key) => ({ access: { ...base, row: key, having }, values }));
  });
}

/** The primary key that the server makes and the statement returns: later statements name the new row by it. */
function generatedKey(
  insert: MysqlInsert,
  table: Table,
  values: ReadonlyMap<string, Value>,
  statement: string,
  dialect: Dialect,
): AccessedRow | undefined {
  const primary = uniqueIndexes(table).find(({ isPrimary }) => isPrimary);
  if (primary === undefined) return undefined;
  const found = indexColumns(table, primary).map((name): Value | undefined => {
    const column = values.has(name) ? undefined : returnedAs[dialect](insert, table, name);
    return column === undefined ? values.get(name) : { kind: 'column', statement, column, row: 'first' };
  });
  if (!found.every((value) => value !== undefined)) return undefined;
  return { ...rowOfValues(primary, found), isGenerated: true };
}

/** The name under which the result has a column. */
const returnedAs: Readonly<Record<Dialect, (insert: MysqlInsert, table: Table, column: string) => string | undefined>> =
  {
    postgres: ({ returningClause }, table, column) => {
      for (const target of returningClause?.exprs ?? []) {
        if (!('ResTarget' in target)) continue;
        const { name, val } = target.ResTarget;
        if (val === undefined || !('ColumnRef' in val)) continue;
        const shown = namesOf(val.ColumnRef).at(-1) ?? null;
        if (shown === null) return column;
        if (columnNamed(table, shown, 'postgres')?.name === column) return name ?? column;
      }
      return undefined;
    },
    // Drivers give what AUTO_INCREMENT gave.
    mysql: (_, table, column) => {
      const found = exactColumn(table, column);
      return found === undefined || (found.sequence === null && found.identity === null) ? undefined : 'insertId';
    },
  };

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
