/** Making an expression of another type: where literals and parameters without a type get theirs. PostgreSQL manual, chapter 10. */
import {
  type Dialect,
  expressionRules,
  type Numeric,
  SqlError,
  parseText,
  applyModifier,
  precisionAndScale,
  typeTitle,
  isSameType,
  types,
  type SqlType,
  type SqlValue,
} from '../model/index.ts';
import type { Expression, Frame, ParameterSlot, Scope } from '../expression.ts';
import { canCast, categoryOf, isPreferred } from './cast-rules.ts';
import type { CastContext } from './cast-rules.ts';
import { conversionOf, dependsOnMoment, readText } from './cast-values.ts';
import { withoutTruncation } from './mysql-truncation.ts';
import { isTemporal, mysqlConversion } from './mysql-values.ts';
import { secondDigitsOf } from './second-digits.ts';
import { chargeFor, isSized, SPLIT_FACTOR, textBytes } from './value-bytes.ts';
import type { Execution } from '../execution.ts';

/** A quoted string whose type is not known yet; also NULL, whose text is null. */
export interface UnknownLiteral extends Expression {
  readonly literal: string | null;
}

/** A parameter whose type is not known yet. */
export interface UntypedParameter extends Expression {
  readonly slot: ParameterSlot;
}

/** A value known when the statement is compiled. */
export interface Constant extends Expression {
  readonly constant: SqlValue;
}

export function constantOf(constant: SqlValue, type: SqlType, modifier = -1): Constant {
  return { type, modifier, isRowFree: true, evaluate: () => constant, constant };
}

export function isConstant(expression: Expression): expression is Constant {
  return 'constant' in expression;
}

export function unknownLiteral(literal: string | null): UnknownLiteral {
  return { type: types.unknown, modifier: -1, isRowFree: true, evaluate: () => literal, literal };
}

export function isUnknownLiteral(expression: Expression): expression is UnknownLiteral {
  return 'literal' in expression;
}

export function isUntypedParameter(expression: Expression): expression is UntypedParameter {
  return 'slot' in expression;
}

export function parameterOf(slot: ParameterSlot): Expression {
  const base = {
    type: slot.type ?? types.unknown,
    modifier: -1,
    isRowFree: true,
    evaluate: (frame: Frame) => frame.execution.parameters[slot.index] ?? null,
  };
  if (slot.type !== undefined) return base;
  const untyped: UntypedParameter = { ...base, slot };
  return untyped;
}

/**
 * The expression as `type`, cut to `modifier` (-1: none). @throws SqlError 42846 where `how` does not allow it; and at once what a
 * literal cannot be read as: 22P02 and its like.
 */
export function coerce(
  expression: Expression,
  type: SqlType,
  modifier: number,
  how: CastContext,
  scope: Pick<Scope, 'dialect'>,
): Expression {
  if (type.name === 'unknown') return expression;
  if (isUntypedParameter(expression)) return coerceParameter(expression, type, modifier, how, scope);
  if (isUnknownLiteral(expression) && (!expressionRules[scope.dialect].quotedIsText || expression.literal === null)) {
    return coerceLiteral(expression.literal, type, modifier, how);
  }
  const source = isUnknownLiteral(expression) ? constantOf(expression.literal, types.text) : expression;
  if (isSameType(source.type, type)) return withModifier(source, type, modifier, how);
  if (!canCast(source.type, type, how, scope.dialect)) {
    throw new SqlError('42846', `cannot cast type ${typeTitle(source.type)} to ${typeTitle(type)}`);
  }
  return withModifier(converted(source, type, scope), type, modifier, how);
}

const conversionIn: Readonly<Record<Dialect, typeof mysqlConversion>> = {
  postgres: conversionOf,
  mysql: (from, to, modifier) => mysqlConversion(from, to, modifier),
};

function converted(source: Expression, type: SqlType, { dialect }: Pick<Scope, 'dialect'>): Expression {
  const convert = conversionIn[dialect](source.type, type, source.modifier);
  const { evaluate } = source;
  if (isConstant(source) && !(typeof source.constant === 'string' && dependsOnMoment(source.constant, type))) {
    return lazyConstant(source, type, convert, digitsOfConversion(source, type, dialect));
  }
  return {
    type,
    modifier: digitsOfConversion(source, type, dialect),
    isRowFree: source.isRowFree,
    isVolatile: source.isVolatile === true,
    evaluate:
      isSized(source.type) && isSized(type)
        ? (frame) => {
            const value = evaluate(frame);
            chargeFor(frame.execution.budget, textBytes(value) * SPLIT_FACTOR);
            return value === null ? null : convert(value, frame.execution);
          }
        : (frame) => {
            const value = evaluate(frame);
            return value === null ? null : convert(value, frame.execution);
          },
  };
}

