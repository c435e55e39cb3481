/**
 * Parameters of prepared statements. MySQL clients name a type with every value, whatever the server said at PREPARE: JavaScript's numbers
 * are doubles, its dates datetimes, all else texts. A value becomes one of the type that the statement expects, if nothing is lost by it.
 */
import { isUtf8 } from 'node:buffer';
import {
  type SqlType,
  type SqlValue,
  type Numeric,
  parseNumeric,
  SqlError,
  parseText,
  types,
  daysInMonth,
  daysOfCivil,
  joinTimestamp,
  microsecondsPerDay,
  splitTimestamp,
} from '../../sql/model/index.ts';
import {
  type BinaryType,
  type BinaryValue,
  columnType,
  type WireDateTime,
  type WireTime,
} from '../../wire/mysql/index.ts';
import { textValue } from './values.ts';

/** A value as the client typed it. */
export interface ClientValue {
  readonly type: SqlType;
  readonly value: SqlValue;
}

/** @throws SqlError 22007 for a date that is none */
export function clientValue(wire: BinaryValue, { type, isUnsigned }: BinaryType): ClientValue {
  if (wire === null) return { type: types.unknown, value: null };
  if (typeof wire === 'bigint') return { type: isUnsigned ? types.uint8 : types.int8, value: wire };
  if (typeof wire === 'number') return clientNumber(wire, type);
  if (wire instanceof Uint8Array) return clientBytes(wire, type);
  if (wire.kind === 'time') return { type: types.time, value: microsecondsOfTime(wire) };
  const days = daysOf(wire);
  if (type === columnType.date) return { type: types.date, value: days };
  return { type: types.timestamp, value: joinTimestamp(days, timeOfDay(wire)) };
}

function clientNumber(value: number, type: number): ClientValue {
  if (type === columnType.double) return { type: types.float8, value };
  if (type === columnType.float) return { type: types.float8, value: Number(value.toPrecision(7)) };
  if (value > 0x7fff_ffff) return { type: types.int8, value: BigInt(value) };
  return { type: types.int4, value };
}

function clientBytes(bytes: Uint8Array, type: number): ClientValue {
  switch (type) {
    case columnType.decimal:
    case columnType.newdecimal: {
      const text = Buffer.from(bytes).toString('latin1');
      const value = parseNumeric(text);
      if (value === undefined) throw wrongValue(text, types.numeric);
      return { type: types.numeric, value };
    }
    case columnType.tinyBlob:
    case columnType.blob:
    case columnType.mediumBlob:
    case columnType.longBlob:
    case columnType.bit:
      return { type: types.bytea, value: bytes };
    default:
      return textOrBytes(bytes);
  }
}

/** Some drivers say that bytes are a text, too; JDBC's do. */
export function textOrBytes(bytes: Uint8Array): ClientValue {
  return isUtf8(bytes)
    ? { type: types.text, value: Buffer.from(bytes).toString('utf8') }
    : { type: types.bytea, value: bytes };
}

/** @throws SqlError 22007 */
function daysOf({ year, month, day }: WireDateTime): number {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month))
    throw wrongValue(`${year}-${month}-${day}`, types.date);
  return daysOfCivil({ year, month, day });
}

function timeOfDay({ hour, minute, second, microsecond }: WireDateTime): bigint {
  return BigInt(hour * 3600 + minute * 60 + second) * 1_000_000n + BigInt(microsecond);
}

function microsecondsOfTime({ isNegative, days, hours, minutes, seconds, microseconds }: WireTime): bigint {
  const size = BigInt(((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000n + BigInt(microseconds);
  return isNegative ? -size : size;
}

/** `undefined`: this type cannot hold it, and the statement should be prepared for the client's type. @throws SqlError 22P02, 22007 */
export function convert({ type, value }: ClientValue, target: SqlType): SqlValue | undefined {
  if (value === null || type.name === target.name) return value;
  switch (target.name) {
    case 'bool':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) !== 0 : read(type, value, target);
    case 'int2':
    case 'int4':
    case 'int8':
    case 'uint8':
    case 'oid':
      return toInteger(type, value, target);
    case 'float4':
    case 'float8':
      return toFloat(type, value, target);
    case 'date':
      return type.name === 'timestamp' ? toDate(value as bigint) : read(type, value, target);
    case 'timestamp':
    case 'timestamptz':
      if (type.name === 'timestamp') return value;
      return type.name === 'date' ? joinTimestamp(value as number, 0n) : read(type, value, target);
    case 'time':
      return type.name === 'timestamp' ? splitTimestamp(value as bigint).time : read(type, value, target);
    case 'bytea':
      return Buffer.from(textOf(type, value));
    case 'enum':
      return toLabel(type, value, target);
    case 'text':
    case 'varchar':
    case 'bpchar':
    case 'name':
    case 'unknown':
      // Bytes that are no text stay bytes.
      return type.name === 'bytea' && !isUtf8(value as Uint8Array) ? undefined : textOf(type, value);
    default:
      return read(type, value, target);
  }
}

const ranges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-(2n ** 15n), 2n ** 15n - 1n],
  int4: [-(2n ** 31n), 2n ** 31n - 1n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 2n ** 64n - 1n],
  oid: [0n, 2n ** 32n - 1n],
};

