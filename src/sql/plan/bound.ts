/**
 * A value as the bound of an index scan: converted to the type of the column where the comparison itself would not round. Where it cannot
 * be, the index is of no use; conditions are evaluated again on every row, so a bound may only be too wide, never too narrow.
 */
import {
  type Dialect,
  expressionRules,
  numericOf,
  type Numeric,
  type SqlType,
  type TypeName,
  isSameType,
  type SqlValue,
} from '../model/index.ts';

/** `undefined`: not representable in the column's type, so that no row is equal and a range has no such bound. */
export type ConvertBound = (value: Exclude<SqlValue, null>) => SqlValue | undefined;

const smallIntegers = new Set<TypeName>(['int2', 'int4', 'oid']);
const bigIntegers = new Set<TypeName>(['int8', 'uint8']);
const texts = new Set<TypeName>(['text', 'varchar', 'name']);
const floats = new Set<TypeName>(['float4', 'float8']);

const microsecondsOfDay = 86_400_000_000n;

export function boundConversion(column: SqlType, value: SqlType, dialect: Dialect): ConvertBound | null {
  if (isSameType(column, value)) return (same) => same;
  if (texts.has(column.name) && texts.has(value.name)) return (same) => same;
  const { convertsAll } = expressionRules[dialect];
  if (convertsAll && isText(column) && isText(value)) return (same) => same;
  if (smallIntegers.has(column.name)) return integerBound(value, (integer) => Number(integer), convertsAll);
  if (bigIntegers.has(column.name)) return integerBound(value, (integer) => BigInt(integer), convertsAll);
  if (column.name === 'numeric' && isInteger(value)) return (integer) => numericOf(integer as number | bigint);
  if (floats.has(column.name) && (isInteger(value) || floats.has(value.name))) return (number) => Number(number);
  if (floats.has(column.name) && value.name === 'numeric') return (number) => (number as Numeric).value.toNumber();
  if (column.name === 'timestamp' && value.name === 'date') {
    return (days) => (Number.isFinite(days) ? BigInt(days as number) * microsecondsOfDay : undefined);
  }
  return null;
}

function integerBound(
  value: SqlType,
  convert: (integer: number | bigint) => SqlValue,
  convertsAll: boolean,
): ConvertBound | null {
  if (isInteger(value)) return (integer) => convert(integer as number | bigint);
  if (floats.has(value.name)) return (number) => (Number.isInteger(number) ? convert(number as number) : undefined);
  if (value.name === 'numeric') return (number) => integerOf(number as Numeric, convert);
  if (!convertsAll) return null;
  if (value.name === 'bool') return (flag) => convert(flag === true ? 1 : 0);
  if (isText(value)) {
    // They are compared as floating point numbers, text without a number as 0.
    return (text) => {
      const number = Number.parseFloat(text as string) || 0;
      return Number.isSafeInteger(number) ? convert(number) : undefined;
    };
  }
  return null;
}

function integerOf({ value }: Numeric, convert: (integer: bigint) => SqlValue): SqlValue | undefined {
  return value.isInteger() ? convert(BigInt(value.toFixed(0))) : undefined;
}

function isInteger({ name }: SqlType): boolean {
  return smallIntegers.has(name) || bigIntegers.has(name);
}

function isText({ name }: SqlType): boolean {
  return texts.has(name) || name === 'bpchar';
}