function digitsOfConversion(source: Expression, type: SqlType, dialect: Dialect): number {
  return isTemporal(type) && type.name !== 'date' ? secondDigitsOf(source, dialect) : -1;
}

/** Converted once; if that fails, each time it is evaluated: a CASE may never come to it. */
function lazyConstant(
  source: Constant,
  type: SqlType,
  convert: (value: Exclude<SqlValue, null>, execution: Execution) => SqlValue,
  modifier: number,
): Expression {
  const { constant } = source;
  if (constant === null) return constantOf(null, type);
  try {
    // The execution is looked at by words such as `now` and by names of tables only, which have been sorted out.
    return constantOf(convert(constant, noExecution), type, modifier);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return { type, modifier, isRowFree: true, evaluate: ({ execution }) => convert(constant, execution) };
  }
}

const noExecution = new Proxy({} as Execution, {
  get: (): never => {
    throw new SqlError('0A000', 'a constant that depends on the session is not supported here');
  },
});

function coerceParameter(
  { slot }: UntypedParameter,
  type: SqlType,
  modifier: number,
  how: CastContext,
  scope: Pick<Scope, 'dialect'>,
): Expression {
  slot.type ??= type;
  const typed = parameterOf(slot);
  return isSameType(typed.type, type)
    ? withModifier(typed, type, modifier, how)
    : coerce(typed, type, modifier, how, scope);
}

function coerceLiteral(literal: string | null, type: SqlType, modifier: number, how: CastContext): Expression {
  if (literal === null) return constantOf(null, type, modifier);
  if (dependsOnMoment(literal, type)) {
    const read: Expression = {
      type,
      modifier: -1,
      isRowFree: true,
      evaluate: ({ execution }) => readText(literal, type, execution),
    };
    return withModifier(read, type, modifier, how);
  }
  return withModifier(constantOf(parseText(literal, type), type), type, modifier, how);
}

function withModifier(source: Expression, type: SqlType, modifier: number, how: CastContext): Expression {
  if (modifier < 0 || source.modifier === modifier) return source;
  const isExplicit = how === 'explicit';
  const { evaluate } = source;
  if (isConstant(source)) {
    try {
      return constantOf(applyModifier(source.constant, type, modifier, isExplicit), type, modifier);
    } catch (error) {
      // It fails when it is evaluated, if ever.
      if (!(error instanceof SqlError)) throw error;
    }
  }
  return {
    type,
    modifier,
    isRowFree: source.isRowFree,
    isVolatile: source.isVolatile === true,
    evaluate: (frame) => applyModifier(evaluate(frame), type, modifier, isExplicit),
  };
}

/**
 * The one type of the branches of CASE, UNION, VALUES, ARRAY...: parse_coerce.c, `select_common_type`. `construct` is for the message.
 * @throws SqlError 42804
 */
export function commonType(candidates: readonly SqlType[], construct: string, dialect: Dialect): SqlType {
  let chosen: SqlType | undefined;
  for (const type of candidates) {
    if (type.name === 'unknown' || (chosen !== undefined && isSameType(chosen, type))) continue;
    chosen = chosen === undefined ? type : commonOfTwo[dialect](chosen, type, construct);
  }
  return chosen === undefined ? types.text : resultOf[dialect](chosen);
}

/** What is one of several values of a type. In MySQL it is no ENUM any more but the text of the label. */
const resultOf: Readonly<Record<Dialect, (type: SqlType) => SqlType>> = {
  postgres: (type) => type,
  mysql: (type) => (type.name === 'enum' ? types.text : type),
};

const commonOfTwo: Readonly<Record<Dialect, (a: SqlType, b: SqlType, construct: string) => SqlType>> = {
  postgres: postgresCommonType,
  mysql: mysqlCommonType,
};

function postgresCommonType(a: SqlType, b: SqlType, construct: string): SqlType {
  if (categoryOf(a.name) !== categoryOf(b.name))
    throw new SqlError('42804', `${construct} types ${typeTitle(a)} and ${typeTitle(b)} cannot be matched`);
  return !isPreferred(a.name) && canCast(a, b, 'implicit', 'postgres') && !canCast(b, a, 'implicit', 'postgres')
    ? b
    : a;
}

const mysqlNumbers: readonly SqlType[] = [
  types.bool,
  types.int2,
  types.int4,
  types.int8,
  types.uint8,
  types.numeric,
  types.float4,
  types.float8,
];

