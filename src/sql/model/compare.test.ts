import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparatorOf, keyText } from './compare.ts';
import { rowKey } from './row-key.ts';
import { parseText } from './text-format.ts';
import { typeByName, types } from './type.ts';
import type { SqlType } from './type.ts';
import type { SqlValue } from './value.ts';
import { anyValue } from './value.test-support.ts';

test('keys of several values tell where each of them ends', () => {
  const two = [types.text, types.text];
  expect(rowKey(['a', 'vb'], two, 'postgres')).not.toBe(rowKey(['av', 'b'], two, 'postgres'));
});

describe('from small to large', () => {
  test.each([
    ['int4', '-1 0 2'],
    ['numeric', '-Infinity -1 0.10 2 Infinity NaN'],
    ['float8', '-Infinity -1 0 1e300 Infinity NaN'],
    ['text', 'B a b \u{E000} \u{10000}'],
    ['bool', 'f t'],
    ['date', '-infinity 1999-01-01 2000-01-01 infinity'],
    ['interval', '-1day 0 23:00 1day 29days 1mon'],
    ['jsonb', '[] null "a" "b" 1 2 false true [1] [1,2] {} {"a":1} {"a":2} {"b":1}'],
    ['int4[]', '{} {1} {1,2} {1,NULL} {2}'],
  ])('%s', (name, list) => {
    const type = typeNamed(name);
    const values = list.split(' ').map((text) => present(parseText(text, type)));
    const compare = comparatorOf(type, 'postgres');
    const signs = values.flatMap((a, i) => values.map((b, j) => [Math.sign(compare(a, b)), Math.sign(i - j)]));
    for (const [sign, wanted] of signs) expect(sign).toBe(wanted);
  });
});

test.each([
  ['numeric', '1.0', '1.00'],
  ['bpchar', 'a', 'a  '],
  ['interval', '1 month', '30 days'],
  ['float8', '0', '-0'],
  ['jsonb', '{"a":1,"b":2.0}', '{"b":2,"a":1.00}'],
  ['numeric[]', '{1.0}', '{1}'],
])('%s: %s and %s are equal and have one key', (name, first, second) => {
  const type = typeNamed(name);
  const [a, b] = [parseText(first, type), parseText(second, type)];
  expect(comparatorOf(type, 'postgres')(present(a), present(b))).toBe(0);
  expect(keyText(a, type, 'postgres')).toBe(keyText(b, type, 'postgres'));
});

test.each(['int8', 'numeric', 'float8', 'text', 'bytea', 'timestamp', 'interval', 'uuid', 'jsonb', 'text[]'])(
  '%s: two values have one key exactly when they are equal',
  (name) => {
    const type = typeNamed(name);
    const compare = comparatorOf(type, 'postgres');
    fc.assert(
      fc.property(anyValue(type), anyValue(type), (a, b) => {
        expect(keyText(a, type, 'postgres') === keyText(b, type, 'postgres')).toBe(compare(a, b) === 0);
        expect(keyText(a, type, 'postgres')).not.toBe(keyText(null, type, 'postgres'));
        expect(Math.sign(compare(a, b))).toBe(-Math.sign(compare(b, a)) + 0);
        expect(compare(a, a)).toBe(0);
      }),
      { numRuns: 100, seed: 11 },
    );
  },
);

test('MySQL compares texts without case, trailing spaces and accents', () => {
  const compare = comparatorOf(types.text, 'mysql');
  expect(compare('Résumé ', 'resume')).toBe(0);
  expect(keyText('Résumé ', types.text, 'mysql')).toBe(keyText('RESUME', types.text, 'mysql'));
  expect(compare('a', 'B')).toBeLessThan(0);
  expect(comparatorOf(types.text, 'postgres')('a', 'B')).toBeGreaterThan(0);
});

function typeNamed(name: string): SqlType {
  const type = typeByName(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

function present(value: SqlValue): Exclude<SqlValue, null> {
  if (value === null) throw new Error('a value is wanted');
  return value;
}
