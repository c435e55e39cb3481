/** Directed graphs as columns: strongly connected components (Tarjan 1972, without recursion) and short cycles (breadth first). */

export interface Graph {
  readonly nodeCount: number;
  /** The edges that leave node v: `[start[v], start[v + 1])` of `to` and `edge`. */
  readonly start: Int32Array;
  readonly to: Int32Array;
  /** What the edge is to the maker of the graph. */
  readonly edge: Int32Array;
}

/** A graph from pairs. @param each is called twice, with the same pairs. Linear. */
export function graphOf(
  nodeCount: number,
  each: (add: (from: number, to: number, edge: number) => void) => void,
): Graph {
  const start = new Int32Array(nodeCount + 2);
  each((from) => {
    start[from + 2] += 1;
  });
  for (let v = 2; v < start.length; v += 1) start[v] += start[v - 1];
  const to = new Int32Array(start[nodeCount + 1]);
  const edge = new Int32Array(to.length);
  each((from, target, id) => {
    const at = start[from + 1];
    to[at] = target;
    edge[at] = id;
    start[from + 1] = at + 1;
  });
  return { nodeCount, start: start.subarray(0, nodeCount + 1), to, edge };
}

export interface Components {
  /** By node: its component. Components are numbered so that edges lead to the same or a smaller number. */
  readonly of: Int32Array;
  readonly count: number;
  /** Those with more than one node, each with its nodes; the smallest first. */
  readonly cyclic: readonly Int32Array[];
}

export function componentsOf({ nodeCount, start, to }: Graph): Components {
  const of = new Int32Array(nodeCount).fill(-1);
  const index = new Int32Array(nodeCount);
  const low = new Int32Array(nodeCount);
  const next = start.slice(0, nodeCount);
  const way = new Int32Array(nodeCount);
  const open = new Int32Array(nodeCount);
  const cyclic: Int32Array[] = [];
  let [count, visited, openCount] = [0, 0, 0];
  for (let root = 0; root < nodeCount; root += 1) {
    if (index[root] !== 0) continue;
    let depth = 0;
    const enter = (v: number): void => {
      visited += 1;
      index[v] = visited;
      low[v] = visited;
      way[depth] = v;
      depth += 1;
      open[openCount] = v;
      openCount += 1;
    };
    enter(root);
    while (depth > 0) {
      const v = way[depth - 1];
      const at = next[v];
      if (at < start[v + 1]) {
        next[v] = at + 1;
        const w = to[at];
        if (index[w] === 0) enter(w);
        else if (of[w] === -1 && index[w] < low[v]) low[v] = index[w];
        continue;
      }
      depth -= 1;
      const parent = depth > 0 ? way[depth - 1] : -1;
      if (parent >= 0 && low[v] < low[parent]) low[parent] = low[v];
      if (low[v] !== index[v]) continue;
      const last = openCount;
      do {
        openCount -= 1;
        of[open[openCount]] = count;
      } while (open[openCount] !== v);
      if (last - openCount > 1) cyclic.push(open.slice(openCount, last));
      count += 1;
    }
  }
  return { of, count, cyclic: cyclic.toSorted((a, b) => a.length - b.length) };
}

/** Cycles that are tried for a shorter one. */
const startsMax = 32;
/** Edges that may be followed for that. */
const stepsMax = 5_000_000;

/** The edges of a short cycle in a component, as `graph.edge`, in order. */
export function shortCycle(graph: Graph, { of }: Components, component: Int32Array): number[] {
  let best: number[] = [];
  let steps = 0;
  const cameBy = new Map<number, readonly [number, number]>();
  for (const root of component.subarray(0, startsMax)) {
    if (best.length === 2 || (best.length > 0 && steps > stepsMax)) break;
    cameBy.clear();
    let level = [root];
    let isFound = false;
    for (let length = 1; level.length > 0 && !isFound && (best.length === 0 || length < best.length); length += 1) {
      const following: number[] = [];
      for (const v of level) {
        for (let at = graph.start[v]; at < graph.start[v + 1] && !isFound; at += 1) {
          const w = graph.to[at];
          steps += 1;
          if (of[w] !== of[root] || cameBy.has(w)) continue;
          cameBy.set(w, [v, graph.edge[at]]);
          isFound = w === root;
          following.push(w);
        }
      }
      level = following;
    }
    if (isFound) best = wayTo(root, cameBy);
  }
  return best;
}

function wayTo(root: number, cameBy: ReadonlyMap<number, readonly [number, number]>): number[] {
  const way: number[] = [];
  let v = root;
  do {
    const [before, edge] = cameBy.get(v) ?? [root, -1];
    way.push(edge);
    v = before;
  } while (v !== root);
  return way.toReversed();
}

/** The nodes so that edges lead forwards; the graph must have no cycle. */
export function topologicalOrder({ of, count }: Components): Int32Array {
  const order = new Int32Array(count);
  of.forEach((component, node) => (order[count - 1 - component] = node));
  return order;
}
