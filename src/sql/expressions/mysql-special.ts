/** MySQL's functions whose type depends on their arguments: IFNULL, MOD, EXTRACT, rounding. */
import type { Expression, Scope } from '../expression.ts';
import {
  formatNumeric,
  negateNumeric,
  numericOf,
  roundNumeric,
  truncateNumeric,
  type Numeric,
  SqlError,
  types,
  type SqlType,
  roundHalfEven,
  type SqlValue,
} from '../model/index.ts';
import { evaluator } from './call.ts';
import { coerce, isConstant, unify } from './coerce.ts';
import { applyOperator } from './apply-operator.ts';
import { timeDigits } from './compile-logic.ts';
import { extractFields, fieldsOfUnit, isOfDate, momentOfTimestamp } from './mysql-extract.ts';
import { arithmeticType, isTextual } from './mysql-values.ts';
import { fromUnixTime, unixTimestamp } from './mysql-epoch.ts';
import { formatMysqlDate, formatMysqlTime } from './mysql-date-format.ts';

type Special = (operands: readonly Expression[], scope: Scope) => Expression;

export function mysqlSpecial(name: string, operands: readonly Expression[], scope: Scope): Expression | undefined {
  const key = `${name}/${operands.length}`;
  return Object.hasOwn(specials, key) ? specials[key]?.(operands, scope) : undefined;
}

const specials: Readonly<Record<string, Special>> = {
  'ifnull/2': (operands, scope) => firstPresent(operands, scope),
  'mod/2': ([a, b], scope) => applyOperator('%', [present(a), present(b)], scope, 0),
  'extract/2': extracted,
  'date_format/2': dateFormat,
  'unix_timestamp/1': ([operand], scope) => unixTimestamp(present(operand), scope),
  'from_unixtime/1': ([operand], scope) => fromUnixTime(present(operand), scope),
  'isnull/1': ([operand]) => evaluated([present(operand)], types.int4, (value) => (value === null ? 1 : 0), false),
  'abs/1': ([operand], scope) => keepingType(operand, scope, absolute),
  'round/1': ([operand], scope) => rounded(operand, undefined, scope, roundNumeric),
  'round/2': ([operand, digits], scope) => rounded(operand, digits, scope, roundNumeric),
  'truncate/2': ([operand, digits], scope) => rounded(operand, digits, scope, truncateNumeric),
  'ceil/1': ([operand], scope) => toWhole(operand, scope, (x) => numericOf(x.value.ceil()), Math.ceil),
  'ceiling/1': ([operand], scope) => toWhole(operand, scope, (x) => numericOf(x.value.ceil()), Math.ceil),
  'floor/1': ([operand], scope) => toWhole(operand, scope, (x) => numericOf(x.value.floor()), Math.floor),
};

export function present(expression: Expression | undefined): Expression {
  if (expression === undefined) throw new TypeError('the number of arguments was checked before');
  return expression;
}

export function evaluated(
  operands: readonly Expression[],
  type: SqlType,
  compute: (...values: readonly SqlValue[]) => SqlValue,
  isStrict = true,
): Expression {
  return {
    type,
    modifier: -1,
    isRowFree: operands.every(({ isRowFree }) => isRowFree),
    evaluate: evaluator(
      (_execution, ...values) => compute(...values),
      operands.map(({ evaluate }) => evaluate),
      isStrict,
    ),
  };
}

/** EXTRACT(unit FROM value), where the value may be a text: with a date, or a time alone. */
function extracted([unit, value]: readonly Expression[], scope: Scope): Expression {
  const name = unit !== undefined && isConstant(unit) && typeof unit.constant === 'string' ? unit.constant : '';
  const fields = fieldsOfUnit(name);
  if (fields === undefined) throw new SqlError('42601', `unknown unit ${name}`, { mysqlNumber: 1064 });
  const source = present(value);
  const asTimestamp = coerce(source, types.timestamp, -1, 'explicit', scope);
  const ofTimestamp = evaluated([asTimestamp], types.int8, (at) =>
    extractFields(momentOfTimestamp(at as bigint), fields),
  );
  if (isOfDate(fields) || !(isTextual(source.type) || source.type.name === 'time')) return ofTimestamp;
  const asTime = coerce(source, types.time, -1, 'explicit', scope);
  const ofTime = evaluated([asTime], types.int8, (time) => extractFields({ days: null, time: time as bigint }, fields));
  if (source.type.name === 'time') return ofTime;
  const isDated = (text: SqlValue): boolean => typeof text === 'string' && /^\s*\d+[-/.]/.test(text);
  return { ...ofTime, evaluate: (frame) => (isDated(source.evaluate(frame)) ? ofTimestamp : ofTime).evaluate(frame) };
}

