/** INSERT IGNORE: what MySQL stores where a value is missing or does not fit its column, instead of an error. */
import { isTextual } from '../expressions/index.ts';
import type { Column } from '../catalog/relation.ts';
import { numericOf, precisionAndScale, type SqlValue } from '../model/index.ts';
import type { MysqlColumnType } from './column-types.ts';

/** Of a column that is NOT NULL (MySQL manual, "Data Type Default Values"). `undefined`: moirai has no such value, as of dates the zero date. */
export function implicitDefault({ type, modifier }: Column): SqlValue | undefined {
  if (type.labels !== undefined) return type.labels[0];
  switch (type.name) {
    case 'int2':
    case 'int4':
    case 'float4':
    case 'float8':
      return 0;
    case 'int8':
    case 'uint8':
      return 0n;
    case 'numeric':
      return numericOf(0, precisionAndScale(modifier).scale);
    case 'bytea':
      return new Uint8Array();
    default:
      return isTextual(type) ? '' : undefined;
  }
}

/** The end of the column's range that a number is beyond. `undefined`: the type has no range, or its own number for what is none. */
export function endOfRange(value: SqlValue, { range, isUnsigned, dataType }: MysqlColumnType): SqlValue | undefined {
  if (dataType === 'year' || (typeof value !== 'number' && typeof value !== 'bigint')) return undefined;
  if (range === undefined) return isUnsigned ? 0 : undefined;
  const end = value < range.min ? range.min : range.max;
  return typeof value === 'bigint' ? end : Number(end);
}
