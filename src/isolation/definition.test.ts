import { describe, expect, test } from 'vitest';
import { AssertionFailure } from '../base/index.ts';
import { type History, parseHistory, type RelationsOptions } from '../history/index.ts';
import { satisfies } from './definition.ts';
import { type IsolationLevel, isolationLevels, type Levels } from './level.ts';
import { referenceCheck } from './reference.ts';

/** Without times, strict-serializable is serializable. */
const untimedLevels = isolationLevels.filter((level) => level !== 'strict-serializable');

describe('the strongest level that allows', () => {
  test.each([
    ['a serial history', 'w x 1 \n r x 1, w x 2 | r x 2', 'serializable'],
    ['write skew', 'r x _, r y _, w x 1 \n r x _, r y _, w y 1', 'snapshot-isolation'],
    ['lost update', 'r x _, w x 1 \n r x _, w x 2', 'prefix'],
    ['long fork', 'w x 1 \n w y 1 \n r x 1, r y _ \n r x _, r y 1', 'causal'],
    ['a missed cause', 'w x 1 \n r x 1, w y 1 \n r y 1 | r x _', 'read-atomic'],
    ['a missed part of a transaction', 'w x 1, w y 1 \n r x _, r y 1', 'read-committed'],
    ['going back in what is read', 'w x 1, w y 1 \n r y 1, r x _', 'read-uncommitted'],
  ])('%s', (_name, text, level) => expect(strongest(parseHistory(text))).toBe(level));
});

describe('where checkers are known to disagree, it is', () => {
  test.each([
    ['a value read twice', 'w x 1 \n r x 1, r x 1', 'serializable'],
    ['an own write read before it is overwritten', 'w x 1, r x 1, w x 2', 'serializable'],
    ['the initial value after an own earlier transaction', 'w x 1 | r x _', 'read-committed'],
    ['the initial value after a newer one', 'w x 1 \n r x 1 | r x _', 'read-atomic'],
    ['two stale reads in one session', 'r x _, w y 1 | r y _, w x 1', 'read-committed'],
    ['an older value of another key', 'w x 1 | w x 2, w y 2 \n r y 2, r x 1', 'read-uncommitted'],
    ["another's write instead of the own", 'w x 5 \n w x 1, r x 5', 'read-uncommitted'],
    ['an aborted read', 'w x 1 ! \n r x 1', 'read-uncommitted'],
    ['an intermediate read', 'w x 1, w x 2 \n r x 1', 'read-uncommitted'],
    ['a read from the future', 'r x 1 | w x 1', 'read-uncommitted'],
    ['a non-repeatable read', 'w x 1 \n r x _, r x 1', 'read-committed'],
    ['a value out of thin air', 'r x 7', 'read-uncommitted'],
    ['a value of a writer that is recorded and did not write it', 'w x 1 \n w x 2 \n r x 1 <- 1/0', 'read-uncommitted'],
    ['a value out of thin air in a transaction that aborted', 'r x 7 !', 'serializable'],
    ['opposite orders of writes', 'w x 1, w y 1 \n w x 2, w y 2 \n r x 1, r y 2', 'read-committed'],
  ])('%s', (_name, text, level) => expect(strongest(parseHistory(text))).toBe(level));
});

describe('with mixed levels, the level of the transaction that reads decides:', () => {
  const skew = 'r x _, r y _, w x 1 \n r x _, r y _, w y 1';
  const lost = 'r x _, w x 1 \n r x _, w x 2';
  const fork = 'w x 1 \n w y 1 \n r x 1, r y _ \n r x _, r y 1';
  test.each<[string, string, boolean, IsolationLevel[]]>([
    ['one serializable side of a write skew is allowed', skew, true, ['serializable', 'snapshot-isolation']],
    ['two are not', skew, false, ['serializable', 'serializable']],
    ['one side of a lost update under snapshot isolation', lost, true, ['snapshot-isolation', 'prefix']],
    ['one serializable side of a lost update', lost, true, ['prefix', 'serializable']],
    ['both sides', lost, false, ['snapshot-isolation', 'serializable']],
    ['one prefix observer of a long fork', fork, true, ['causal', 'causal', 'prefix', 'causal']],
    ['two', fork, false, ['read-committed', 'read-committed', 'prefix', 'prefix']],
    ['a writer asks nothing', 'w x 1, w y 1 \n r x _, r y 1', true, ['serializable', 'read-committed']],
  ])('%s', (_name, text, allowed, levels) => expect(isAllowed(parseHistory(text), (t) => levels[t]!)).toBe(allowed));

  test.each<[string, string, IsolationLevel[]]>([
    ['what it saw of an aborted transaction', 'w x 1 ! \n r x 1', ['serializable', 'read-uncommitted']],
    ['what it saw of the future', 'r x 1 | w x 1', ['read-uncommitted', 'serializable']],
    [
      'what a later transaction would know through it',
      'r x 2 | r x _ \n w x 2',
      ['read-uncommitted', 'causal', 'causal'],
    ],
    ['an unknown fate', 'r y _, w x 1 ? \n r x 1 | r y _ \n w y 2 | r x _', levelsWith('read-uncommitted', 1, 5)],
  ])('a read-uncommitted read is no evidence of %s', (_name, text, levels) => {
    expect(isAllowed(parseHistory(text), (t) => levels[t]!)).toBe(true);
    expect(isAllowed(parseHistory(text), () => 'serializable')).toBe(false);
  });
});

