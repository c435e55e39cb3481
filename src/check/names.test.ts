/** The name of an anomaly does not depend on how many transactions there are: `check` and `checkCompact` give the same. */
import { expect, test } from 'vitest';
import { seeded } from '../base/index.ts';
import { compactOf, formatHistory, type History, type Transaction } from '../history/index.ts';
import { certify, check, type IsolationLevel, isolationLevels, weakestViolation } from '../isolation/index.ts';
import { smallHistory, type SmallHistoryOptions } from '../isolation/small-history.test-support.ts';
import { checkCompact } from './check-compact.ts';

/** MOIRAI_HEAVY=1: more histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';

/** The same with so many transactions of other sessions on other keys, before and after its own. */
function padded(history: History, count: number): History {
  const unrelated = (name: string, n: number): Transaction[] =>
    Array.from({ length: n }, (_, i) => ({
      id: `${name}${i}`,
      session: history.sessions.length + (i % 3),
      status: 'committed',
      operations: [
        { kind: 'read', key: `${name}${i % 7}`, value: i < 7 ? null : i - 7 },
        { kind: 'write', key: `${name}${i % 7}`, value: i },
      ],
    }));
  const before = unrelated('p', Math.floor(count / 2));
  const after = unrelated('q', count - before.length).map((t) => ({ ...t, session: t.session + 3 }));
  return {
    sessions: [...history.sessions, 'p0', 'p1', 'p2', 'q0', 'q1', 'q2'],
    transactions: [...before, ...history.transactions, ...after],
    initial: history.initial,
  };
}

const shapes: readonly (readonly [string, SmallHistoryOptions])[] = [
  ['few keys', { transactionsMin: 3, transactionsMax: 8, operationsMax: 4, keysMax: 3 }],
  [
    'many keys, so that there are several components',
    { transactionsMin: 6, transactionsMax: 12, operationsMax: 2, keysMax: 8 },
  ],
  [
    'of any fate',
    {
      transactionsMin: 4,
      transactionsMax: 8,
      operationsMax: 3,
      keysMax: 3,
      statuses: ['committed', 'unknown', 'aborted'],
    },
  ],
  ['reads of anything', { transactionsMin: 3, transactionsMax: 6, operationsMax: 3, keysMax: 2, reads: 'any' }],
];

test.each(shapes)('of random histories: %s', { timeout: 600_000 }, (_name, options) => {
  const names = new Map<string, number>();
  for (let seed = 0; seed < (heavy ? 3_000 : 250); seed += 1) {
    const history = smallHistory(seeded(seed), options);
    const weakest = weakestViolation(history);
    if (weakest === null) continue;
    const expected = weakest.verdict.anomaly;
    names.set(expected, (names.get(expected) ?? 0) + 1);
    const stronger = isolationLevels.filter(
      (level) => isolationLevels.indexOf(level) >= isolationLevels.indexOf(weakest.level),
    );
    const levels: readonly IsolationLevel[] = heavy ? stronger.slice(0, -1) : [weakest.level];
    for (const level of levels) {
      const verdict = checkCompact(compactOf(padded(history, 40)), level);
      const message = `seed ${seed} at ${level}\n${formatHistory(history)}`;
      expect(verdict, `for ${message}`).toMatchObject({ kind: 'violated', anomaly: expected });
      if (verdict.kind !== 'violated' || verdict.evidence === null) continue;
      expect(verdict.evidence.verdict.anomaly, `for ${message}`).toBe(expected);
      expect(certify(verdict.evidence.history, level, verdict.evidence.verdict), `for ${message}`).toBe(true);
    }
  }
  expect(names.size).toBeGreaterThan(3);
});

test('many unrelated transactions change neither the name nor what is shown', () => {
  let compared = 0;
  for (let seed = 0; seed < 400 && compared < 20; seed += 1) {
    const history = smallHistory(seeded(seed), {
      transactionsMin: 5,
      transactionsMax: 9,
      operationsMax: 3,
      keysMax: 3,
    });
    const weakest = weakestViolation(history);
    if (weakest === null) continue;
    compared += 1;
    const alone = checkCompact(compactOf(history), weakest.level);
    const beside = checkCompact(compactOf(padded(history, 600)), weakest.level);
    const ids = (verdict: typeof alone): unknown =>
      verdict.kind === 'violated' && verdict.evidence?.history.transactions.map(({ id }) => id);
    expect(ids(beside), `of ${formatHistory(history)}`).toEqual(ids(alone));
    expect(check(history, weakest.level)).toMatchObject({ anomaly: (beside as { anomaly: string }).anomaly });
  }
  expect(compared).toBe(20);
});
