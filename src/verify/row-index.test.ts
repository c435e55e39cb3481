/** The index of rows against a look at all of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Image, isColumns, Shape, toImage, qualifies } from './image.ts';
import { Names } from './operation-table.ts';
import { RowIndex } from './row-index.ts';
import { RowTable } from './row-table.ts';
import { none } from './slots.ts';
import { SortedRows } from './sorted-rows.ts';
import { type Condition, type Scalar, unknownMark } from '../trace/trace.ts';
import { TransactionTable } from './transaction-table.ts';

const small = fc.integer({ min: -4, max: 4 });
const change = fc.record({ isGone: fc.boolean(), value: small, row: fc.integer({ min: 0, max: 400 }) });

test('sorted rows are those that a list would have', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 3_000, size: 'max' }),
      fc.array(fc.tuple(small, small), { minLength: 1, maxLength: 5 }),
      (changes, ranges) => {
        const sorted = new SortedRows();
        const known = new Map<string, readonly [number, number]>();
        for (const { isGone, value, row } of changes) {
          if (isGone) sorted.remove(value, row);
          else sorted.add(value, row);
          if (isGone) known.delete(`${value} ${row}`);
          else known.set(`${value} ${row}`, [value, row]);
        }
        const pairs = [...known.values()].toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
        for (const [low, high] of [...ranges, [-Infinity, Infinity] as const]) {
          const rows = pairs.filter(([value]) => value >= low && value <= high).map(([, row]) => row);
          expect(sorted.between(low, high)).toEqual(rows);
          expect(sorted.count(low, high, Infinity)).toBe(rows.length);
        }
      },
    ),
    { numRuns: 60 },
  );
});

const scalar = fc.constantFrom<Scalar>(0, 1, 2, -0, 1.5, 'a', 'b', '1', true, false, null, unknownMark);
const image = fc.oneof(
  fc.constantFrom<Image | undefined>(null, undefined, 5),
  fc
    .dictionary(fc.constantFrom('n', 'm'), scalar, { maxKeys: 2 })
    .map((columns) => toImage(new Map(Object.entries(columns)), empty)),
);
const empty = new Shape();
const condition = fc.record<Condition>({
  column: fc.constantFrom('n', 'm', 'o'),
  comparison: fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
  value: scalar.filter((value) => value !== unknownMark),
});
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), row: fc.nat(9), image }),
  fc.record({ kind: fc.constant('remove' as const), row: fc.nat(9), at: fc.nat(3) }),
  fc.record({
    kind: fc.constant('find' as const),
    table: fc.constantFrom('a', 'a/b', 'c'),
    where: fc.array(condition, { maxLength: 2 }),
  }),
);

test('what is found is every row of which a version satisfies the conditions, in order, and what is gone is not found', () => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 90, size: 'max' }), (steps) => {
      const keys: string[] = [];
      const versions: (Image | undefined)[][] = [];
      const index = new RowIndex({
        get size() {
          return keys.length;
        },
        key: (row) => keys[row] as string,
        imagesOf: (row) => versions[row] as (Image | undefined)[],
        holds: (row, column, value) =>
          versions[row]?.some((version) => isColumns(version) && version.get(column) === value) === true,
      });
      for (const taken of steps) {
        if (taken.kind === 'find') {
          const rows = index.find(taken.table, taken.where);
          const isOf = (row: number): boolean => (keys[row] as string).startsWith(`${taken.table}/`);
          const wanted = [...keys.keys()].filter(
            (row) => isOf(row) && versions[row]?.some((version) => qualifies(version, taken.where)),
          );
          found += wanted.length;
          expect(rows.filter((row) => wanted.includes(row))).toEqual(wanted);
          expect(rows).toEqual([...new Set(rows)].toSorted((a, b) => a - b));
          expect(rows.every(isOf)).toBe(true);
          const [only] = taken.where;
          if (taken.where.length === 1 && only?.comparison === '=' && only.value !== null) expect(rows).toEqual(wanted);
        } else if (taken.kind === 'remove') {
          const [gone] = versions[taken.row]?.splice(taken.at, 1) ?? [];
          index.remove(taken.row, gone);
        } else if (taken.row < keys.length) {
          versions[taken.row]?.push(taken.image);
          index.add(taken.row, taken.image);
        } else {
          keys.push(['a/1', 'a/b/1', 'c/1', 'd/1'][keys.length % 4] as string);
          versions.push([taken.image]);
          index.meet(keys.length - 1, taken.image);
        }
      }
    }),
    { numRuns: 400 },
  );
  expect(found).toBeGreaterThan(1_000);
});

test('rows are found by what their versions hold and what reads have shown of them, until the versions are dropped', () => {
  const keys = new Names();
  const rows = new RowTable(keys, new TransactionTable(), () => toImage(new Map([['n', 5]]), empty));
  const found = (column: string, value: number): readonly number[] =>
    rows.rowsWhere('t', [{ column, comparison: '=', value }]);
  expect([found('n', 5), found('m', 1)]).toEqual([[], []]);
  rows.meet(keys.of('t/1'));
  rows.meet(keys.of('t/2'));
  expect([found('n', 5), found('m', 1)]).toEqual([[0, 1], []]);
  rows.learn(rows.versions.ofRow.first[0] as number, toImage(new Map([['m', 1]]), empty));
  rows.insert(rows.versions.add(0, none, none, 10, 11, toImage(new Map([['n', 6]]), empty)));
  expect([found('n', 5), found('n', 6), found('m', 1)]).toEqual([[0, 1], [0], [0]]);
  rows.dropGarbage(0, 20, () => {});
  expect([found('n', 5), found('n', 6), found('m', 1)]).toEqual([[1], [0], []]);
});
