import { expect, test } from 'vitest';
import { compactOf, parseHistory } from '../history/index.ts';
import { chainsOf } from './chains.ts';
import { commitOrder } from './commit-order.ts';
import { readsOf } from './reads.ts';
import { sessionOrder } from './session-order.ts';

function chainsIn(text: string, sessionsMax = 0): number[][] {
  const history = compactOf(parseHistory(text));
  const reads = readsOf(history);
  const sessions = sessionOrder(history, reads);
  const order = commitOrder({ history, reads, sessions, forced: null });
  const { count, start, member, of, position } = chainsOf(history, reads, sessions, order, sessionsMax);
  const chains = Array.from({ length: count }, (_, c) => [...member.subarray(start[c], start[c + 1])]);
  chains.forEach((chain, c) => {
    expect(chain.map((t) => of[t])).toEqual(chain.map(() => c));
    expect(chain.map((t) => position[t])).toEqual(chain.map((_, i) => i + 1));
  });
  return chains;
}

test('transactions that read from each other are one chain, whatever their sessions', () => {
  const increments = 'r x _, w x 1 \n r x 1, w x 2 \n r x 2, w x 3 \n r x 3, w x 4';
  expect(chainsIn(increments)).toEqual([[0, 1, 2, 3]]);
  expect(chainsIn(increments, 4)).toEqual([[0], [1], [2], [3]]);
});

test('a chain branches: one continues it, the other begins', () => {
  const chains = chainsIn('w x 1 \n r x 1, w y 1 \n r x 1, w z 1 \n r y 1 \n r z 1');
  expect(chains.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([2, 3]);
});

test('sessions are chains where no fewer are found', () => {
  expect(chainsIn('w x 1 | r y _ \n w y 1 | r x _')).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

test('what aborted, or nobody saw and nobody heard of, is in no chain', () => {
  expect(chainsIn('w x 1 ! | w x 2 | w x 3 ? \n r x 2 | w x 4 ?')).toEqual([[1, 3]]);
});
