import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copyValue, type Value } from '../history/index.ts';
import { isCopyOf, ValueTable } from './value-table.ts';

const value = fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as Value);

test('equal values have equal numbers; what is taken for a copy has the same number', () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      const table = new ValueTable();
      const number = table.numberOf(a);
      expect(isCopyOf(copyValue(a), table.at(number))).toBe(true);
      expect(table.numberOf(copyValue(a))).toBe(number);
      expect(isCopyOf(b, a)).toBe(table.numberOf(b) === number);
    }),
  );
});

class Point {
  x = 1;
}

test.each([
  ['-0', -0, 0],
  ['undefined', undefined, null],
  ['an instance', new Point(), { x: 1 }],
  ['other names', { b: 1 }, { a: 1 }],
  ['names in another order', { b: 1, a: 2 }, { a: 2, b: 1 }],
  ['one more', [1, 2], [1]],
  ['a hole', Object.assign([1], { length: 2 }), [1, null]],
  ['an array for a record', [], {}],
  ['a record for an array', {}, []],
])('%s is no copy', (_name, given, known) => expect(isCopyOf(given, known)).toBe(false));
