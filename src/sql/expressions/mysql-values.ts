/** MySQL converts while it runs: strings to numbers by their leading digits, anything to text. Reference manual, 14.3. */
import {
  formatNumeric,
  numericOf,
  parseNumeric,
  roundNumeric,
  truncateNumeric,
  type Numeric,
  SqlError,
  formatText,
  isSameType,
  types,
  type SqlType,
  type TypeName,
  parseJsonDocument,
  civilOfDays,
  joinTimestamp,
  splitTimestamp,
  type JsonDocument,
  type SqlValue,
} from '../model/index.ts';
import { conversionOf, jsonKind } from './cast-values.ts';
import type { Conversion } from './cast-values.ts';
import { momentOfNumber, momentOfText } from './mysql-moments.ts';

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
  if (from.name === 'enum' && (isNumber(to) || to.name === 'bool')) return numberOfLabel(from, to);
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
      return (value) => decimalOf(value, from, digits);
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

/** An ENUM is its label as a text, and the label's place, from 1, as a number: reference manual, 11.3.5. */
function numberOfLabel({ labels = [] }: SqlType, to: SqlType): Conversion {
  const convert = mysqlConversion(types.int4, to, -1);
  return (label, execution) => convert(labels.indexOf(label as string) + 1, execution);
}

/** The text of a date or time with as many digits of the second as its type says; -1: with those that it needs. */
export function withSecondDigits(text: string, digits: number): string {
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
  if (isNumber(from)) return momentOfNumber(decimalOf(value, from), to);
  return momentOfText(formatText(value, from, 'mysql'), to);
};

const leadingNumber = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i;

/** The number a text starts with; 0 for none. */
function leadingDouble(text: string): number {
  return Number(leadingNumber.exec(text)?.[0] ?? '0');
}

function doubleOf(value: Present, type: SqlType): number {
  if (type.name === 'numeric') return Number(formatNumeric(value as Numeric));
  if (isTemporal(type)) return Number(formatNumeric(decimalOf(value, type)));
  if (type.name === 'jsonb') return jsonDouble(value as JsonDocument);
  if (typeof value === 'string') return leadingDouble(value);
  if (value instanceof Uint8Array) return leadingDouble(Buffer.from(value).toString('utf8'));
  return Number(value);
}

function jsonDouble({ value }: JsonDocument): number {
  if (typeof value === 'string') return leadingDouble(value);
  return jsonKind(value) === 'number' ? Number(value) : value === true ? 1 : 0;
}

/** @param digits of the second that a time shows; -1: those that it needs */
function decimalOf(value: Present, type: SqlType, digits = -1): Numeric {
  switch (type.name) {
    case 'numeric':
      return value as Numeric;
    case 'date':
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return packTime(value, type, digits);
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

/** A date as a number: 20200131, 20200131235959.5. */
function packTime(value: Present, type: SqlType, digits: number): Numeric {
  if (type.name === 'date') return numericOf(packDate(value as number));
  const isClock = type.name === 'time';
  const { days, time } = isClock ? { days: 0, time: value as bigint } : splitTimestamp(value as bigint);
  const size = time < 0n ? -time : time;
  const seconds = size / 1_000_000n;
  const clock = (seconds / 3600n) * 10_000n + ((seconds / 60n) % 60n) * 100n + (seconds % 60n);
  const whole = isClock ? clock : packDate(days) * 1_000_000n + clock;
  const fraction = String(size % 1_000_000n).padStart(6, '0');
  const shown = digits < 0 ? fraction.replace(/0+$/, '') : fraction.slice(0, digits);
  return numericOf(`${time < 0n ? '-' : ''}${whole}.${shown}0`, shown.length);
}

function packDate(days: number): bigint {
  const { year, month, day } = civilOfDays(days);
  return BigInt(year * 10_000 + month * 100 + day);
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
  // A time loses its fraction.
  const toWhole = isTemporal(type) ? truncateNumeric : roundNumeric;
  return BigInt(formatNumeric(toWhole(decimalOf(value, type), 0)));
}

function isTruthy(value: Present, type: SqlType): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return value !== 0;
  return type.name === 'numeric' ? !(value as Numeric).value.isZero() : doubleOf(value, type) !== 0;
}

const numberNames: ReadonlySet<TypeName> = new Set([
  'bool',
  'int2',
  'int4',
  'int8',
  'uint8',
  'numeric',
  'float4',
  'float8',
]);

export function isNumber({ name }: SqlType): boolean {
  return numberNames.has(name);
}

/** What a value is when it is computed with: exact numbers and times stay exact, all else is a double. */
export function arithmeticType({ type, modifier }: { readonly type: SqlType; readonly modifier: number }): SqlType {
  switch (type.name) {
    case 'bool':
    case 'int2':
    case 'int4':
    case 'int8':
    case 'date':
    case 'enum':
      return types.int8;
    case 'uint8':
    case 'numeric':
      return type;
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return modifier === 0 ? types.int8 : types.numeric;
    default:
      return types.float8;
  }
}
