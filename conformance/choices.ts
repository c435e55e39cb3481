/** Draws from a chooser: one of a list, by weight, sometimes. */
import type { Chooser } from '../src/base/index.ts';

export class Choices {
  readonly #chooser: Chooser;

  constructor(chooser: Chooser) {
    this.#chooser = chooser;
  }

  below(n: number): number {
    return this.#chooser.choose(n);
  }

  pick<T>(options: readonly T[]): T {
    return options[this.below(options.length)] as T;
  }

  /** True in one of `among` cases. */
  rarely(among: number): boolean {
    return this.below(among) === 0;
  }

  weighted<T extends { readonly weight: number }>(options: readonly T[]): T {
    let left = this.below(options.reduce((sum, { weight }) => sum + weight, 0));
    for (const option of options) {
      if (left < option.weight) return option;
      left -= option.weight;
    }
    throw new Error('no options');
  }
}
