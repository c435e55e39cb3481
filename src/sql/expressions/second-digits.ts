/**
 * How many digits of the second a MySQL value has: not those that it needs, but those of its column or function, also in its text. `datetime(3)` at noon is
 * `12:00:00.000`. Reference manual, 11.2.6 and 12.7 (fsp).
 */
import {
  type Dialect,
  expressionRules,
  type SqlType,
  precisionAndScale,
  type Numeric,
  type SqlValue,
} from '../model/index.ts';
import { isNumber, isTemporal, isTextual } from './mysql-values.ts';

interface OfType {
  readonly type: SqlType;
  readonly modifier: number;
}

/** Of a value that is one of these: the most that any has. -1: that of one is not known, or is no date or time, or the dialect shows those that are needed. */
export function commonSecondDigits(parts: readonly OfType[], dialect: Dialect): number {
  if (!expressionRules[dialect].keepsSecondDigits || !parts.every(({ type }) => isTemporal(type))) return -1;
  const digits = parts.map(({ type, modifier }) => (type.name === 'date' ? 0 : modifier));
  return digits.includes(-1) ? -1 : Math.max(-1, ...digits);
}

const digitsMax = 6;
const integerNames: ReadonlySet<string> = new Set(['bool', 'int2', 'int4', 'int8', 'uint8']);

/** @param constant the value, if it is known */
interface Source extends OfType {
  readonly constant?: SqlValue;
}

/** Of what becomes a time: a constant has those that are written, a column of texts or doubles all six. */
export function secondDigitsOf(source: Source, dialect: Dialect): number {
  const { type, modifier, constant } = source;
  if (!expressionRules[dialect].keepsSecondDigits || constant === null) return -1;
  if (isTemporal(type)) return commonSecondDigits([source], dialect);
  if (integerNames.has(type.name)) return 0;
  if (isTextual(type) && typeof constant === 'string') return writtenDigits(constant);
  if (type.name === 'numeric') {
    const { scale } = constant === undefined ? precisionAndScale(modifier) : (constant as Numeric);
    return modifier < 0 && constant === undefined ? digitsMax : Math.min(scale, digitsMax);
  }
  return isNumber(type) || isTextual(type) ? digitsMax : -1;
}

function writtenDigits(text: string): number {
  return Math.min(digitsMax, /\.(\d*)\s*$/.exec(text)?.[1]?.length ?? 0);
}
