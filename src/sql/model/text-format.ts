/** The text formats of values, as PostgreSQL prints and reads them: what clients get, and what `::text` gives. Manual, chapter 8. */
import { compactFloat4, formatFloat4, formatFloat8, parseFloat4, parseFloat8 } from './value-float.ts';
import type { Dialect } from './dialect.ts';
import { formatNumeric, parseNumeric } from './numeric.ts';
import type { Numeric } from './numeric.ts';
import { notSupported, SqlError } from './sql-error.ts';
import { typeTitle } from './type-title.ts';
import { int2vector, types } from './type.ts';
import type { SqlType } from './type.ts';
import { arrayValue, formatArray, parseArray } from './value-array.ts';
import { formatInterval, parseInterval } from './value-interval.ts';
import { formatJsonDocument, parseJson, parseJsonDocument } from './value-json.ts';
import { formatDate, formatTime, formatTimestamp, formatTimestamptz } from './value-time.ts';
import { parseDate, parseTime, parseTimestamp, parseTimestamptz } from './value-time-text.ts';
import type { Interval, JsonDocument, SqlArray, SqlValue } from './value.ts';

interface ValueTexts {
  readonly truth: readonly [ifFalse: string, ifTrue: string];
  readonly float4: (value: number) => string;
  readonly float8: (value: number) => string;
  readonly bytes: (value: Uint8Array) => string;
  readonly instant: (microseconds: bigint) => string;
}

const valueTexts: Readonly<Record<Dialect, ValueTexts>> = {
  postgres: {
    truth: ['f', 't'],
    float4: formatFloat4,
    float8: formatFloat8,
    bytes: (value) => `\\x${Buffer.from(value).toString('hex')}`,
    instant: formatTimestamptz,
  },
  mysql: {
    truth: ['0', '1'],
    float4: compactFloat4,
    float8: String,
    bytes: (value) => Buffer.from(value).toString('utf8'),
    instant: formatTimestamp,
  },
};

/** The text of a value that is not null. */
export function formatText(value: Exclude<SqlValue, null>, type: SqlType, dialect: Dialect): string {
  switch (type.name) {
    case 'bool':
      return valueTexts[dialect].truth[value === true ? 1 : 0];
    case 'float4':
      return valueTexts[dialect].float4(value as number);
    case 'float8':
      return valueTexts[dialect].float8(Number(value));
    case 'numeric':
      return formatNumeric(value as Numeric);
    case 'bytea':
      return valueTexts[dialect].bytes(value as Uint8Array);
    case 'date':
      return formatDate(value as number);
    case 'time':
      return formatTime(value as bigint);
    case 'timestamp':
      return formatTimestamp(value as bigint);
    case 'timestamptz':
      return valueTexts[dialect].instant(value as bigint);
    case 'interval':
      return formatInterval(value as Interval);
    case 'jsonb':
      return formatJsonDocument((value as JsonDocument).value);
    case 'array': {
      const element = elementOf(type);
      const { elements } = value as SqlArray;
      const texts = elements.map((each) => (each === null ? null : formatText(each, element, dialect)));
      return type === int2vector ? texts.join(' ') : formatArray(texts);
    }
    case 'record':
      return formatRecord((value as SqlArray).elements, type, dialect);
    default:
      return typeof value === 'string' ? value : (value as number).toString();
  }
}

