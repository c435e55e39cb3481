/** Accumulators that combine one value after the other: what most aggregates of numbers are. */
import { type Numeric, numericOf, NumericSum, type SqlValue } from '../model/index.ts';
import type { Accumulator } from './aggregate-function.ts';

type Present = Exclude<SqlValue, null>;

/** Combines the values that are not NULL, which are of one type; NULL when there are none. */
export function folding<Value extends Present, S extends Present>(
  first: (value: Value) => S,
  next: (state: S, value: Value) => S,
  finish: (state: S, count: number) => SqlValue = (state) => state,
): () => Accumulator {
  return () => new Folding(first, next, finish);
}

class Folding<Value extends Present, S extends Present> implements Accumulator {
  readonly #first: (value: Value) => S;
  readonly #next: (state: S, value: Value) => S;
  readonly #finish: (state: S, count: number) => SqlValue;
  #state: S | null = null;
  #count = 0;

  constructor(
    first: (value: Value) => S,
    next: (state: S, value: Value) => S,
    finish: (state: S, count: number) => SqlValue,
  ) {
    this.#first = first;
    this.#next = next;
    this.#finish = finish;
  }

  add(values: readonly SqlValue[]): void {
    const value = (values[0] ?? null) as Value | null;
    if (value === null) return;
    this.#state = this.#state === null ? this.#first(value) : this.#next(this.#state, value);
    this.#count += 1;
  }

  finish(): SqlValue {
    return this.#state === null ? null : this.#finish(this.#state, this.#count);
  }
}

/** Sums of exact numbers. */
export function summingExactly(finish: (sum: Numeric, count: number) => SqlValue): () => Accumulator {
  return () => new ExactSum(finish);
}

class ExactSum implements Accumulator {
  readonly #finish: (sum: Numeric, count: number) => SqlValue;
  readonly #sum = new NumericSum();
  #count = 0;

  constructor(finish: (sum: Numeric, count: number) => SqlValue) {
    this.#finish = finish;
  }

  add(values: readonly SqlValue[]): void {
    const value = values[0] ?? null;
    if (value === null) return;
    this.#sum.add(toNumeric(value));
    this.#count += 1;
  }

  finish(): SqlValue {
    return this.#count === 0 ? null : this.#finish(this.#sum.result(), this.#count);
  }
}

export const integerNames: ReadonlySet<string> = new Set(['bool', 'int2', 'int4', 'int8', 'uint8']);

function toNumeric(value: Present): Numeric {
  return typeof value === 'number' || typeof value === 'bigint' ? numericOf(value) : (value as Numeric);
}
