import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forEveryChoice, seeded, type Chooser } from '../base/index.ts';
import { commitTest, type Obstacle } from './commit-test.ts';
import { commitTests, passes } from './commit-tests.ts';
import { executionOf, executions } from './execution.ts';
import { failuresOf } from './failures.ts';
import { type CommitTestLevel, commitTestLevels, commitTestTable } from './level.ts';
import type { ObservedTransaction, ObservedTransactions } from './observed.ts';
import { problemOf } from './problem.ts';
import { referenceCommitTest } from './reference.ts';
import { search } from './search.ts';
import { observe, simulatedObserved, smallObserved, type SmallObservedOptions } from './small-observed.test-support.ts';

/** MOIRAI_HEAVY=1: more sets. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

const everyTwo: SmallObservedOptions = { transactionsMax: 2, operationsMax: 2, keysMax: 2, valueMax: 1 };
const everyThree: SmallObservedOptions = { transactionsMax: 3, operationsMax: 2, keysMax: 1, valueMax: 1 };
const random: SmallObservedOptions = {
  transactionsMax: 4,
  operationsMax: 4,
  keysMax: 3,
  valueMax: 2,
  statuses: ['committed', 'committed', 'committed', 'unknown', 'aborted'],
  withWriters: true,
  sessionsMax: 3,
  timeMax: 6,
};

/** Observations that shrink with the list of their choices. */
function observedArbitrary(
  generate: (chooser: Chooser, options: SmallObservedOptions) => ObservedTransactions,
  options: SmallObservedOptions,
): fc.Arbitrary<ObservedTransactions> {
  return fc.array(fc.nat(999), { minLength: 80, maxLength: 80 }).map((choices) => {
    let next = 0;
    return generate({ choose: (count) => (choices[(next += 1) - 1] ?? 0) % count }, options);
  });
}

/** Of the 15,125 small sets, those at each level. */
const satisfiedSets: Record<CommitTestLevel, number> = {
  'read-uncommitted': 15_125,
  preread: 7297,
  'read-atomic': 6603,
  'parallel-snapshot-isolation': 6491,
  'snapshot-isolation': 6191,
  'session-snapshot-isolation': 6191,
  serializable: 6183,
  'strict-serializable': 6183,
};

describe('the search agrees with all executions', () => {
  test.each(commitTestLevels)('on every small set, at %s', (level) => {
    const counts = { sets: 0, satisfied: 0 };
    for (const options of [everyTwo, everyThree]) {
      forEveryChoice((chooser) => {
        const observed = smallObserved(chooser, options);
        const outcome = typeof search(problemOf(observed), level, { steps: 1000 }) === 'object';
        const satisfied = referenceCommitTest(observed, level).kind === 'satisfied';
        if (outcome !== satisfied) expect({ observed, outcome }).toEqual({ observed, outcome: satisfied });
        counts.sets += 1;
        if (satisfied) counts.satisfied += 1;
      });
    }
    expect(counts).toEqual({ sets: 15_125, satisfied: satisfiedSets[level] });
  });

  test.each<[string, fc.Arbitrary<ObservedTransactions>, number]>([
    ['whatever was read: values written often, recorded writers', observedArbitrary(smallObserved, random), 200],
    ['as a store might have given them', observedArbitrary(simulatedObserved, random), 300],
    ['written once each', observedArbitrary(simulatedObserved, { ...random, valueMax: 998 }), 200],
    ['five of them', observedArbitrary(simulatedObserved, { ...random, transactionsMax: 5, keysMax: 2 }), 80],
  ])('on random sets, every fate, with sessions and times: %s', (_name, sets, numRuns) => {
    fc.assert(fc.property(sets, fc.nat(31), expectAgreement), { numRuns: isHeavy ? 12 * numRuns : numRuns });
  });
});

