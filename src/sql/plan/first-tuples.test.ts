import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { types } from '../model/index.ts';
import { FirstTuples } from './first-tuples.ts';
import { keyComparator } from './sort.ts';

const compare = keyComparator(
  [
    { type: types.int4, isDescending: true, nullsFirst: true },
    { type: types.text, isDescending: false, nullsFirst: false },
  ],
  'postgres',
);

const row = fc.record({
  keys: fc.tuple(fc.option(fc.integer({ min: 0, max: 4 })), fc.option(fc.constantFrom('a', 'b'))),
});

test('the first rows are those of a stable sort of all, in its order', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.integer({ min: 1, max: 70 }), (rows, count) => {
      const first = new FirstTuples<(typeof rows)[number]>(compare, count);
      for (const each of rows) if (first.isAmong(each.keys)) first.add(each);
      const wanted = rows.toSorted((a, b) => compare(a.keys, b.keys)).slice(0, count);
      const found = first.inOrder();
      expect(found).toHaveLength(wanted.length);
      // The same objects: rows with equal values differ.
      for (const [i, each] of found.entries()) expect(each === wanted[i]).toBe(true);
    }),
    { seed: 14, numRuns: 500 },
  );
});
