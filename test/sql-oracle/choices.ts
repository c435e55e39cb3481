/** A random statement is a function of a list of numbers: fast-check shrinks the list, and zeros make the simplest statement. */
import * as fc from 'fast-check';
import type { Chooser } from '../../src/base/chooser.ts';

/** Takes the numbers one after another; after the last one every choice is the first option. */
export class Choices implements Chooser {
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  choose(options: number): number {
    return (this.#numbers[this.#next++] ?? 0) % options;
  }

  pick<T>(options: readonly T[]): T {
    if (options.length === 0) throw new Error('nothing to pick from');
    return options[this.choose(options.length)] as T;
  }

  /** True in one of `among` cases. */
  rarely(among: number): boolean {
    return this.choose(among) === among - 1;
  }

  /** `least` to `most` of what `make` makes. */
  list<T>(least: number, most: number, make: (index: number) => T): T[] {
    return Array.from({ length: least + this.choose(most - least + 1) }, (_, i) => make(i));
  }
}

/** Enough numbers for one statement. 5040 is divisible by every number of options up to 10: choices are even. */
export const numbers: fc.Arbitrary<number[]> = fc.array(fc.nat({ max: 5039 }), {
  minLength: 0,
  maxLength: 80,
  size: 'max',
});
