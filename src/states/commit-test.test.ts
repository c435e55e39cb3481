import { describe, expect, test } from 'vitest';
import {
  commitTest,
  commitTestOf,
  complete,
  effects,
  executionOf,
  executions,
  initialState,
  noConf,
  preread,
  readStates,
  referenceCommitTest,
  type CommitTestLevel,
  type ObservedTransactions,
} from './index.ts';
import { observe, parseOperations } from './small-observed.test-support.ts';

type Verdicts = Partial<Record<CommitTestLevel, boolean>>;

const fig2 = {
  ta: 'w x 1',
  tb: 'r y 1, r z 0',
  tc: 'w y 1',
  td: 'w y 2, w z 1',
  te: 'r x 0, r z 1',
};
const figure2 = observe({ x: 0, y: 0, z: 0 }, fig2);
const { te: _, ...withoutTe } = fig2;
const bankA = observe(
  { S: 30, C: 30 },
  { alice: 'r S 30, r C 30, w C -10', bob: 'r S 30, r C -10' },
  { alice: [1, 2], bob: [3, 4] },
);
const bankB = observe({ S: 30, C: 30 }, { alice: 'r S 30, r C 30, w C -10', bob: 'r S 30, r C 30, w S -10' });
const locking = observe({ r1: 0, r2: 0 }, { t1: 'r r1 0, r r2 1', t2: 'r r1 0, w r1 1, r r2 0, w r2 1' });

const all: Verdicts = { serializable: true, 'snapshot-isolation': true, preread: true, 'read-uncommitted': true };
const skew: Verdicts = { ...all, serializable: false };

describe('the examples of Crooks et al. that the paper reproduces (its section 4 and its TLA+)', () => {
  test.each<[string, ObservedTransactions, string, Verdicts]>([
    ['1: Fig. 2', figure2, 'ta tc tb td te', { ...all, serializable: false, 'snapshot-isolation': false }],
    ['2: its witness', figure2, 'tc tb td te ta', all],
    ['3: Fig. 2 without te', observe({ x: 0, y: 0, z: 0 }, withoutTe), 'ta tc tb td', { serializable: true }],
    ['5: Bank A', bankA, 'alice bob', { ...all, 'strict-serializable': true }],
    ['6: Bank B, write skew', bankB, 'alice bob', skew],
    ['8: an empty transaction', observe({}, { t: '' }), 't', all],
    ['9: 2PL', locking, 't1 t2', { serializable: false }],
    ['9: 2PL, the other way round', locking, 't2 t1', { serializable: false }],
  ])('%s, by the named execution', (_name, observed, order, verdicts) => {
    for (const [level, valid] of entries(verdicts)) {
      expect({ level, valid: commitTestOf(observed, indexes(observed, order), level).isValid }).toEqual({
        level,
        valid,
      });
    }
  });

  test.each<[string, ObservedTransactions, Verdicts]>([
    ['2: Fig. 2', figure2, all],
    ['5: Bank A', bankA, { ...all, 'strict-serializable': true }],
    ['7: Bank B', bankB, skew],
    ['8: an empty transaction', observe({}, { t: '' }), all],
    ['9: 2PL', locking, { serializable: false }],
  ])('%s, by any execution', (_name, observed, verdicts) => expectVerdicts(observed, verdicts));

  test('2: the witness of the search is an execution', () => {
    const verdict = commitTest(figure2, 'serializable');
    expect(verdict.kind === 'satisfied' && names(figure2, verdict.execution.order)).toBe('tc tb td te ta');
  });

  test('3 and 4: read states and complete states of Fig. 2', () => {
    const e = executionOf(figure2, indexes(figure2, 'ta tc tb td te'));
    const statesOf = (t: string, operation: number): readonly number[] =>
      readStates(e, indexes(figure2, t)[0] as number, operation);
    const states = [statesOf('ta', 0), statesOf('tb', 0), statesOf('tb', 1), statesOf('te', 0), statesOf('te', 1)];
    // The paper's s3, the effects of td on s2, is state 4: tb, which writes nothing, makes state 3.
    expect(states).toEqual([[0], [2], [0, 1, 2], [0], [4]]);
    const [ta, tb, te] = indexes(figure2, 'ta tb te') as [number, number, number];
    expect([complete(e, ta, 0), complete(e, tb, 2)]).toEqual([true, true]);
    expect([0, 1, 2, 3, 4, 5].filter((s) => complete(e, te, s))).toEqual([]);
  });

  test('6: in Bank B the state before alice is complete and without conflict for both', () => {
    const e = executionOf(bankB, [0, 1]);
    expect([0, 1].map((t) => complete(e, t, 0) && noConf(e, t, 0))).toEqual([true, true]);
  });

  test('8: executions and PREREAD of the empty transaction', () => {
    const empty = observe({}, { t: '' });
    expect([...executions(empty)]).toHaveLength(1);
    expect(preread(executionOf(empty, [0]), 0)).toBe(true);
    expect([...executions(observe({ x: 0, y: 0, z: 0 }, { ta: fig2.ta, tb: fig2.tb }))]).toHaveLength(2);
  });

  test('9: t1 fails in both orders, t2 in none', () => {
    const failing = ['t1 t2', 't2 t1'].map((order) =>
      commitTestOf(locking, indexes(locking, order), 'serializable')
        .transactions.filter(({ failures }) => failures.length > 0)
        .map(({ transaction }) => locking.transactions[transaction]?.id),
    );
    expect(failing).toEqual([['t1'], ['t1']]);
  });

  test('10: effects', () => {
    const s0 = initialState(figure2);
    const after = (state: typeof s0, text: string, writer: number) => effects(state, parseOperations(text), writer);
    const shown = (state: typeof s0) =>
      [...state].map(([key, { value }]) => `${key}${JSON.stringify(value)}`).join(' ');
    expect(after(s0, '', 9)).toEqual(s0);
    expect(after(s0, fig2.tb, 1)).toEqual(s0);
    const s1 = after(s0, fig2.ta, 0);
    const s2 = after(s1, fig2.tc, 2);
    const s3 = after(s2, fig2.td, 3);
    expect([s1, s2, s3].map(shown)).toEqual(['x1 y0 z0', 'x1 y1 z0', 'x1 y2 z1']);
  });
});

