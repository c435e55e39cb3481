/** Values of SQL as JSON, for the HTTP interface. Numbers that JSON readers round (bigint, numeric) are text, as drivers give them. */
import { type Dialect, formatText, parseText, SqlError, type SqlType, type SqlValue } from '../../sql/model/index.ts';
import type { ResultColumn } from '../../sql/index.ts';

export function jsonRows(
  columns: readonly ResultColumn[],
  rows: readonly (readonly SqlValue[])[],
  dialect: Dialect,
): unknown[][] {
  return rows.map((row) => row.map((value, i) => jsonValue(value, (columns[i] as ResultColumn).type, dialect)));
}

function jsonValue(value: SqlValue, type: SqlType, dialect: Dialect): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value) && type.name !== 'date') return value;
  if (type.name === 'json' || type.name === 'jsonb') return JSON.parse(formatText(value, type, dialect));
  return formatText(value, type, dialect);
}

/** JSON scalars as parameters of these types; objects and arrays as their JSON text. @throws SqlError 08P01, 22P02 */
export function parametersOf(values: unknown, types: readonly SqlType[]): SqlValue[] {
  if (!Array.isArray(values)) throw new SqlError('08P01', '"parameters" is not an array');
  if (values.length !== types.length)
    throw new SqlError('08P01', `${values.length} parameters were given and the statement has ${types.length}`);
  return values.map((value: unknown, i) => {
    if (value === null || value === undefined) return null;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return parseText(text, types[i] as SqlType);
  });
}
