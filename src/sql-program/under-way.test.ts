import { expect, test } from 'vitest';
import { UnderWay } from './under-way.ts';

test('the part of a run, and the check for which it is made', async () => {
  const underWay = new UnderWay();
  expect(underWay.text).toBe('the schema');
  underWay.begin(() => 'session "a"');
  const failing = underWay.during('the serial check', () => {
    underWay.begin(() => 'the invariant');
    return Promise.reject(new Error(underWay.text));
  });
  await expect(failing).rejects.toThrow('the serial check (the invariant)');
  expect(underWay.text).toBe('the invariant');
});
