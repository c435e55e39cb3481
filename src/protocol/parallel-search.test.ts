import { expect, test } from 'vitest';
import twoPhaseLocking from '../../examples/protocols/two-phase-locking.ts';
import { checkProtocol, checkProtocolOn, searchThreadOf, type SearchThread } from './index.ts';

/** Threads without threads: each answers when it is asked, so the first takes all batches of a level, or none that is left. */
function inThisThread(count: number, parameters: Readonly<Record<string, number>>): SearchThread[] {
  return Array.from({ length: count }, () => {
    const handle = searchThreadOf(twoPhaseLocking, { parameters });
    return (message) => Promise.resolve(handle(message));
  });
}

test.each([1, 2, 3])('%i threads count what one search counts', async (threads) => {
  const parameters = { transactions: 2, resources: 2 };
  const levels = ['serializable'] as const;
  const { states, generated, ends, depth, verdict } = checkProtocol(twoPhaseLocking, { parameters, levels });
  const found = await checkProtocolOn(inThisThread(threads, parameters), twoPhaseLocking, { parameters, levels });
  expect(found).toMatchObject({ states, generated, ends, depth, verdict, complete: true });
});

test('the trace is a shortest one', async () => {
  const parameters = { transactions: 3, resources: 2, bug: 1 };
  const found = await checkProtocolOn(inThisThread(2, parameters), twoPhaseLocking, {
    parameters,
    levels: ['serializable'],
  });
  expect(found.violation).toEqual({ kind: 'isolation', name: 'serializable', verdict: 'violated' });
  expect(found.trace?.states).toHaveLength(20);
});

test('a budget is the end of it', async () => {
  const parameters = { transactions: 2, resources: 2 };
  const found = await checkProtocolOn(inThisThread(2, parameters), twoPhaseLocking, { parameters, statesMax: 1_000 });
  expect(found).toMatchObject({ verdict: 'unknown', reason: 'states-limit', complete: false });
});
