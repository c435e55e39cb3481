/** Work that is prepared by several and used in order: the order, what one worker does, and errors. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inOrder } from './in-order.ts';

const items = [30, 1, 20, 2, 10, 3];

/** What is used depends on all that was used before, and later items are prepared sooner. */
async function sums(
  workers: readonly string[],
): Promise<{ readonly made: readonly string[]; readonly done: string[] }> {
  let sum = 0;
  const done: string[] = [];
  const made = await inOrder(items, workers, {
    prepare: async (item, worker) => {
      await sleep(item);
      done.push(`prepare ${item} by ${worker}`);
      return item * 2;
    },
    use: async (item, prepared, worker) => {
      const before = sum;
      await sleep(5);
      done.push(`use ${item} by ${worker}`);
      sum = before + prepared;
      return `${item}: ${sum}`;
    },
  });
  return { made, done };
}

test('the results of several workers are those of one', async () => {
  const expected = ['30: 60', '1: 62', '20: 102', '2: 106', '10: 126', '3: 132'];
  expect((await sums(['a'])).made).toEqual(expected);
  expect((await sums(['a', 'b'])).made).toEqual(expected);
  expect((await sums(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])).made).toEqual(expected);
});

test('one worker uses each item before it prepares the next', async () => {
  const { done } = await sums(['a']);
  expect(done).toEqual(items.flatMap((item) => [`prepare ${item} by a`, `use ${item} by a`]));
});

test('two workers prepare at a time', async () => {
  const { done } = await sums(['a', 'b']);
  // The first item takes longest: by then the other worker has prepared the second.
  expect(done[0]).toBe('prepare 1 by a');
});

test('nothing to do needs no worker', async () => {
  const never = { prepare: () => Promise.reject(new Error('prepared')), use: () => Promise.reject(new Error('used')) };
  expect(await inOrder([], ['a'], never)).toEqual([]);
});

test.each(['prepare', 'use'])('an error in %s ends the work', async (part) => {
  const failing = async (name: string): Promise<number> => {
    if (name === part) throw new Error(`in ${name}`);
    return 0;
  };
  const work = inOrder(items, ['a', 'b'], { prepare: () => failing('prepare'), use: () => failing('use') });
  await expect(work).rejects.toThrow(`in ${part}`);
});
