/**
 * Dependencies between committed transactions, without cycles: a topological order that is repaired for each new edge (Pearce and Kelly,
 * JEA 2006), and transactions that cannot be on a cycle any more taken out (Leopard, ICDE 2023, Theorem 5).
 *
 * Most edges go with the order of commits and cost O(1); the others cost what lies between their ends in the order.
 */
import { assert } from '../base/index.ts';
import type { Relation } from './mirror.ts';
import { grownBytes, grownFloats, grownInts, none, Slots } from './slots.ts';
import type { TransactionTable } from './transaction-table.ts';

const relations = ['wr', 'ww', 'rw', 'rw+'] as const;

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly relation: Relation;
  readonly row: number;
}

/** Edges one after another; each ends where the next begins, the last where the first begins. */
export type DependencyCycle = readonly Edge[];

/** Edges of the graph, and those that wait until both of their transactions have committed. */
class EdgeTable extends Slots {
  from = new Int32Array();
  to = new Int32Array();
  /** Of those that wait: whose positions may have been given to others meanwhile. */
  fromSerial = new Float64Array();
  toSerial = new Float64Array();
  relation = new Uint8Array();
  row = new Int32Array();
  nextOut = new Int32Array();
  previousOut = new Int32Array();
  nextIn = new Int32Array();
  previousIn = new Int32Array();

  add(from: number, to: number, relation: Relation, row: number): number {
    const edge = this.take();
    this.from[edge] = from;
    this.to[edge] = to;
    this.relation[edge] = relationCode[relation];
    this.row[edge] = row;
    this.nextOut[edge] = none;
    this.previousOut[edge] = none;
    this.nextIn[edge] = none;
    this.previousIn[edge] = none;
    return edge;
  }

  remove(edge: number): void {
    this.give(edge);
  }

  relationOf(edge: number): Relation {
    return relations[this.relation[edge]];
  }

  isAntiDependency(edge: number): boolean {
    const relation = this.relation[edge];
    return relation === relationCode.rw || relation === relationCode['rw+'];
  }

  at(edge: number): Edge {
    const [from, to, row] = [this.from[edge], this.to[edge], this.row[edge]];
    return { from, to, relation: this.relationOf(edge), row };
  }

  protected override grow(capacity: number): void {
    this.from = grownInts(this.from, capacity);
    this.to = grownInts(this.to, capacity);
    this.fromSerial = grownFloats(this.fromSerial, capacity);
    this.toSerial = grownFloats(this.toSerial, capacity);
    this.relation = grownBytes(this.relation, capacity);
    this.row = grownInts(this.row, capacity);
    this.nextOut = grownInts(this.nextOut, capacity);
    this.previousOut = grownInts(this.previousOut, capacity);
    this.nextIn = grownInts(this.nextIn, capacity);
    this.previousIn = grownInts(this.previousIn, capacity);
  }
}

export const relationCode: Readonly<Record<Relation, number>> = { wr: 0, ww: 1, rw: 2, 'rw+': 3 };

export class DependencyGraph {
  readonly edges = new EdgeTable();
  readonly #transactions: TransactionTable;
  readonly #onPruned: (transaction: number) => void;
  #nextOrder = 0;
  #mark = 0;
  #size = 0;