describe('where the TLA+ gives another verdict', () => {
  const violated: Verdicts = { serializable: false, 'snapshot-isolation': false };
  test.each<[string, ObservedTransactions, Verdicts]>([
    [
      'two equal transactions are two: a lost update',
      observe({ x: 0 }, { t1: 'r x 0, w x 1', t2: 'r x 0, w x 1' }),
      { ...violated, 'parallel-snapshot-isolation': false, 'read-atomic': true, preread: true },
    ],
    [
      'the last write of a transaction makes the state',
      observe({ x: 0 }, { t1: 'w x 1, w x 2', t2: 'r x 1' }),
      { ...violated, preread: false, 'read-uncommitted': true },
    ],
    ['a read sees an own earlier write', observe({ x: 0 }, { t: 'w x 1, r x 0' }), { ...violated, preread: false }],
    ['and the last of them', observe({ x: 0 }, { t: 'w x 1, w x 2, r x 1' }), { ...violated, preread: false }],
    [
      'a stale read after a commit is not strict, though it writes nothing',
      observe({ x: 0 }, { w: 'w x 1', r: 'r x 0' }, { w: [1, 2], r: [3, 4] }),
      { serializable: true, 'strict-serializable': false },
    ],
    [
      'a write that another one undid conflicts all the same',
      observe({ x: 0, y: 0 }, { a: 'r x 0, w x 1, w y 1', b: 'r x 1, w x 0', t: 'r y 0, w x 2' }),
      { ...violated, preread: true },
    ],
  ])('%s', (_name, observed, verdicts) => expectVerdicts(observed, verdicts));

  test('NO-CONF goes by writers, not by values', () => {
    const observed = observe({ x: 0 }, { a: 'w x 1', b: 'w x 0', t: 'r x 0, w x 2' });
    const e = executionOf(observed, [0, 1, 2]);
    expect([0, 1, 2].map((s) => noConf(e, 2, s))).toEqual([false, false, true]);
  });

  test('a state is known by its position: one value, two read states apart', () => {
    const observed = observe({ x: 0 }, { a: 'w x 1', b: 'w x 0', t: 'r x 0' });
    expect(readStates(executionOf(observed, [0, 1, 2]), 2, 0)).toEqual([0, 2]);
  });
});

describe('each level allows what the stronger ones forbid', () => {
  const x0 = { x: 0, y: 0 };
  test.each<[string, ObservedTransactions, Verdicts]>([
    [
      'long fork',
      observe(x0, { a: 'w x 1', b: 'w y 1', c: 'r x 1, r y 0', d: 'r x 0, r y 1' }),
      { 'parallel-snapshot-isolation': true, 'snapshot-isolation': false },
    ],
    [
      'lost update',
      observe(x0, { a: 'r x 0, w x 1', b: 'r x 0, w x 2' }),
      { 'read-atomic': true, 'parallel-snapshot-isolation': false },
    ],
    [
      'a missed cause',
      observe(x0, { a: 'w x 1', b: 'r x 1, w y 1', c: 'r y 1, r x 0' }),
      { 'read-atomic': true, 'parallel-snapshot-isolation': false },
    ],
    [
      'a fractured read',
      observe(x0, { a: 'w x 1, w y 1', b: 'r x 1, r y 0' }),
      { preread: true, 'read-atomic': false },
    ],
    ['reading backwards', observe(x0, { a: 'w x 1', b: 'r x 1, r x 0' }), { preread: true, 'read-atomic': false }],
    ['a value of nobody', observe(x0, { a: 'r x 7' }), { 'read-uncommitted': true, preread: false }],
    [
      'a circle of reads',
      observe(x0, { a: 'r y 1, w x 1', b: 'r x 1, w y 1' }),
      { 'read-uncommitted': true, preread: false },
    ],
  ])('%s', (_name, observed, verdicts) => expectVerdicts(observed, verdicts));

  test('a stale snapshot is seen by sessions only', () => {
    const observed = observe(x0, { a: 'w x 1', b: 'r x 0' });
    const transactions = observed.transactions.map((transaction) => ({ ...transaction, session: 0 }));
    expectVerdicts(
      { ...observed, transactions },
      { 'session-snapshot-isolation': false, 'snapshot-isolation': true, serializable: true },
    );
  });
});

