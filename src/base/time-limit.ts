/**
 * A limit of time for work that is many calls deep: it is looked at in the loops, and what is over ends by `OutOfTime`. The function that was given the
 * limit turns that into its answer with `within`; nothing else catches it.
 */
import { monotonicMs } from './clock.ts';

/** Between two looks at the clock, which costs more than a step of a search. */
const callsBetween = 64;

class OutOfTime extends Error {
  constructor() {
    super('out of time');
    this.name = 'OutOfTime';
  }
}

export class TimeLimit {
  readonly #endMs: number;
  #calls = 0;

  /** @param endMs in `monotonicMs` */
  constructor(endMs: number) {
    this.#endMs = endMs;
  }

  /** For steps of less than a millisecond. @throws OutOfTime */
  check(): void {
    this.#calls += 1;
    if (this.#calls % callsBetween === 0) this.checkNow();
  }

  /** @throws OutOfTime */
  checkNow(): void {
    if (this.isOver) throw new OutOfTime();
  }

  get isOver(): boolean {
    return this.#endMs !== Infinity && monotonicMs() >= this.#endMs;
  }
}

export const unlimited = new TimeLimit(Infinity);

/** What `work` returns, or `late` where it ran out of time. */
export function within<Result>(work: () => Result, late: Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof OutOfTime) return late;
    throw error;
  }
}

/** The same for a promise. */
export async function settledWithin<Result>(work: Promise<Result>, late: Result): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OutOfTime) return late;
    throw error;
  }
}
