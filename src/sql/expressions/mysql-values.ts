/** MySQL converts while it runs: strings to numbers by their leading digits, anything to text. Reference manual, 14.3. */
import { formatNumeric, numericOf, parseNumeric, roundNumeric } from '../numeric.ts';
import type { Numeric } from '../numeric.ts';
import { SqlError } from '../sql-error.ts';
import { formatText, parseText } from '../text-format.ts';
import { isSameType, types } from '../type.ts';
import type { SqlType, TypeName } from '../type.ts';
import { parseJsonDocument } from '../value-json.ts';
import { civilOfDays, formatTime, joinTimestamp, splitTimestamp } from '../value-time.ts';
import type { JsonDocument, SqlValue } from '../value.ts';
import { conversionOf, jsonKind } from './cast-values.ts';
import type { Conversion } from './cast-values.ts';

type Present = Exclude<SqlValue, null>;

const textNames: ReadonlySet<TypeName> = new Set([
  'text',
  'varchar',
  'bpchar',
  'name',
  'enum',
  'uuid',
  'unknown',
  'json',
]);
const timeNames: ReadonlySet<TypeName> = new Set(['date', 'time', 'timestamp', 'timestamptz']);

export function isTextual(type: SqlType): boolean {
  return textNames.has(type.name);
}

export function isTemporal(type: SqlType): boolean {
  return timeNames.has(type.name);
}

/** @throws SqlError 22032 (3140) */
function documentOf(text: string): JsonDocument {
  try {
    return parseJsonDocument(text);
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '22P02') throw error;
    throw new SqlError('22032', `Invalid JSON text: "Invalid value."`, { mysqlNumber: 3140 });
  }
}

/**
 * The conversion of any value to any type; texts that are no dates give NULL.
 * @param modifier of the value: dates and times show as many digits of the second in their text
 */
export function mysqlConversion(from: SqlType, to: SqlType, modifier: number): Conversion {
  if (isSameType(from, to)) return (value) => value;
  const digits = isTemporal(from) && from.name !== 'date' ? modifier : -1;
  const textOf = (value: Present): string => withSecondDigits(formatText(value, from, 'mysql'), digits);
  switch (to.name) {
    case 'bool':
      return (value) => isTruthy(value, from);
    case 'int2':
    case 'int4':
    case 'oid':
      return (value) => Number(integerOfValue(value, from, -(2n ** 31n), 2n ** 31n - 1n));
    case 'int8':
      return (value) => integerOfValue(value, from, -(2n ** 63n), 2n ** 63n - 1n);
    case 'uint8':
      return (value) => integerOfValue(value, from, 0n, 2n ** 64n - 1n);
    case 'numeric':
      return (value) => decimalOf(value, from);
    case 'float4':
      return (value) => Math.fround(doubleOf(value, from));
    case 'float8':
      return (value) => doubleOf(value, from);
    case 'bytea':
      return (value) => new Uint8Array(Buffer.from(textOf(value)));
    case 'jsonb':
      if (isTemporal(from)) return (value) => ({ kind: 'json', value: textOf(value) });
      return (value) => (isTextual(from) ? documentOf(value as string) : { kind: 'json', value: jsonOf(value, from) });
    default:
      break;
  }
  if (isTextual(to)) return textOf;
  if (isTemporal(to)) return (value, execution) => temporalOf(value, from, to, execution);
  return conversionOf(from, to);
}

/** The text of a date or time with as many digits of the second as its type says; -1: with those that it needs. */
function withSecondDigits(text: string, digits: number): string {
  if (digits < 0) return text;
  const [whole = '', fraction = ''] = text.split('.');
  return digits === 0 ? whole : `${whole}.${fraction.padEnd(digits, '0').slice(0, digits)}`;
}

function jsonOf(value: Present, type: SqlType): unknown {
  if (type.name === 'bool' || typeof value === 'number') return value;
  return typeof value === 'bigint' ? numericOf(value) : formatText(value, type, 'mysql');
}

/** `undefined` where MySQL would say that the text is no date. */
const temporalOf = (value: Present, from: SqlType, to: SqlType, execution: Parameters<Conversion>[1]): SqlValue => {
  if (from.name === 'time' && to.name !== 'time') {
    const { days } = splitTimestamp(execution.surroundings.statementTime);
    return to.name === 'date' ? days : joinTimestamp(days, 0n) + (value as bigint);
  }
  if (isTemporal(from)) return conversionOf(from, to)(value, execution);
  if (to.name === 'time' && isTextual(from)) {
    const found = clockTime(formatText(value, from, 'mysql'));
    if (found !== undefined) return found;
  }
  try {
    return parseText(normalizeTime(formatText(value, from, 'mysql'), to), to);
  } catch (error) {
    if (error instanceof SqlError) return null;
    throw error;
  }
};

const secondsMax = 838n * 3600n + 59n * 60n + 59n;

