import { expect, test } from 'vitest';
import { regexDegree } from './regex-degree.ts';

test.each([
  ['foo', 1],
  ['^foo$', 0],
  ['^[a-z]+@[a-z.]+$', 2],
  ['(foo|bar)', 2],
  ['(\\d{3}-)+', 2],
  ['(a{3}){2}', 2],
  ['[)(+*|]+x', 2],
  ['(?<![a])(?=b)x', 1],
  ['\\p{L}+', 2],
  ['^(a+)+$', Infinity],
  ['(a|aa)+$', Infinity],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', Infinity],
  ['(a?){30}', Infinity],
  ['(a{1,3}){2}', Infinity],
  ['(a*)\\1', Infinity],
] as const)('%s may try n ** %s times', (source, degree) => {
  expect(regexDegree(new RegExp(source, 'su').source)).toBe(degree);
});
