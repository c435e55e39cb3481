/** MySQL's own types of columns: what holds them, what they are called (MySQL 8.0 manual, chapter 13). */
import type { TypeName } from '../model/index.ts';
import type { MysqlTypeName } from '../tree/mysql.ts';

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

export const mysqlColumnTypes: Readonly<Record<MysqlTypeName, MysqlColumnType>> = {
  tinyint: integer('tinyint', 'int2', 8n, false),
  'tinyint unsigned': integer('tinyint', 'int2', 8n, true),
  'smallint unsigned': integer('smallint', 'int4', 16n, true),
  mediumint: integer('mediumint', 'int4', 24n, false),
  'mediumint unsigned': integer('mediumint', 'int4', 24n, true),
  'int unsigned': integer('int', 'int8', 32n, true),
  'bigint unsigned': integer('bigint', 'uint8', 64n, true),
  year: { storage: 'int2', dataType: 'year', range: { min: 0n, max: 2155n }, isUnsigned: true },
  'float unsigned': { storage: 'float4', dataType: 'float', isUnsigned: true },
  'double unsigned': { storage: 'float8', dataType: 'double', isUnsigned: true },
  'decimal unsigned': { storage: 'numeric', dataType: 'decimal', isUnsigned: true },
  enum: { storage: 'enum', dataType: 'enum', isUnsigned: false },
  tinytext: text('tinytext', 2 ** 8 - 1),
  mediumtext: text('mediumtext', 2 ** 24 - 1),
  longtext: text('longtext', 2 ** 32 - 1),
  tinyblob: bytes('tinyblob', 2 ** 8 - 1),
  blob: bytes('blob', 2 ** 16 - 1),
  mediumblob: bytes('mediumblob', 2 ** 24 - 1),
  longblob: bytes('longblob', 2 ** 32 - 1),
  varbinary: bytes('varbinary', 2 ** 16 - 1),
  binary: bytes('binary', 2 ** 8 - 1),
};
