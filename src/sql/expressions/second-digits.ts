/**
 * How many digits of the second a MySQL value has: not those that it needs, but those of its column or function, also in its text. `datetime(3)` at noon is
 * `12:00:00.000`. Reference manual, 11.2.6 and 12.7 (fsp).
 */
import { type Dialect, expressionRules } from '../dialect.ts';
import type { SqlType } from '../type.ts';
import { isTemporal } from './mysql-values.ts';

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
