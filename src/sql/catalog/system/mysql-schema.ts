/**
 * What MySQL's information_schema says of the same catalog in its own words (MySQL 8.0 manual, chapter 28): databases where the standard has
 * schemas, MySQL's names of types, defaults as they were written.
 */
import { stringsOf } from '../../plan/tree.ts';
import { mysqlColumnTypes } from '../../mysql/column-types.ts';
import { lengthOf, precisionAndScale, type TypeName } from '../../model/index.ts';
import type { Column } from '../relation.ts';
import { expressionText } from './expression-text.ts';
import type { VirtualRow } from './virtual.ts';

const dataTypes: Readonly<Partial<Record<TypeName, string>>> = {
  bool: 'tinyint',
  int2: 'smallint',
  int4: 'int',
  int8: 'bigint',
  uint8: 'bigint',
  numeric: 'decimal',
  float4: 'float',
  float8: 'double',
  bpchar: 'char',
  bytea: 'blob',
  timestamp: 'datetime',
  timestamptz: 'timestamp',
  jsonb: 'json',
};

const precisions: Readonly<Record<string, number>> = { tinyint: 3, smallint: 5, mediumint: 7, int: 10, bigint: 19 };

/** What differs in information_schema.columns. */
export function mysqlColumnRow(column: Column): VirtualRow {
  const { type, identity, generated, onUpdate, isNotNull } = column;
  const dataType = mysqlDataType(column);
  const precision = precisions[dataType];
  const isText = ['char', 'varchar', 'enum'].includes(dataType) || dataType.endsWith('text');
  return {
    data_type: dataType,
    column_type: mysqlColumnTitle(column, dataType),
    column_default: defaultText(column),
    character_set_name: isText ? 'utf8mb4' : null,
    collation_name: isText ? 'utf8mb4_0900_ai_ci' : null,
    ...(precision === undefined ? {} : { numeric_precision: isUnsigned(column) && precision === 19 ? 20 : precision }),
    ...(type.name === 'text' ? { character_maximum_length: bytesMax(column) } : {}),
    is_nullable: isNotNull ? 'NO' : 'YES',
    generation_expression: generated === null ? '' : expressionText(generated),
    extra: [
      identity === null ? '' : 'auto_increment',
      defaultIsExpression(column) ? 'DEFAULT_GENERATED' : '',
      onUpdate === null ? '' : `on update ${currentTimestamp(column)}`,
      generated === null ? '' : 'STORED GENERATED',
    ]
      .filter((part) => part !== '')
      .join(' '),
    privileges: 'select,insert,update,references',
  };
}

function mysqlDataType({ type, mysqlType }: Column): string {
  const own = mysqlType === null ? undefined : mysqlColumnTypes[mysqlType];
  return own?.dataType ?? dataTypes[type.name] ?? type.name;
}

function isUnsigned({ type, mysqlType }: Column): boolean {
  return type.name === 'uint8' || (mysqlType !== null && mysqlColumnTypes[mysqlType].isUnsigned);
}

function bytesMax({ mysqlType }: Column): number {
  return (mysqlType === null ? undefined : mysqlColumnTypes[mysqlType].bytesMax) ?? 65_535;
}

/** `varchar(40)`, `decimal(10,2) unsigned`, `tinyint(1)`, `datetime(3)`. */
function mysqlColumnTitle(column: Column, dataType: string): string {
  const { type, modifier } = column;
  const unsigned = isUnsigned(column) && dataType !== 'year' ? ' unsigned' : '';
  if (dataType === 'enum') return `enum(${(type.labels ?? []).map((label) => `'${label}'`).join(',')})`;
  return `${dataType}${sizeText(type.name, dataType, modifier)}${unsigned}`;
}

function sizeText(type: TypeName, dataType: string, modifier: number): string {
  if (dataType === 'tinyint') return type === 'bool' || modifier === 1 ? '(1)' : '';
  if (modifier < 0) return '';
  switch (type) {
    case 'varchar':
    case 'bpchar':
      return `(${lengthOf(modifier)})`;
    case 'numeric': {
      const { precision, scale } = precisionAndScale(modifier);
      return `(${precision},${scale})`;
    }
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return modifier === 0 ? '' : `(${modifier})`;
    default:
      return '';
  }
}

/** Literals without quotes, whatever their type: MySQL shows them as text. */
function defaultText(column: Column): string | null {
  const node = column.default;
  if (node === null || column.identity !== null) return null;
  if (isNow(column)) return currentTimestamp(column);
  if ('A_Const' in node) {
    const { isnull, boolval, sval } = node.A_Const;
    if (isnull === true) return null;
    if (boolval !== undefined) return boolval.boolval === true ? '1' : '0';
    if (sval !== undefined) return sval.sval ?? '';
  }
  return expressionText(node);
}

function defaultIsExpression(column: Column): boolean {
  return column.default !== null && column.identity === null && !('A_Const' in column.default);
}

/** CURRENT_TIMESTAMP in whichever form the front end writes it. */
function isNow({ default: node }: Column): boolean {
  if (node === null) return false;
  if ('SQLValueFunction' in node) return true;
  if ('TypeCast' in node && node.TypeCast.arg !== undefined && 'SQLValueFunction' in node.TypeCast.arg) return true;
  const name = 'FuncCall' in node ? (stringsOf(node.FuncCall.funcname).at(-1) ?? '') : '';
  return ['now', 'current_timestamp', 'localtimestamp'].includes(name);
}

function currentTimestamp({ modifier }: Column): string {
  return modifier > 0 ? `CURRENT_TIMESTAMP(${modifier})` : 'CURRENT_TIMESTAMP';
}
