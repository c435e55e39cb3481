import { expect, test } from 'vitest';
import { commitTest, commitTestOf } from './commit-test.ts';
import { explainCommitTest, explainFailures, summarizeCommitTest } from './explain.ts';
import type { CommitTestLevel } from './level.ts';
import type { ObservedTransactions } from './observed.ts';
import { observe } from './small-observed.test-support.ts';

const x0 = { x: 0, y: 0 };
const bank = observe({ S: 30, C: 30 }, { alice: 'r S 30, r C 30, w C -10', bob: 'r S 30, r C 30, w S -10' });

test('a satisfied verdict shows the execution: its order, and the states that each read may have seen', () => {
  expect(lines(bank, 'snapshot-isolation')).toEqual([
    'satisfied by the execution alice, bob',
    'alice, from state 0 to state 1, reads S = 30 in state 0 and C = 30 in state 0',
    'bob, from state 1 to state 2, reads S = 30 in states 0 to 1 and C = 30 in state 0',
  ]);
});

test('a violated verdict shows for each transaction where the others pass and it does not', () => {
  expect(lines(bank, 'serializable')).toEqual([
    'violated: alice and bob never pass together',
    'where bob passes, alice does not; in the order bob, alice:',
    '  alice reads S = 30, as in state 0; its parent, state 1, has S = -10 by bob',
    'where alice passes, bob does not; in the order alice, bob:',
    '  bob reads C = 30, as in state 0; its parent, state 1, has C = -10 by alice',
  ]);
});

test.each<[string, CommitTestLevel, ObservedTransactions, string]>([
  [
    'a value of nobody',
    'preread',
    observe(x0, { a: 'r x 7' }),
    `violated: a passes in no execution
a never passes; in the order a:
  a reads x = 7, which no state up to its parent, state 0, shows`,
  ],
  [
    'two values of nobody',
    'preread',
    observe(x0, { a: 'r x 7', b: 'r x 0, w y 1', c: 'r y 2, r x 0' }),
    `violated: a and c pass in no execution
a never passes; in the order a, b, c:
  a reads x = 7, which no state up to its parent, state 0, shows
c never passes; in the order a, b, c:
  c reads y = 2, which no state up to its parent, state 2, shows`,
  ],
  [
    'an own write that was not read',
    'serializable',
    observe(x0, { a: 'w x 1, r x 0' }),
    `violated: a passes in no execution
a never passes; in the order a:
  a reads x = 0, but wrote x = 1 itself`,
  ],
  [
    'no common state',
    'snapshot-isolation',
    observe(x0, { a: 'w x 1, w y 1', b: 'r x 1, r y 0' }),
    `violated: b passes in no execution
b never passes; in the order a, b:
  no single state shows all that b reads: x = 1 in state 1 and y = 0 in state 0`,
  ],
  [
    'a conflict',
    'snapshot-isolation',
    observe(x0, { a: 'r x 0, w x 1', b: 'r x 0, w x 2' }),
    `violated: a and b never pass together
where b passes, a does not; in the order b, a:
  state 0 shows all that a reads, but b wrote a key of a after it
where a passes, b does not; in the order a, b:
  state 0 shows all that b reads, but a wrote a key of b after it`,
  ],
  [
    'a fractured read',
    'read-atomic',
    observe(x0, { a: 'w x 1, w y 1', b: 'r x 1, r y 0' }),
    `violated: b passes in no execution
b never passes; in the order a, b:
  b reads x = 1, which a wrote, and y = 0, from before a`,
  ],
  [
    'a missed cause',
    'parallel-snapshot-isolation',
    observe(x0, { a: 'w x 1', b: 'r x 1, w y 1', c: 'r y 1, r x 0' }),
    `violated: b and c never pass together
where c passes, b does not; in the order b, c, a:
  b reads x = 1, which no state up to its parent, state 0, shows
where b passes, c does not; in the order a, b, c:
  c depends on a, but reads x = 0, from before it`,
  ],
  [
    'a stale read',
    'strict-serializable',
    observe(x0, { a: 'w x 1', b: 'r x 0' }, { a: [1, 2], b: [3, 4] }),
    `violated: b passes in no execution
b never passes; in the order a, b:
  b reads x = 0, as in state 0; its parent, state 1, has x = 1 by a`,
  ],
  [
    'a stale read in a session',
    'session-snapshot-isolation',
    oneSession(observe(x0, { a: 'w x 1', b: 'r x 0' })),
    `violated: b passes in no execution
b never passes; in the order a, b:
  state 0 shows all that b reads, but a, earlier in its session, is not in it`,
  ],
  [
    'no times',
    'strict-serializable',
    observe(x0, { a: 'w x 1' }),
    'unknown: strict-serializable needs the start and end of every transaction',
  ],
])('%s', (_name, level, observed, text) => expect(lines(observed, level).join('\n')).toBe(text));

test('of a named execution: what came too late', () => {
  const observed = observe(x0, { a: 'w x 1', b: 'r x 0' }, { a: [1, 2], b: [3, 4] });
  const execution = commitTestOf(observed, [1, 0], 'strict-serializable');
  expect(explainFailures(observed, execution, 1)).toEqual(['a ended before b started, but comes after it']);
});

test('an obstacle without an execution, where the budget ended first', () => {
  const obstacles = [
    { transaction: 0, conflictsWith: [1] },
    { transaction: 1, conflictsWith: [0] },
  ];
  expect(explainCommitTest(bank, { kind: 'violated', obstacles })).toEqual([
    'alice never passes where bob passes',
    'bob never passes where alice passes',
  ]);
});

test('the limits', () => {
  const one = observe(x0, { a: 'w x 1' });
  const summary = (options: object): string => summarizeCommitTest(one, commitTest(one, 'serializable', options));
  expect(summary({ stepsMax: 0 })).toBe('unknown: the search reached its limit of steps');
  expect(summary({ transactionsMax: 0 })).toBe('unknown: more transactions than the limit');
});

function lines(observed: ObservedTransactions, level: CommitTestLevel): string[] {
  const verdict = commitTest(observed, level);
  return [summarizeCommitTest(observed, verdict), ...explainCommitTest(observed, verdict)];
}

function oneSession({ initial, transactions }: ObservedTransactions): ObservedTransactions {
  return { initial, transactions: transactions.map((transaction) => ({ ...transaction, session: 0 })) };
}
