/**
 * Length, precision and scale: PostgreSQL's `atttypmod`, one number beside a type. varchar and char: length + 4; numeric: precision and
 * scale in the two halves, + 4; time types: digits of the second. PostgreSQL source, numeric.c and varchar.c.
 */
import { exactDecimal, numericOf, roundNumeric } from './numeric.ts';
import type { Numeric } from './numeric.ts';
import { SqlError } from './sql-error.ts';
import { intervalOf, lastIntervalField } from './value-interval.ts';
import { isFiniteTime } from './value-time.ts';
import type { SqlType } from './type.ts';
import type { Interval, SqlValue } from './value.ts';

const headerBytes = 4;
const noModifier = -1;

/** The modifier of `type(numbers...)`. @throws SqlError 22023 */
export function modifierOf(type: SqlType, numbers: readonly number[]): number {
  const [first, second = 0] = numbers;
  if (type.name === 'array' && type.element !== undefined) return modifierOf(type.element, numbers);
  if (first === undefined) return noModifier;
  switch (type.name) {
    case 'varchar':
    case 'bpchar':
      return lengthModifier(type, first);
    case 'numeric':
      return numericModifier(first, second);
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return Math.min(first, 6);
    case 'interval':
      return intervalModifier(first, numbers[1]);
    default:
      return noModifier;
  }
}

/** timestamp.h, INTERVAL_TYPMOD: the fields, and below them the digits of the second. */
function intervalModifier(fields: number, precision: number | undefined): number {
  return (fields << 16) | (precision === undefined ? fullPrecision : Math.min(precision, 6));
}

const fullPrecision = 0xffff;

function lengthModifier(type: SqlType, length: number): number {
  const name = type.name === 'bpchar' ? 'char' : 'varchar';
  if (length < 1) throw new SqlError('22023', `length for type ${name} must be at least 1`);
  if (length > 10_485_760) throw new SqlError('22023', `length for type ${name} cannot exceed 10485760`);
  return length + headerBytes;
}

function numericModifier(precision: number, scale: number): number {
  if (precision < 1 || precision > 1000)
    throw new SqlError('22023', `NUMERIC precision ${precision} must be between 1 and 1000`);
  if (scale < -1000 || scale > 1000)
    throw new SqlError('22023', `NUMERIC scale ${scale} must be between -1000 and 1000`);
  return ((precision << 16) | (scale & 0x7ff)) + headerBytes;
}

export function lengthOf(modifier: number): number {
  return modifier - headerBytes;
}

export function precisionAndScale(modifier: number): { readonly precision: number; readonly scale: number } {
  const packed = modifier - headerBytes;
  return { precision: (packed >> 16) & 0xffff, scale: ((packed & 0x7ff) ^ 1024) - 1024 };
}

/**
 * A value cut or rounded to its column. Explicit casts cut strings silently; assignment refuses them unless only spaces go.
 * @throws SqlError 22001 too long, 22003 numeric field overflow
 */
export function applyModifier(value: SqlValue, type: SqlType, modifier: number, isExplicit: boolean): SqlValue {
  if (value === null || modifier < 0) return value;
  switch (type.name) {
    case 'varchar':
      return cutText(value as string, lengthOf(modifier), isExplicit, `character varying(${lengthOf(modifier)})`);
    case 'bpchar':
      return padText(
        cutText(value as string, lengthOf(modifier), isExplicit, `character(${lengthOf(modifier)})`),
        lengthOf(modifier),
      );
    case 'numeric':
      return fitNumeric(value as Numeric, modifier);
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return roundMicroseconds(value as bigint, modifier);
    case 'interval':
      return fitInterval(value as Interval, modifier);
    case 'array':
      return type.element === undefined || typeof value !== 'object' || !('elements' in value)
        ? value
        : {
            kind: 'array',
            elements: value.elements.map((each) => applyModifier(each, type.element ?? type, modifier, isExplicit)),
          };
    default:
      return value;
  }
}

function cutText(text: string, length: number, isExplicit: boolean, typeText: string): string {
  if (text.length <= length) return text;
  const characters = Array.from(text);
  if (characters.length <= length) return text;
  const rest = characters.slice(length).join('');
  if (!isExplicit && /[^ ]/.test(rest)) throw new SqlError('22001', `value too long for type ${typeText}`);
  return characters.slice(0, length).join('');
}

function padText(text: string, length: number): string {
  const missing = length - Array.from(text).length;
  return missing > 0 ? text + ' '.repeat(missing) : text;
}

function fitNumeric(number: Numeric, modifier: number): Numeric {
  const { precision, scale } = precisionAndScale(modifier);
  if (number.value.isNaN()) return number;
  const rounded = number.value.isFinite() ? roundNumeric(number, scale) : number;
  const limit = exactDecimal(10).pow(precision - scale);
  if (rounded.value.abs().gte(limit)) {
    throw new SqlError('22003', 'numeric field overflow', {
      detail: number.value.isFinite()
        ? `A field with precision ${precision}, scale ${scale} must round to an absolute value less than ${
            precision === scale ? '1' : `10^${precision - scale}`
          }.`
        : `A field with precision ${precision}, scale ${scale} cannot hold an infinite value.`,
    });
  }
  return scale < 0 ? numericOf(rounded.value, 0) : rounded;
}

/** What is smaller than the last field goes, and the seconds are rounded. timestamp.c, AdjustIntervalForTypmod. */
function fitInterval({ months, days, microseconds }: Interval, modifier: number): Interval {
  const precision = modifier & fullPrecision;
  const time = precision === fullPrecision ? microseconds : roundMicroseconds(microseconds, precision);
  switch (lastIntervalField(modifier >> 16)) {
    case 'year':
      return intervalOf(months - (months % 12), 0, 0n);
    case 'month':
      return intervalOf(months, 0, 0n);
    case 'day':
      return intervalOf(months, days, 0n);
    case 'hour':
      return intervalOf(months, days, time - (time % 3_600_000_000n));
    case 'minute':
      return intervalOf(months, days, time - (time % 60_000_000n));
    default:
      return intervalOf(months, days, time);
  }
}

function roundMicroseconds(microseconds: bigint, digits: number): bigint {
  if (digits >= 6 || !isFiniteTime(microseconds)) return microseconds;
  const unit = 10n ** BigInt(6 - digits);
  const half = unit / 2n;
  return microseconds >= 0n ? ((microseconds + half) / unit) * unit : -(((-microseconds + half) / unit) * unit);
}
