/** Values and columns of results as MySQL sends them. MySQL manual, "Data Types"; column lengths as a server of version 8.0 gives them. */
import type { MysqlTypeName, ResultColumn } from '../../sql/index.ts';
import {
  type SqlType,
  type SqlValue,
  type TypeName,
  type Numeric,
  formatText,
  civilOfDays,
  isFiniteTime,
  splitTimestamp,
} from '../../sql/model/index.ts';
import {
  type BinaryValue,
  characterSet,
  type ColumnDefinition,
  columnFlag,
  columnType,
  type WireDateTime,
  type WireTime,
} from '../../wire/mysql/index.ts';

/** How a type is described to clients; lengths in bytes of text. */
interface ColumnShape {
  readonly type: number;
  readonly length: number;
  readonly flags?: number;
  readonly isText?: boolean;
  readonly decimals?: number;
}

const { binary, blob, unsigned, enum: enumFlag } = columnFlag;
const bytesOfCharacter = 4;
const depends = 31;

const shapes: Readonly<Partial<Record<TypeName, ColumnShape>>> = {
  bool: { type: columnType.tiny, length: 1 },
  int2: { type: columnType.short, length: 6 },
  int4: { type: columnType.long, length: 11 },
  int8: { type: columnType.longlong, length: 20 },
  uint8: { type: columnType.longlong, length: 20, flags: unsigned },
  oid: { type: columnType.long, length: 10, flags: unsigned },
  float4: { type: columnType.float, length: 12, decimals: depends },
  float8: { type: columnType.double, length: 22, decimals: depends },
  text: { type: columnType.blob, length: 65_535 * bytesOfCharacter, flags: blob, isText: true },
  date: { type: columnType.date, length: 10 },
  json: { type: columnType.json, length: 0xffff_ffff, flags: blob },
  jsonb: { type: columnType.json, length: 0xffff_ffff, flags: blob },
  void: { type: columnType.null, length: 0 },
};

/** Columns whose type is wider here than in MySQL. */
const ownShapes: Partial<Readonly<Record<MysqlTypeName, ColumnShape>>> = {
  tinyint: { type: columnType.tiny, length: 4 },
  'tinyint unsigned': { type: columnType.tiny, length: 3, flags: unsigned },
  'smallint unsigned': { type: columnType.short, length: 5, flags: unsigned },
  mediumint: { type: columnType.int24, length: 9 },
  'mediumint unsigned': { type: columnType.int24, length: 8, flags: unsigned },
  'int unsigned': { type: columnType.long, length: 10, flags: unsigned },
  year: { type: columnType.year, length: 4, flags: unsigned },
  'float unsigned': { type: columnType.float, length: 12, flags: unsigned, decimals: depends },
  'double unsigned': { type: columnType.double, length: 22, flags: unsigned, decimals: depends },
};

export function columnDefinition(column: ResultColumn, schema: string): ColumnDefinition {
  const { type, length, flags = 0, isText = false, decimals = 0 } = shapeOf(column);
  return {
    schema: column.tableName === '' ? '' : schema,
    table: column.tableName,
    originalTable: column.tableName,
    name: column.name,
    originalName: column.tableName === '' ? '' : column.name,
    characterSet: isText ? characterSet.utf8mb4GeneralCi : characterSet.binary,
    length,
    type,
    flags:
      flags |
      (isText ? 0 : binary) |
      (column.isNullable ? 0 : columnFlag.notNull) |
      (column.isPrimary === true ? columnFlag.primaryKey : 0) |
      (column.isAutoIncrement === true ? columnFlag.autoIncrement : 0),
    decimals,
  };
}

/** A parameter of a prepared statement: what is known of it is its type. */
export function parameterDefinition(type: SqlType): ColumnDefinition {
  const base = { tableNumber: 0, columnNumber: 0, tableName: '', isNullable: true };
  return columnDefinition({ name: '?', type, modifier: -1, ...base }, '');
}

