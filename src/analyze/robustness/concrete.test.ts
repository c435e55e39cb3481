import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Level } from './access.ts';
import { findSplitSchedule, type ConcreteAccess, type ConcreteParent, type ConcreteTransaction } from './concrete.ts';
import { isRobustByDefinition } from './schedules.test-support.ts';

const read = (row: number, reads = 1): ConcreteAccess => ({ row, reads, writes: 0, locks: false });
const write = (row: number, writes = 1): ConcreteAccess => ({ row, reads: 0, writes, locks: false });
const update = (row: number, columns = 1): ConcreteAccess => ({ ...write(row, columns), reads: columns });
const lock = (row: number): ConcreteAccess => ({ ...read(row), locks: true });
const x = 0;
const y = 1;
const isRobust = (level: Level, ...transactions: ConcreteAccess[][]): boolean =>
  findSplitSchedule(transactions.map((t) => ({ level, statements: t.map((access) => [access]) }))) === undefined;

describe('what every textbook says', () => {
  test.each<[string, ConcreteAccess[][], Record<Level, boolean>]>([
    [
      'lost update',
      [
        [read(x), write(x)],
        [read(x), write(x)],
      ],
      { RC: false, SI: true, SSI: true },
    ],
    ['one statement reads and writes', [[update(x)], [update(x)]], { RC: true, SI: true, SSI: true }],
    [
      'FOR UPDATE first',
      [
        [lock(x), write(x)],
        [lock(x), write(x)],
      ],
      { RC: true, SI: true, SSI: true },
    ],
    [
      'write skew',
      [
        [read(x), write(y)],
        [read(y), write(x)],
      ],
      { RC: false, SI: false, SSI: true },
    ],
    [
      'inconsistent read',
      [
        [read(x), read(y)],
        [write(x), write(y)],
      ],
      { RC: false, SI: true, SSI: true },
    ],
    [
      // PostgreSQL: a row lock leaves nothing behind, unlike in Oracle.
      'write skew with one FOR UPDATE',
      [
        [read(x), write(y)],
        [lock(y), write(x)],
      ],
      { RC: false, SI: false, SSI: true },
    ],
    [
      'other columns of one row',
      [
        [read(x, 1), write(x, 2)],
        [read(x, 2), write(x, 1)],
      ],
      { RC: false, SI: true, SSI: true },
    ],
  ])('%s', (_name, transactions, expected) => {
    for (const level of ['RC', 'SI', 'SSI'] as const) {
      expect([level, isRobust(level, ...transactions)]).toEqual([level, expected[level]]);
    }
  });
});

/** Levels that a set is drawn from, the mixed ones of the paper among them. */
const allocations: readonly (readonly Level[])[] = [['RC'], ['SI'], ['RC', 'SI'], ['RC', 'SI', 'SSI'], ['SI', 'SSI']];
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const seed = Number(process.env['MOIRAI_SEED'] ?? 1_316);

describe('every interleaving, on random sets', () => {
  test.each(allocations.map((levels) => [levels.join(' '), levels] as const))(
    '%s',
    { timeout: 3_600_000 },
    (_, levels) => {
      fc.assert(
        fc.property(randomSets(levels), (transactions) => {
          expect(findSplitSchedule(transactions) === undefined).toBe(isRobustByDefinition(transactions));
        }),
        { seed, numRuns: isHeavy ? 10_000 : 300 },
      );
    },
  );
  test.each(allocations.map((levels) => [levels.join(' '), levels] as const))(
    'with parents, %s',
    { timeout: 3_600_000 },
    (_, levels) => {
      let apart = 0;
      fc.assert(
        fc.property(randomSets(levels, parents), (transactions) => {
          const found = findSplitSchedule(transactions);
          expect(found === undefined).toBe(isRobustByDefinition(transactions));
          const withoutParents = transactions.map(forgetParents);
          if (found === undefined && findSplitSchedule(withoutParents) !== undefined) apart += 1;
        }),
        { seed, numRuns: isHeavy ? 10_000 : 300 },
      );
      expect(apart).toBeGreaterThan(0);
    },
  );
});

/** By one column, or by two. */
const parents = fc.uniqueArray(fc.record({ reference: fc.nat(1), row: fc.nat(1) }), {
  maxLength: 2,
  selector: ({ reference }) => reference,
});

function forgetParents({ level, statements }: ConcreteTransaction): ConcreteTransaction {
  return { level, statements: statements.map((accesses) => accesses.map((access) => ({ ...access, parents: [] }))) };
}

function randomSets(
  levels: readonly Level[],
  ofParents: fc.Arbitrary<readonly ConcreteParent[]> = fc.constant([]),
): fc.Arbitrary<ConcreteTransaction[]> {
  const columns = fc.integer({ min: 0, max: 3 });
  const access: fc.Arbitrary<ConcreteAccess> = fc
    .record({
      row: fc.integer({ min: 0, max: 2 }),
      reads: columns,
      writes: columns,
      locks: fc.boolean(),
      parents: ofParents,
    })
    .filter(({ reads, writes }) => reads !== 0 || writes !== 0);
  const statement = fc.uniqueArray(access, { minLength: 1, maxLength: 2, selector: ({ row }) => row });
  const transaction = fc.record({
    level: fc.constantFrom(...levels),
    statements: fc.array(statement, { minLength: 1, maxLength: 3 }),
  });
  return fc.array(transaction, { minLength: 2, maxLength: 3 });
}
