/**
 * One spelling for each value of a column. A driver takes 7 and '7' for a bigint and gives '7' back, a numeric(9, 2) takes 20 and is read as
 * 20.00: the trace must show one and the same value, or a checker would see a read of something that no transaction wrote. What has no certain
 * spelling is `undefined`, which means: not known.
 */
import type { RecordedColumn, RecordedTable } from './schema.ts';

/** What a cell of a trace holds. */
export type CellValue = string | number | boolean | null;

/** Where a value comes from: the server (a result), or a statement's literal or parameter, which the server has yet to convert. */
export type ValueOrigin = 'result' | 'statement';

/** O(length). */
export function cellValue(column: RecordedColumn, value: unknown, origin: ValueOrigin): CellValue | undefined {
  if (value === null) return null;
  switch (column.kind) {
    case 'integer':
      return integerOf(value);
    case 'boolean':
      return booleanOf(value);
    case 'decimal':
      return decimalOf(value, column.scale);
    case 'float':
      return floatOf(value);
    case 'uuid':
      return uuidOf(value);
    case 'padded-text':
    case 'folded-padded-text':
      return textOf(value)?.replace(/ +$/, '');
    case 'text':
    case 'spaced-text':
    case 'cased-text':
    case 'folded-text':
      return textOf(value);
    case 'other':
      return origin === 'result' ? otherOf(value) : undefined;
  }
}

/** `accounts/7`, `stock/1/250`: the table and its key, parts percent-encoded where they have a slash. `undefined`: a part is not certain. */
export function rowName(table: RecordedTable, parts: readonly unknown[], origin: ValueOrigin): string | undefined {
  const { name, key } = table;
  if (key.length === 0) return undefined;
  let text = name;
  for (let i = 0; i < key.length; i += 1) {
    const part = keyPart(key[i] as RecordedColumn, parts[i], origin);
    if (part === undefined) return undefined;
    text += `/${part}`;
  }
  return text;
}

function keyPart(column: RecordedColumn, value: unknown, origin: ValueOrigin): string | undefined {
  const cell = cellValue(column, value, origin);
  if (cell === undefined || cell === null) return undefined;
  if (typeof cell !== 'string') return String(cell);
  const isFolded = column.kind === 'folded-text' || column.kind === 'folded-padded-text';
  const isSpaced = column.kind === 'spaced-text' || column.kind === 'cased-text';
  if (isSpaced && cell.endsWith(' ')) return undefined;
  if (column.kind === 'cased-text' && !isPlainAscii(cell)) return undefined;
  // MySQL compares a text with a number as numbers: '7', '07' and '7.0' are all 7.
  if ((isFolded || isSpaced) && origin === 'statement' && typeof value !== 'string' && !(value instanceof Uint8Array))
    return undefined;
  const text = isFolded ? folded(cell) : cell;
  return text === undefined || !/[%/]/.test(text) ? text : text.replaceAll('%', '%25').replaceAll('/', '%2F');
}

/** Most of MySQL's collations find 'A' for 'a' and also 'a ' or 'á': only for plain ASCII it is certain which texts are the same key. */
function folded(text: string): string | undefined {
  return isPlainAscii(text) && !text.endsWith(' ') ? text.toLowerCase() : undefined;
}

function isPlainAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function integerOf(value: unknown): CellValue | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'bigint') {
    const text = textOf(value);
    if (text === undefined || !/^[+-]?\d{1,20}$/.test(text)) return undefined;
    return integerOf(BigInt(text.replace('+', '')));
  }
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = textOf(value)?.toLowerCase();
  if (text === 't' || text === 'true') return true;
  return text === 'f' || text === 'false' ? false : undefined;
}

/** With fewer digits after the point than the column keeps, or the same value would be rounded. */
function decimalOf(value: unknown, scale: number | null): string | undefined {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : textOf(value);
  const parts = text === undefined ? null : /^([+-]?)0*(\d+)(?:\.(\d*?)0*)?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = ''] = parts;
  if (scale !== null && fraction.length > scale) return undefined;
  const digits = fraction === '' ? whole : `${whole}.${fraction}`;
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
}

function floatOf(value: unknown): CellValue | undefined {
  if (typeof value === 'number' || typeof value === 'bigint')
    return Number.isFinite(Number(value)) ? Number(value) + 0 : String(value);
  const text = textOf(value);
  if (text === undefined || !/^\s*[+-]?[\d.]/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number + 0 : undefined;
}

function uuidOf(value: unknown): string | undefined {
  const text = textOf(value)?.toLowerCase();
  return text !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text) ? text : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    : undefined;
}

/** As drivers give dates, bytes and documents: the same value gives the same text. */
function otherOf(value: unknown): CellValue | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'object' ? JSON.stringify(value) : undefined;
}
