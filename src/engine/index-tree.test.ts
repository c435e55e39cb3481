import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SqlValue } from '../sql/model/value.ts';
import { boundsOf, IndexTree, type IndexPath } from './index-tree.ts';
import { TableIndex } from './postgres/table-index.ts';
import { type PostgresTable, StoredRow } from './postgres/table.ts';

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
function build(list: readonly { isInsert: boolean; key: number; id: number; run: number }[]) {
  const tree = new IndexTree<Entry>(compare);
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

const prefixes = fc.oneof(fc.constant([]), fc.tuple(fc.nat({ max: 12 })));
const bound = fc.option(fc.record({ value: fc.nat({ max: 13 }), isInclusive: fc.boolean() }), { nil: undefined });
const rowBound = fc.option(
  fc.record({ value: fc.nat({ max: 13 }), behind: fc.tuple(fc.nat({ max: 60 })), isInclusive: fc.boolean() }),
  { nil: undefined },
);

describe('against a sorted list', () => {
  test('order, size and neighbours', () => {
    fc.assert(
      fc.property(changes, fc.nat({ max: 12 }), (list, key) => {
        const { tree, model } = build(list);
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
      fc.property(changes, prefixes, bound, bound, fc.boolean(), (list, prefix, from, to, isDescending) => {
        const { tree, model } = build(list);
        const path: IndexPath = {
          kind: 'index',
          index: 0,
          prefix,
          isDescending,
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        };
        const isIn = ({ key }: Entry): boolean => {
          const next = key[prefix.length];
          return (
            prefix.every((value, i) => key[i] === value) &&
            (from === undefined || Number(next) > from.value || (from.isInclusive && next === from.value)) &&
            (to === undefined || Number(next) < to.value || (to.isInclusive && next === to.value))
          );
        };
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

  test('ranges between two rows', () => {
    fc.assert(
      fc.property(changes, rowBound, rowBound, fc.boolean(), (list, from, to, isDescending) => {
        const { tree, model } = build(list);
        const ends = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
        const path: IndexPath = { kind: 'index', index: 0, prefix: [], isDescending, ...ends };
        const order = ({ key }: Entry, end: NonNullable<typeof from>): number =>
          compare(key, [end.value, ...end.behind]);
        const inRange = model.filter((entry) => {
          const above = from === undefined ? 1 : order(entry, from);
          const below = to === undefined ? -1 : order(entry, to);
          return (above > 0 || (above === 0 && from?.isInclusive)) && (below < 0 || (below === 0 && to?.isInclusive));
        });
        expect([...tree.range(path)]).toEqual(isDescending ? inRange.toReversed() : inRange);
        const { isBelow, isAbove } = boundsOf(path, compare);
        expect(model.filter(({ key }) => !isBelow(key) && !isAbove(key))).toEqual(inRange);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the rows of an index by whole key, against a list', () => {
  const table = { shape: { id: 1 } } as PostgresTable;
  const index = { id: 1, compare } as ConstructorParameters<typeof TableIndex>[0];
  const keys = fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 5_000 }), fc.constantFrom(-1, 0.5, 2 ** 32, 1e9));
  const steps = fc.array(fc.record({ key: keys, id: fc.nat({ max: 3 }), run: fc.nat({ max: 200 }) }), {
    maxLength: 30,
  });

  test.each([
    ['hashed', { ...index, hashOf: ([only = null]: readonly SqlValue[]) => only }],
    ['not hashed', index],
  ])('%s', (_name, shape) => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat({ max: 29 }), { maxLength: 10 }), (list, removed) => {
        const entered = new TableIndex(shape);
        const model = new Map<string, Entry>();
        const change = ({ key, id, run }: (typeof list)[number], isInsert: boolean): void => {
          for (let i = 0; i <= run; i++) {
            const entry = { key: [key + i], id };
            if (isInsert) entered.insert(entry.key, new StoredRow(table, id));
            else entered.remove(entry.key, new StoredRow(table, id));
            if (isInsert) model.set(`${key + i} ${id}`, entry);
            else model.delete(`${key + i} ${id}`);
          }
        };
        for (const each of list) change(each, true);
        for (const at of removed) if (list[at] !== undefined) change(list[at], false);
        for (const key of [...list.map((each) => each.key), -2, 1.5, 7, 6_000, 2 ** 33]) {
          const ids = [...model.values()].filter((each) => each.key[0] === key).map(({ id }) => id);
          expect(entered.rowsWith([key]).map(({ id }) => id)).toEqual(ids.toSorted((a, b) => a - b));
          const only = entered.only({ kind: 'index', index: 1, prefix: [key], isDescending: false });
          if (only !== null) expect(only?.id).toBe(ids.length === 1 ? ids[0] : undefined);
        }
      }),
      { numRuns: 40, seed: 14 },
    );
  });
});
