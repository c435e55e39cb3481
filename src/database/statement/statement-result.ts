/** Answers to statements. */
import type { ResultColumn, StatementResult } from '../../sql/index.ts';
import { type SqlValue, types } from '../../sql/model/index.ts';

export function emptyResult(command: string): StatementResult {
  return { command, columns: null, rows: [], rowCount: 0, foundRows: 0, insertId: 0n, notices: [] };
}

export function rowsResult(
  command: string,
  columns: readonly ResultColumn[],
  rows: readonly (readonly SqlValue[])[],
): StatementResult {
  return { ...emptyResult(command), columns, rows, rowCount: rows.length, foundRows: rows.length };
}

/** A column that belongs to no table. */
export function textColumn(name: string): ResultColumn {
  return { name, type: types.text, modifier: -1, tableNumber: 0, columnNumber: 0, tableName: '', isNullable: true };
}

export function linesResult(command: string, text: string): StatementResult {
  const rows = text.split('\n').filter((line) => line !== '');
  return rowsResult(
    command,
    [textColumn('line')],
    rows.map((line) => [line]),
  );
}