  /** @param onPruned gets the transactions that are taken out again */
  constructor(transactions: TransactionTable, onPruned: (transaction: number) => void) {
    this.#transactions = transactions;
    this.#onPruned = onPruned;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes a committed transaction in. */
  add(transaction: number): void {
    const { order, name } = this.#transactions;
    assert(order[transaction] === -1, `${name[transaction]} is in the graph`);
    order[transaction] = this.#nextOrder;
    this.#nextOrder += 1;
    this.#size += 1;
  }

  /** @returns whether the edge is new; both transactions are in the graph. O(smaller degree of the two) */
  connect(from: number, to: number, relation: Relation, row: number): boolean {
    const { edges } = this;
    const { firstOut, firstIn, outs, ins } = this.#transactions;
    if (this.#has(from, to, relationCode[relation])) return false;
    const edge = edges.add(from, to, relation, row);
    const out = firstOut[from];
    edges.nextOut[edge] = out;
    if (out !== none) edges.previousOut[out] = edge;
    firstOut[from] = edge;
    const into = firstIn[to];
    edges.nextIn[edge] = into;
    if (into !== none) edges.previousIn[into] = edge;
    firstIn[to] = edge;
    outs[from] += 1;
    ins[to] += 1;
    return true;
  }

  #has(from: number, to: number, relation: number): boolean {
    const { edges } = this;
    const { firstOut, firstIn, outs, ins } = this.#transactions;
    if (outs[from] <= ins[to]) {
      for (let edge = firstOut[from]; edge !== none; edge = edges.nextOut[edge])
        if (edges.to[edge] === to && edges.relation[edge] === relation) return true;
      return false;
    }
    for (let edge = firstIn[to]; edge !== none; edge = edges.nextIn[edge])
      if (edges.from[edge] === from && edges.relation[edge] === relation) return true;
    return false;
  }

  /** The cycle that the newest edge, from `from` to `to`, closes; where there is none the order is repaired. */
  cycleBy(from: number, to: number): DependencyCycle | null {
    const { order } = this.#transactions;
    if (order[from] < order[to]) return null;
    const forward = this.#reach(to, from);
    if (forward === null) return this.#cycleOf(from, to);
    this.#repair(forward, this.#reachBack(from, order[to]));
    return null;
  }

  /** Takes the newest edge away again, where it closed a cycle: the graph stays acyclic. */
  disconnect(from: number): void {
    const edge = this.#transactions.firstOut[from];
    assert(edge !== none, 'the new edge is there');
    this.#remove(edge);
  }

  /** Takes out what is over and has nothing before it, and what that leaves. */
  prune(transaction: number): void {
    const transactions = this.#transactions;
    const { order, ins, firstOut } = transactions;
    const { edges } = this;
    if (order[transaction] === -1 || !transactions.isRetired(transaction) || ins[transaction] > 0) return;
    const stack = [transaction];
    for (let gone = stack.pop(); gone !== undefined; gone = stack.pop()) {
      order[gone] = -1;
      this.#size -= 1;
      for (let edge = firstOut[gone]; edge !== none; edge = firstOut[gone]) {
        const to = edges.to[edge];
        this.#remove(edge);
        if (ins[to] === 0 && transactions.isRetired(to)) stack.push(to);
      }
      this.#onPruned(gone);
    }
  }

  #remove(edge: number): void {
    const { edges } = this;
    const { firstOut, firstIn, outs, ins } = this.#transactions;
    const [from, to] = [edges.from[edge], edges.to[edge]];
    const [before, after] = [edges.previousOut[edge], edges.nextOut[edge]];
    if (before === none) firstOut[from] = after;
    else edges.nextOut[before] = after;
    if (after !== none) edges.previousOut[after] = before;
    const [beforeIn, afterIn] = [edges.previousIn[edge], edges.nextIn[edge]];
    if (beforeIn === none) firstIn[to] = afterIn;
    else edges.nextIn[beforeIn] = afterIn;
    if (afterIn !== none) edges.previousIn[afterIn] = beforeIn;
    outs[from] -= 1;
    ins[to] -= 1;
    edges.remove(edge);
  }

  /** What is reachable from `start` up to the order of `end`; `null` where `end` is. */
  #reach(start: number, end: number): number[] | null {
    const { order, mark, firstOut } = this.#transactions;
    const { edges } = this;
    this.#mark += 1;
    const found = [start];
    mark[start] = this.#mark;
    for (let i = 0; i < found.length; i += 1) {
      for (let edge = firstOut[found[i]]; edge !== none; edge = edges.nextOut[edge]) {
        const to = edges.to[edge];
        if (to === end) return null;
        if (mark[to] === this.#mark || order[to] > order[end]) continue;
        mark[to] = this.#mark;
        found.push(to);
      }
    }
    return start === end ? null : found;
  }

  #reachBack(start: number, orderMin: number): number[] {
    const { order, mark, firstIn } = this.#transactions;
    const { edges } = this;
    this.#mark += 1;
    const found = [start];
    mark[start] = this.#mark;
    for (let i = 0; i < found.length; i += 1) {
      for (let edge = firstIn[found[i]]; edge !== none; edge = edges.nextIn[edge]) {
        const from = edges.from[edge];
        if (mark[from] === this.#mark || order[from] < orderMin) continue;
        mark[from] = this.#mark;
        found.push(from);
      }
    }
    return found;
  }

  /** What leads to the new edge goes before what it leads to, in the same places of the order. */
  #repair(after: number[], before: number[]): void {
    const { order } = this.#transactions;
    const byOrder = (a: number, b: number): number => order[a] - order[b];
    const moved = [...before.toSorted(byOrder), ...after.toSorted(byOrder)];
    const places = moved.map((transaction) => order[transaction]).toSorted((a, b) => a - b);
    for (const [i, transaction] of moved.entries()) order[transaction] = places[i];
  }

  /** A shortest path from `to` back to `from`, behind the edge between the two. */
  #cycleOf(from: number, to: number): DependencyCycle {
    const { firstOut } = this.#transactions;
    const { edges } = this;
    const cameBy = new Map<number, Edge>();
    const queue = [to];
    for (let i = 0; i < queue.length && !cameBy.has(from); i += 1) {
      for (let edge = firstOut[queue[i]]; edge !== none; edge = edges.nextOut[edge]) {
        const next = edges.to[edge];
        if (next === to || cameBy.has(next)) continue;
        cameBy.set(next, edges.at(edge));
        queue.push(next);
      }
    }
    const path: Edge[] = [];
    for (let at = from; at !== to; ) {
      const edge = cameBy.get(at);
      assert(edge !== undefined, 'the cycle has a path');
      path.unshift(edge);
      at = edge.from;
    }
    return [edges.at(firstOut[from]), ...path];
  }
}