/** At every level, that all pass and that those in `mask` pass. */
function expectAgreement(observed: ObservedTransactions, mask: number): void {
  const all = [...executions(observed)];
  const isTested = (t: number): boolean => (mask & (1 << t)) !== 0;
  for (const level of commitTestLevels) {
    const passing = all.map((e) => new Set(e.order.filter((t) => commitTests[level](e, t))));
    const isPossible = (tested: (t: number) => boolean): boolean =>
      all.some(({ order }, i) => order.every((t) => !tested(t) || passing[i]?.has(t)));
    const verdict = commitTest(observed, level);
    const possible = isPossible(() => true);
    if (verdict.kind === 'unknown') expect([verdict.reason, possible]).toEqual(['missing-times', true]);
    else expect([level, verdict.kind]).toEqual([level, possible ? 'satisfied' : 'violated']);
    if (verdict.kind === 'violated') expectExplained(observed, level, verdict.obstacles, isPossible);
    const problem = problemOf(observed);
    const partly = search(problem, level, { steps: 10_000 }, (m) => isTested(problem.transactions[m]?.index ?? -1));
    expect([level, mask, typeof partly === 'object']).toEqual([level, mask, isPossible(isTested)]);
  }
}

/** The obstacles are what they claim: none alone passes, or all but one pass in an execution where that one does not. */
function expectExplained(
  observed: ObservedTransactions,
  level: CommitTestLevel,
  obstacles: readonly Obstacle[],
  isPossible: (tested: (t: number) => boolean) => boolean,
): void {
  expect(obstacles.length).toBeGreaterThan(0);
  for (const { transaction, conflictsWith, execution } of obstacles) {
    const e = executionOf(observed, execution?.order ?? []);
    const fails = (t: number): boolean => e.order.includes(t) && !commitTests[level](e, t);
    expect([fails(transaction), conflictsWith.some(fails)]).toEqual([true, false]);
    expect(isPossible((t) => t === transaction || conflictsWith.includes(t))).toBe(false);
  }
}

describe('for every execution of random sets', () => {
  test('a transaction has failures exactly where it does not pass', () => {
    const passed = forRandomExecutions((observed, order, level) => {
      const e = executionOf(observed, order);
      for (const t of order) {
        const failures = failuresOf(e, t, level);
        if (commitTests[level](e, t) !== (failures.length === 0)) {
          expect({ observed, level, failures }).toBe('in agreement with the commit test');
        }
      }
      return passes(e, level);
    });
    const rare = commitTestLevels.filter((level) => (passed.get(level) ?? 0) <= 50);
    expect(rare).toEqual([]);
  });

  test('a level implies the weaker ones, and no more', () => {
    const differ = new Set<string>();
    forRandomExecutions((observed, order, level) => {
      const e = executionOf(observed, order);
      const isPassed = passes(e, level);
      for (const weaker of commitTestLevels) {
        const isWeaker = passes(e, weaker);
        if (isPassed && !isWeaker) differ.add(`${level} without ${weaker}`);
      }
      return isPassed;
    });
    const expected = commitTestLevels.flatMap((level) =>
      commitTestLevels.filter((other) => !impliedBy(level).has(other)).map((other) => `${level} without ${other}`),
    );
    expect([...differ].toSorted()).toEqual(expected.toSorted());
  });
});

