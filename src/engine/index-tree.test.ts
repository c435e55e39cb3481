import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SqlValue } from '../sql/model/value.ts';
import { IndexTree, type IndexPath } from './index-tree.ts';

interface Entry {
  readonly key: readonly SqlValue[];
  readonly id: number;
}

const compare = (a: readonly SqlValue[], b: readonly SqlValue[]): number => {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = Number(a[i]) - Number(b[i]);
    if (order !== 0) return order;
  }
  return 0;
};
const compareEntries = (a: Entry, b: Entry): number => compare(a.key, b.key) || a.id - b.id;

const changes = fc.array(
  fc.record({
    isInsert: fc.boolean(),
    key: fc.nat({ max: 12 }),
    id: fc.nat({ max: 3 }),
    run: fc.integer({ min: 1, max: 300 }),
  }),
  { maxLength: 25 },
);

/** The tree and, as its model, a sorted list. Runs of insertions make several blocks. */
function build(list: readonly { isInsert: boolean; key: number; id: number; run: number }[], isHashed = false) {
  const tree = new IndexTree<Entry>(compare, undefined, isHashed ? (key) => JSON.stringify(key) : undefined);
  let model: Entry[] = [];
  for (const { isInsert, key, id, run } of list) {
    for (let i = 0; i < run; i++) {
      const entry = { key: [key, (i * 7) % run], id };
      const isThere = model.some((other) => compareEntries(other, entry) === 0);
      if (isInsert) {
        expect(tree.insert(entry)).toBe(!isThere);
        if (!isThere) model.push(entry);
      } else {
        expect(tree.remove(entry.key, id)).toBe(isThere);
        model = model.filter((other) => compareEntries(other, entry) !== 0);
      }
    }
  }
  return { tree, model: model.toSorted(compareEntries) };
}

const bound = fc.option(fc.record({ value: fc.nat({ max: 13 }), isInclusive: fc.boolean() }), { nil: undefined });

describe('against a sorted list', () => {
  test('order, size and neighbours', () => {
    fc.assert(
      fc.property(changes, fc.nat({ max: 12 }), fc.boolean(), (list, key, isHashed) => {
        const { tree, model } = build(list, isHashed);
        expect([...tree]).toEqual(model);
        expect(tree.size).toBe(model.length);
        const probe = { key: [key, 5], id: 1 };
        expect(tree.next(probe)).toEqual(model.find((entry) => compareEntries(entry, probe) > 0));
        expect(tree.previous(probe)).toEqual(model.findLast((entry) => compareEntries(entry, probe) < 0));
        expect(tree.allWith([key])).toEqual(model.filter((entry) => entry.key[0] === key));
        const withWhole = model.filter((entry) => compare(entry.key, [key, 1]) === 0);
        expect(tree.allWith([key, 1])).toEqual(withWhole);
        expect(tree.point({ kind: 'index', index: 0, prefix: [key, 1], isDescending: false })).toEqual(withWhole);
        expect(tree.firstWith([key, 5])).toEqual(model.find((entry) => compare(entry.key, [key, 5]) === 0));
      }),
      { numRuns: 40 },
    );
  });

  test('ranges in both directions, and a cursor survives changes', () => {
    fc.assert(
      fc.property(changes, bound, bound, fc.boolean(), (list, from, to, isDescending) => {
        const { tree, model } = build(list);
        const path: IndexPath = {
          kind: 'index',
          index: 0,
          prefix: [],
          isDescending,
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        };
        const isIn = ({ key: [first] }: Entry): boolean =>
          (from === undefined || Number(first) > from.value || (from.isInclusive && first === from.value)) &&
          (to === undefined || Number(first) < to.value || (to.isInclusive && first === to.value));
        const inRange = model.filter(isIn);
        const expected = isDescending ? inRange.toReversed() : inRange;
        expect([...tree.range(path)]).toEqual(expected);
        const met: Entry[] = [];
        for (const entry of tree.range(path)) {
          met.push(entry);
          tree.remove(entry.key, entry.id);
          tree.insert({ key: [20, met.length], id: 9 });
          if (met.length === model.length) break;
        }
        if (to !== undefined) expect(met).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});
