/** What MySQL's strict mode refuses to store: a text that is no date or no number, where an expression would go on with NULL or 0. */
import { coerce, isCutMoment, isTemporal, isTextual, isUntypedParameter } from '../expressions/index.ts';
import type { Expression } from '../expression.ts';
import type { QueryScope } from '../plan/scope.ts';
import { SqlError, formatText, type SqlType, types, type SqlValue } from '../model/index.ts';

interface Target {
  readonly name: string;
  readonly type: SqlType;
  readonly modifier: number;
}

/** As INSERT IGNORE takes it: a text is cut, a number is the nearest that fits. Dates are strict: moirai has no zero date. */
export function fitted(expression: Expression, target: Target, scope: QueryScope): Expression {
  const { type, modifier } = target;
  if (isTextual(type)) return coerce(expression, type, modifier, 'explicit', scope);
  const fit = fitOf(type);
  if (fit === null) return strict(expression, target, scope);
  const converted = stored(expression, target, scope);
  return { ...converted, evaluate: (frame) => fit(converted.evaluate(frame)) };
}

/** `null`: no number of which moirai knows the range. */
function fitOf({ name }: SqlType): ((value: SqlValue) => SqlValue) | null {
  const greatestFloat = name === 'float4' ? (2 - 2 ** -23) * 2 ** 127 : Number.MAX_VALUE;
  const [least, greatest] = floatNames.has(name) ? [-greatestFloat, greatestFloat] : (ranges.get(name) ?? []);
  if (least === undefined || greatest === undefined) return null;
  return (value) => {
    if (typeof value === 'bigint') return value < least ? least : value > greatest ? greatest : value;
    return typeof value === 'number' ? Math.max(Number(least), Math.min(value, Number(greatest))) : value;
  };
}

/** @throws SqlError 22007 (1292), 22P02 (1366), 01000 (1265), when it runs */
export function strict(expression: Expression, target: Target, scope: QueryScope): Expression {
  const judge = judgeOf(expression, target);
  const refusal = refusalOf(target);
  if (judge === null && refusal === null) return stored(expression, target, scope);
  // Literals are converted when the statement is planned; of others the value is noted as it passes.
  let given = givenValue(expression);
  let isRead = given !== null;
  const noting: Expression = {
    ...expression,
    evaluate: (frame) => {
      isRead = false;
      given = expression.evaluate(frame);
      isRead = true;
      return given;
    },
  };
  const refused = (error: unknown): unknown =>
    isRead && refusal !== null && error instanceof SqlError ? refusal(error) : error;
  const result = orRefused(() => stored(noting, target, scope), refused);
  return {
    ...result,
    evaluate: (frame) => {
      const value = orRefused(() => result.evaluate(frame), refused);
      if (given !== null) judge?.(given, value);
      return value;
    },
  };
}

/** As a column stores it. An integer column rounds the number that a text has, where an expression takes its digits: `'2.5'` is 3, `'1e3'` 1000. */
function stored(expression: Expression, { type, modifier }: Target, scope: QueryScope): Expression {
  const isText = isTextual(expression.type) && expression.type.name !== 'enum' && !isUntypedParameter(expression);
  const source =
    isText && integerNames.has(type.name) ? coerce(expression, types.numeric, -1, 'explicit', scope) : expression;
  return coerce(source, type, modifier, 'assignment', scope);
}

function orRefused<Result>(convert: () => Result, refused: (error: unknown) => unknown): Result {
  try {
    return convert();
  } catch (error) {
    throw refused(error);
  }
}

/** What a column says that a value does not fit; `null`: its type refuses in these words itself, or not at all. */
function refusalOf({ name, type, modifier }: Target): ((error: SqlError) => SqlError) | null {
  if (modifier < 0) return null;
  const isText = type.name === 'varchar' || type.name === 'bpchar';
  if (!isText && type.name !== 'numeric') return null;
  const code = isText ? '22001' : '22003';
  const message = isText ? `Data too long for column '${name}' at row 1` : outOfRange(name);
  const mysqlNumber = isText ? 1406 : 1264;
  return (error) => (error.code === code ? new SqlError(code, message, { mysqlNumber }) : error);
}

function outOfRange(column: string): string {
  return `Out of range value for column '${column}' at row 1`;
}

function givenValue(expression: Expression): SqlValue {
  if ('literal' in expression) return expression.literal as string | null;
  return 'constant' in expression ? (expression.constant as SqlValue) : null;
}

const ranges: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['int2', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['int4', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['int8', [-(2n ** 63n), 2n ** 63n - 1n]],
  ['uint8', [0n, 2n ** 64n - 1n]],
]);
const integerNames: ReadonlySet<string> = new Set(ranges.keys());
const floatNames: ReadonlySet<string> = new Set(['float4', 'float8']);

function judgeOf(
  { type: from }: Expression,
  { name, type }: Target,
): ((source: SqlValue, value: SqlValue) => void) | null {
  const isText = isTextual(from) && from.name !== 'enum';
  if (isTemporal(type) && !isTemporal(from)) {
    const kind = type.name === 'date' || type.name === 'time' ? type.name : 'datetime';
    const shown = from.name === 'unknown' ? types.text : from;
    return (source, value) => {
      if (source === null) return;
      const isCut = isText && typeof source === 'string' && isCutMoment(source, type);
      if (value !== null && !isCut) return;
      const text = formatText(source, shown, 'mysql');
      throw new SqlError('22007', `Incorrect ${kind} value: '${text}' for column '${name}' at row 1`, {
        mysqlNumber: 1292,
      });
    };
  }
  const isInteger = integerNames.has(type.name);
  if (isInteger && isNumber(from)) return (source) => checkRange(source, from, name, type);
  if (!isText || !(isInteger || floatNames.has(type.name) || type.name === 'numeric')) return null;
  return (source) => {
    if (typeof source !== 'string') return;
    checkNumber(source, name, isInteger ? 'integer' : type.name === 'numeric' ? 'decimal' : 'double');
    if (isInteger) checkRange(source.trim(), types.text, name, type);
  };
}

const wholeNumber = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** A number with something behind it is cut; what does not begin with one is none. */
function checkNumber(text: string, column: string, kind: 'integer' | 'decimal' | 'double'): void {
  if (wholeNumber.test(text)) return;
  if (kind === 'double' || /^\s*[+-]?\.?\d/.test(text))
    throw new SqlError('01000', `Data truncated for column '${column}' at row 1`, { mysqlNumber: 1265 });
  throw new SqlError('22P02', `Incorrect ${kind} value: '${text}' for column '${column}' at row 1`, {
    mysqlNumber: 1366,
  });
}

function isNumber({ name }: SqlType): boolean {
  return integerNames.has(name) || floatNames.has(name) || name === 'numeric';
}

/** Expressions keep to the nearest number that fits; columns refuse. @throws SqlError 22003 (1264) */
function checkRange(source: SqlValue, from: SqlType, column: string, { name }: SqlType): void {
  const [least, greatest] = ranges.get(name) ?? [0n, 0n];
  const text = source === null ? '' : formatText(source, from, 'mysql');
  const isExact = /^-?\d+$/.test(text);
  const isOutside = isExact
    ? BigInt(text) < least || BigInt(text) > greatest
    : Number(text) < Number(least) - 0.5 || Number(text) >= Number(greatest) + 0.5;
  if (isOutside) throw new SqlError('22003', outOfRange(column), { mysqlNumber: 1264 });
}
