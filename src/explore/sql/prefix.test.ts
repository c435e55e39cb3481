import { expect, test } from 'vitest';
import { counting, prefixed } from './prefix.ts';

test('the first decisions are given, where there is a choice; a position that does not exist is the first', () => {
  const rest = counting((_, options) => options - 1);
  const decisions = prefixed([1, 7], rest);
  expect([[4, 5], [6], [7, 8], [1, 2, 3]].map((waiting) => decisions.session(waiting))).toEqual([5, 6, 7, 3]);
  expect(decisions.path).toEqual([1, 0, 2]);
  expect(decisions.schedule).toEqual([5, 6, 7, 3]);
  // What comes after the prefix knows nothing of it.
  expect(rest.path).toEqual([2]);
  expect(rest.options).toEqual([3]);
});
