/**
 * Decides the pairs of co that the reads of the strong levels leave open, one way that contradicts nothing: a search that goes back, since the
 * problem is NP-complete (Biswas and Enea, OOPSLA 2019).
 */
import { BitMatrix, type TimeLimit } from '../base/index.ts';
import type { CommitConstraints, Order } from './commit-constraints.ts';

export class OpenPairs {
  /** Did a search give up? Then it has not shown that there is no way. */
  gaveUp = false;
  readonly #constraints: CommitConstraints;
  readonly #stepsMax: number;
  readonly #limit: TimeLimit;
  readonly #orders: Order[] = [];
  #steps = 0;

  /** @param stepsMax decisions that one search may take */
  constructor(constraints: CommitConstraints, stepsMax: number, limit: TimeLimit) {
    this.#constraints = constraints;
    this.#stepsMax = stepsMax;
    this.#limit = limit;
  }

  /**
   * Decides every pair that these reads leave open; `order` is then such a decision. Mostly the order of commits so far is one, so it is
   * tried first, without a way back; then every way, backtracking.
   */
  settle(order: Order, reads: readonly number[]): boolean {
    this.#steps = 0;
    if (!this.#hasOpenPair(order, reads)) return true;
    const { nodes } = this.#constraints.observed;
    const straight = this.#scratch(0, order);
    straight.copyFrom(order, nodes);
    if (this.#settleStraight(straight, reads)) {
      order.copyFrom(straight, nodes);
      return true;
    }
    return this.#settleFrom(order, reads, 0, 0);
  }

  #hasOpenPair(order: Order, reads: readonly number[]): boolean {
    const constraints = this.#constraints;
    const { observed } = constraints;
    return reads.some((read) => {
      const writers = observed.writersOf(observed.keyOf(read));
      for (let j = 1; j < writers.length; j += 1)
        if (constraints.openPair(order, read, writers[j]) !== null) return true;
      return false;
    });
  }

  #settleStraight(order: Order, reads: readonly number[]): boolean {
    const constraints = this.#constraints;
    const { observed } = constraints;
    for (const read of reads) {
      const writers = observed.writersOf(observed.keyOf(read));
      for (let j = 1; j < writers.length; ) {
        const pair = constraints.openPair(order, read, writers[j]);
        if (pair === null) j += 1;
        else {
          const [a, b] = this.#byCommit(pair);
          if (!constraints.requirePair(order, a, b) || !constraints.propagate(order)) return false;
        }
      }
    }
    return true;
  }

  #byCommit(pair: readonly [number, number]): readonly [number, number] {
    const { observed } = this.#constraints;
    return observed.sequenceOf(pair[0]) <= observed.sequenceOf(pair[1]) ? pair : [pair[1], pair[0]];
  }

  /** What is settled stays settled when pairs are added, so the reads are visited once, from position `next`. */
  #settleFrom(order: Order, reads: readonly number[], next: number, depth: number): boolean {
    const constraints = this.#constraints;
    const { observed } = constraints;
    for (let i = next; i < reads.length; i += 1) {
      const read = reads[i];
      const writers = observed.writersOf(observed.keyOf(read));
      for (let j = 1; j < writers.length; ) {
        const pair = constraints.openPair(order, read, writers[j]);
        if (pair === null) {
          j += 1;
          continue;
        }
        const [a, b] = this.#byCommit(pair);
        if (this.#decide(order, a, b, reads, i, depth)) return true;
        if (this.#steps > this.#stepsMax || !constraints.requirePair(order, b, a) || !constraints.propagate(order))
          return false;
      }
    }
    return true;
  }

  #decide(order: Order, a: number, b: number, reads: readonly number[], next: number, depth: number): boolean {
    this.#steps += 1;
    this.#limit.checkNow();
    if (this.#steps > this.#stepsMax) {
      this.gaveUp = true;
      return false;
    }
    const constraints = this.#constraints;
    const { observed } = constraints;
    const copy = this.#scratch(depth, order);
    copy.copyFrom(order, observed.nodes);
    if (!constraints.requirePair(copy, a, b) || !constraints.propagate(copy)) return false;
    if (!this.#settleFrom(copy, reads, next, depth + 1)) return false;
    order.copyFrom(copy, observed.nodes);
    return true;
  }

  /** An order of the same size, one for each depth. */
  #scratch(depth: number, { words }: Order): Order {
    if (depth === this.#orders.length) this.#orders.push(new BitMatrix(words));
    const scratch = this.#orders[depth];
    while (scratch.words < words) scratch.grow();
    return scratch;
  }
}