describe('the search', () => {
  test('remembers which snapshots were there, not only who came', () => {
    // With a before b, t and c wait for one another; b before a leaves t a snapshot between them.
    const sets = {
      a: 'w x 1',
      b: 'w v 1, w z 1',
      t: 'r x 0, r v 1, w z 2, w w 1',
      c: 'r w 1, w x 0',
      r: 'r x 1, r w 0',
    };
    const observed = observe({ v: 0, w: 0, x: 0, z: 0 }, sets);
    const verdict = commitTest(observed, 'snapshot-isolation');
    expect(verdict.kind === 'satisfied' && verdict.execution.order).toEqual([1, 0, 4, 2, 3]);
  });

  test.each<CommitTestLevel>(['read-atomic', 'parallel-snapshot-isolation', 'snapshot-isolation', 'serializable'])(
    'remembers in which order they wrote, at %s',
    (level) => {
      // With a before b, t waits for d to write x = 1 again, and d for t.
      const sets = { a: 'w x 1', b: 'w x 2, w z 1', t: 'r x 1, r z 1, w y 1', d: 'r y 1, w x 1' };
      const verdict = commitTest(observe({ x: 0, y: 0, z: 0 }, sets), level);
      expect(verdict.kind === 'satisfied' && verdict.execution.order).toEqual([1, 0, 2, 3]);
    },
  );

  test('leaves out one of unknown fate that would end a snapshot of its session', () => {
    const sets = { u: 'r x 1, w y 1', t: 'r x 0, w z 1', a: 'r z 0, w x 1, w y 1', b: 'r z 0, r x 1', c: 'r y 1' };
    const { initial, transactions } = observe({ x: 0, y: 0, z: 0 }, sets);
    const inSession = transactions.map((transaction, i) => (i < 2 ? { ...transaction, session: 0 } : transaction));
    const [u, ...others] = inSession as [ObservedTransaction, ...ObservedTransaction[]];
    const observed = { initial, transactions: [{ ...u, status: 'unknown' as const }, ...others] };
    const verdict = commitTest(observed, 'session-snapshot-isolation');
    expect(verdict.kind === 'satisfied' && [...verdict.execution.order].toSorted((a, b) => a - b)).toEqual([
      1, 2, 3, 4,
    ]);
  });

  test('places twenty transactions that pass in one order only', () => {
    const chain = Array.from({ length: 20 }, (_, i) => [`t${i}`, `r x ${19 - i}, w x ${20 - i}`] as const);
    const verdict = commitTest(observe({ x: 0 }, Object.fromEntries(chain)), 'serializable', { stepsMax: 50 });
    expect(verdict.kind === 'satisfied' && verdict.execution.order).toEqual(
      Array.from({ length: 20 }, (_, i) => 19 - i),
    );
  });

  test.each<CommitTestLevel>(['read-atomic', 'parallel-snapshot-isolation', 'snapshot-isolation', 'serializable'])(
    'finds one violation among twenty transactions, at %s',
    (level) => {
      const many = Array.from({ length: 18 }, (_, i) => [`t${i}`, `r k${i} null, w k${i} 1`] as const);
      const pair = { a: 'r x 0, r y 0, w x 1, w y 1', b: 'r x 0, w x 2, r y 1' };
      const observed = observe({ x: 0, y: 0 }, { ...Object.fromEntries(many), ...pair });
      const verdict = commitTest(observed, level, { stepsMax: 3000 });
      const obstacles = verdict.kind === 'violated' ? verdict.obstacles : [];
      expect(obstacles.map(({ transaction }) => observed.transactions[transaction]?.id)).toEqual(['b']);
    },
  );
});

function forRandomExecutions(
  judge: (observed: ObservedTransactions, order: readonly number[], level: CommitTestLevel) => boolean,
): Map<CommitTestLevel, number> {
  const passed = new Map<CommitTestLevel, number>();
  for (let seed = 0; seed < 400; seed += 1) {
    const observed = smallObserved(seeded(seed), {
      ...random,
      transactionsMax: 4,
      operationsMax: 3,
      withWriters: false,
    });
    for (const { order } of executions(observed)) {
      for (const level of commitTestLevels) {
        if (judge(observed, order, level)) passed.set(level, (passed.get(level) ?? 0) + 1);
      }
    }
  }
  return passed;
}

function impliedBy(level: CommitTestLevel): Set<CommitTestLevel> {
  return new Set([level, ...commitTestTable[level].implies.flatMap((weaker) => [...impliedBy(weaker)])]);
}
