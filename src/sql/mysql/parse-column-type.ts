/** Types of columns (MySQL 8.0 manual, chapter 13). */
import { parseNumbers, skipCharset } from './cast-type.ts';
import { namedType, type NamedType, ownType } from '../tree/type-name.ts';
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
const boolean = ownType('tinyint', 1);

const tinyint = ownType('tinyint');

/** Width, SIGNED, UNSIGNED, ZEROFILL. */
function integer(signed: NamedType, unsigned: NamedType): Reader {
  return (cursor) => {
    const [width] = parseNumbers(cursor);
    const isUnsigned = acceptUnsigned(cursor);
    if (isUnsigned) return unsigned;
    return width === 1 && signed === tinyint ? boolean : signed;
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
function floating(name: 'float4' | 'float8'): Reader {
  return (cursor) => {
    const numbers = parseNumbers(cursor);
    const isDouble = name === 'float8' || (numbers.length === 1 && (numbers[0] ?? 0) > 24);
    if (acceptUnsigned(cursor)) return ownType(isDouble ? 'double unsigned' : 'float unsigned');
    return namedType(isDouble ? 'float8' : name);
  };
}

const decimal: Reader = (cursor) => {
  const [precision = 10, scale = 0] = parseNumbers(cursor);
  return acceptUnsigned(cursor)
    ? ownType('decimal unsigned', precision, scale)
    : namedType('numeric', precision, scale);
};

/** Digits of the second: none unless said. */
const timed =
  (name: 'time' | 'timestamp' | 'timestamptz'): Reader =>
  (cursor) =>
    namedType(name, parseNumbers(cursor)[0] ?? 0);

const sized =
  (typeOf: (length: number) => NamedType, lengthDefault: number | undefined): Reader =>
  (cursor) => {
    const [length = lengthDefault] = parseNumbers(cursor);
    if (length === undefined) throw cursor.syntaxError();
    return typeOf(length);
  };

const fixed =
  (type: NamedType): Reader =>
  (cursor) => {
    parseNumbers(cursor);
    return type;
  };

const character: Reader = (cursor) =>
  cursor.accept('VARYING')
    ? sized((length) => namedType('varchar', length), undefined)(cursor)
    : sized((length) => namedType('char', length), 1)(cursor);

const enumeration: Reader = (cursor) => {
  const labels = cursor.parenthesized(() => cursor.list(() => parseStringValue(cursor)));
  return ownType('enum', ...labels);
};

const notKnown =
  (name: string): Reader =>
  (cursor) => {
    throw cursor.unsupported(`the type ${name}`);
  };

const readers: Readonly<Record<string, Reader>> = {
  TINYINT: integer(tinyint, ownType('tinyint unsigned')),
  INT1: integer(tinyint, ownType('tinyint unsigned')),
  SMALLINT: integer(namedType('int2'), ownType('smallint unsigned')),
  INT2: integer(namedType('int2'), ownType('smallint unsigned')),
  MEDIUMINT: integer(ownType('mediumint'), ownType('mediumint unsigned')),
  MIDDLEINT: integer(ownType('mediumint'), ownType('mediumint unsigned')),
  INT3: integer(ownType('mediumint'), ownType('mediumint unsigned')),
  INT: integer(namedType('int4'), ownType('int unsigned')),
  INTEGER: integer(namedType('int4'), ownType('int unsigned')),
  INT4: integer(namedType('int4'), ownType('int unsigned')),
  BIGINT: integer(namedType('int8'), ownType('bigint unsigned')),
  INT8: integer(namedType('int8'), ownType('bigint unsigned')),
  SERIAL: fixed(ownType('bigint unsigned')),
  BOOL: () => boolean,
  BOOLEAN: () => boolean,
  FLOAT: floating('float4'),
  FLOAT4: floating('float4'),
  FLOAT8: floating('float8'),
  REAL: floating('float8'),
  DOUBLE: (cursor) => {
    cursor.accept('PRECISION');
    return floating('float8')(cursor);
  },
  DECIMAL: decimal,
  DEC: decimal,
  NUMERIC: decimal,
  FIXED: decimal,
  DATE: fixed(namedType('date')),
  DATETIME: timed('timestamp'),
  TIMESTAMP: timed('timestamptz'),
  TIME: timed('time'),
  YEAR: fixed(ownType('year')),
  CHAR: character,
  CHARACTER: character,
  NCHAR: character,
  VARCHAR: sized((length) => namedType('varchar', length), undefined),
  NVARCHAR: sized((length) => namedType('varchar', length), undefined),
  VARCHARACTER: sized((length) => namedType('varchar', length), undefined),
  TEXT: fixed(namedType('text')),
  TINYTEXT: fixed(ownType('tinytext')),
  MEDIUMTEXT: fixed(ownType('mediumtext')),
  LONGTEXT: fixed(ownType('longtext')),
  LONG: (cursor) => {
    if (cursor.accept('VARBINARY')) return fixed(ownType('mediumblob'))(cursor);
    cursor.accept('VARCHAR');
    return fixed(ownType('mediumtext'))(cursor);
  },
  BINARY: sized((length) => ownType('binary', length), 1),
  VARBINARY: sized((length) => ownType('varbinary', length), undefined),
  BLOB: fixed(ownType('blob')),
  TINYBLOB: fixed(ownType('tinyblob')),
  MEDIUMBLOB: fixed(ownType('mediumblob')),
  LONGBLOB: fixed(ownType('longblob')),
  ENUM: enumeration,
  JSON: fixed(namedType('jsonb')),
  BIT: notKnown('BIT'),
  SET: notKnown('SET'),
  GEOMETRY: notKnown('GEOMETRY'),
  POINT: notKnown('POINT'),
  LINESTRING: notKnown('LINESTRING'),
  POLYGON: notKnown('POLYGON'),
};