/** MySQL's times are durations: -838:59:59 to 838:59:59. `undefined`: not written so, or a date with a time. */
function clockTime(text: string): bigint | null | undefined {
  const parts = /^\s*(-?)(\d{1,3}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?\s*$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, hours = '0', minutes = '0', seconds = '0', fraction = ''] = parts;
  const total = BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds);
  if (Number(minutes) > 59 || Number(seconds) > 59 || total > secondsMax) return null;
  const microseconds = total * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  return sign === '-' ? -microseconds : microseconds;
}

/** 20200131 and 20200131235959 are dates too; a date alone is midnight; of a datetime, a date is the first part. */
function normalizeTime(text: string, to: SqlType): string {
  const trimmed = text.trim();
  const packed = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?$/.exec(trimmed);
  const [, year, month, day, hour = '00', minute = '00', second = '00'] = packed ?? [];
  const whole = packed === null ? trimmed : `${year}-${month}-${day} ${hour}:${minute}:${second}`;
  if (to.name === 'date') return whole.slice(0, 10).trim();
  if (to.name === 'time') return whole.replace(/^\d{4}-\d{2}-\d{2}[ T]/, '');
  return whole;
}

const leadingNumber = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i;

/** The number a text starts with; 0 for none. */
function leadingDouble(text: string): number {
  return Number(leadingNumber.exec(text)?.[0] ?? '0');
}

function doubleOf(value: Present, type: SqlType): number {
  if (type.name === 'numeric') return Number(formatNumeric(value as Numeric));
  if (isTemporal(type)) return Number(decimalOf(value, type).value);
  if (type.name === 'jsonb') return jsonDouble(value as JsonDocument);
  if (typeof value === 'string') return leadingDouble(value);
  if (value instanceof Uint8Array) return leadingDouble(Buffer.from(value).toString('utf8'));
  return Number(value);
}

function jsonDouble({ value }: JsonDocument): number {
  if (typeof value === 'string') return leadingDouble(value);
  return jsonKind(value) === 'number' ? Number(value) : value === true ? 1 : 0;
}

function decimalOf(value: Present, type: SqlType): Numeric {
  switch (type.name) {
    case 'numeric':
      return value as Numeric;
    case 'date':
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return numericOf(packTime(value, type));
    case 'float4':
    case 'float8':
      return parseNumeric(String(Number(value))) ?? numericOf(0);
    case 'bool':
      return numericOf(value === true ? 1 : 0);
    case 'jsonb':
      return parseNumeric(String(jsonDouble(value as JsonDocument))) ?? numericOf(0);
    default: {
      if (typeof value === 'number' || typeof value === 'bigint') return numericOf(value);
      const text = formatText(value, type, 'mysql');
      return parseNumeric(leadingNumber.exec(text)?.[0] ?? '0') ?? numericOf(0);
    }
  }
}

/** A date as a number: 20200131, 20200131235959. */
function packTime(value: Present, type: SqlType): bigint {
  if (type.name === 'time')
    return BigInt(
      formatTime(value as bigint)
        .split('.')[0]
        ?.replaceAll(':', '') ?? '0',
    );
  const { days, time } = type.name === 'date' ? { days: value as number, time: 0n } : splitTimestamp(value as bigint);
  const { year, month, day } = civilOfDays(days);
  const date = BigInt(year * 10_000 + month * 100 + day);
  if (type.name === 'date') return date;
  const seconds = time / 1_000_000n;
  return date * 1_000_000n + (seconds / 3600n) * 10_000n + ((seconds / 60n) % 60n) * 100n + (seconds % 60n);
}

function integerOfValue(value: Present, type: SqlType, least: bigint, greatest: bigint): bigint {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  // A text gives its leading whole number: '12.9' is 12, though 12.9 is 13.
  const number = typeof value === 'bigint' && !isTemporal(type) ? value : wholeOf(value, type);
  return number < least ? least : number > greatest ? greatest : number;
}

function wholeOf(value: Present, type: SqlType): bigint {
  if (typeof value === 'string') {
    const digits = /^\s*([+-]?\d+)/.exec(value)?.[1] ?? '0';
    return BigInt(digits.replace('+', ''));
  }
  return BigInt(formatNumeric(roundNumeric(decimalOf(value, type), 0)));
}

function isTruthy(value: Present, type: SqlType): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return value !== 0;
  return type.name === 'numeric' ? !(value as Numeric).value.isZero() : doubleOf(value, type) !== 0;
}

/** What a value is when it is computed with: exact numbers stay exact, all else is a double. */
export function arithmeticType(type: SqlType): SqlType {
  switch (type.name) {
    case 'bool':
    case 'int2':
    case 'int4':
    case 'int8':
      return types.int8;
    case 'uint8':
    case 'numeric':
      return type;
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return types.int8;
    default:
      return types.float8;
  }
}
