import { describe, expect, test } from 'vitest';
import type { Expression, ParameterSlot, Scope } from '../expression.ts';
import { SqlError } from '../model/sql-error.ts';
import { types } from '../model/type.ts';
import { compileExpression } from './compile.ts';
import { coerce, commonType } from './coerce.ts';
import {
  evaluateSql,
  mysqlOutcomeOf,
  outcomeOf,
  parseExpression,
  testFrame,
  testScope,
} from './expression.test-support.ts';

describe('values', () => {
  test.each([
    ['1 + 1', '2'],
    ['7 / 2', '3'],
    ['1.0 / 3', '0.33333333333333333333'],
    ["'a' || 1", 'a1'],
    ["'5' + 1", '6'],
    ['2147483647 + 1', '!22003'],
    ['1 / 0', '!22012'],
    ["'x'::int4", '!22P02'],
    ['1 IN (2, NULL)', null],
    ['1 NOT IN (VALUES (2), (NULL))', null],
    ['1 = ANY (ARRAY[2, NULL])', null],
    ['1 = ANY (ARRAY[1, NULL])', 't'],
    ['1 <> ALL (ARRAY[2, NULL])', null],
    ['(1, NULL) = (2, NULL)', 'f'],
    ['row(1, NULL) IS NULL', 'f'],
    ['row(1, NULL) IS NOT NULL', 'f'],
    ['row(NULL, NULL) IS NULL', 't'],
    ['(1, NULL) IS DISTINCT FROM (1, NULL)', 'f'],
    ["CASE WHEN true THEN 1 ELSE 'x'::text::int4 END", '1'],
    ["coalesce(NULL, '7') || 'a'", '7a'],
    ["date '2020-01-31' + interval '1 month'", '2020-02-29 00:00:00'],
    ['\'{"a":[1,{"b":2}]}\'::jsonb #>> \'{a,1,b}\'', '2'],
    ['(ARRAY[1,2,3])[2:]', '{2,3}'],
    ["row(1, 'a b', NULL)", '(1,"a b",)'],
    ["(row(1, 'a')).f2", 'a'],
    ["'abc' LIKE 'a\\%'", 'f'],
    ["'a\\b' LIKE 'a\\b' ESCAPE '!'", 't'],
    ["format('%s %I', 1, 'A')", '1 "A"'],
    ["'now'::timestamptz = now()", 't'],
  ])('%s', (sql, wanted) => expect(outcomeOf(sql)).toBe(wanted));
});

describe('errors name what is wrong, and where', () => {
  test.each([
    ["1 + 'x'", '22P02', 'invalid input syntax for type integer: "x"'],
    ['1 = true', '42883', 'operator does not exist: integer = boolean'],
    ["'a' + 'b'", '42725', 'operator is not unique: unknown + unknown'],
    ['nosuch(1, 2.5)', '42883', 'function nosuch(integer, numeric) does not exist'],
    ['1::uuid', '42846', 'cannot cast type integer to uuid'],
    ['1 AND true', '42804', 'argument of AND must be type boolean, not type integer'],
    ['CASE WHEN true THEN 1 ELSE true END', '42804', 'CASE types boolean and integer cannot be matched'],
    ['ARRAY[]', '42P18', 'cannot determine type of empty array'],
    ['(1, 2) = (1, 2, 3)', '42601', 'unequal number of entries in row expressions'],
    ['(VALUES (1), (2))', '21000', 'more than one row returned by a subquery used as an expression'],
    ['1 IN (VALUES (1, 2))', '42601', 'subquery has too many columns'],
    ["'a' SIMILAR TO 'b'", '0A000', 'SIMILAR TO is not supported by moirai'],
    ['CURRENT_TIME', '0A000', 'type time with time zone is not supported by moirai'],
    ['lower(DISTINCT 1)', '42809', 'DISTINCT specified, but lower is not an aggregate function'],
  ])('%s', (sql, code, message) => expect(() => evaluateSql(sql)).toThrow(expect.objectContaining({ code, message })));

  test('the place counts from 1', () => {
    const error = errorOf(() => evaluateSql('1 + nosuch(2)'));
    expect(error.detail.position).toBe('SELECT 1 + n'.length);
  });
});

describe('parameters take the type of the first use that knows one', () => {
  test.each([
    ['$1 + 1', ['int4']],
    ["$1 || 'a'", ['text']],
    ['$1::numeric(5,2)', ['numeric']],
    ["$1 = date '2020-01-01'", ['date']],
    ["date '2020-01-01' - $1", ['date']],
    ['$1 = ANY(ARRAY[1, 2])', ['int4']],
    ['1::int8 = ANY($1)', ['array']],
    ['$1 IN (1, 2.5)', ['numeric']],
    ['coalesce($1, 2.5)', ['numeric']],
    ['CASE WHEN $1 THEN $2 ELSE 1 END', ['bool', 'int4']],
    ['$1 = $2', ['text', 'text']],
    ['$1 BETWEEN 1::int2 AND 5', ['int2']],
    ['substring($1 FROM $2)', ['text', 'text']],
    ['substring($1 FROM 2 FOR $2)', ['text', 'int4']],
    ['$1 IS NULL', [undefined]],
  ])('%s', (sql, names) => {
    const { scope, slots } = parameterScope();
    compileExpression(parseExpression(sql), scope);
    expect(slots.map(({ type }) => type?.name)).toEqual(names);
  });

  test('what is expected settles what nothing else does', () => {
    const { scope, slots } = parameterScope();
    const expression = compileExpression(parseExpression('$1'), scope, types.uuid);
    expect(slots[0]?.type).toBe(types.uuid);
    expect(expression.evaluate(testFrame(['x']))).toBe('x');
  });

  test('the value comes with the execution', () => {
    const { scope } = parameterScope();
    const expression = compileExpression(parseExpression('$1 * 2 + $2'), scope);
    expect(expression.isRowFree).toBe(true);
    expect(expression.evaluate(testFrame([5, 1]))).toBe(11);
    expect(expression.evaluate(testFrame([null, 1]))).toBeNull();
  });
});

