/**
 * MySQL's date arithmetic: `d + INTERVAL n unit`, which arrives as `d + n * interval '1 unit'`. A date stays a date while the unit has no time;
 * a text gives a text. Reference manual, DATE_ADD.
 */
import type { Expression, Scope } from '../expression.ts';
import {
  SqlError,
  formatText,
  parseText,
  types,
  type SqlType,
  intervalOf,
  negateInterval,
  roundHalfEven,
  splitTimestamp,
  type Interval,
  type SqlValue,
} from '../model/index.ts';
import { coerce, isConstant } from './coerce.ts';
import { commonSecondDigits, secondDigitsOf } from './second-digits.ts';
import { withSecondDigits } from './mysql-values.ts';
import { addToTimestamp } from './time-operators.ts';

/** An interval of one unit; `hasTime`: is it below a day? */
export interface UnitInterval extends Expression {
  readonly hasTime: boolean;
  /** Digits of the second; -1: they depend on the count. */
  readonly secondDigits: number;
}

function isUnit(expression: Expression): expression is UnitInterval {
  return 'hasTime' in expression;
}

function hasTime(expression: Expression): boolean {
  if (isUnit(expression)) return expression.hasTime;
  return (
    !isConstant(expression) || expression.constant === null || (expression.constant as Interval).microseconds !== 0n
  );
}

/** `undefined`: not an operator on intervals. */
export function mysqlIntervalOperator(
  operator: string,
  left: Expression,
  right: Expression,
  scope: Scope,
): Expression | undefined {
  const isFirst = left.type.name === 'interval';
  const [interval, other] = isFirst ? [left, right] : [right, left];
  if (operator === '*') return multiple(interval, other, scope);
  if (operator !== '+' && (operator !== '-' || isFirst)) return undefined;
  return shifted(other, interval, operator === '-', scope);
}

/** Units from days up count whole numbers; only times have fractions. */
function multiple(unit: Expression, count: Expression, scope: Scope): UnitInterval {
  const isTimed = hasTime(unit);
  const factor = coerce(count, types.float8, -1, 'explicit', scope);
  return {
    type: types.interval,
    modifier: -1,
    isRowFree: unit.isRowFree && factor.isRowFree,
    hasTime: isTimed,
    secondDigits: digitsOfMultiple(unit, count),
    evaluate: (frame) => {
      const [value, times] = [unit.evaluate(frame) as Interval | null, factor.evaluate(frame) as number | null];
      if (value === null || times === null) return null;
      const { months, days, microseconds } = value;
      const whole = Math.sign(times) * Math.round(Math.abs(times));
      return intervalOf(months * whole, days * whole, BigInt(roundHalfEven(Number(microseconds) * times)));
    },
  };
}

function digitsOfMultiple(unit: Expression, count: Expression): number {
  if (!isConstant(unit) || unit.constant === null) return -1;
  const isOfMicroseconds = (unit.constant as Interval).microseconds % 1_000_000n !== 0n;
  if (isOfMicroseconds) return 6;
  return secondDigitsOf(count, 'mysql');
}

function intervalDigits(interval: Expression): number {
  if (isUnit(interval)) return interval.secondDigits;
  if (!isConstant(interval) || interval.constant === null) return -1;
  return (interval.constant as Interval).microseconds % 1_000_000n === 0n ? 0 : 6;
}

function shiftedDigits(date: Expression, interval: Expression): number {
  return commonSecondDigits([date, { type: types.time, modifier: intervalDigits(interval) }], 'mysql');
}

function shifted(date: Expression, interval: Expression, isBack: boolean, scope: Scope): Expression {
  const isTimed = hasTime(interval);
  const isText = !['date', 'time', 'timestamp', 'timestamptz'].includes(date.type.name);
  const source = isText ? coerce(date, types.text, -1, 'explicit', scope) : date;
  const textDigits = isText && isTimed ? digitsOfText(source, interval) : -1;
  const type = isText ? types.text : date.type.name === 'date' && isTimed ? types.timestamp : date.type;
  return {
    type,
    modifier: isText ? -1 : shiftedDigits(date, interval),
    isRowFree: date.isRowFree && interval.isRowFree,
    evaluate: (frame) => {
      const [value, amount] = [source.evaluate(frame), interval.evaluate(frame) as Interval | null];
      if (value === null || amount === null) return null;
      const moved = move(value, source.type, isBack ? negateInterval(amount) : amount, isTimed);
      return textDigits < 0 || moved === null ? moved : withSecondDigits(moved as string, textDigits);
    },
  };
}

function digitsOfText(text: Expression, interval: Expression): number {
  const [own, added] = [secondDigitsOf(text, 'mysql'), intervalDigits(interval)];
  return own < 0 || added < 0 ? -1 : Math.max(own, added);
}

function move(value: Exclude<SqlValue, null>, from: SqlType, amount: Interval, isTimed: boolean): SqlValue {
  switch (from.name) {
    case 'date': {
      const instant = orNull(() => addToTimestamp(BigInt(value as number) * 86_400_000_000n, amount));
      return instant === null || isTimed ? instant : splitTimestamp(instant).days;
    }
    case 'time':
      return timeInRange((value as bigint) + BigInt(amount.days) * 86_400_000_000n + amount.microseconds);
    case 'text':
      return moveText((value as string).trim(), amount, isTimed);
    default:
      return orNull(() => addToTimestamp(value as bigint, amount));
  }
}

const timeEnd = 839n * 3_600_000_000n;

function timeInRange(time: bigint): bigint | null {
  return time < timeEnd && time > -timeEnd ? time : null;
}

function moveText(text: string, amount: Interval, isTimed: boolean): string | null {
  const instant = orNull(() => addToTimestamp(parseText(text, types.timestamp) as bigint, amount));
  if (instant === null) return null;
  const isDate = !isTimed && !/[ T]\d/.test(text);
  return isDate
    ? formatText(splitTimestamp(instant).days, types.date, 'mysql')
    : formatText(instant, types.timestamp, 'mysql');
}

/** Texts that are no dates, and dates beyond the calendar, give NULL. */
function orNull<T>(compute: () => T): T | null {
  try {
    return compute();
  } catch (error) {
    if (error instanceof SqlError) return null;
    throw error;
  }
}