describe('a transaction', () => {
  const x0 = new Map([['x', 0]]);
  const [write, read] = [parseOperations('w x 1'), parseOperations('r x 1')];

  test('that aborted makes no state', () => {
    const transactions = [
      { id: 'a', operations: write, status: 'aborted' as const },
      { id: 'b', operations: read },
    ];
    expectVerdicts({ initial: x0, transactions }, { preread: false });
  });

  test('of unknown fate is in the execution when its write was read, and else left out', () => {
    const unknown = { id: 'a', operations: write, status: 'unknown' as const };
    const seen = commitTest({ initial: x0, transactions: [unknown, { id: 'b', operations: read }] }, 'serializable');
    expect(seen.kind === 'satisfied' && seen.execution.order).toEqual([0, 1]);
    const reader = { id: 'b', operations: parseOperations('r x 0') };
    const left = commitTest({ initial: x0, transactions: [unknown, reader] }, 'serializable');
    expect(left.kind === 'satisfied' && left.execution.order).toEqual([1]);
  });

  test('of unknown fate has no end that others could come after', () => {
    const stale = { id: 'b', operations: parseOperations('r x 0'), start: 3, end: 4 };
    const seen = { id: 'c', operations: parseOperations('r x 1'), start: 5, end: 6 };
    const verdict = (status: 'unknown' | 'committed'): string => {
      const first = { id: 'a', operations: write, status, start: 1, end: 2 };
      return commitTest({ initial: x0, transactions: [first, stale, seen] }, 'strict-serializable').kind;
    };
    expect([verdict('unknown'), verdict('committed')]).toEqual(['satisfied', 'violated']);
  });

  test('that records whose write it read does not read an equal one', () => {
    const from = (writer: number) => [{ kind: 'read' as const, key: 'x', value: 1, from: writer }];
    const transactions = [
      { id: 'a', operations: write },
      { id: 'b', operations: write },
      { id: 'c', operations: [...from(0), ...from(1)] },
    ];
    expectVerdicts({ initial: x0, transactions }, { serializable: false, preread: true });
    const either = [...transactions.slice(0, 2), { id: 'c', operations: [...read, ...read] }];
    expectVerdicts({ initial: x0, transactions: either }, { serializable: true });
  });
});

describe('a limit reached is an answer', () => {
  const chain = observe({ x: 0 }, { a: 'r x 0, w x 1', b: 'r x 1, w x 2', c: 'r x 2, w x 3' });

  test('of steps', () => {
    expect(commitTest(chain, 'serializable', { stepsMax: 3 })).toEqual({ kind: 'unknown', reason: 'step-limit' });
    expect(commitTest(chain, 'serializable', { stepsMax: 4 }).kind).toBe('satisfied');
  });

  test('of transactions', () => {
    const verdict = commitTest(chain, 'serializable', { transactionsMax: 2 });
    expect(verdict).toEqual({ kind: 'unknown', reason: 'transaction-limit' });
  });

  test('of executions of the reference', () => {
    const reversed = observe({ x: 0 }, { c: 'r x 2, w x 3', b: 'r x 1, w x 2', a: 'r x 0, w x 1' });
    const unknown = { kind: 'unknown', reason: 'execution-limit' };
    expect(referenceCommitTest(reversed, 'serializable', { executionsMax: 5 })).toEqual(unknown);
    expect(referenceCommitTest(reversed, 'serializable', { executionsMax: 6 }).kind).toBe('satisfied');
  });

  test('of what was recorded: strict-serializable without times', () => {
    expect(commitTest(chain, 'strict-serializable')).toEqual({ kind: 'unknown', reason: 'missing-times' });
    expect(commitTest(bankB, 'strict-serializable').kind).toBe('violated');
  });
});

function expectVerdicts(observed: ObservedTransactions, verdicts: Verdicts): void {
  for (const [level, satisfied] of entries(verdicts)) {
    const found = commitTest(observed, level).kind === 'satisfied';
    const byReference = referenceCommitTest(observed, level).kind === 'satisfied';
    expect({ level, found, byReference }).toEqual({ level, found: satisfied, byReference: satisfied });
  }
}

function entries(verdicts: Verdicts): [CommitTestLevel, boolean][] {
  return Object.entries(verdicts) as [CommitTestLevel, boolean][];
}

function indexes({ transactions }: ObservedTransactions, ids: string): number[] {
  return ids.split(' ').map((id) => transactions.findIndex((transaction) => transaction.id === id));
}

function names({ transactions }: ObservedTransactions, order: readonly number[]): string {
  return order.map((t) => transactions[t]?.id).join(' ');
}
