/**
 * A partial order on the transactions of a small history, the initial state included, that remembers why: each pair that was added
 * carries a label, and a path of labelled pairs can be asked for.
 */
import { BitMatrix } from '../base/index.ts';
import type { TransactionIndex } from '../history/index.ts';

interface Arrow<Label> {
  readonly to: TransactionIndex;
  readonly label: Label;
}

export class PartialOrder<Label> {
  /** Row t + 1: all that are after t. */
  readonly #after: BitMatrix;
  readonly #size: number;
  readonly #arrows: Map<TransactionIndex, Arrow<Label>[]>;

  constructor(transactions: number, arrows: Map<TransactionIndex, Arrow<Label>[]> = new Map()) {
    this.#size = transactions + 1;
    this.#after = new BitMatrix(Math.ceil(this.#size / 32));
    this.#arrows = arrows;
  }

  copy(): PartialOrder<Label> {
    const copy = new PartialOrder<Label>(
      this.#size - 1,
      new Map([...this.#arrows].map(([from, list]) => [from, [...list]])),
    );
    copy.#after.copyFrom(this.#after, this.#size);
    return copy;
  }

  has(a: TransactionIndex, b: TransactionIndex): boolean {
    return this.#after.has(a + 1, b + 1);
  }

  /** Adds a pair, and all that follows. */
  add(a: TransactionIndex, b: TransactionIndex, label: Label): void {
    this.#arrows.set(a, [...(this.#arrows.get(a) ?? []), { to: b, label }]);
    for (let x = 0; x < this.#size; x += 1) {
      if (x !== a + 1 && !this.#after.has(x, a + 1)) continue;
      this.#after.union(x, this.#after, b + 1);
      this.#after.add(x, b + 1);
    }
  }

  /** The labels along a shortest path of added pairs; `[]` from a transaction to itself; `null` where there is none. */
  shortestPath(
    from: TransactionIndex,
    to: TransactionIndex,
    isAllowed: (label: Label) => boolean = () => true,
  ): Label[] | null {
    if (from !== to && !this.has(from, to)) return null;
    const cameBy = new Map<TransactionIndex, { previous: TransactionIndex; label: Label }>();
    const queue = [from];
    for (const t of queue) {
      if (t === to) break;
      for (const { to: next, label } of this.#arrows.get(t) ?? []) {
        if (next === from || cameBy.has(next) || !isAllowed(label)) continue;
        cameBy.set(next, { previous: t, label });
        queue.push(next);
      }
    }
    const path: Label[] = [];
    for (let step = cameBy.get(to); step !== undefined; step = cameBy.get(step.previous)) path.unshift(step.label);
    return from === to || path.length > 0 ? path : null;
  }
}
