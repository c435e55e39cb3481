import { expect, test } from 'vitest';
import { commitTest } from './commit-test.ts';
import { explainCommitTest, summarizeCommitTest } from './explain.ts';
import type { CommitTestLevel } from './level.ts';
import type { ObservedTransactions } from './observed.ts';
import { observe } from './small-observed.ts';

const x0 = { x: 0, y: 0 };

test('a satisfied verdict shows the execution: its order, and the states that each read may have seen', () => {
  const bank = observe({ S: 30, C: 30 }, { alice: 'r S 30, r C 30, w C -10', bob: 'r S 30, r C 30, w S -10' });
  expect(text(bank, 'snapshot-isolation')).toEqual([
    'satisfied by the execution alice, bob',
    'alice, from state 0 to state 1, reads S = 30 in state 0 and C = 30 in state 0',
    'bob, from state 1 to state 2, reads S = 30 in states 0 to 1 and C = 30 in state 0',
  ]);
});

test('a violated verdict shows for each transaction where the others pass and it does not', () => {
  const bank = observe({ S: 30, C: 30 }, { alice: 'r S 30, r C 30, w C -10', bob: 'r S 30, r C 30, w S -10' });
  expect(text(bank, 'serializable')).toEqual([]);
});

test.each<[string, CommitTestLevel, ObservedTransactions, string[]]>([
  ['a value of nobody', 'preread', observe(x0, { a: 'r x 7' }), []],
  ['an own write that was not read', 'serializable', observe(x0, { a: 'w x 1, r x 0' }), []],
  ['no common state', 'snapshot-isolation', observe(x0, { a: 'w x 1, w y 1', b: 'r x 1, r y 0' }), []],
  ['a conflict', 'snapshot-isolation', observe(x0, { a: 'r x 0, w x 1', b: 'r x 0, w x 2' }), []],
  ['a fractured read', 'read-atomic', observe(x0, { a: 'w x 1, w y 1', b: 'r x 1, r y 0' }), []],
  [
    'a missed cause',
    'parallel-snapshot-isolation',
    observe(x0, { a: 'w x 1', b: 'r x 1, w y 1', c: 'r y 1, r x 0' }),
    [],
  ],
  ['real time', 'strict-serializable', observe(x0, { a: 'w x 1', b: 'r x 0' }, { a: [1, 2], b: [3, 4] }), []],
  ['sessions', 'session-snapshot-isolation', oneSession(observe(x0, { a: 'w x 1', b: 'r x 0' })), []],
  ['missing times', 'strict-serializable', observe(x0, { a: 'w x 1' }), []],
])('%s', (_name, level, observed, lines) => expect(text(observed, level)).toEqual(lines));

test('the limits', () => {
  const one = observe(x0, { a: 'w x 1' });
  const summary = (options: object): string => summarizeCommitTest(one, commitTest(one, 'serializable', options));
  expect(summary({ stepsMax: 0 })).toBe('unknown: the search reached its limit of steps');
  expect(summary({ transactionsMax: 0 })).toBe('unknown: more transactions than the limit');
});

function text(observed: ObservedTransactions, level: CommitTestLevel): string[] {
  const verdict = commitTest(observed, level);
  return [summarizeCommitTest(observed, verdict), ...explainCommitTest(observed, verdict)];
}

function oneSession({ initial, transactions }: ObservedTransactions): ObservedTransactions {
  return { initial, transactions: transactions.map((transaction) => ({ ...transaction, session: 0 })) };
}
