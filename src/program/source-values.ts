/**
 * What the sources of nondeterminism give when they are forced: at the low end of their range or at the high one. A comparison such as
 * `Math.random() < p` then goes one way and the other for every p, and a value that is written differs. Only the first calls are extreme, so
 * that a loop which draws until it likes what it has ends; clocks go on by a millisecond a call, so that one which waits does; identifiers
 * stay distinct, as they promise.
 */
import { type Chooser, seeded } from '../base/chooser.ts';

export type Side = 'low' | 'high';

/** Calls of one source in one session that get an extreme value. */
const EXTREMES = 64;

/** The values of one source for one part of the program. */
export class ForcedValues {
  readonly #side: Side;
  readonly #chooser: Chooser;
  #calls = 0;

  constructor(side: Side) {
    this.#side = side;
    this.#chooser = seeded(side === 'low' ? 1 : 2);
  }

  /** An integer from `min` to below `end`. */
  integer(min: number, end: number): number {
    this.#calls += 1;
    if (this.#calls > EXTREMES) return min + this.#chooser.choose(end - min);
    return this.#side === 'low' ? min : end - 1;
  }

  /** As Math.random gives it: from 0 to below 1. */
  fraction(): number {
    return this.integer(0, FRACTIONS) / FRACTIONS;
  }

  bytes(into: Uint8Array): void {
    this.#calls += 1;
    const extreme = this.#side === 'low' ? 0 : 255;
    for (let i = 0; i < into.length; i += 1) {
      into[i] = this.#calls > EXTREMES ? this.#chooser.choose(256) : extreme;
    }
  }

  /** Milliseconds since 1970: a Monday in 2001, or the last day of 2037. */
  wallClockMs(): number {
    this.#calls += 1;
    const start = this.#side === 'low' ? Date.UTC(2001, 0, 1) : Date.UTC(2037, 11, 31, 23, 0, 0, 1);
    return start + this.#calls;
  }

  /** Milliseconds since the process began. */
  uptimeMs(): number {
    this.#calls += 1;
    return (this.#side === 'low' ? 1_000 : 1e9 + 0.5) + this.#calls;
  }
}

const FRACTIONS = 2 ** 53;

/** The `count`th identifier of a run. */
export function forcedUuid(side: Side, count: number): string {
  const [start, last] =
    side === 'low' ? ['00000000-0000-4000-8000-', count] : ['ffffffff-ffff-4fff-bfff-', 2 ** 48 - 1 - count];
  return start + last.toString(16).padStart(12, '0');
}
