/**
 * A short cycle where no commit order exists. Only walked backwards, from a transaction to those that must precede it, and only among the
 * transactions that the topological sort left over: with each of them, all that precede it are left.
 */
import { assert } from '../base/index.ts';
import { INITIAL, type TransactionIndex } from '../history/index.ts';
import { type ForcedByTarget, forcedByTarget, type OrderProblem } from './commit-order.ts';

/** Why one transaction comes before another. */
export interface CommitEdge {
  readonly from: TransactionIndex;
  readonly to: TransactionIndex;
  /** `forced`: the level demands it because of a read that saw the write of `to` although `from` was visible to it. */
  readonly relation: 'so' | 'wr' | 'forced';
  /** The read behind `wr` and `forced`: a position in `Reads.readKey`; -1 for `so`. */
  readonly read: number;
}

/** Cycles that are tried for a shorter one, and transactions that may be visited for that. */
const startsMax = 64;
const visitsMax = 4_000_000;

/** @param order what `commitOrder` gave: not all members */
export function shortCycle(problem: OrderProblem, order: Int32Array): CommitEdge[] {
  const { forced } = problem;
  if (forced !== null && forced.toInitial >= 0) {
    const from = forced.from.array[forced.toInitial];
    const read = forced.read.array[forced.toInitial];
    return [
      { from: INITIAL, to: from, relation: 'so', read: -1 },
      { from, to: INITIAL, relation: 'forced', read },
    ];
  }
  const graph = new Predecessors(problem);
  const some = someCycle(graph, problem, order);
  const search = new BackwardSearch(graph, problem.history.transactionCount);
  let best: CommitEdge[] | null = null;
  for (const t of some.slice(0, startsMax)) {
    if (best !== null && (best.length <= 2 || search.visits > visitsMax)) break;
    const path = search.shortest(t, t, best === null ? Infinity : best.length);
    if (path !== null && (best === null || path.length < best.length)) best = path;
  }
  assert(best !== null, 'a transaction on a cycle is found again');
  return best;
}

/** The shortest way from one transaction to another by so and wr, session steps not counted; `null`: there is none. */
export function causalPath(problem: OrderProblem, from: TransactionIndex, to: TransactionIndex): CommitEdge[] | null {
  const graph = new Predecessors({ ...problem, forced: null });
  return new BackwardSearch(graph, problem.history.transactionCount).shortest(from, to, Infinity);
}

/** The edges that lead to a transaction, numbered from 0: so, then wr, then forced. */
class Predecessors {
  readonly #problem: OrderProblem;
  readonly #forced: ForcedByTarget | null;

  constructor(problem: OrderProblem) {
    this.#problem = problem;
    const { forced, history } = problem;
    this.#forced = forced === null ? null : forcedByTarget(forced, history.transactionCount);
  }

  /** The `i`th; `INITIAL` where there is nothing to follow, `undefined` after the last. */
  at(t: TransactionIndex, i: number): TransactionIndex | undefined {
    const { reads, sessions, forced } = this.#problem;
    if (i === 0) return sessions?.previous[t] ?? INITIAL;
    const read = reads.readStart[t] + i - 1;
    if (read < reads.readStart[t + 1]) return reads.readFrom[read];
    if (this.#forced === null || forced === null) return undefined;
    const e = this.#forced.start[t] + read - reads.readStart[t + 1];
    return e < this.#forced.start[t + 1] ? forced.from.array[this.#forced.edge[e]] : undefined;
  }

  edge(t: TransactionIndex, i: number): CommitEdge {
    const from = this.at(t, i) ?? INITIAL;
    const { reads, forced } = this.#problem;
    if (i === 0) return { from, to: t, relation: 'so', read: -1 };
    const read = reads.readStart[t] + i - 1;
    const beyond = read - reads.readStart[t + 1];
    if (beyond < 0) return { from, to: t, relation: 'wr', read };
    const e = this.#forced?.edge[this.#forced.start[t] + beyond] ?? -1;
    return { from, to: t, relation: 'forced', read: forced?.read.array[e] ?? -1 };
  }
}

/** The transactions of some cycle, found by walking backwards in depth until one is reached that is on the path. */
function someCycle(graph: Predecessors, { history, reads }: OrderProblem, order: Int32Array): TransactionIndex[] {
  const isDone = new Uint8Array(history.transactionCount);
  for (const t of order) isDone[t] = 1;
  /** By transaction: its place on the way, or -1. */
  const place = new Int32Array(history.transactionCount).fill(-1);
  for (let first = 0; first < history.transactionCount; first += 1) {
    if (isDone[first] === 1 || reads.isMember[first] === 0) continue;
    const way = [first];
    const next = [0];
    isDone[first] = 1;
    place[first] = 0;
    while (way.length > 0) {
      const t = way.at(-1) as TransactionIndex;
      const i = next.at(-1) as number;
      next[next.length - 1] = i + 1;
      const before = graph.at(t, i);
      if (before === undefined) {
        place[t] = -1;
        way.pop();
        next.pop();
      } else if (before !== INITIAL && place[before] >= 0) {
        return way.slice(place[before]);
      } else if (before !== INITIAL && isDone[before] === 0) {
        isDone[before] = 1;
        place[before] = way.length;
        way.push(before);
        next.push(0);
      }
    }
  }
  return [];
}

/** Breadth first, where a step in a session costs nothing: however many there are, they are one edge in the end. */
class BackwardSearch {
  visits = 0;
  readonly #graph: Predecessors;
  /** By transaction: the search it was last reached in, and the edge that was followed from `to`. */
  readonly #reached: Int32Array;
  readonly #to: Int32Array;
  readonly #edge: Int32Array;
  #search = 0;

  constructor(graph: Predecessors, transactionCount: number) {
    this.#graph = graph;
    this.#reached = new Int32Array(transactionCount);
    this.#to = new Int32Array(transactionCount);
    this.#edge = new Int32Array(transactionCount);
  }

  /** A way of at least one step, and fewer than `below` wr and forced edges; of a cycle, `from` is `to`. */
  shortest(from: TransactionIndex, to: TransactionIndex, below: number): CommitEdge[] | null {
    this.#search += 1;
    let level = [to];
    for (let steps = 0; level.length > 0 && steps < below; steps += 1) {
      const next: TransactionIndex[] = [];
      for (let t = level.pop(); t !== undefined; t = level.pop()) {
        this.visits += 1;
        for (let i = 0; ; i += 1) {
          const before = this.#graph.at(t, i);
          if (before === undefined) break;
          if (before === INITIAL || this.#reached[before] === this.#search) continue;
          this.#reached[before] = this.#search;
          this.#to[before] = t;
          this.#edge[before] = i;
          if (before === from) return this.#wayBack(from, to);
          (i === 0 ? level : next).push(before);
        }
      }
      level = next;
    }
    return null;
  }

  #wayBack(from: TransactionIndex, to: TransactionIndex): CommitEdge[] {
    const edges: CommitEdge[] = [];
    let t = from;
    do {
      const next = this.#to[t];
      const edge = this.#graph.edge(next, this.#edge[t]);
      const last = edges.at(-1);
      if (edge.relation === 'so' && last?.relation === 'so') edges[edges.length - 1] = { ...last, to: edge.to };
      else edges.push(edge);
      t = next;
    } while (t !== to);
    return edges;
  }
}