describe('which expressions depend on no row', () => {
  const column: Expression = {
    type: types.int4,
    modifier: -1,
    isRowFree: false,
    evaluate: () => 4,
    column: { row: 0, cell: 2 },
  };
  const scope = testScope('postgres', { x: column });
  test.each([
    ['1 + 2', true],
    ['now()', true],
    ['random()', false],
    ['x + 1', false],
    ['1 IN (2, x)', false],
    ['EXISTS (SELECT 1)', true],
  ])('%s: %s', (sql, isRowFree) => expect(compileExpression(parseExpression(sql), scope).isRowFree).toBe(isRowFree));

  test('a column stays a column', () =>
    expect(compileExpression(parseExpression('x'), scope).column).toEqual({ row: 0, cell: 2 }));
});

test('NULLIF evaluates its first operand once', () => {
  let count = 0;
  const next: Expression = { type: types.int4, modifier: -1, isRowFree: false, evaluate: () => ++count };
  const expression = compileExpression(parseExpression('nullif(next, 5)'), testScope('postgres', { next }));
  expect([1, 2, 3, 4, 5].map(() => expression.evaluate(testFrame()))).toEqual([1, 2, 3, 4, null]);
});

test('a constant that fails only fails when it is reached', () => {
  expect(outcomeOf("CASE WHEN true THEN 1 ELSE 'x'::text::int4 END")).toBe('1');
  expect(outcomeOf("'x'::text::int4")).toBe('!22P02');
});

test('assignment cuts nothing but spaces; an explicit cast cuts', () => {
  const scope = testScope();
  const text = compileExpression(parseExpression("'abcd'::text"), scope);
  const assigned = coerce(text, types.varchar, 4 + 3, 'assignment', scope);
  expect(() => assigned.evaluate(testFrame())).toThrow(expect.objectContaining({ code: '22001' }));
  expect(coerce(text, types.varchar, 4 + 3, 'explicit', scope).evaluate(testFrame())).toBe('abc');
  expect(() => coerce(text, types.int4, -1, 'assignment', scope)).toThrow(expect.objectContaining({ code: '42846' }));
});

test('branches meet in one type', () => {
  expect(commonType([types.int4, types.unknown, types.numeric], 'UNION', 'postgres')).toBe(types.numeric);
  expect(commonType([types.unknown, types.unknown], 'UNION', 'postgres')).toBe(types.text);
  const refused = { code: '42804', message: 'UNION types integer and text cannot be matched' };
  expect(() => commonType([types.int4, types.text], 'UNION', 'postgres')).toThrow(expect.objectContaining(refused));
  expect(commonType([types.int4, types.text], 'UNION', 'mysql')).toBe(types.text);
});

describe('MySQL', () => {
  test.each([
    ['1 / 3', '0.3333'],
    ['1 / 0', 'null'],
    ['7 DIV 2', '3'],
    ["'3abc' + 4", '7'],
    ["'a' = 'A '", '1'],
    ["NOT 'a'", '1'],
    ["CONCAT('a', NULL)", 'null'],
    ['NULL <=> NULL', '1'],
    ['GREATEST(1, NULL)', 'null'],
    ["DATE '2020-01-31' + INTERVAL 1 MONTH", '2020-02-29'],
    ["'2020-01-31' + INTERVAL 1 HOUR", '2020-01-31 01:00:00'],
    ["'x' + INTERVAL 1 DAY", 'null'],
    ['9223372036854775807 + 1', '!22003'],
    ['CONNECTION_ID()', '7'],
    ['LAST_INSERT_ID()', '5'],
    ['NOW()', '2024-02-29 12:34:56'],
    ['NOW(3)', '2024-02-29 12:34:56.789'],
    ['CURTIME(1)', '12:34:56.7'],
    ['SYSDATE(2)', '2024-02-29 12:34:56.78'],
    ['LAST_INSERT_ID(7)', '7'],
    ['NOW(7)', '!42000'],
    ['CURTIME(7)', '!42000'],
    ['LEFT(1)', '!42000'],
  ])('%s', (sql, wanted) => expect(mysqlOutcomeOf(sql)).toBe(wanted));
});

function parameterScope(): { readonly scope: Scope; readonly slots: ParameterSlot[] } {
  const slots: ParameterSlot[] = [];
  const parameter = (number: number): ParameterSlot => (slots[number - 1] ??= { index: number - 1, type: undefined });
  return { scope: { ...testScope(), parameter }, slots };
}

function errorOf(run: () => unknown): SqlError {
  try {
    run();
  } catch (error) {
    if (error instanceof SqlError) return error;
  }
  throw new Error('a SqlError is wanted');
}
