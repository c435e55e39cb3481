import { describe, expect, test } from 'vitest';
import { forEveryChoice } from '../base/index.ts';
import { commitTest } from './commit-test.ts';
import { memoisedCommitTest } from './memoised.ts';
import { parseOperations, smallObserved } from './small-observed.ts';

const x0 = new Map([['x', 0]]);

test('a bag of sequences is searched once, whatever its order and however many transactions did nothing', () => {
  const memoised = memoisedCommitTest(x0, 'serializable');
  const [nothing, increment, read] = ['', 'r x 0, w x 1', 'r x 1'].map((text) =>
    memoised.sequenceId(parseOperations(text)),
  ) as [number, number, number];
  expect(memoised.sequenceId(parseOperations('r x 0, w x 1'))).toBe(increment);
  expect(memoised.verdict([increment, read])).toBe('satisfied');
  expect(memoised.verdict([read, nothing, increment])).toBe('satisfied');
  expect(memoised.verdict([increment, increment])).toBe('violated');
  expect(memoised.verdict([])).toBe('satisfied');
  expect(memoised.counts()).toEqual({ asked: 4, searched: 3 });
});

test('its verdicts are those of the commit test', () => {
  const levels = ['serializable', 'parallel-snapshot-isolation'] as const;
  for (const level of levels) {
    const initial = new Map(['x', 'y', 'z'].map((key) => [key, 0]));
    const memoised = memoisedCommitTest(initial, level);
    forEveryChoice((chooser) => {
      const observed = smallObserved(chooser, { transactionsMax: 3, operationsMax: 2, keysMax: 1, valueMax: 1 });
      const verdict = memoised.verdict(observed.transactions.map(({ operations }) => memoised.sequenceId(operations)));
      if (verdict !== commitTest(observed, level).kind) expect(observed).toBe(`not ${verdict} at ${level}`);
    });
    // 20 sequences with operations, of which up to 3: bags, that is C(20 + 3, 3).
    expect(memoised.counts()).toEqual({ asked: 9723, searched: 1771 });
  }
});

describe('limits', () => {
  test('of steps: unknown', () => {
    const memoised = memoisedCommitTest(x0, 'serializable', { stepsMax: 1 });
    expect(memoised.verdict([memoised.sequenceId(parseOperations('w x 1'))])).toBe('unknown');
  });

  test('of verdicts kept: those beyond it are searched again', () => {
    const memoised = memoisedCommitTest(x0, 'serializable', { verdictsMax: 1 });
    const [a, b] = ['w x 1', 'w x 2'].map((text) => memoised.sequenceId(parseOperations(text))) as [number, number];
    for (const bag of [[a], [b], [a], [b]]) memoised.verdict(bag);
    expect(memoised.counts()).toEqual({ asked: 4, searched: 3 });
  });
});
