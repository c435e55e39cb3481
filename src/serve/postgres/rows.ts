/** Result columns and rows as messages. */
import type { ResultColumn } from '../../sql/index.ts';
import { type SqlValue, SqlError, formatBinary, formatText, typeLength } from '../../sql/model/index.ts';
import { beginDataRow, type FieldDescription, type MessageWriter } from '../../wire/postgres/index.ts';
import { pieceBytes, type PostgresOutput } from './output.ts';

/** One format for each. @param formats of a Bind: none, one for all, or one each @throws SqlError 08P01, 22023 */
export function formatsFor(count: number, formats: readonly number[], of: 'parameter' | 'result'): number[] {
  if (formats.length > 1 && formats.length !== count) {
    const counted = of === 'parameter' ? `${count} parameters` : `query has ${count} columns`;
    throw new SqlError('08P01', `bind message has ${formats.length} ${of} formats but ${counted}`);
  }
  const unknown = formats.find((format) => format > 1);
  if (unknown !== undefined) throw new SqlError('22023', `unsupported format code: ${unknown}`);
  const each: number[] = [];
  for (let i = 0; i < count; i++) each.push((formats.length > 1 ? formats[i] : formats[0]) ?? 0);
  return each;
}

/** Descriptions of columns that are all sent as text, encoded: many clients ask before each execution. */
const textDescriptions = new WeakMap<readonly ResultColumn[], Uint8Array>();

/** @param formats one for each column, or none: all text */
export function sendDescription(
  output: PostgresOutput,
  columns: readonly ResultColumn[],
  formats: readonly number[],
): void {
  const isText = formats.every((format) => format === 0);
  const known = isText ? textDescriptions.get(columns) : undefined;
  if (known !== undefined) return output.writer.bytes(known);
  const { length } = output.writer;
  output.message({ kind: 'row-description', fields: describeColumns(columns, formats) });
  if (isText) textDescriptions.set(columns, output.writer.since(length));
}

/** @param formats one for each column */
function describeColumns(columns: readonly ResultColumn[], formats: readonly number[]): FieldDescription[] {
  return columns.map((column, i) => ({
    name: column.name,
    tableOid: column.tableNumber,
    columnNumber: column.columnNumber,
    typeOid: column.type.oid,
    typeSize: typeLength(column.type),
    typeModifier: column.modifier,
    format: formats[i] ?? 0,
  }));
}

export interface Rows {
  readonly columns: readonly ResultColumn[];
  /** One for each column. */
  readonly formats: readonly number[];
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Sends the rows from `start` up to `end`, in pieces that wait until the client has read. @returns `undefined`: it need not wait */
export function sendRows(
  output: PostgresOutput,
  { columns, formats, rows }: Rows,
  start: number,
  end: number,
): Promise<void> | undefined {
  const fields = columns.map(({ type }, i) => (formats[i] === 1 ? binaryField : textField)(type));
  return sendRest(output, fields, rows, start, end);
}

function sendRest(
  output: PostgresOutput,
  fields: readonly WriteField[],
  rows: Rows['rows'],
  start: number,
  end: number,
): Promise<void> | undefined {
  for (let i = start; i < end; i++) {
    writeRow(output.writer, fields, rows[i] as readonly SqlValue[]);
    const room = output.writer.length >= fullBytes ? output.flush() : undefined;
    if (room !== undefined) return room.then(() => sendRest(output, fields, rows, i + 1, end));
  }
  return undefined;
}

/** A little less than a piece: with the row that exceeds it the rows still make one piece. */
const fullBytes = pieceBytes - (1 << 12);

/** Types whose natural numbers are written as their digits. */
const isPlainInteger = new Set(['int2', 'int4']);
const digitsMax = 2 ** 31 - 1;

type WriteField = (writer: MessageWriter, value: Exclude<SqlValue, null>) => void;

function textField(type: ResultColumn['type']): WriteField {
  if (isPlainInteger.has(type.name))
    return (writer, value) => {
      if (typeof value === 'number' && value >= 0 && value <= digitsMax) writer.digitsValue(value);
      else writer.textValue(formatText(value, type, 'postgres'));
    };
  return (writer, value) => writer.textValue(formatText(value, type, 'postgres'));
}

function binaryField(type: ResultColumn['type']): WriteField {
  return (writer, value) => writer.value(formatBinary(value, type));
}

/** All of the row or nothing of it. */
function writeRow(writer: MessageWriter, fields: readonly WriteField[], row: readonly SqlValue[]): void {
  const { length } = writer;
  try {
    beginDataRow(writer, fields.length);
    for (let i = 0; i < fields.length; i++) {
      const value = row[i] as SqlValue;
      if (value === null) writer.value(null);
      else (fields[i] as WriteField)(writer, value);
    }
    writer.end();
  } catch (error) {
    writer.truncate(length);
    throw error;
  }
}
