import { expect, test } from 'vitest';
import { DeferredChecks } from './deferred-checks.ts';

const [one, other] = ['one', 'other'].map((name) => ({
  deferral: 'initially deferred' as const,
  constraint: { table: 1, name },
})) as [Parameters<DeferredChecks['isDeferred']>[0], Parameters<DeferredChecks['isDeferred']>[0]];

test('SET CONSTRAINTS: the last word on a constraint counts, and ALL is a word on each', () => {
  const checks = new DeferredChecks();
  const deferred = (): boolean[] => [one, other].map((each) => checks.isDeferred(each));
  expect(deferred()).toEqual([true, true]);
  checks.set(null, true);
  checks.set([one.constraint], false);
  expect(deferred()).toEqual([false, true]);
  checks.set(null, false);
  expect(deferred()).toEqual([false, false]);
  checks.set([one.constraint], true);
  expect(deferred()).toEqual([true, false]);
  checks.clear();
  expect(deferred()).toEqual([true, true]);
});
