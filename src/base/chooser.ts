/**
 * Everything that is left open goes through a chooser: which session goes next, which write a read sees.
 * One interface makes the same code random (a seed), exhaustive (every path) or a replay (a recorded path).
 */
import { assert } from './assert.ts';

/** Decides what is left open. `choose(n)` is an integer in [0, n); asking for n < 1 is a bug in the caller. */
export interface Chooser {
  /** An integer from 0 to below `options`. */
  choose(options: number): number;
}

/**
 * Random choices from a seed: sfc32 (Doty-Humphrey, PractRand), 128 bits of state, filled from the seed by splitmix32.
 * The bias of `choose(n)` is below n / 2^32. `stream` gives independent sequences for one seed: run 0, run 1, ...
 */
export function seeded(seed: number, stream = 0): Chooser {
  let mix = Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(stream | 0, 0x85ebca77) ^ Math.floor(seed / 2 ** 32);
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) | 0;
    let z = mix ^ (mix >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z ^= z >>> 15;
    z = Math.imul(z, 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let a = splitmix();
  let b = splitmix();
  let c = splitmix();
  let counter = splitmix();
  return {
    choose(options) {
      assert(options >= 1, `choose(${options})`);
      const sum = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + sum;
      return Math.floor(((sum >>> 0) / 2 ** 32) * options);
    },
  };
}

/** A recorded path. Past its end, or where a choice no longer exists, the first option is taken. */
export function replaying(path: readonly number[]): Chooser {
  let next = 0;
  return {
    choose(options) {
      assert(options >= 1, `choose(${options})`);
      const choice = path[next] ?? 0;
      next += 1;
      return choice < options ? choice : 0;
    },
  };
}

/** The path that leads after `path` in lexicographic order, or `null` after the last; `options[i]` were open at step i. */
export function nextPath(path: readonly number[], options: readonly number[]): number[] | null {
  for (let last = path.length - 1; last >= 0; last -= 1) {
    const choice = path[last] ?? 0;
    if (choice + 1 < (options[last] ?? 0)) return [...path.slice(0, last), choice + 1];
  }
  return null;
}

/** A chooser that follows a path and notes what was open at each step; beyond the path it takes the first option. */
export function exploring(path: readonly number[]): Chooser & { readonly path: number[]; readonly options: number[] } {
  const taken: number[] = [];
  const options: number[] = [];
  return {
    path: taken,
    options,
    choose(count) {
      assert(count >= 1, `choose(${count})`);
      const choice = path[taken.length] ?? 0;
      assert(choice < count, `choice ${choice} of ${count}: the body is not deterministic`);
      taken.push(choice);
      options.push(count);
      return choice;
    },
  };
}

/**
 * Runs `body` once for every sequence of choices, in lexicographic order. The body must be deterministic.
 * @returns the number of paths
 */
export function forEveryChoice(body: (chooser: Chooser) => void): number {
  let paths = 0;
  for (let path: number[] | null = []; path !== null; ) {
    const chooser = exploring(path);
    body(chooser);
    paths += 1;
    path = nextPath(chooser.path, chooser.options);
  }
  return paths;
}

/** `forEveryChoice` for a body that returns a promise; one path at a time. */
export async function forEveryChoiceAsync(body: (chooser: Chooser) => Promise<void>): Promise<number> {
  let paths = 0;
  for (let path: number[] | null = []; path !== null; ) {
    const chooser = exploring(path);
    await body(chooser);
    paths += 1;
    path = nextPath(chooser.path, chooser.options);
  }
  return paths;
}
