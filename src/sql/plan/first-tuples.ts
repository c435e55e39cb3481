/**
 * The first rows of an order, while all of them come: a heap with the last of those kept at its root. Rows that the order leaves equal stay in the
 * order in which they came, as a stable sort has them. O(n log k) comparisons and k rows in memory, of n rows and the first k.
 */
import type { SqlValue } from '../model/index.ts';
import type { CompareKeys } from './sort.ts';

/** Beyond it a sort of all rows is as good. */
export const keptRowsMax = 1_000;

interface Sorted {
  readonly keys: readonly SqlValue[];
}

interface Kept<T> {
  readonly tuple: T;
  /** Counts the rows in the order in which they came. */
  readonly place: number;
}

export class FirstTuples<T extends Sorted> {
  readonly #compare: CompareKeys;
  readonly #count: number;
  readonly #heap: Kept<T>[] = [];
  #place = 0;

  /** @param count from 1 */
  constructor(compare: CompareKeys, count: number) {
    this.#compare = compare;
    this.#count = count;
  }

  /** Is a row that comes now among the first so far? */
  isAmong(keys: readonly SqlValue[]): boolean {
    const [last] = this.#heap;
    return last === undefined || this.#heap.length < this.#count || this.#compare(keys, last.tuple.keys) < 0;
  }

  /** A row that `isAmong` the first. */
  add(tuple: T): void {
    const kept = { tuple, place: this.#place++ };
    if (this.#heap.length < this.#count) this.#rise(kept);
    else this.#sink(kept);
  }

  inOrder(): T[] {
    return this.#heap.toSorted((a, b) => this.#order(a, b)).map(({ tuple }) => tuple);
  }

  #order(a: Kept<T>, b: Kept<T>): number {
    return this.#compare(a.tuple.keys, b.tuple.keys) || a.place - b.place;
  }

  #rise(kept: Kept<T>): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Kept<T>;
      if (this.#order(parent, kept) >= 0) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = kept;
  }

  /** In place of the root. */
  #sink(kept: Kept<T>): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      if (left >= heap.length) break;
      const isRight = right < heap.length && this.#order(heap[right] as Kept<T>, heap[left] as Kept<T>) > 0;
      const below = isRight ? right : left;
      const child = heap[below] as Kept<T>;
      if (this.#order(child, kept) <= 0) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = kept;
  }
}
