/** What fits into columns of MySQL's own types, in its strict mode: a value that does not is an error; INSERT IGNORE takes the end of the range. */
import type { Column } from '../catalog/relation.ts';
import { SqlError, type SqlValue } from '../model/index.ts';
import { mysqlColumnTypes, type MysqlColumnType } from './column-types.ts';
import { endOfRange } from './fitted-values.ts';

/** Checks a row and puts an enum's label as it was defined. @throws SqlError 22003 (1264), 22001 (1406), 01000 (1265) */
export type ValueCheck = (values: SqlValue[]) => void;

/** @param fits is a number put to the end of the range that it is beyond? */
export function mysqlValueChecks(columns: readonly Column[], fits: boolean): ValueCheck[] {
  return columns.flatMap((column) => {
    if (column.type.name === 'bpchar') return [(values) => withoutPadding(values, column)];
    const type = column.mysqlType === null ? undefined : mysqlColumnTypes[column.mysqlType];
    if (type === undefined) return [];
    return [(values) => checkCell(values, column, type, fits)];
  });
}

/** CHAR is as wide as it was defined on the disk, and has no blanks at its end for those who read it. */
function withoutPadding(values: SqlValue[], { cell }: Column): void {
  const value = values[cell];
  if (typeof value === 'string') values[cell] = value.replace(/ +$/, '');
}

function checkCell(values: SqlValue[], column: Column, type: MysqlColumnType, fits: boolean): void {
  const given = values[column.cell];
  if (given === null || given === undefined) return;
  const full = column.mysqlType === 'year' && typeof given === 'number' ? fullYear(given) : given;
  const isOutside = isOutOfRange(full, type);
  const end = isOutside && fits ? endOfRange(full, type) : undefined;
  const value = end ?? full;
  values[column.cell] = value;
  if (isOutside && end === undefined)
    throw new SqlError('22003', `Out of range value for column '${column.name}' at row 1`, { mysqlNumber: 1264 });
  const bytesMax = column.type.name === 'bytea' && column.modifier >= 0 ? column.modifier : type.bytesMax;
  if (bytesMax !== undefined && byteLength(value) > bytesMax)
    throw new SqlError('22001', `Data too long for column '${column.name}' at row 1`, { mysqlNumber: 1406 });
  // BINARY has the bytes of its length, zeros behind what was given.
  if (column.mysqlType === 'binary' && value instanceof Uint8Array && value.length < column.modifier)
    values[column.cell] = Uint8Array.from({ length: column.modifier }, (_, i) => value[i] ?? 0);
  const { labels } = column.type;
  if (labels === undefined || typeof value !== 'string') return;
  const label = labels.find((each) => each.toLowerCase() === value.toLowerCase()) ?? labelByNumber(labels, value);
  if (label === undefined)
    throw new SqlError('01000', `Data truncated for column '${column.name}' at row 1`, { mysqlNumber: 1265 });
  values[column.cell] = label;
}

/** Two digits are a year from 1970 to 2069; what is neither that nor from 1901 on is none, and 0 is its own. */
function fullYear(year: number): number {
  if (year > 0 && year < 70) return 2000 + year;
  if (year >= 70 && year < 100) return 1900 + year;
  return year >= 100 && year <= 1900 ? -1 : year;
}

/** Labels count from 1. */
function labelByNumber(labels: readonly string[], text: string): string | undefined {
  return /^[1-9]\d*$/.test(text) ? labels[Number(text) - 1] : undefined;
}

function isOutOfRange(value: SqlValue, { range, isUnsigned }: MysqlColumnType): boolean {
  if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'numeric')
    return isUnsigned && value.value.isNegative() && !value.value.isZero();
  if (typeof value !== 'number' && typeof value !== 'bigint') return false;
  if (range === undefined) return isUnsigned && value < 0;
  return value < range.min || value > range.max;
}

function byteLength(value: SqlValue): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).length;
  return value instanceof Uint8Array ? value.length : 0;
}
