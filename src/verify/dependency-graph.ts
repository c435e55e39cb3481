/**
 * Dependencies between committed transactions, without cycles: a topological order that is repaired for each new edge (Pearce and Kelly,
 * JEA 2006), and transactions that cannot be on a cycle any more taken out (Leopard, ICDE 2023, Theorem 5).
 *
 * Most edges go with the order of commits and cost O(1); the others cost what lies between their ends in the order.
 */
import { assert } from '../base/assert.ts';
import type { Dependency, Relation, VerifiedTransaction } from './state.ts';

/** Edges one after another; each ends where the next begins, the last where the first begins. */
export type DependencyCycle = readonly (Dependency & { readonly from: VerifiedTransaction })[];

export class DependencyGraph {
  #nextOrder = 0;
  #mark = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes a committed transaction in. */
  add(transaction: VerifiedTransaction): void {
    assert(transaction.order === -1, `${transaction.name} is in the graph`);
    transaction.order = this.#nextOrder;
    this.#nextOrder += 1;
    this.#size += 1;
  }

  /** @returns whether the edge is new; both transactions are in the graph */
  connect(from: VerifiedTransaction, to: VerifiedTransaction, relation: Relation, key: string): boolean {
    for (const edge of from.out) if (edge.to === to && edge.relation === relation) return false;
    from.out.push({ to, relation, key });
    to.in.push({ from, relation, key });
    return true;
  }

  /** The cycle that the newest edge, from `from` to `to`, closes; where there is none the order is repaired. */
  cycleBy(from: VerifiedTransaction, to: VerifiedTransaction): DependencyCycle | null {
    if (from.order < to.order) return null;
    const forward = this.#reach(to, from);
    if (forward === null) return this.#cycleOf(from, to);
    this.#repair(forward, this.#reachBack(from, to.order));
    return null;
  }

  /** Takes out what is over and has nothing before it, and what that leaves. */
  prune(transaction: VerifiedTransaction): void {
    const stack = [transaction];
    for (let gone = stack.pop(); gone !== undefined; gone = stack.pop()) {
      if (gone.order === -1 || !gone.isRetired || gone.in.length > 0) continue;
      gone.order = -1;
      this.#size -= 1;
      for (const { to } of gone.out) {
        removeFrom(to, gone);
        stack.push(to);
      }
      gone.out.length = 0;
    }
  }

  /** What is reachable from `start` up to the order of `end`; `null` where `end` is. */
  #reach(start: VerifiedTransaction, end: VerifiedTransaction): VerifiedTransaction[] | null {
    this.#mark += 1;
    const found = [start];
    start.mark = this.#mark;
    for (let i = 0; i < found.length; i += 1) {
      for (const { to } of (found[i] as VerifiedTransaction).out) {
        if (to === end) return null;
        if (to.mark === this.#mark || to.order > end.order) continue;
        to.mark = this.#mark;
        found.push(to);
      }
    }
    return start === end ? null : found;
  }

  #reachBack(start: VerifiedTransaction, orderMin: number): VerifiedTransaction[] {
    this.#mark += 1;
    const found = [start];
    start.mark = this.#mark;
    for (let i = 0; i < found.length; i += 1) {
      for (const { from } of (found[i] as VerifiedTransaction).in) {
        if (from.mark === this.#mark || from.order < orderMin) continue;
        from.mark = this.#mark;
        found.push(from);
      }
    }
    return found;
  }

  /** What leads to the new edge goes before what it leads to, in the same places of the order. */
  #repair(after: VerifiedTransaction[], before: VerifiedTransaction[]): void {
    const byOrder = (a: VerifiedTransaction, b: VerifiedTransaction): number => a.order - b.order;
    const moved = [...before.toSorted(byOrder), ...after.toSorted(byOrder)];
    const places = moved.map(({ order }) => order).toSorted((a, b) => a - b);
    for (const [i, transaction] of moved.entries()) transaction.order = places[i] as number;
  }

  /** A shortest path from `to` back to `from`, behind the edge between the two. */
  #cycleOf(from: VerifiedTransaction, to: VerifiedTransaction): DependencyCycle {
    const cameBy = new Map<VerifiedTransaction, DependencyCycle[number]>();
    const queue = [to];
    for (let i = 0; i < queue.length && !cameBy.has(from); i += 1) {
      const at = queue[i] as VerifiedTransaction;
      for (const edge of at.out) {
        if (edge.to === to || cameBy.has(edge.to)) continue;
        cameBy.set(edge.to, { ...edge, from: at });
        queue.push(edge.to);
      }
    }
    const path: DependencyCycle[number][] = [];
    for (let at = from; at !== to; ) {
      const edge = cameBy.get(at);
      assert(edge !== undefined, 'the cycle has a path');
      path.unshift(edge);
      at = edge.from;
    }
    const closing = from.out.findLast((edge) => edge.to === to);
    assert(closing !== undefined, 'the new edge is there');
    return [{ ...closing, from }, ...path];
  }
}

/** Takes the newest edge away again, where it closed a cycle: the graph stays without cycles and goes on. */
export function disconnect(from: VerifiedTransaction, to: VerifiedTransaction): void {
  const out = from.out.findLastIndex((edge) => edge.to === to);
  if (out >= 0) from.out.splice(out, 1);
  const into = to.in.findLastIndex((edge) => edge.from === from);
  if (into >= 0) to.in.splice(into, 1);
}

function removeFrom(to: VerifiedTransaction, gone: VerifiedTransaction): void {
  let kept = 0;
  for (const edge of to.in) {
    if (edge.from === gone) continue;
    to.in[kept] = edge;
    kept += 1;
  }
  to.in.length = kept;
}
