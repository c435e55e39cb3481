/**
 * What follows without any choice. In passes: clocks of all edges so far, then the edges that the rules give, until there are no more or
 * there is a cycle. For two writers a and b of a key, "a first" puts the readers of a before b, so it is impossible where b is before one of
 * them; then b is first, and so on: this decides every pair of which one order contradicts what is known (the pruning of Cobra, OSDI 2020, and
 * PolySI, VLDB 2023), without looking at pairs. Of a chain, the last writer before a reader and the first writer after a version will do.
 *
 * Cost of a pass: O((edges + reads) * chains * log(writers of a key)).
 */
import type { TimeLimit } from '../../base/index.ts';
import { edgesBySource, fillClocks, topologicalOrder } from './clocks.ts';
import { commitNode, snapshotNode } from './node.ts';
import { type Nodes, type OrderEdges, rule } from './nodes.ts';
import { OrderState } from './order-state.ts';
import type { Versions } from './versions.ts';

export interface Saturated {
  /** Contains all edges; fewer nodes where there is a cycle. */
  readonly order: Int32Array;
  /** Of the last pass that found no cycle. */
  readonly clocks: Int32Array;
  readonly passes: number;
}

/** Of the nodes: with fewer new edges than this part, a pass over all costs more than following what changes. */
const fewPart = 20;
const fewMin = 2;

/** Adds to `edges`. */
export function saturate(nodes: Nodes, versions: Versions, edges: OrderEdges, limit: TimeLimit): Saturated {
  addInitialReads(nodes, versions, edges);
  const clocks = new Int32Array(nodes.nodeCount * nodes.chainCount).fill(-1);
  for (let passes = 1; ; passes += 1) {
    const bySource = edgesBySource(edges, nodes.nodeCount);
    const order = topologicalOrder(nodes, edges, bySource);
    if (order.length < nodes.nodeCount) return { order, clocks, passes };
    fillClocks(nodes, edges, bySource, order, clocks);
    const before = edges.count;
    const pass = new Pass(nodes, versions, edges, clocks, limit);
    pass.overwritten();
    pass.antiDependencies();
    if (nodes.level === 'snapshot-isolation') pass.writeConflicts();
    if (edges.count === before) return { order, clocks, passes };
    if (edges.count - before <= Math.max(fewMin, nodes.nodeCount / fewPart))
      return finish(nodes, versions, edges, { clocks, before, passes, limit });
  }
}

interface Passed {
  readonly clocks: Int32Array;
  /** The edges that the clocks know. */
  readonly before: number;
  readonly passes: number;
  readonly limit: TimeLimit;
}

/** Edge by edge, with what follows from each. */
function finish(
  nodes: Nodes,
  versions: Versions,
  edges: OrderEdges,
  { clocks, before, passes, limit }: Passed,
): Saturated {
  const fresh = edges.cut(before);
  const state = new OrderState(nodes, versions, edges, clocks, limit);
  const isConsistent = fresh.every((edge) => state.add(...edge)) && state.propagate();
  const { conflict } = state;
  if (!isConsistent && conflict !== null) edges.add(conflict.from, conflict.to, conflict.rule, conflict.cause);
  return { order: topologicalOrder(nodes, edges, edgesBySource(edges, nodes.nodeCount)), clocks, passes };
}

/** Who read the initial version of a key is before the first writer of each chain that is another. */
function addInitialReads(
  { shift }: Nodes,
  { keyStart, writer, segmentStart, segmentFirst, initialReaderStart, initialReader }: Versions,
  edges: OrderEdges,
): void {
  for (let k = 0; k + 1 < keyStart.length; k += 1) {
    for (let i = initialReaderStart[k]; i < initialReaderStart[k + 1]; i += 1) {
      const r = initialReader[i];
      for (let g = segmentStart[k]; g < segmentStart[k + 1]; g += 1) {
        const first = segmentFirst[g];
        const b = writer[first];
        if (b !== r) edges.add(snapshotNode(r, shift), commitNode(b, shift), rule.initialRead, k);
        else if (first + 1 < segmentFirst[g + 1])
          edges.add(snapshotNode(r, shift), commitNode(writer[first + 1], shift), rule.initialRead, k);
      }
    }
  }
}

class Pass {
  readonly #nodes: Nodes;
  readonly #versions: Versions;
  readonly #edges: OrderEdges;
  readonly #limit: TimeLimit;
  readonly #clocks: Int32Array;
  /** The clocks, and what edges of this pass add to them at once: only to leave out what they imply. */
  readonly #known: Int32Array;

  constructor(nodes: Nodes, versions: Versions, edges: OrderEdges, clocks: Int32Array, limit: TimeLimit) {
    this.#limit = limit;
    this.#nodes = nodes;
    this.#versions = versions;
    this.#edges = edges;
    this.#clocks = clocks;
    this.#known = clocks.slice();
  }

