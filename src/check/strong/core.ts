/**
 * The transactions behind a contradiction: those of a cycle of edges and, for each edge that a rule gave, those of the reason and of the way
 * that made the rule apply, and so on. Each way is a shortest one; steps in a chain cost nothing.
 */
import { assert } from '../../base/index.ts';
import { INITIAL, type TransactionIndex } from '../../history/index.ts';
import { rule, transactionAt } from './nodes.ts';
import type { StrongProblem } from './check-strong.ts';

export function coreOf(problem: StrongProblem): TransactionIndex[] {
  const found = new Set([...derivationOf(problem).found].map((node) => transactionAt(problem.nodes, node)));
  found.delete(INITIAL);
  return [...found].toSorted((a, b) => a - b);
}

/** What a contradiction follows from. */
export interface Derivation {
  /** The nodes of a cycle, and of the reasons for its edges. */
  readonly found: ReadonlySet<number>;
  /** The edges of the cycle and of the reasons; each follows from those before it. */
  readonly edges: readonly number[];
  /** Neighbours in a chain that the ways pass, each once. */
  readonly chainSteps: readonly (readonly [before: number, after: number])[];
}

export function derivationOf(problem: StrongProblem): Derivation {
  const { nodes, versions, edges } = problem;
  const search = new WaySearch(problem);
  const found = new Set<number>();
  const explained = new Set<number>();
  const chained = new Map<number, readonly [number, number]>();
  const queue: number[] = [];
  const take = (way: Way): void => {
    for (const node of way.nodes) found.add(node);
    for (const step of way.chainSteps) chained.set(step[0], step);
    for (const edge of way.edges) if (!explained.has(edge)) queue.push(edge);
    for (const edge of way.edges) explained.add(edge);
  };
  take(search.cycle());
  for (let edge = queue.pop(); edge !== undefined; edge = queue.pop()) {
    const [from, to] = [edges.from.array[edge], edges.to.array[edge]];
    const cause = edges.cause.array[edge];
    switch (edges.rule.array[edge]) {
      case rule.overwritten: {
        const reader = readerOf(problem, cause);
        take(search.way(from, reader << nodes.shift, edge));
        break;
      }
      case rule.antiDependency: {
        const writer = versions.writer[cause];
        take(search.way((writer << nodes.shift) | nodes.shift, to, edge));
        break;
      }
      case rule.writeConflict:
        take(search.way(from - 1, to + 1, edge));
        break;
      default: // known from the history
    }
  }
  return { found, edges: [...explained].toSorted((a, b) => a - b), chainSteps: [...chained.values()] };
}

function readerOf({ nodes, versions }: StrongProblem, read: number): number {
  let [low, high] = [0, nodes.memberCount];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (versions.readStart[middle] <= read) low = middle;
    else high = middle;
  }
  return low;
}

interface Way {
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly chainSteps: readonly (readonly [before: number, after: number])[];
}

/** Walks backwards, along edges by their target. */
class WaySearch {
  readonly #problem: StrongProblem;
  readonly #start: Int32Array;
  readonly #edge: Int32Array;
  readonly #reached: Int32Array;
  /** By node that was reached: the edge that was followed backwards to it (-1: a step in its chain), and from which node. */
  readonly #by: Int32Array;
  readonly #next: Int32Array;
  #search = 0;

  constructor(problem: StrongProblem) {
    this.#problem = problem;
    const { nodes, edges } = problem;
    const { nodeCount } = nodes;
    this.#start = new Int32Array(nodeCount + 1);
    for (let e = 0; e < edges.count; e += 1) {
      const after = edges.to.array[e] + 1;
      this.#start[after] += 1;
    }
    for (let v = 0; v < nodeCount; v += 1) this.#start[v + 1] += this.#start[v];
    const next = this.#start.slice(0, nodeCount);
    this.#edge = new Int32Array(edges.count);
    for (let e = 0; e < edges.count; e += 1) {
      const v = edges.to.array[e];
      const at = next[v];
      this.#edge[at] = e;
      next[v] = at + 1;
    }
    this.#reached = new Int32Array(nodeCount);
    this.#by = new Int32Array(nodeCount);
    this.#next = new Int32Array(nodeCount);
  }

  /** A short cycle: the shortest of those through some nodes that the sort left over. */
  cycle(): Way {
    const { nodes, edges, sorted } = this.#problem;
    const isSorted = new Uint8Array(nodes.nodeCount);
    for (const node of sorted) isSorted[node] = 1;
    let best: Way | null = null;
    for (const node of this.#someCycle(isSorted).slice(0, 64)) {
      const way = this.#shortest(node, node, edges.count, isSorted);
      if (way !== null && (best === null || way.nodes.length < best.nodes.length)) best = way;
    }
    assert(best !== null, 'what a topological sort leaves over has a cycle');
    return best;
  }

  /** Through edges before `limit`. */
  way(from: number, to: number, limit: number): Way {
    const way = this.#shortest(from, to, limit, null);
    assert(way !== null, `a rule applied because node ${from} is before node ${to}`);
    return way;
  }

  /** From any node that is left over, backwards to nodes that are, until one comes again: with each of them a predecessor is left over. */
  #someCycle(isSorted: Uint8Array): number[] {
    const place = new Map<number, number>();
    const walked: number[] = [];
    let node = isSorted.indexOf(0);
    while (!place.has(node)) {
      place.set(node, walked.length);
      walked.push(node);
      node = this.#predecessors(node).find((before) => isSorted[before] === 0) ?? -1;
      assert(node >= 0, 'a node that is left over has a predecessor that is');
    }
    return walked.slice(place.get(node));
  }

  #predecessors(node: number): number[] {
    const { nodes, edges } = this.#problem;
    const own = [...this.#edge.subarray(this.#start[node], this.#start[node + 1])];
    const found = own.map((e) => edges.from.array[e]);
    return node > 0 && nodes.chainOf[node - 1] === nodes.chainOf[node] ? [node - 1, ...found] : found;
  }

  #shortest(from: number, to: number, limit: number, isSorted: Uint8Array | null): Way | null {
    const { nodes, edges } = this.#problem;
    this.#search += 1;
    const stamp = this.#search;
    let level = [to];
    while (level.length > 0) {
      const next: number[] = [];
      for (let v = level.pop(); v !== undefined; v = level.pop()) {
        const reach = (u: number, by: number, into: number[]): boolean => {
          if (this.#reached[u] === stamp || isSorted?.[u] === 1) return false;
          this.#reached[u] = stamp;
          this.#by[u] = by;
          this.#next[u] = v;
          into.push(u);
          return u === from;
        };
        if (v > 0 && nodes.chainOf[v - 1] === nodes.chainOf[v] && reach(v - 1, -1, level))
          return this.#wayBack(from, to);
        for (let i = this.#start[v]; i < this.#start[v + 1]; i += 1) {
          const e = this.#edge[i];
          if (e < limit && reach(edges.from.array[e], e, next)) return this.#wayBack(from, to);
        }
      }
      level = next;
    }
    return null;
  }

  #wayBack(from: number, to: number): Way {
    const found: number[] = [from];
    const edges: number[] = [];
    const chainSteps: [number, number][] = [];
    let node = from;
    do {
      const by = this.#by[node];
      const next = this.#next[node];
      if (by >= 0) {
        edges.push(by);
        found.push(node, next);
      } else chainSteps.push([node, next]);
      node = next;
    } while (node !== to);
    found.push(to);
    return { nodes: [...new Set(found)], edges, chainSteps };
  }
}
