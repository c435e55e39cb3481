/** MySQL's types of columns: their names in trees, what holds them, what they are called (MySQL 8.0 manual, chapter 13). */
import type { Dialect, TypeName } from '../model/index.ts';

export interface MysqlColumnType {
  /** What its values are. */
  readonly storage: TypeName;
  /** `DATA_TYPE` of information_schema. */
  readonly dataType: string;
  /** Integers, inclusive. Others: unsigned types start at 0, the rest have no bounds of their own. */
  readonly range?: { readonly min: bigint; readonly max: bigint };
  readonly isUnsigned: boolean;
  /** Strings: how many bytes fit. For varchar, char, varbinary and binary the modifier says how many characters or bytes. */
  readonly bytesMax?: number;
}

function integer(dataType: string, storage: TypeName, bits: bigint, isUnsigned: boolean): MysqlColumnType {
  const range = isUnsigned
    ? { min: 0n, max: (1n << bits) - 1n }
    : { min: -(1n << (bits - 1n)), max: (1n << (bits - 1n)) - 1n };
  return { storage, dataType, range, isUnsigned };
}

const bytes = (dataType: string, bytesMax: number): MysqlColumnType => ({
  storage: 'bytea',
  dataType,
  isUnsigned: false,
  bytesMax,
});

const text = (dataType: string, bytesMax: number): MysqlColumnType => ({
  storage: 'text',
  dataType,
  isUnsigned: false,
  bytesMax,
});

/**
 * The names that PostgreSQL does not know. `mysql_enum` has its labels as modifiers, `mysql_varbinary(n)` and
 * `mysql_binary(n)` their length, `mysql_udecimal(p, s)` what numeric has, `mysql_tinyint(1)` the display width 1 of BOOLEAN.
 */
export const mysqlColumnTypes: ReadonlyMap<string, MysqlColumnType> = new Map<string, MysqlColumnType>([
  ['mysql_tinyint', integer('tinyint', 'int2', 8n, false)],
  ['mysql_utinyint', integer('tinyint', 'int2', 8n, true)],
  ['mysql_usmallint', integer('smallint', 'int4', 16n, true)],
  ['mysql_mediumint', integer('mediumint', 'int4', 24n, false)],
  ['mysql_umediumint', integer('mediumint', 'int4', 24n, true)],
  ['mysql_uint', integer('int', 'int8', 32n, true)],
  ['uint8', integer('bigint', 'uint8', 64n, true)],
  ['mysql_year', { storage: 'int2', dataType: 'year', range: { min: 0n, max: 2155n }, isUnsigned: true }],
  ['mysql_ufloat', { storage: 'float4', dataType: 'float', isUnsigned: true }],
  ['mysql_udouble', { storage: 'float8', dataType: 'double', isUnsigned: true }],
  ['mysql_udecimal', { storage: 'numeric', dataType: 'decimal', isUnsigned: true }],
  ['mysql_enum', { storage: 'enum', dataType: 'enum', isUnsigned: false }],
  ['mysql_tinytext', text('tinytext', 2 ** 8 - 1)],
  ['mysql_mediumtext', text('mediumtext', 2 ** 24 - 1)],
  ['mysql_longtext', text('longtext', 2 ** 32 - 1)],
  ['mysql_tinyblob', bytes('tinyblob', 2 ** 8 - 1)],
  ['mysql_blob', bytes('blob', 2 ** 16 - 1)],
  ['mysql_mediumblob', bytes('mediumblob', 2 ** 24 - 1)],
  ['mysql_longblob', bytes('longblob', 2 ** 32 - 1)],
  ['mysql_varbinary', bytes('varbinary', 2 ** 16 - 1)],
  ['mysql_binary', bytes('binary', 2 ** 8 - 1)],
]);

/** Types of columns that a dialect has beside those of the one grammar, by name. */
export const ownColumnTypes: Readonly<Record<Dialect, ReadonlyMap<string, MysqlColumnType>>> = {
  postgres: new Map(),
  mysql: mysqlColumnTypes,
};
