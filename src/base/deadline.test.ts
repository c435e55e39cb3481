import { expect, test } from 'vitest';
import { monotonicMs } from './clock.ts';
import { before, LATE } from './deadline.ts';

const never = new Promise<never>(() => {});
const soon = (): Promise<number> => new Promise((resolve) => setTimeout(() => resolve(7), 5));

test.each([
  ['now', 0],
  ['in an hour', 3_600_000],
  ['in a year, which is more than a timer can wait', 365 * 24 * 3_600_000],
  ['never', Infinity],
])('a promise that is late or not: %s', async (_name, ms) => {
  expect(await before(monotonicMs() + ms, soon())).toBe(ms === 0 ? LATE : 7);
});

test('an interruption makes it late: one that comes, and one that was there before', async () => {
  const interruption = new AbortController();
  const waiting = before(Infinity, never, interruption.signal);
  interruption.abort();
  expect(await waiting).toBe(LATE);
  expect(await before(monotonicMs() + 3_600_000, soon(), interruption.signal)).toBe(LATE);
});

test('one that never settles is late, one that fails fails', async () => {
  expect(await before(monotonicMs() + 1, never)).toBe(LATE);
  await expect(before(monotonicMs() + 1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
});
