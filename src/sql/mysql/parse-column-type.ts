/** Types of columns (MySQL 8.0 manual, chapter 13) in the names of PostgreSQL and of column-types.ts. */
import { parseNumbers, skipCharset } from './cast-type.ts';
import { namedType, type NamedType } from '../tree/type-name.ts';
import type { Cursor } from './cursor.ts';
import { parseStringValue } from './literal.ts';

export interface ColumnType {
  readonly type: NamedType;
  /** Does a collation mean something to it? */
  readonly isCharacter: boolean;
  /** SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE. */
  readonly isSerial: boolean;
}

type Reader = (cursor: Cursor) => NamedType;

/** @throws SqlError 42601, 0A000 */
export function parseColumnType(cursor: Cursor): ColumnType {
  cursor.accept('NATIONAL');
  const word = cursor.peek()?.text.toUpperCase() ?? '';
  const reader = cursor.isKind('word') && Object.hasOwn(readers, word) ? readers[word] : undefined;
  if (reader === undefined) throw cursor.syntaxError();
  const isCharacter = /CHAR|TEXT|ENUM/.test(word);
  cursor.take();
  const type = reader(cursor);
  if (isCharacter) {
    skipCharset(cursor);
    cursor.accept('BINARY');
  }
  return { type, isCharacter, isSerial: word === 'SERIAL' };
}

/** The width 1 is all that tells it from other numbers. */
const boolean = namedType('mysql_tinyint', 1);

/** Width, SIGNED, UNSIGNED, ZEROFILL. */
function integer(signed: string, unsigned: string): Reader {
  return (cursor) => {
    const [width] = parseNumbers(cursor);
    const isUnsigned = acceptUnsigned(cursor);
    const isBoolean = width === 1 && signed === 'mysql_tinyint' && !isUnsigned;
    return isBoolean ? boolean : namedType(isUnsigned ? unsigned : signed);
  };
}

function acceptUnsigned(cursor: Cursor): boolean {
  let isUnsigned = false;
  for (;;) {
    const word = cursor.acceptOneOf('UNSIGNED', 'SIGNED', 'ZEROFILL');
    if (word === undefined) return isUnsigned;
    isUnsigned ||= word !== 'SIGNED';
  }
}

/** FLOAT(p), FLOAT(m, d), DOUBLE(m, d). */
function floating(name: 'float4' | 'float8', unsigned: string): Reader {
  return (cursor) => {
    const numbers = parseNumbers(cursor);
    const isDouble = name === 'float8' || (numbers.length === 1 && (numbers[0] ?? 0) > 24);
    if (acceptUnsigned(cursor)) return namedType(isDouble ? 'mysql_udouble' : unsigned);
    return namedType(isDouble ? 'float8' : name);
  };
}

const decimal: Reader = (cursor) => {
  const [precision = 10, scale = 0] = parseNumbers(cursor);
  const name = acceptUnsigned(cursor) ? 'mysql_udecimal' : 'numeric';
  return namedType(name, precision, scale);
};

/** Digits of the second: none unless said. */
const timed =
  (name: string): Reader =>
  (cursor) =>
    namedType(name, parseNumbers(cursor)[0] ?? 0);

const sized =
  (name: string, lengthDefault: number | undefined): Reader =>
  (cursor) => {
    const [length = lengthDefault] = parseNumbers(cursor);
    if (length === undefined) throw cursor.syntaxError();
    return namedType(name, length);
  };

const fixed =
  (name: string): Reader =>
  (cursor) => {
    parseNumbers(cursor);
    return namedType(name);
  };

const character: Reader = (cursor) =>
  cursor.accept('VARYING') ? sized('varchar', undefined)(cursor) : sized('char', 1)(cursor);

const enumeration: Reader = (cursor) => {
  const labels = cursor.parenthesized(() => cursor.list(() => parseStringValue(cursor)));
  return namedType('mysql_enum', ...labels);
};

const notKnown =
  (name: string): Reader =>
  (cursor) => {
    throw cursor.unsupported(`the type ${name}`);
  };

const readers: Readonly<Record<string, Reader>> = {
  TINYINT: integer('mysql_tinyint', 'mysql_utinyint'),
  INT1: integer('mysql_tinyint', 'mysql_utinyint'),
  SMALLINT: integer('int2', 'mysql_usmallint'),
  INT2: integer('int2', 'mysql_usmallint'),
  MEDIUMINT: integer('mysql_mediumint', 'mysql_umediumint'),
  MIDDLEINT: integer('mysql_mediumint', 'mysql_umediumint'),
  INT3: integer('mysql_mediumint', 'mysql_umediumint'),
  INT: integer('int4', 'mysql_uint'),
  INTEGER: integer('int4', 'mysql_uint'),
  INT4: integer('int4', 'mysql_uint'),
  BIGINT: integer('int8', 'uint8'),
  INT8: integer('int8', 'uint8'),
  SERIAL: fixed('uint8'),
  BOOL: () => boolean,
  BOOLEAN: () => boolean,
  FLOAT: floating('float4', 'mysql_ufloat'),
  FLOAT4: floating('float4', 'mysql_ufloat'),
  FLOAT8: floating('float8', 'mysql_udouble'),
  REAL: floating('float8', 'mysql_udouble'),
  DOUBLE: (cursor) => {
    cursor.accept('PRECISION');
    return floating('float8', 'mysql_udouble')(cursor);
  },
  DECIMAL: decimal,
  DEC: decimal,
  NUMERIC: decimal,
  FIXED: decimal,
  DATE: fixed('date'),
  DATETIME: timed('timestamp'),
  TIMESTAMP: timed('timestamptz'),
  TIME: timed('time'),
  YEAR: fixed('mysql_year'),
  CHAR: character,
  CHARACTER: character,
  NCHAR: character,
  VARCHAR: sized('varchar', undefined),
  NVARCHAR: sized('varchar', undefined),
  VARCHARACTER: sized('varchar', undefined),
  TEXT: fixed('text'),
  TINYTEXT: fixed('mysql_tinytext'),
  MEDIUMTEXT: fixed('mysql_mediumtext'),
  LONGTEXT: fixed('mysql_longtext'),
  LONG: (cursor) => {
    if (cursor.accept('VARBINARY')) return fixed('mysql_mediumblob')(cursor);
    cursor.accept('VARCHAR');
    return fixed('mysql_mediumtext')(cursor);
  },
  BINARY: sized('mysql_binary', 1),
  VARBINARY: sized('mysql_varbinary', undefined),
  BLOB: fixed('mysql_blob'),
  TINYBLOB: fixed('mysql_tinyblob'),
  MEDIUMBLOB: fixed('mysql_mediumblob'),
  LONGBLOB: fixed('mysql_longblob'),
  ENUM: enumeration,
  JSON: fixed('jsonb'),
  BIT: notKnown('BIT'),
  SET: notKnown('SET'),
  GEOMETRY: notKnown('GEOMETRY'),
  POINT: notKnown('POINT'),
  LINESTRING: notKnown('LINESTRING'),
  POLYGON: notKnown('POLYGON'),
};
