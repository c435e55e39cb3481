import { expect, test } from 'vitest';
import { inStep } from './in-step.ts';

test('lists go side by side, and end with the longest', () => {
  expect([...inStep([[1, 2, 3], [4], []])]).toEqual([
    [1, 4, null],
    [2, null, null],
    [3, null, null],
  ]);
});

test('a list without end is read as far as it is asked for, and closed', () => {
  let isClosed = false;
  function* endless(): Iterable<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      isClosed = true;
    }
  }
  const seen: unknown[] = [];
  for (const step of inStep([endless(), [7]])) {
    seen.push(step);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([
    [0, 7],
    [1, null],
  ]);
  expect(isClosed).toBe(true);
});
