/** How rows are named in histories: `table/7`, `table/a,b`, or `table#12` where there is no primary key. */
import type { Value } from '../../history/index.ts';
import { type Dialect, formatText, type SqlType, type SqlValue } from '../../sql/model/index.ts';
import { primaryKey, type Table } from '../../sql/index.ts';
import type { RowNames } from './recorded-history.ts';

export function rowNames(tableById: (id: number) => Table | undefined, dialect: Dialect): RowNames {
  /** Tables that were dropped keep their names. */
  const tables = new Map<number, Table>();
  const tableOf = (id: number): Table | undefined => {
    const table = tableById(id) ?? tables.get(id);
    if (table !== undefined) tables.set(id, table);
    return table;
  };
  return {
    keyOf: (id, row, values) => {
      const table = tableOf(id);
      if (table === undefined) return `${id}#${row}`;
      const parts = primaryKey(table)?.parts ?? [];
      if (parts.length === 0 || values.length === 0) return `${table.name}#${row}`;
      return `${table.name}/${parts.map(({ cell, type }) => textOf(values[cell] ?? null, type, dialect)).join(',')}`;
    },
    valueOf: (id, values) => {
      const columns = tableOf(id)?.columns ?? [];
      return Object.fromEntries(
        columns.map(({ name, cell, type }) => [name, jsonOf(values[cell] ?? null, type, dialect)]),
      );
    },
  };
}

function textOf(value: SqlValue, type: SqlType, dialect: Dialect): string {
  return value === null ? 'NULL' : formatText(value, type, dialect);
}

function jsonOf(value: SqlValue, type: SqlType, dialect: Dialect): Value {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  return formatText(value, type, dialect);
}
