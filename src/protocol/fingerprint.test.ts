import { expect, test } from 'vitest';
import { FingerprintSet } from './fingerprint.ts';

test('a set that grows knows all that it had, whichever slots they were in', () => {
  // Eight slots, of which the last are taken too; it doubles seven times.
  const set = new FingerprintSet(3);
  const all = Array.from({ length: 1_000 }, (_, i) => [(7 * i + 7) | 0, i] as const);
  expect(all.every(([low, high]) => set.add(low, high))).toBe(true);
  expect(all.some(([low, high]) => set.add(low, high))).toBe(false);
  expect(set.size).toBe(1_000);
});