function shapeOf({ type, modifier, tableName, mysqlType }: ResultColumn): ColumnShape {
  const own = mysqlType === undefined ? undefined : ownShapes[mysqlType];
  if (own !== undefined) return { ...own, length: modifier === 1 ? 1 : own.length };
  switch (type.name) {
    case 'numeric':
      return numericShape(modifier);
    case 'bytea':
      if (mysqlType === 'varbinary') return { type: columnType.varString, length: 65_535 };
      if (mysqlType === 'binary') return { type: columnType.string, length: 255 };
      return { type: columnType.blob, length: 65_535, flags: blob };
    case 'bpchar':
      return { type: columnType.string, length: Math.max(modifier - 4, 1) * bytesOfCharacter, isText: true };
    case 'enum': {
      const longest = Math.max(0, ...(type.labels ?? []).map((label) => label.length));
      return { type: columnType.string, length: longest * bytesOfCharacter, flags: enumFlag, isText: true };
    }
    case 'time':
      return { type: columnType.time, ...fractional(10, modifier) };
    case 'timestamp':
      return { type: columnType.datetime, ...fractional(19, modifier) };
    case 'timestamptz':
      return { type: columnType.timestamp, flags: columnFlag.timestamp | unsigned, ...fractional(19, modifier) };
    case 'text':
      // Of an expression: a MySQL server would say varchar.
      return (tableName === '' ? undefined : shapes.text) ?? varcharShape(-1);
    default:
      return shapes[type.name] ?? varcharShape(type.name === 'varchar' ? modifier : -1);
  }
}

function varcharShape(modifier: number): ColumnShape {
  const characters = modifier < 4 ? 16_383 : modifier - 4;
  return { type: columnType.varString, length: characters * bytesOfCharacter, isText: true };
}

/** PostgreSQL's type modifier: precision and scale in the halves of a number, 4 more. */
function numericShape(modifier: number): ColumnShape {
  if (modifier < 4) return { type: columnType.newdecimal, length: 67, decimals: 30 };
  const scale = (modifier - 4) & 0xffff;
  const precision = ((modifier - 4) >> 16) & 0xffff;
  return { type: columnType.newdecimal, length: precision + 2, decimals: scale };
}

function fractional(length: number, modifier: number): { length: number; decimals: number } {
  const decimals = modifier < 0 ? 6 : modifier;
  return { length: decimals === 0 ? length : length + 1 + decimals, decimals };
}

/** The text of a value in a text row; blobs are their bytes. */
export function textValue(value: SqlValue, { type, modifier }: ResultColumn): Uint8Array | string | null {
  if (value === null) return null;
  switch (type.name) {
    case 'bytea':
      return value as Uint8Array;
    case 'float4':
      return formatFloat(value as number, 6);
    case 'float8':
      return formatFloat(value as number, 17);
    case 'date':
      return dateText(dateOf(value as number));
    case 'time':
      return timeText(value as bigint, modifier);
    case 'timestamp':
    case 'timestamptz':
      return timestampText(value as bigint, modifier);
    case 'bpchar':
      // Stored with blanks up to its length, and given without them.
      return (value as string).replace(/ +$/, '');
    case 'numeric':
      return (value as Numeric).value.isFinite() ? formatText(value, type, 'mysql') : null;
    case 'void':
      return null;
    default:
      return formatText(value, type, 'mysql');
  }
}

/** The value in a binary row; its type there is that of `columnDefinition`. */
export function binaryValue(value: SqlValue, column: ResultColumn): BinaryValue {
  if (value === null) return null;
  switch (column.type.name) {
    case 'bool':
      return value === true ? 1 : 0;
    case 'int2':
    case 'int4':
    case 'oid':
      return Number(value);
    case 'int8':
    case 'uint8':
      // INT UNSIGNED is wider here than on the wire.
      return shapeOf(column).type === columnType.longlong ? (value as bigint) : Number(value);
    case 'float4':
    case 'float8':
      return Number.isFinite(value) ? (value as number) : null;
    case 'date':
      return dateOf(value as number);
    case 'time':
      return timeOf(value as bigint);
    case 'timestamp':
    case 'timestamptz':
      return dateTimeOf(value as bigint);
    default: {
      const text = textValue(value, column);
      return typeof text === 'string' ? Buffer.from(text) : text;
    }
  }
}