function toInteger(type: SqlType, value: Exclude<SqlValue, null>, target: SqlType): SqlValue | undefined {
  const whole = wholeNumber(type, value);
  if (whole === undefined) return undefined;
  const [least, greatest] = ranges[target.name] ?? [0n, -1n];
  if (whole < least || whole > greatest) return undefined;
  return target.name === 'int8' || target.name === 'uint8' ? whole : Number(whole);
}

/** `undefined`: it is no whole number. */
function wholeNumber(type: SqlType, value: Exclude<SqlValue, null>): bigint | undefined {
  if (typeof value === 'bigint' && isInteger(type)) return value;
  if (typeof value === 'number' && type.name !== 'date') return Number.isInteger(value) ? BigInt(value) : undefined;
  const numeric = type.name === 'numeric' ? (value as Numeric) : parseNumeric(textOf(type, value));
  return numeric?.value.isInteger() === true ? BigInt(numeric.value.toFixed()) : undefined;
}

function isInteger({ name }: SqlType): boolean {
  return name === 'int2' || name === 'int4' || name === 'int8' || name === 'uint8';
}

function toFloat(type: SqlType, value: Exclude<SqlValue, null>, target: SqlType): SqlValue {
  if (!isInteger(type) && type.name !== 'float8') return read(type, value, target);
  return target.name === 'float4' ? Math.fround(Number(value)) : Number(value);
}

function toDate(microseconds: bigint): number | undefined {
  return microseconds % microsecondsPerDay === 0n ? splitTimestamp(microseconds).days : undefined;
}

/** A number is the position of a label, from 1. */
function toLabel(type: SqlType, value: Exclude<SqlValue, null>, target: SqlType): SqlValue {
  const position = typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0;
  return target.labels?.[position - 1] ?? read(type, value, target);
}

/** Through its text, which every type can read. */
function read(type: SqlType, value: Exclude<SqlValue, null>, target: SqlType): SqlValue {
  const text = textOf(type, value);
  try {
    return parseText(text, target);
  } catch (error) {
    if (error instanceof SqlError && (error.code === '22P02' || error.code.startsWith('2200')))
      throw wrongValue(text, target);
    throw error;
  }
}

function textOf(type: SqlType, value: Exclude<SqlValue, null>): string {
  const base = { name: '', tableNumber: 0, columnNumber: 0, tableName: '', isNullable: true };
  const text = textValue(value, { ...base, type, modifier: -1 });
  return typeof text === 'string' ? text : Buffer.from(text ?? []).toString('utf8');
}

const kinds: Readonly<Partial<Record<SqlType['name'], string>>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  uint8: 'integer',
  date: 'DATE',
  timestamp: 'DATETIME',
  timestamptz: 'TIMESTAMP',
  time: 'TIME',
  numeric: 'DECIMAL',
  float4: 'FLOAT',
  float8: 'DOUBLE',
};

/** As MySQL says it: 1292 for dates and times, 1366 for everything else. */
function wrongValue(text: string, { name }: SqlType): SqlError {
  const kind = kinds[name] ?? name;
  const isTime = name === 'date' || name === 'time' || name.startsWith('timestamp');
  if (isTime) return new SqlError('22007', `Incorrect ${kind} value: '${text}'`, { mysqlNumber: 1292 });
  return new SqlError('HY000', `Incorrect ${kind} value: '${text}'`, { mysqlNumber: 1366 });
}
