/**
 * What is before what, exactly: by node and chain, the last node of the chain that is before it or is it. Nodes have numbers along chains, so
 * that u is before v when the clock of v for the chain of u is at u or later. k numbers a node for k chains, not one for each node.
 */
import type { Nodes, OrderEdges } from './nodes.ts';

/** Edges by the node they start from: those of u are `edge[start[u]]` to `edge[start[u + 1] - 1]`. */
export interface EdgesBySource {
  readonly start: Int32Array;
  readonly edge: Int32Array;
}

export function edgesBySource({ from, count }: OrderEdges, nodeCount: number): EdgesBySource {
  const start = new Int32Array(nodeCount + 1);
  for (let e = 0; e < count; e += 1) {
    const after = from.array[e] + 1;
    start[after] += 1;
  }
  for (let u = 0; u < nodeCount; u += 1) start[u + 1] += start[u];
  const next = start.slice(0, nodeCount);
  const edge = new Int32Array(count);
  for (let e = 0; e < count; e += 1) {
    const u = from.array[e];
    const at = next[u];
    edge[at] = e;
    next[u] = at + 1;
  }
  return { start, edge };
}

/** The nodes in an order that contains all edges, or fewer of them where there is none (Kahn 1962). */
export function topologicalOrder(nodes: Nodes, edges: OrderEdges, bySource: EdgesBySource): Int32Array {
  const { nodeCount, chainOf } = nodes;
  const left = new Int32Array(nodeCount);
  for (let e = 0; e < edges.count; e += 1) {
    const v = edges.to.array[e];
    left[v] += 1;
  }
  for (let v = 1; v < nodeCount; v += 1) if (chainOf[v] === chainOf[v - 1]) left[v] += 1;
  const order = new Int32Array(nodeCount);
  let size = 0;
  for (let v = 0; v < nodeCount; v += 1) {
    if (left[v] !== 0) continue;
    order[size] = v;
    size += 1;
  }
  const release = (v: number): void => {
    const rest = left[v] - 1;
    left[v] = rest;
    if (rest > 0) return;
    order[size] = v;
    size += 1;
  };
  for (let at = 0; at < size; at += 1) {
    const u = order[at];
    if (u + 1 < nodeCount && chainOf[u] === chainOf[u + 1]) release(u + 1);
    for (let i = bySource.start[u]; i < bySource.start[u + 1]; i += 1) release(edges.to.array[bySource.edge[i]]);
  }
  return order.subarray(0, size);
}

/** O((nodes + edges) * chains). @param clocks is overwritten */
export function fillClocks(
  nodes: Nodes,
  edges: OrderEdges,
  bySource: EdgesBySource,
  order: Int32Array,
  clocks: Int32Array,
): void {
  const { nodeCount, chainOf, chainCount } = nodes;
  clocks.fill(-1);
  const to = edges.to.array;
  const merge = (u: number, v: number): void => {
    const [from, into] = [u * chainCount, v * chainCount];
    if (clocks[into + chainOf[u]] >= u) return; // it has u, hence all that is before u
    for (let c = 0; c < chainCount; c += 1) {
      const theirs = clocks[from + c];
      if (theirs > clocks[into + c]) clocks[into + c] = theirs;
    }
  };
  for (const u of order) {
    clocks[u * chainCount + chainOf[u]] = u;
    if (u + 1 < nodeCount && chainOf[u] === chainOf[u + 1]) merge(u, u + 1);
    for (let i = bySource.start[u]; i < bySource.start[u + 1]; i += 1) merge(u, to[bySource.edge[i]]);
  }
}
