/** Answers to statements as packets. MySQL Internals, "Text Resultset" and "Binary Protocol Resultset". */
import type { PreparedStatement, ResultColumn, StatementResult } from '../../sql/index.ts';
import {
  capabilities,
  columnType,
  encodeBinaryRow,
  encodeColumnCount,
  encodeColumnDefinition,
  encodeEof,
  encodeOk,
  encodePrepareOk,
  encodeTextRow,
  has,
} from '../../wire/mysql/index.ts';
import type { PacketOutput } from './packets.ts';
import { binaryValue, columnDefinition, parameterDefinition, textValue } from './values.ts';

export interface AnswerOptions {
  readonly output: PacketOutput;
  /** The capabilities that both sides have. */
  readonly flags: number;
  /** SERVER_STATUS_*. */
  readonly status: number;
  readonly database: string;
}

const plainOk = { affectedRows: 0n, insertId: 0n, warnings: 0, info: '', sessionState: new Uint8Array() };

export function answerOk({ output, flags, status }: AnswerOptions): void {
  output.packet(encodeOk({ ...plainOk, status }, flags));
}

/** One result, of which rows are sent as the client reads them. Ends early when it is gone. */
export async function answerResult(
  result: StatementResult,
  format: 'text' | 'binary',
  options: AnswerOptions,
): Promise<void> {
  const { output, flags, status } = options;
  const { columns } = result;
  const warnings = Math.min(result.notices.length, 0xffff);
  if (columns === null) {
    output.packet(encodeOk({ ...plainOk, ...countsOf(result, flags), warnings, status }, flags));
    return output.room();
  }
  output.packet(encodeColumnCount(columns.length));
  for (const column of columns) output.packet(encodeColumnDefinition(columnDefinition(column, options.database)));
  if (!has(flags, capabilities.deprecateEof)) output.packet(encodeEof({ warnings, status }));
  const encodeRow = format === 'text' ? textRowEncoder(columns) : binaryRowEncoder(columns);
  for (const row of result.rows) {
    output.packet(encodeRow(row));
    await output.room();
    if (!output.isOpen) return;
  }
  if (has(flags, capabilities.deprecateEof)) output.packet(encodeOk({ ...plainOk, warnings, status }, flags, 'end'));
  else output.packet(encodeEof({ warnings, status }));
  return output.room();
}

type RowEncoder = (row: StatementResult['rows'][number]) => Uint8Array;

function textRowEncoder(columns: readonly ResultColumn[]): RowEncoder {
  return (row) => encodeTextRow(columns.map((column, i) => textValue(row[i] ?? null, column)));
}

function binaryRowEncoder(columns: readonly ResultColumn[]): RowEncoder {
  const types = columns.map((column) => columnDefinition(column, '').type);
  return (row) => {
    const values = columns.map((column, i) =>
      types[i] === columnType.null ? null : binaryValue(row[i] ?? null, column),
    );
    return encodeBinaryRow(types, values);
  };
}

/** UPDATE says in words, too, how many rows it found: drivers read `changedRows` from them. */
function countsOf(result: StatementResult, flags: number): { affectedRows: bigint; insertId: bigint; info: string } {
  const { command, rowCount, foundRows, insertId, notices } = result;
  const info =
    command === 'UPDATE' ? `Rows matched: ${foundRows}  Changed: ${rowCount}  Warnings: ${notices.length}` : '';
  const affectedRows = BigInt(has(flags, capabilities.foundRows) ? foundRows : rowCount);
  return { affectedRows, insertId, info };
}

/** The answer to COM_FIELD_LIST. */
export function answerFields(
  columns: readonly ResultColumn[],
  { output, flags, status, database }: AnswerOptions,
): void {
  for (const column of columns) output.packet(encodeColumnDefinition(columnDefinition(column, database), 'field-list'));
  if (has(flags, capabilities.deprecateEof)) output.packet(encodeOk({ ...plainOk, status }, flags, 'end'));
  else output.packet(encodeEof({ warnings: 0, status }));
}

/** The answer to COM_STMT_PREPARE: counts, then the parameters, then the columns. */
export function answerPrepared(statementId: number, statement: PreparedStatement, options: AnswerOptions): void {
  const { output, database } = options;
  const columns = statement.columns ?? [];
  const { parameterTypes } = statement;
  const counts = { statementId, columns: columns.length, parameters: parameterTypes.length, warnings: 0 };
  output.packet(encodePrepareOk(counts));
  for (const type of parameterTypes) output.packet(encodeColumnDefinition(parameterDefinition(type)));
  endDefinitions(parameterTypes.length, options);
  for (const column of columns) output.packet(encodeColumnDefinition(columnDefinition(column, database)));
  endDefinitions(columns.length, options);
}

function endDefinitions(count: number, { output, flags, status }: AnswerOptions): void {
  if (count > 0 && !has(flags, capabilities.deprecateEof)) output.packet(encodeEof({ warnings: 0, status }));
}
