import { expect, test } from 'vitest';
import { monotonicMs } from './clock.ts';
import { settledWithin, TimeLimit, unlimited, within } from './time-limit.ts';

/** As long as the limit lets it. */
function endless(limit: TimeLimit): 'done' {
  for (;;) limit.check();
}

test('what is over ends by the answer for it', async () => {
  expect(within(() => endless(new TimeLimit(0)), 'late')).toBe('late');
  expect(within(() => endless(new TimeLimit(monotonicMs() + 5)), 'late')).toBe('late');
  expect(
    await settledWithin(
      Promise.resolve().then(() => endless(new TimeLimit(0))),
      'late',
    ),
  ).toBe('late');
});

test('what ends in time, or without a limit, returns what it found', async () => {
  const some = (): string => {
    for (let i = 0; i < 1_000; i += 1) unlimited.check();
    unlimited.checkNow();
    return 'found';
  };
  expect(within(some, 'late')).toBe('found');
  expect(await settledWithin(Promise.resolve('found'), 'late')).toBe('found');
});

test('any other error passes through', async () => {
  const fails = (): string => {
    throw new TypeError('other');
  };
  expect(() => within(fails, 'late')).toThrow(TypeError);
  await expect(settledWithin(Promise.reject(new TypeError('other')), 'late')).rejects.toThrow(TypeError);
});
