import { describe, expect, test } from 'vitest';
import { AssertionFailure } from './assert.ts';
import {
  type Chooser,
  exploring,
  forEveryChoice,
  forEveryChoiceAsync,
  nextPath,
  replaying,
  seeded,
} from './chooser.ts';

describe('forEveryChoice', () => {
  test('takes every path of a product once, in lexicographic order', () => {
    const paths: string[] = [];
    const count = forEveryChoice((chooser) => paths.push([2, 1, 3].map((n) => chooser.choose(n)).join('')));
    expect(paths).toEqual(['000', '001', '002', '100', '101', '102']);
    expect(count).toBe(6);
  });

  test('takes every path of a tree whose later choices depend on earlier ones', () => {
    const paths: string[] = [];
    forEveryChoice((chooser) => {
      const length = chooser.choose(4);
      paths.push(`${length}: ${Array.from({ length }, () => chooser.choose(2)).join('')}`);
    });
    const lengths = [1, 2, 4, 8];
    expect(paths).toHaveLength(lengths.reduce((a, b) => a + b));
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths).toEqual(paths.toSorted());
  });

  test('takes the one path of a body without choices', () => {
    expect(forEveryChoice(() => undefined)).toBe(1);
  });

  test('fails where the body chooses differently on the way back', () => {
    const options = [3, 1];
    const body = (chooser: Chooser): void => void chooser.choose(options.shift() ?? 1);
    expect(() => forEveryChoice(body)).toThrow(AssertionFailure);
  });

  test('does the same for promises, one path at a time', async () => {
    const paths: string[] = [];
    const count = await forEveryChoiceAsync(async (chooser) => {
      const first = chooser.choose(2);
      await Promise.resolve();
      paths.push(`${first}${chooser.choose(2)}`);
    });
    expect(paths).toEqual(['00', '01', '10', '11']);
    expect(count).toBe(4);
  });
});

describe('nextPath', () => {
  test.each([
    [
      [0, 0],
      [2, 3],
      [0, 1],
    ],
    [[0, 2], [2, 3], [1]],
    [[1, 2], [2, 3], null],
    [[], [], null],
  ])('after %j of %j comes %j', (path, options, next) => expect(nextPath(path, options)).toEqual(next));
});

describe('exploring', () => {
  test('follows a path, then takes first options, and notes what was open', () => {
    const chooser = exploring([1]);
    expect([chooser.choose(2), chooser.choose(5), chooser.choose(1)]).toEqual([1, 0, 0]);
    expect(chooser.path).toEqual([1, 0, 0]);
    expect(chooser.options).toEqual([2, 5, 1]);
  });
});

describe('replaying', () => {
  test('repeats a recorded path', () => {
    const recorded: number[] = [];
    const source = seeded(7);
    for (let i = 0; i < 20; i += 1) recorded.push(source.choose(i + 1));
    const chooser = replaying(recorded);
    expect(recorded.map((_, i) => chooser.choose(i + 1))).toEqual(recorded);
  });

  test('takes the first option past its end and where a choice no longer exists', () => {
    const chooser = replaying([4, 1]);
    expect([chooser.choose(3), chooser.choose(2), chooser.choose(9)]).toEqual([0, 1, 0]);
  });
});

describe('seeded', () => {
  test('gives the same choices for the same seed and stream, for good', () => {
    expect(draw(seeded(42), 6, 1_000)).toEqual([491, 632, 362, 17, 931, 640]);
    expect(draw(seeded(42, 0), 100, 1_000)).toEqual(draw(seeded(42), 100, 1_000));
  });

  test('differs between seeds and between streams, near and far', () => {
    const seeds = [0, 1, 2, 3, 2 ** 31, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER];
    const sequences = seeds.flatMap((seed) =>
      [0, 1, 2, 1_000].map((stream) => draw(seeded(seed, stream), 8, 100).join()),
    );
    expect(new Set(sequences).size).toBe(sequences.length);
  });

  test('chooses all options equally often', () => {
    // Chi-square with n - 1 degrees of freedom: beyond these bounds with a probability of about 1 in 1,000; the seeds are fixed.
    const bounds = new Map([
      [2, 10.8],
      [3, 13.8],
      [7, 22.5],
      [10, 27.9],
      [100, 148.2],
    ]);
    for (const [options, bound] of bounds) {
      for (const seed of [1, 2, 3]) expect(chiSquare(draw(seeded(seed), 20_000, options), options)).toBeLessThan(bound);
    }
  });

  test('chooses equally in the first choice of many streams and of many seeds', () => {
    const byStream = Array.from({ length: 20_000 }, (_, stream) => seeded(1, stream).choose(10));
    const bySeed = Array.from({ length: 20_000 }, (_, seed) => seeded(seed).choose(10));
    expect(Math.max(chiSquare(byStream, 10), chiSquare(bySeed, 10))).toBeLessThan(27.9);
  });

  test('chooses the next independently of the last', () => {
    const draws = draw(seeded(5), 20_001, 4);
    const pairs = draws.slice(1).map((next, i) => next * 4 + (draws[i] as number));
    expect(chiSquare(pairs, 16)).toBeLessThan(37.7);
  });
});

test.each([
  ['seeded', seeded(1)],
  ['replaying', replaying([])],
  ['exploring', exploring([])],
])('%s refuses to choose among nothing', (_name, chooser) => {
  expect(() => chooser.choose(0)).toThrow(AssertionFailure);
});

function draw(chooser: Chooser, count: number, options: number): number[] {
  return Array.from({ length: count }, () => chooser.choose(options));
}

function chiSquare(draws: readonly number[], options: number): number {
  const expected = draws.length / options;
  const counts = Array.from({ length: options }, () => 0);
  for (const value of draws) counts[value]! += 1;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}
