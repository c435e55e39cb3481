/**
 * MySQL's operators: they take any types and convert as they run. Reference manual, 14.3 (comparison), 14.6 (arithmetic). Integers compute
 * in 64 bits, exact numbers exactly, all else in doubles; division by zero is NULL.
 */
import {
  comparatorOf,
  comparisons,
  isComparison,
  addNumerics,
  divideToScale,
  multiplyNumerics,
  numericOf,
  remainderOfNumerics,
  subtractNumerics,
  type Numeric,
  SqlError,
  isSameType,
  types,
  type SqlType,
  daysOfCivil,
  joinTimestamp,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import type { Execution } from '../execution.ts';
import { coerce, settleParameter } from './coerce.ts';
import { likeMatcher } from './like.ts';
import { mysqlIntervalOperator } from './mysql-interval.ts';
import { matchesRegex } from './regex.ts';
import { arithmeticType, isNumber, isTemporal, isTextual } from './mysql-values.ts';
import { withoutTruncation } from './mysql-truncation.ts';

type Present = Exclude<SqlValue, null>;
type Binary = (a: Present, b: Present, execution: Execution) => SqlValue;

/** `undefined`: not an operator that MySQL does its own way (intervals, JSON). */
export function mysqlOperator(operator: string, operands: readonly Expression[], scope: Scope): Expression | undefined {
  const [left, right] = operands;
  if (left === undefined) return undefined;
  if (operands.some(({ type }) => type.name === 'interval')) {
    return right === undefined ? undefined : mysqlIntervalOperator(operator, left, right, scope);
  }
  if (right === undefined) return prefix(operator, left, scope);
  if (isComparison(operator)) return compared(left, right, scope, comparisons[operator]);
  if (operator in arithmetic) return computed(operator, left, right, scope);
  if (operator in bits) return bitwise(operator, left, right, scope);
  return matched(operator, left, right, scope);
}

function binary(left: Expression, right: Expression, type: SqlType, compute: Binary): Expression {
  const [first, second] = [left.evaluate, right.evaluate];
  return {
    type,
    modifier: -1,
    isRowFree: left.isRowFree && right.isRowFree,
    evaluate: (frame) => {
      const a = first(frame);
      if (a === null) return null;
      const b = second(frame);
      return b === null ? null : compute(a, b, frame.execution);
    },
  };
}

/** The type that two operands are compared in. */
function comparisonType(a: SqlType, b: SqlType): SqlType {
  if (isSameType(a, b)) return a;
  if (a.name === 'unknown') return b.name === 'unknown' ? types.text : b;
  if (b.name === 'unknown') return a;
  if (isTextual(a) && isTextual(b)) return types.text;
  if (isTemporal(a) || isTemporal(b)) return temporalComparison(a, b);
  const [x, y] = [arithmeticType({ type: a, modifier: -1 }), arithmeticType({ type: b, modifier: -1 })];
  if (a.name === 'bytea' || b.name === 'bytea') return isTextual(a) || isTextual(b) ? types.bytea : types.float8;
  if (x.name === 'float8' || y.name === 'float8') return types.float8;
  return x.name === y.name ? x : types.numeric;
}

/** A date beside a text or a number makes it a date; a time beside a number is a number. */
function temporalComparison(a: SqlType, b: SqlType): SqlType {
  if (isTemporal(a) && isTemporal(b)) {
    return a.name === 'timestamptz' || b.name === 'timestamptz' ? types.timestamptz : types.timestamp;
  }
  const [time, other] = isTemporal(a) ? [a, b] : [b, a];
  if (time.name === 'time' && !isTextual(other))
    return isNumber(other) && !isFloat(other) ? types.numeric : types.float8;
  if (!isTextual(other) && !isNumber(other)) return types.float8;
  return time.name === 'date' ? types.timestamp : time;
}

function isFloat({ name }: SqlType): boolean {
  return name === 'float4' || name === 'float8';
}

function compared(left: Expression, right: Expression, scope: Scope, holds: (order: number) => boolean): Expression {
  const type = comparisonType(left.type, right.type);
  const compare = comparatorOf(type, 'mysql');
  const [a, b] = [comparedAs(left, type, scope), comparedAs(right, type, scope)];
  return binary(a, b, types.int4, (x, y) => (holds(compare(x, y)) ? 1 : 0));
}

/** What a number that is no date is compared as: '0000-00-00', before all dates. */
const zeroDate = joinTimestamp(daysOfCivil({ year: 0, month: 1, day: 1 }), 0n);

function comparedAs(expression: Expression, type: SqlType, scope: Scope): Expression {
  if (isTemporal(type) && isNumber(expression.type)) {
    const moment = as(expression, type, scope);
    return {
      ...unary(expression, type, () => null),
      evaluate: (frame) => moment.evaluate(frame) ?? (expression.evaluate(frame) === null ? null : zeroDate),
    };
  }
  return scope.refusesTruncation === true && numbers.has(type.name)
    ? withoutTruncation(expression, (each) => as(each, type, scope))
    : as(expression, type, scope);
}

const numbers: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'uint8', 'numeric', 'float4', 'float8']);

function as(expression: Expression, type: SqlType, scope: Scope): Expression {
  return coerce(expression, type, -1, 'explicit', scope);
}

const arithmetic: Readonly<Record<string, (a: Numeric, b: Numeric) => Numeric>> = {
  '+': addNumerics,
  '-': subtractNumerics,
  '*': multiplyNumerics,
  '%': remainderOfNumerics,
  // div_precision_increment: four more digits than the dividend has.
  '/': (a, b) => divideToScale(a, b, Math.min(30, a.scale + 4)),
};

const doubles: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '%': (a, b) => a % b,
  '/': (a, b) => a / b,
};