// ---- dates and times; MySQL knows the years 0 to 9999, and '0000-00-00' for what is no date

const noDate: WireDateTime = {
  kind: 'datetime',
  year: 0,
  month: 0,
  day: 0,
  hour: 0,
  minute: 0,
  second: 0,
  microsecond: 0,
};

function dateOf(days: number): WireDateTime {
  if (!Number.isFinite(days)) return noDate;
  const { year, month, day } = civilOfDays(days);
  return year < 0 || year > 9999 ? noDate : { ...noDate, year, month, day };
}

function dateTimeOf(microseconds: bigint): WireDateTime {
  if (!isFiniteTime(microseconds)) return noDate;
  const { days, time } = splitTimestamp(microseconds);
  const date = dateOf(days);
  if (date === noDate) return noDate;
  const { hours, minutes, seconds, microseconds: microsecond } = timeOf(time);
  return { ...date, hour: hours, minute: minutes, second: seconds, microsecond };
}

function timeOf(value: bigint): WireTime {
  const isNegative = value < 0n;
  const size = isNegative ? -value : value;
  const seconds = Number(size / 1_000_000n);
  return {
    kind: 'time',
    isNegative,
    days: Math.floor(seconds / 86_400),
    hours: Math.floor(seconds / 3600) % 24,
    minutes: Math.floor(seconds / 60) % 60,
    seconds: seconds % 60,
    microseconds: Number(size % 1_000_000n),
  };
}

function dateText({ year, month, day }: WireDateTime): string {
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
}

function timestampText(value: bigint, modifier: number): string {
  const at = dateTimeOf(value);
  const time = `${digits(at.hour, 2)}:${digits(at.minute, 2)}:${digits(at.second, 2)}`;
  return `${dateText(at)} ${time}${fractionText(at.microsecond, modifier)}`;
}

function timeText(value: bigint, modifier: number): string {
  const { isNegative, days, hours, minutes, seconds, microseconds } = timeOf(value);
  const time = `${digits(days * 24 + hours, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}`;
  return `${isNegative ? '-' : ''}${time}${fractionText(microseconds, modifier)}`;
}

/** As many digits as the column has; where it does not say, those that are needed: none or six. */
function fractionText(microseconds: number, modifier: number): string {
  const wanted = modifier >= 0 ? modifier : microseconds === 0 ? 0 : 6;
  return wanted === 0 ? '' : `.${digits(microseconds, 6).slice(0, wanted)}`;
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}

// ---- floating point

/**
 * `my_gcvt` of the server: the shortest digits that read back as the same number, for `float` at most six; written out unless the point is
 * further than 15 digits away. MySQL has no infinities: they are null.
 */
export function formatFloat(value: number, digitsMax: number): string | null {
  if (!Number.isFinite(value)) return null;
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const rounded = digitsMax < 17 ? Number(value.toPrecision(digitsMax)) : value;
  const [mantissa = '', exponent = '0'] = Math.abs(rounded).toExponential().split('e');
  const sign = rounded < 0 ? '-' : '';
  const figures = mantissa.replace('.', '');
  const point = Number(exponent) + 1;
  if (point <= -fixedPointMax || (point > fixedPointMax && figures.length <= point)) {
    const fraction = figures.length > 1 ? `.${figures.slice(1)}` : '';
    return `${sign}${figures[0]}${fraction}e${point - 1}`;
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${figures}`;
  const whole = figures.slice(0, point).padEnd(point, '0');
  return `${sign}${whole}${figures.length > point ? `.${figures.slice(point)}` : ''}`;
}

const fixedPointMax = 15;
