import { describe, expect, test } from 'vitest';
import { formatText } from '../model/text-format.ts';
import { parseExpression, testFrame, testScope } from './expression.test-support.ts';
import { setReturning } from './set-returning.ts';

describe('rows', () => {
  test.each([
    ['generate_series(1, 3)', '1 2 3'],
    ['generate_series(5, 1, -2)', '5 3 1'],
    ['generate_series(1.5, 3)', '1.5 2.5'],
    ['generate_series(1::int8, 2)', '1 2'],
    [
      "generate_series(date '2020-01-31', '2020-03-31', interval '1 month')",
      '2020-01-31 00:00:00+00 2020-02-29 00:00:00+00 2020-03-29 00:00:00+00',
    ],
    ['generate_series(1, NULL)', ''],
    ['unnest(ARRAY[1, NULL, 3])', '1 - 3'],
    ["unnest(ARRAY['a'], ARRAY[1, 2])", 'a,1 -,2'],
    ['jsonb_array_elements(\'[1, {"a": 2}]\')', '1 {"a": 2}'],
    ['json_array_elements_text(\'["x", null]\')', 'x -'],
    ['jsonb_each(\'{"bb": 1, "a": [2]}\')', 'a,[2] bb,1'],
    ['json_object_keys(\'{"b": 1, "a": 2}\')', 'b a'],
    ["string_to_table('a,b', ',')", 'a b'],
    ["regexp_split_to_table('a1b22c', '[0-9]+')", 'a b c'],
    ["regexp_matches('a1b2', '([a-z])([0-9])', 'g')", '{a,1} {b,2}'],
    ['generate_subscripts(ARRAY[7, 8], 1)', '1 2'],
  ])('%s', (sql, wanted) => expect(rowsOf(sql)).toBe(wanted));
});

test.each([
  ['generate_series(1, 2, 0)', '22023'],
  ["jsonb_array_elements('{}')", '22023'],
  ["jsonb_each('[]')", '22023'],
  ['unnest(1)', '42883'],
  ["generate_series('a'::text, 'b'::text)", '42883'],
])('%s is an error', (sql, code) => expect(() => rowsOf(sql)).toThrow(expect.objectContaining({ code })));

test('other functions give no rows', () => {
  expect(setReturning(parseExpression('lower(1)'), testScope())).toBeUndefined();
  expect(setReturning(parseExpression('toString(1)'), testScope())).toBeUndefined();
});

/** Rows between spaces, columns between commas, `-` for NULL. */
function rowsOf(sql: string): string {
  const set = setReturning(parseExpression(sql), testScope());
  if (set === undefined) throw new Error(`${sql} gives no rows`);
  const text = (value: Parameters<typeof formatText>[0] | null, i: number): string => {
    const type = set.columns[i]?.type;
    return value === null || type === undefined ? '-' : formatText(value, type, 'postgres');
  };
  return [...set.rows(testFrame())].map((row) => row.map(text).join(',')).join(' ');
}