const wholes: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '%': (a, b) => a % b,
};

function computed(operator: string, left: Expression, right: Expression, scope: Scope): Expression {
  const [a, b] = [settleParameter(left, right.type, scope), settleParameter(right, left.type, scope)];
  const [x, y] = [operandType(a), operandType(b)];
  const type = resultType(x, y, operator);
  const isWhole = isWholeNumber(type);
  const [first, second] = [as(a, isWhole ? x : type, scope), as(b, isWhole ? y : type, scope)];
  const name = type.name === 'uint8' ? 'BIGINT UNSIGNED' : 'BIGINT';
  const divisionByZero = zeroDivision(scope);
  const isDivision = operator === '/' || operator === '%';
  return binary(first, second, type, (m, n) => {
    if (isDivision && isZero(n)) return divisionByZero();
    if (typeof m === 'number') return finite((doubles[operator] ?? Math.max)(m, n as number));
    if (typeof m === 'bigint') return inRange((wholes[operator] ?? ((k) => k))(m, n as bigint), name);
    return (arithmetic[operator] ?? addNumerics)(m as Numeric, n as Numeric);
  });
}

/** NULL; in strict mode (ERROR_FOR_DIVISION_BY_ZERO) an error of the statement that writes. */
export function zeroDivision({ refusesTruncation }: Scope): () => null {
  if (refusesTruncation !== true) return () => null;
  return () => {
    throw new SqlError('22012', 'Division by 0', { mysqlNumber: 1365 });
  };
}

function operandType(operand: Expression): SqlType {
  const type = arithmeticType(operand);
  return operand.isUnsigned === true && type.name === 'int8' ? types.uint8 : type;
}

function isWholeNumber({ name }: SqlType): boolean {
  return name === 'int8' || name === 'uint8';
}

/** Of integers: unsigned where one of them is, a remainder where the dividend is. */
function resultType(a: SqlType, b: SqlType, operator: string): SqlType {
  if (a.name === 'float8' || b.name === 'float8') return types.float8;
  if (operator === '/' || a.name === 'numeric' || b.name === 'numeric') return types.numeric;
  if (operator === '%') return a;
  return a.name === 'uint8' || b.name === 'uint8' ? types.uint8 : types.int8;
}

function isZero(value: Present): boolean {
  return value === 0 || value === 0n || (typeof value === 'object' && 'scale' in value && value.value.isZero());
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new SqlError('22003', 'DOUBLE value is out of range', { mysqlNumber: 1690 });
  return value;
}

function inRange(value: bigint, name: string): bigint {
  const fits = name === 'BIGINT' ? BigInt.asIntN(64, value) === value : BigInt.asUintN(64, value) === value;
  if (!fits) throw new SqlError('22003', `${name} value is out of range`, { mysqlNumber: 1690 });
  return value;
}

const bits: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '#': (a, b) => a ^ b,
  '^': (a, b) => a ^ b,
  '<<': (a, b) => (b > 63n ? 0n : a << b),
  '>>': (a, b) => (b > 63n ? 0n : a >> b),
};

/** Bits are those of an unsigned 64-bit number. */
function bitwise(operator: string, left: Expression, right: Expression, scope: Scope): Expression {
  const [a, b] = [bitsOf(left, scope), bitsOf(right, scope)];
  return binary(a, b, types.uint8, (x, y) => {
    const compute = bits[operator] ?? ((n: bigint) => n);
    return BigInt.asUintN(64, compute(BigInt.asUintN(64, x as bigint), BigInt.asUintN(64, y as bigint)));
  });
}

/** A time is rounded as the exact number that it is. */
function bitsOf(operand: Expression, scope: Scope): Expression {
  return as(isTemporal(operand.type) ? as(operand, types.numeric, scope) : operand, types.int8, scope);
}

function prefix(operator: string, operand: Expression, scope: Scope): Expression | undefined {
  const value = as(operand, arithmeticType(operand), scope);
  switch (operator) {
    case '+':
      return operand;
    case '-':
      return unary(value, value.type.name === 'uint8' ? types.int8 : value.type, (x) =>
        typeof x === 'number'
          ? -x || 0
          : typeof x === 'bigint'
            ? inRange(-x, 'BIGINT')
            : subtractNumerics(numericOf(0), x as Numeric),
      );
    case '~':
      return unary(as(operand, types.int8, scope), types.uint8, (x) => BigInt.asUintN(64, ~(x as bigint)));
    default:
      return undefined;
  }
}

function unary(operand: Expression, type: SqlType, compute: (value: Present) => SqlValue): Expression {
  return {
    type,
    modifier: -1,
    isRowFree: operand.isRowFree,
    evaluate: (frame) => {
      const value = operand.evaluate(frame);
      return value === null ? null : compute(value);
    },
  };
}

/** LIKE and REGEXP, without regard to case unless a side is binary. */
function matched(operator: string, left: Expression, right: Expression, scope: Scope): Expression | undefined {
  const isNegated = operator.startsWith('!');
  const isLike = operator === '~~' || operator === '!~~' || operator === '~~*' || operator === '!~~*';
  const isRegex = operator === '~*' || operator === '!~*' || operator === '~' || operator === '!~';
  if (!isLike && !isRegex) return undefined;
  const isBinary = left.type.name === 'bytea' || right.type.name === 'bytea';
  return binary(as(left, types.text, scope), as(right, types.text, scope), types.int4, (text, pattern, execution) => {
    const isMatch = isLike
      ? likeMatcher(pattern as string, !isBinary)(text as string)
      : matchesRegex(execution, text as string, pattern as string, isBinary ? '' : 'i');
    return isMatch !== isNegated ? 1 : 0;
  });
}
