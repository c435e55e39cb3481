/** UNIX_TIMESTAMP and FROM_UNIXTIME: seconds with the digits of their argument. MySQL reference manual, 14.7. */
import type { Expression, Scope } from '../expression.ts';
import {
  numericOf,
  truncateNumeric,
  unscaled,
  type Numeric,
  modifierOf,
  types,
  isTimestampInRange,
  type SqlValue,
} from '../model/index.ts';
import { evaluator } from './call.ts';
import { coerce } from './coerce.ts';
import { arithmeticType } from './mysql-values.ts';
import { secondDigitsOf } from './second-digits.ts';

/** Digits before the point that the server announces. */
const wholeDigits = 14;

export function unixTimestamp(operand: Expression, scope: Scope): Expression {
  const instant = coerce(operand, types.timestamp, -1, 'explicit', scope);
  const digits = instant.modifier < 0 ? 6 : instant.modifier;
  if (digits === 0) return { ...called(instant, (at) => (at as bigint) / 1_000_000n), type: types.int8 };
  return {
    ...called(instant, (at) => truncateNumeric(numericOf(`${at as bigint}e-6`, 6), digits)),
    type: types.numeric,
    modifier: modifierOf(types.numeric, [wholeDigits + digits, digits]),
  };
}

/** NULL before 1970 and beyond the calendar. */
export function fromUnixTime(operand: Expression, scope: Scope): Expression {
  const seconds = coerce(operand, types.numeric, -1, 'explicit', scope);
  return {
    ...called(seconds, (value) => {
      const microseconds = unscaled((value as Numeric).value, 6);
      return microseconds < 0n || !isTimestampInRange(microseconds) ? null : microseconds;
    }),
    type: types.timestamp,
    // Of a double or a text it shows those that it needs.
    modifier: arithmeticType(operand).name === 'float8' ? -1 : secondDigitsOf(operand, scope.dialect),
  };
}

function called(operand: Expression, compute: (value: SqlValue) => SqlValue): Expression {
  return {
    type: operand.type,
    modifier: -1,
    isRowFree: operand.isRowFree,
    evaluate: evaluator((_execution, value) => compute(value ?? null), [operand.evaluate], true),
  };
}
