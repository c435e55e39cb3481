/** What mysql2 and MariaDB's connector answer, as the recorder reads it. */
import type { StatementResult } from './statement-rows.ts';

/** Rows with their columns, or the header of a statement that gives none. */
export function mysqlResult(
  rows: unknown,
  fields: unknown,
  rowsAsArray: boolean,
  countsMatched: boolean,
): StatementResult {
  const columns = Array.isArray(fields) ? (fields as { name: string }[]).map(({ name }) => name) : [];
  const list = Array.isArray(rows) ? (rows as (unknown[] & Record<string, unknown>)[]) : [];
  const header = (Array.isArray(rows) ? {} : (rows ?? {})) as {
    affectedRows?: number | bigint;
    insertId?: number | bigint | string;
    warningStatus?: number;
  };
  return {
    columns,
    rowCount: list.length,
    cell: (row, column) => (rowsAsArray ? list[row]?.[column] : list[row]?.[columns[column] as string]),
    isByName: !rowsAsArray,
    affected: header.affectedRows === undefined ? null : Number(header.affectedRows),
    countsMatched,
    insertId: header.insertId === undefined ? 0n : BigInt(header.insertId),
    warnings: header.warningStatus ?? 0,
  };
}