function dateFormat([value, pattern]: readonly Expression[], scope: Scope): Expression {
  const source = present(value);
  const text = coerce(present(pattern), types.text, -1, 'explicit', scope);
  if (source.type.name === 'time')
    return evaluated([source, text], types.text, (time, form) => formatMysqlTime(time as bigint, form as string));
  const instant = coerce(source, types.timestamp, -1, 'explicit', scope);
  return evaluated([instant, text], types.text, (at, form) => formatMysqlDate(at as bigint, form as string));
}

function firstPresent(operands: readonly Expression[], scope: Scope): Expression {
  const parts = unify(operands, 'IFNULL', scope);
  const [first, second] = [present(parts[0]), present(parts[1])];
  return {
    type: first.type,
    modifier: timeDigits([first, second], 'mysql'),
    isUnsigned: first.isUnsigned === true,
    isRowFree: first.isRowFree && second.isRowFree,
    evaluate: (frame) => first.evaluate(frame) ?? second.evaluate(frame),
  };
}

function keepingType(
  operand: Expression | undefined,
  scope: Scope,
  compute: (value: SqlValue) => SqlValue,
): Expression {
  const source = present(operand);
  const number = coerce(source, arithmeticType(source), -1, 'explicit', scope);
  return { ...evaluated([number], number.type, compute), isUnsigned: source.isUnsigned === true };
}

function absolute(value: SqlValue): SqlValue {
  if (typeof value === 'number') return Math.abs(value);
  if (typeof value === 'bigint') return value < 0n ? -value : value;
  const number = value as Numeric;
  return number.value.isNegative() ? negateNumeric(number) : number;
}

type RoundTo = (number: Numeric, scale: number) => Numeric;

/** Exact numbers round half away from zero, doubles to the nearest even. */
function rounded(
  operand: Expression | undefined,
  digits: Expression | undefined,
  scope: Scope,
  round: RoundTo,
): Expression {
  const source = present(operand);
  const number = coerce(source, arithmeticType(source), -1, 'explicit', scope);
  const places = digits === undefined ? [] : [coerce(digits, types.int4, -1, 'explicit', scope)];
  return evaluated([number, ...places], number.type, (value, scale = 0) => roundedValue(value, Number(scale), round));
}

function roundedValue(value: SqlValue, scale: number, round: RoundTo): SqlValue {
  if (typeof value === 'bigint') return BigInt(formatNumeric(round(numericOf(value), Math.min(0, scale))));
  if (typeof value === 'number') return roundedDouble(value, scale, round === truncateNumeric);
  const number = value as Numeric;
  // It never gets more digits than it has.
  return round(number, Math.min(scale, number.scale));
}

/** As the C library computes it, in doubles: `my_double_round` of the server. */
function roundedDouble(value: number, scale: number, isCut: boolean): number {
  const power = 10 ** Math.abs(scale);
  const shifted = scale < 0 ? value / power : value * power;
  if (!Number.isFinite(shifted)) return value;
  if (!Number.isFinite(power)) return 0;
  const whole = isCut ? Math.trunc(shifted) : roundHalfEven(shifted);
  return scale < 0 ? whole * power : whole / power;
}

function toWhole(
  operand: Expression | undefined,
  scope: Scope,
  exactly: (number: Numeric) => Numeric,
  approximately: (number: number) => number,
): Expression {
  const source = present(operand);
  const type = arithmeticType(source);
  const number = coerce(source, type, -1, 'explicit', scope);
  if (type.name === 'float8') return evaluated([number], types.float8, (value) => approximately(value as number));
  if (type.name !== 'numeric') return number;
  return evaluated([number], types.int8, (value) => BigInt(formatNumeric(exactly(value as Numeric))));
}