  /** A read of x from a: other writers of x that are before the reader are before a (snapshot-isolation: before its snapshot). */
  overwritten(): void {
    const { shift, memberCount, chainCount, chainOf, level } = this.#nodes;
    const { readStart, readVersion, readKey, segmentStart, segmentFirst, writer } = this.#versions;
    const clocks = this.#clocks;
    const target = level === 'snapshot-isolation' ? 0 : shift;
    for (let r = 0; r < memberCount; r += 1) {
      this.#limit.check();
      const row = snapshotNode(r, shift) * chainCount;
      for (let i = readStart[r]; i < readStart[r + 1]; i += 1) {
        const version = readVersion[i];
        if (version < 0) continue; // said by `addInitialReads`
        const k = readKey[i];
        const a = writer[version];
        const lastSegment = segmentStart[k + 1];
        for (let g = segmentStart[k]; g < lastSegment; g += 1) {
          const first = segmentFirst[g];
          const chain = chainOf[snapshotNode(writer[first], shift)];
          const limit = clocks[row + chain];
          if (commitNode(writer[first], shift) > limit) continue;
          const last = this.#lastUpTo(first, segmentFirst[g + 1], limit);
          let b = writer[last];
          if (b === r) {
            if (last === first) continue;
            b = writer[last - 1]; // one point is before itself; of two the snapshot is before the commit
          }
          if (b !== a) this.#add(commitNode(b, shift), snapshotNode(a, shift) + target, rule.overwritten, i);
        }
      }
    }
  }

  /** Readers of a version are before the writers that come after its writer. */
  antiDependencies(): void {
    const { shift, chainOf } = this.#nodes;
    const { keyOf, writer, readerStart, reader, segmentStart, segmentFirst } = this.#versions;
    for (let version = 0; version < writer.length; version += 1) {
      const [first, after] = [readerStart[version], readerStart[version + 1]];
      if (first === after) continue;
      this.#limit.check();
      const k = keyOf[version];
      const node = commitNode(writer[version], shift);
      const chain = chainOf[node];
      for (let g = segmentStart[k]; g < segmentStart[k + 1]; g += 1) {
        const end = segmentFirst[g + 1];
        let next = this.#firstAfter(segmentFirst[g], end, node, chain, shift);
        if (next === version && next < end) next += 1;
        if (next >= end) continue;
        for (let i = first; i < after; i += 1) {
          const r = reader[i];
          const b = writer[next];
          if (r !== b) this.#add(snapshotNode(r, shift), commitNode(b, shift), rule.antiDependency, version);
          else if (next + 1 < end)
            this.#add(snapshotNode(r, shift), commitNode(writer[next + 1], shift), rule.antiDependency, version);
        }
      }
    }
  }

  /** Where the snapshot of a is before the commit of b, and both write x, the commit of a is before the snapshot of b. */
  writeConflicts(): void {
    const { shift, chainOf } = this.#nodes;
    const { keyStart, writer, segmentStart, segmentFirst } = this.#versions;
    for (let k = 0; k + 1 < keyStart.length; k += 1) {
      if (segmentStart[k + 1] - segmentStart[k] < 2) continue;
      for (let version = keyStart[k]; version < keyStart[k + 1]; version += 1) {
        this.#limit.check();
        const a = writer[version];
        const chain = chainOf[snapshotNode(a, shift)];
        for (let g = segmentStart[k]; g < segmentStart[k + 1]; g += 1) {
          const end = segmentFirst[g + 1];
          if (chainOf[snapshotNode(writer[segmentFirst[g]], shift)] === chain) continue;
          const next = this.#firstAfter(segmentFirst[g], end, snapshotNode(a, shift), chain, shift);
          if (next < end) this.#add(commitNode(a, shift), snapshotNode(writer[next], shift), rule.writeConflict, k);
        }
      }
    }
  }

  /** The last version in `[first, end)` that is committed at a node up to `limit`; the first one is. */
  #lastUpTo(first: number, end: number, limit: number): number {
    const { writer } = this.#versions;
    const { shift } = this.#nodes;
    let [low, high] = [first, end];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (commitNode(writer[middle], shift) <= limit) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The first version in `[first, end)`, all of one chain, whose commit is after the node or is it; `end`: none. */
  #firstAfter(first: number, end: number, node: number, chain: number, shift: 0 | 1): number {
    const { writer } = this.#versions;
    const { chainCount } = this.#nodes;
    const clocks = this.#clocks;
    let [low, high] = [first, end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const commit = commitNode(writer[middle], shift);
      if (clocks[commit * chainCount + chain] >= node) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #add(from: number, to: number, why: number, cause: number): void {
    const { chainOf, chainCount } = this.#nodes;
    const at = to * chainCount + chainOf[from];
    if (this.#known[at] >= from) return;
    this.#known[at] = from;
    this.#edges.add(from, to, why, cause);
  }
}