/** `(1,"a b",)`: NULL is nothing at all. */
function formatRecord(values: readonly SqlValue[], type: SqlType, dialect: Dialect): string {
  const texts = values.map((value, i) => {
    if (value === null) return '';
    const text = formatText(value, type.fields?.[i]?.type ?? types.text, dialect);
    return text === '' || /[(),"\\\s]/.test(text) ? `"${text.replace(/["\\]/g, '$&$&')}"` : text;
  });
  return `(${texts.join(',')})`;
}

function elementOf(type: SqlType): SqlType {
  if (type.element === undefined) throw new TypeError(`array type ${type.oid} has no element type`);
  return type.element;
}

/** Reads PostgreSQL's input format. @throws SqlError 22P02, 22003, 22007, 22008 in PostgreSQL's words */
export function parseText(text: string, type: SqlType): SqlValue {
  switch (type.name) {
    case 'bool':
      return parseBoolean(text);
    case 'int2':
    case 'int4':
    case 'oid':
      return shortInteger.test(text) ? Number(text) : Number(parseInteger(text, type));
    case 'xid':
      // xidin(), strtoul: the digits at its beginning.
      return Number(BigInt.asUintN(32, BigInt(/^\s*(\d+)/.exec(text)?.[1] ?? '0')));
    case 'int8':
    case 'uint8':
      return parseInteger(text, type);
    case 'numeric': {
      const number = parseNumeric(text);
      if (number === undefined) throw invalidText(text, type);
      return number;
    }
    case 'float4':
      return parseFloat4(text);
    case 'float8':
      return parseFloat8(text);
    case 'bytea':
      return parseBytes(text);
    case 'date':
      return parseDate(text);
    case 'time':
      return parseTime(text);
    case 'timestamp':
      return parseTimestamp(text);
    case 'timestamptz':
      return parseTimestamptz(text);
    case 'interval': {
      const interval = parseInterval(text);
      if (interval === undefined) throw new SqlError('22007', `invalid input syntax for type interval: "${text}"`);
      return interval;
    }
    case 'uuid':
      return parseUuid(text);
    case 'json':
      parseJson(text);
      return text;
    case 'jsonb':
      return parseJsonDocument(text);
    case 'enum':
      if (!type.labels?.includes(text)) {
        throw new SqlError('22P02', `invalid input value for enum ${type.title ?? 'enum'}: "${text}"`);
      }
      return text;
    case 'array':
      return arrayValue(parseArray(text).map((each) => (each === null ? null : parseText(each, elementOf(type)))));
    case 'name':
      return cutName(text);
    case 'char':
      return byteOf(text);
    case 'record':
      // PostgreSQL's own words.
      throw new SqlError('0A000', 'input of anonymous composite types is not implemented', { hint: 'Write ROW(...).' });
    default:
      return text;
  }
}

function invalidText(text: string, type: SqlType): SqlError {
  return new SqlError('22P02', `invalid input syntax for type ${typeTitle(type)}: "${text}"`);
}

/** Prefixes of the words count, as long as they tell the two apart: boolin(). */
function parseBoolean(text: string): boolean {
  const word = text.trim().toLowerCase();
  if (/^(?:t(?:r(?:u(?:e)?)?)?|y(?:e(?:s)?)?|on|1)$/.test(word)) return true;
  if (/^(?:f(?:a(?:l(?:s(?:e)?)?)?)?|n(?:o)?|off?|0)$/.test(word)) return false;
  throw new SqlError('22P02', `invalid input syntax for type boolean: "${text}"`);
}

const integerRanges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-32_768n, 32_767n],
  int4: [-2_147_483_648n, 2_147_483_647n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 2n ** 64n - 1n],
  oid: [-2_147_483_648n, 4_294_967_295n],
};

/** Within the range of each type of integers. */
const shortInteger = /^\d{1,4}$/;

function parseInteger(text: string, type: SqlType): bigint {
  const match = /^\s*([+-]?\d+)\s*$/.exec(text);
  if (match === null) throw invalidText(text, type);
  const integer = BigInt((match[1] ?? '').replace('+', ''));
  const [least, greatest] = integerRanges[type.name] ?? [0n, 0n];
  if (integer < least || integer > greatest) {
    throw new SqlError('22003', `value "${text}" is out of range for type ${typeTitle(type)}`);
  }
  return type.name === 'oid' && integer < 0n ? integer + 2n ** 32n : integer;
}

const uuidPattern = /^(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}$/;

function parseUuid(text: string): string {
  const bare = text.toLowerCase().replace(/^\{(.*)\}$/, '$1');
  if (!uuidPattern.test(bare)) throw new SqlError('22P02', `invalid input syntax for type uuid: "${text}"`);
  const hex = bare.replaceAll('-', '');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** `\x...` or the older escape format, where a backslash stands before three octal digits or another backslash. */
function parseBytes(text: string): Uint8Array {
  if (text.startsWith('\\x')) {
    const hex = text.slice(2).replaceAll(/\s/g, '');
    const wrong = /[^0-9a-f]/i.exec(hex)?.[0];
    if (wrong !== undefined) throw new SqlError('22023', `invalid hexadecimal digit: "${wrong}"`);
    if (hex.length % 2 !== 0) throw new SqlError('22023', 'invalid hexadecimal data: odd number of digits');
    return new Uint8Array(Buffer.from(hex, 'hex'));
  }
  const bytes: number[] = [];
  const source = Buffer.from(text, 'utf8');
  for (let i = 0; i < source.length; i += 1) {
    const byte = source[i] ?? 0;
    if (byte !== 92) bytes.push(byte);
    else if (source[i + 1] === 92) {
      bytes.push(92);
      i += 1;
    } else {
      const octal = source.toString('latin1', i + 1, i + 4);
      if (!/^[0-3][0-7]{2}$/.test(octal)) throw new SqlError('22P02', 'invalid input syntax for type bytea');
      bytes.push(Number.parseInt(octal, 8));
      i += 3;
    }
  }
  return Uint8Array.from(bytes);
}

/** Names have at most 63 bytes. */
function cutName(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= 63
    ? text
    : bytes
        .subarray(0, 63)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}

/** A byte of PostgreSQL's "char": `\101` in octal digits, or the first of the text. @throws SqlError 0A000 a byte above 127 */
export function byteOf(text: string): string {
  const octal = /^\\([0-3][0-7]{2})$/.exec(text)?.[1];
  const byte =
    octal === undefined ? text.slice(0, 1) : String.fromCharCode(Number.parseInt(octal, 8)).replace('\0', '');
  if (byte > '\u007f') throw notSupported('a "char" above 127');
  return byte;
}
