import { expect, test } from 'vitest';
import { forEveryChoice } from '../base/index.ts';
import { strategies, type StrategyName, type Version } from './strategy.ts';

/** Newest first: [value, session]. */
const versions = (...rows: readonly (readonly [number, number])[]): Version[] =>
  rows.map(([value, session], node) => ({ node, session, value }));

/** The share of each position among all paths of the choices, each choice even. */
function shares(strategy: StrategyName, admissible: readonly Version[]): number[] {
  const share = admissible.map(() => 0);
  forEveryChoice((chooser) => {
    let weight = 1;
    const weighed = {
      choose(options: number): number {
        weight /= options;
        return chooser.choose(options);
      },
    };
    const position = strategies[strategy](admissible, weighed);
    share[position] = (share[position] ?? 0) + weight;
  });
  return share;
}

test('uniform draws among the values, then among the writes of that value', () => {
  expect(shares('uniform', versions([7, 0], [8, 0], [7, 1]))).toEqual([0.25, 0.5, 0.25]);
});

test('every-write draws among the writes', () => {
  expect(shares('every-write', versions([7, 0], [8, 0], [7, 1], [7, 2]))).toEqual([0.25, 0.25, 0.25, 0.25]);
});

test('older prefers what was committed longer ago and can see everything', () => {
  expect(shares('older', versions([1, 0], [2, 0]))).toEqual([0.25, 0.75]);
  const [newest, middle, oldest] = shares('older', versions([1, 0], [2, 0], [3, 0])) as [number, number, number];
  expect(newest).toBeGreaterThan(0);
  expect(middle).toBeGreaterThan(newest);
  expect(oldest).toBeGreaterThan(middle);
});

test('latest-per-session draws among the newest write of each session', () => {
  expect(shares('latest-per-session', versions([1, 0], [2, 1], [3, 0], [4, -1]))).toEqual([1 / 3, 1 / 3, 0, 1 / 3]);
});

test('latest sees the newest write', () => {
  expect(shares('latest', versions([1, 0], [2, 1]))).toEqual([1, 0]);
});

test('equal values are equal as JSON, whatever the order of their names', () => {
  const admissible: Version[] = [
    { node: 2, session: 0, value: { a: 1, b: [2] } },
    { node: 1, session: 1, value: { b: [2], a: 1 } },
    { node: 0, session: -1, value: null },
  ];
  expect(shares('uniform', admissible)).toEqual([0.25, 0.25, 0.5]);
});
