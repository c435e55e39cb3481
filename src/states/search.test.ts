import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forEveryChoice, seeded, type Chooser } from '../base/index.ts';
import { commitTest, type Obstacle } from './commit-test.ts';
import { commitTests, passes } from './commit-tests.ts';
import { executionOf, executions } from './execution.ts';
import { failuresOf } from './failures.ts';
import { type CommitTestLevel, commitTestLevels, commitTestTable } from './level.ts';
import type { ObservedTransactions } from './observed.ts';
import { problemOf } from './problem.ts';
import { referenceCommitTest } from './reference.ts';
import { search } from './search.ts';
import { observe, smallObserved, type SmallObservedOptions } from './small-observed.ts';

const everyTwo: SmallObservedOptions = { transactionsMax: 2, operationsMax: 2, keysMax: 2, valueMax: 1 };
const everyThree: SmallObservedOptions = { transactionsMax: 3, operationsMax: 2, keysMax: 1, valueMax: 1 };
const random: SmallObservedOptions = {
  transactionsMax: 5,
  operationsMax: 4,
  keysMax: 3,
  valueMax: 2,
  statuses: ['committed', 'committed', 'committed', 'unknown', 'aborted'],
  withWriters: true,
  sessionsMax: 3,
  timeMax: 6,
};

/** Arbitrary observations, shrinking with the list of their choices. */
function observedArbitrary(options: SmallObservedOptions): fc.Arbitrary<ObservedTransactions> {
  return fc.array(fc.nat(999), { maxLength: 70, size: 'max' }).map((choices) => {
    let next = 0;
    const chooser: Chooser = { choose: (count) => (choices[(next += 1) - 1] ?? 0) % count };
    return smallObserved(chooser, options);
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

describe.each(commitTestLevels)('at %s, the search agrees with all executions', (level) => {
  test('on every small set', () => {
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

  test('on random sets: values written often, recorded writers, every fate, sessions, times', () => {
    const agrees = (observed: ObservedTransactions): void => {
      const verdict = commitTest(observed, level);
      const reference = referenceCommitTest(observed, level).kind;
      if (verdict.kind === 'unknown') {
        expect([verdict.reason, level, reference]).toEqual(['missing-times', 'strict-serializable', 'satisfied']);
      } else {
        expect(verdict.kind).toBe(reference);
      }
      if (verdict.kind === 'satisfied') {
        expect(passes(executionOf(observed, verdict.execution.order), level)).toBe(true);
      }
      if (verdict.kind === 'violated') expectExplained(observed, level, verdict.obstacles);
    };
    fc.assert(fc.property(observedArbitrary(random), agrees), { numRuns: 1500 });
  });
});

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

describe('the search places', () => {
  test('twenty transactions that pass in one order only', () => {
    const chain = Array.from({ length: 20 }, (_, i) => [`t${i}`, `r x ${19 - i}, w x ${20 - i}`] as const);
    const verdict = commitTest(observe({ x: 0 }, Object.fromEntries(chain)), 'serializable', { stepsMax: 50 });
    expect(verdict.kind === 'satisfied' && verdict.execution.order).toEqual(
      Array.from({ length: 20 }, (_, i) => 19 - i),
    );
  });

  test.each<CommitTestLevel>(['read-atomic', 'parallel-snapshot-isolation', 'snapshot-isolation', 'serializable'])(
    'twenty transactions around a violation, at %s',
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

/** The obstacles are what they claim: none alone passes, or all but one pass in an execution where that one does not. */
function expectExplained(observed: ObservedTransactions, level: CommitTestLevel, obstacles: readonly Obstacle[]): void {
  expect(obstacles.length).toBeGreaterThan(0);
  for (const { transaction, conflictsWith, execution } of obstacles) {
    const e = executionOf(observed, execution?.order ?? []);
    if (e.order.includes(transaction)) expect(commitTests[level](e, transaction)).toBe(false);
    for (const other of conflictsWith) {
      expect(!e.order.includes(other) || commitTests[level](e, other)).toBe(true);
    }
    const together = [transaction, ...conflictsWith];
    const passTogether = [...executions(observed)].some((any) =>
      together.every((t) => !any.order.includes(t) || commitTests[level](any, t)),
    );
    expect(passTogether).toBe(false);
  }
}