/** Numbers widen; a string beside anything makes a string; dates and times meet in datetime. */
function mysqlCommonType(a: SqlType, b: SqlType): SqlType {
  const [first, second] = [rankOf(a), rankOf(b)];
  if (first >= 0 && second >= 0) return mysqlNumbers[Math.max(first, second)] ?? types.text;
  const isTime = (type: SqlType): boolean => categoryOf(type.name) === 'D';
  return isTime(a) && isTime(b) ? types.timestamp : types.text;
}

function rankOf(type: SqlType): number {
  return mysqlNumbers.findIndex((each) => each.name === type.name);
}

const integerNames: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'uint8']);

/** `commonType`, and whether it is unsigned. In MySQL integers with a sign and without one have decimals in common. */
export function commonNumber(
  candidates: readonly Pick<Expression, 'type' | 'isUnsigned'>[],
  construct: string,
  dialect: Dialect,
): Required<Pick<Expression, 'type' | 'isUnsigned'>> {
  const type = commonType(
    candidates.map((each) => each.type),
    construct,
    dialect,
  );
  const unsigned = candidates.filter((each) => each.isUnsigned === true || each.type.name === 'uint8');
  if (!integerNames.has(type.name) || unsigned.length === 0) return { type, isUnsigned: false };
  return unsigned.length === candidates.length
    ? { type, isUnsigned: true }
    : { type: types.numeric, isUnsigned: false };
}

/** All of the common type. @throws SqlError 42804 */
export function unify(
  expressions: readonly Expression[],
  construct: string,
  scope: Pick<Scope, 'dialect'>,
): Expression[] {
  const typed = expressions.filter((each) => each.type.name !== 'unknown' || isUntypedParameter(each));
  const { type: common, isUnsigned } = commonNumber(typed, construct, scope.dialect);
  const coerced = expressions.map((each) => coerce(each, common, -1, 'implicit', scope));
  const unified = isUnsigned ? coerced.map((each) => ({ ...each, isUnsigned })) : coerced;
  const sharesScale = expressionRules[scope.dialect].sharesScale && common.name === 'numeric';
  return sharesScale ? ofOneScale(expressions, unified) : unified;
}

function ofOneScale(sources: readonly Expression[], unified: readonly Expression[]): Expression[] {
  const scales = sources.map(scaleOf);
  if (scales.includes(undefined)) return [...unified];
  const scale = Math.max(...(scales as number[]));
  return unified.map((each) => {
    const { evaluate } = each;
    if (isConstant(each)) return constantOf(rescaled(each.constant, scale), types.numeric);
    return {
      type: types.numeric,
      modifier: -1,
      isRowFree: each.isRowFree,
      evaluate: (frame) => rescaled(evaluate(frame), scale),
    };
  });
}

function scaleOf(source: Expression): number | undefined {
  if (source.type.name === 'unknown') return 0;
  if (source.type.name !== 'numeric') return rankOf(source.type) < rankOf(types.numeric) ? 0 : undefined;
  if (isConstant(source)) return source.constant === null ? 0 : (source.constant as Numeric).scale;
  return source.modifier >= 0 ? precisionAndScale(source.modifier).scale : undefined;
}

function rescaled(value: SqlValue, scale: number): SqlValue {
  return value === null ? null : { ...(value as Numeric), scale };
}

/** For WHERE, ON, AND...: what is not a boolean is converted or refused. Numbers and strings that are not zero are true. */
export function coerceToBoolean(
  expression: Expression,
  construct: string,
  scope: Pick<Scope, 'dialect' | 'refusesTruncation'>,
): Expression {
  if (expressionRules[scope.dialect].convertsAll && !isUntypedParameter(expression)) {
    if (expression.type.name === 'bool') return expression;
    if (isUnknownLiteral(expression) && expression.literal === null) return constantOf(null, types.bool);
    const convert = (each: Expression): Expression => coerce(each, types.bool, -1, 'explicit', scope);
    return scope.refusesTruncation === true && !expression.isRowFree
      ? withoutTruncation(expression, convert)
      : convert(expression);
  }
  if (expression.type.name !== 'bool' && expression.type.name !== 'unknown') {
    throw new SqlError(
      '42804',
      `argument of ${construct} must be type boolean, not type ${typeTitle(expression.type)}`,
    );
  }
  return coerce(expression, types.bool, -1, 'implicit', scope);
}

/** A parameter without a type takes the other side's; text where that has none either. */
export function settleParameter(expression: Expression, other: SqlType, scope: Pick<Scope, 'dialect'>): Expression {
  if (expression.type.name !== 'unknown') return expression;
  return coerce(expression, other.name === 'unknown' ? types.text : other, -1, 'implicit', scope);
}