describe('strict-serializable', () => {
  const text = 'w x 1 \n r x _';
  test.each([
    ['forbids a stale read after the write had ended', [1, 2], [3, 4], false],
    ['allows it while they overlap', [1, 3], [3, 4], true],
    ['allows it before', [3, 4], [1, 2], true],
  ])('%s', (_name, write, read, allowed) => {
    const history = timed(text, [write, read]);
    expect(isAllowed(history, 'strict-serializable')).toBe(allowed);
    expect(isAllowed(history, 'serializable')).toBe(true);
  });

  test('binds only the transactions that ask for it', () => {
    const history = timed(text, [
      [1, 2],
      [3, 4],
    ]);
    expect(isAllowed(history, (t) => (t === 0 ? 'strict-serializable' : 'serializable'))).toBe(true);
    expect(isAllowed(history, (t) => (t === 1 ? 'strict-serializable' : 'serializable'))).toBe(false);
  });
});

describe('a transaction', () => {
  test('of unknown fate counts once its write was seen', () => {
    expect(strongest(parseHistory('w x 1, w y 1 ? \n r x _, r y _'))).toBe('serializable');
    expect(strongest(parseHistory('w x 1, w y 1 ? \n r x _, r y 1'))).toBe('read-committed');
  });

  test('that aborted is evidence only where its reads are constrained', () => {
    const history = parseHistory('w x 1, w y 1 \n r x _, r y 1 !');
    expect(strongest(history)).toBe('serializable');
    expect(strongest(history, { abortedReads: 'constrained' })).toBe('read-committed');
  });

  test('that aborted loses no update and skews no write, for it wrote nothing', () => {
    const constrained: RelationsOptions = { abortedReads: 'constrained' };
    expect(strongest(parseHistory('r x _, w x 1 \n r x _, w x 2 !'), constrained)).toBe('serializable');
    expect(strongest(parseHistory('r x _, r y _, w x 1 \n r x _, r y _, w y 1 !'), constrained)).toBe('serializable');
  });
});

describe('satisfies', () => {
  const history = parseHistory('w x 1 \n r x _ \n r x 1');
  test.each([
    [[1, 0, 2], true],
    [[0, 1, 2], false],
    [[1, 2, 0], false],
  ])('asks one commit order: %j', (order, answer) => expect(satisfies(history, order, 'serializable')).toBe(answer));

  test('demands session order even where nothing is read', () => {
    expect(satisfies(parseHistory('w x 1 | w y 1'), [1, 0], 'read-uncommitted')).toBe(false);
  });

  test.each([[[0, 1]], [[0, 1, 1]], [[0, 1, 2, 2]]])('refuses %j, which is no order of the transactions', (order) => {
    expect(() => satisfies(history, order, 'causal')).toThrow(AssertionFailure);
  });
});

describe('the reference checker', () => {
  test('gives up after its limit of orders', () => {
    const history = parseHistory('r x _, w x 1 \n r x _, w x 2 \n r x _, w x 3');
    expect(referenceCheck(history, 'serializable', { ordersMax: 5 })).toEqual({
      kind: 'unknown',
      reason: 'step-limit',
    });
    expect(referenceCheck(history, 'serializable', { ordersMax: 6 })).toEqual({ kind: 'violated' });
  });
});

function strongest(history: History, options?: RelationsOptions): IsolationLevel | undefined {
  return untimedLevels.findLast((level) => isAllowed(history, level, options));
}

function isAllowed(history: History, level: Levels, options?: RelationsOptions): boolean {
  return referenceCheck(history, level, options).kind === 'satisfied';
}

function timed(text: string, times: readonly (readonly number[])[]): History {
  const history = parseHistory(text);
  const transactions = history.transactions.map((transaction, t) => {
    const [start, end] = times[t] as [number, number];
    return { ...transaction, start, end };
  });
  return { ...history, transactions };
}

function levelsWith(level: IsolationLevel, at: number, count: number): IsolationLevel[] {
  return Array.from({ length: count }, (_, t) => (t === at ? level : 'serializable'));
}
