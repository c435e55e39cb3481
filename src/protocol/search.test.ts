import { describe, expect, test } from 'vitest';
import transactionCommit from '../../examples/protocols/transaction-commit.ts';
import twoPhaseCommit from '../../examples/protocols/two-phase-commit.ts';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { compile } from './model.ts';
import { search, type SearchOptions } from './search.ts';
import type { Parameters, Protocol } from './spec.ts';

const heavy = process.env['MOIRAI_HEAVY'] === '1';

function counts(protocol: Protocol, parameters: Parameters, symmetry: boolean, options: SearchOptions = {}) {
  const { states, generated, ends, depth, verdict } = search(compile(protocol, parameters, { symmetry }), options);
  return { states, generated, ends, depth, verdict };
}

describe('the counts of the TLA+ tools for Gray and Lamport', () => {
  test('transaction commit, three resource managers', () => {
    const expected = { states: 34, generated: 94, ends: 2, depth: 7, verdict: 'satisfied' };
    expect(counts(transactionCommit, { managers: 3 }, false)).toEqual(expected);
  });

  test.each([
    [3, 288, 1_146, 11],
    [5, 8_832, 58_146, 17],
  ])('two-phase commit, %i resource managers', (managers, states, generated, depth) => {
    const expected = { states, generated, depth, verdict: 'satisfied' };
    expect(counts(twoPhaseCommit, { managers }, false)).toMatchObject(expected);
  });
});

/** TLC counts a step for each state in which all processes are done. */
describe('the counts of the TLA+ tools for two-phase commit with two-phase locking, at all four levels', () => {
  const levels = ['serializable', 'snapshot-isolation', 'preread', 'read-uncommitted'] as const;
  const cells: [transactions: number, resources: number, symmetry: boolean, number, number, number, boolean][] = [
    [1, 1, false, 332, 177, 18, false],
    [1, 2, false, 19_755, 6_577, 32, false],
    [1, 2, true, 10_117, 3_364, 32, false],
    [1, 3, false, 1_143_571, 275_125, 46, true],
    [1, 3, true, 203_271, 48_777, 46, false],
    [2, 1, false, 5_726, 2_125, 22, false],
    [2, 1, true, 3_038, 1_118, 22, false],
    [2, 2, false, 779_894, 194_243, 37, true],
    [2, 2, true, 201_051, 49_884, 37, false],
    [2, 3, true, 10_368_777, 1_938_910, 52, true],
    [3, 1, false, 87_123, 25_067, 26, false],
    [3, 1, true, 17_295, 4_883, 26, false],
    [3, 2, true, 2_367_272, 474_524, 42, true],
  ];
  test.each(cells.filter(([, , , , , , isLarge]) => heavy || !isLarge))(
    '%i transactions x %i resources, symmetry %s',
    (transactions, resources, symmetry, generated, states, depth) => {
      const found = counts(twoPhaseLocking, { transactions, resources }, symmetry, { levels });
      expect(found).toMatchObject({ states, depth, verdict: 'satisfied' });
      expect(found.generated + found.ends).toBe(generated);
    },
  );
});

describe('the bug that the paper planted', () => {
  test.each([
    [1, 1, 332, 177, 18],
    [1, 2, 10_117, 3_364, 32],
    [2, 1, 3_734, 1_358, 22],
    [3, 1, 27_267, 7_468, 26],
    [2, 2, 317_664, 77_964, 37],
  ])('is not seen with %i transactions and %i resources', (transactions, resources, generated, states, depth) => {
    const parameters = { transactions, resources, bug: 1 };
    const found = counts(twoPhaseLocking, parameters, true, { levels: ['serializable'] });
    expect(found).toMatchObject({ states, depth, verdict: 'satisfied' });
    expect(found.generated + found.ends).toBe(generated);
  });

  test.each(['serializable', 'snapshot-isolation', 'preread'] as const)(
    'violates %s after 20 states with 3 transactions and 2 resources',
    (level) => {
      const model = compile(twoPhaseLocking, { transactions: 3, resources: 2, bug: 1 });
      const { violation, path } = search(model, { levels: [level] });
      expect(violation).toEqual({ kind: 'isolation', name: level, verdict: 'violated' });
      expect(path).toHaveLength(20);
    },
  );

  test.runIf(heavy)('leaves atomicity and read-uncommitted alone', () => {
    const parameters = { transactions: 3, resources: 2, bug: 1 };
    const found = counts(twoPhaseLocking, parameters, true, { levels: ['read-uncommitted'] });
    expect(found).toMatchObject({ states: 1_333_652, verdict: 'satisfied' });
  });
});
