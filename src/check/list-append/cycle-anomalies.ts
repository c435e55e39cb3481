/**
 * Elle's cycle anomalies: what a cycle is called, and an example of each name that a history shows. jepsen-io/elle: src/elle/txn.clj.
 *
 * A name is a set of relations, a first edge and what the rest must be. For each, the components of the graph of those relations (Tarjan), and in
 * them a breadth-first search from the first edges over pairs of a node and what was passed so far. Every one is bounded: that none is found
 * does not prove that there is none. Levels are decided elsewhere.
 */
import { Int32Column, type TransactionIndex } from '../../history/index.ts';
import { type DependencyEdges, relation } from './edges.ts';
import { type Components, componentsOf, type Graph, graphOf } from './graph.ts';

/** An edge of a cycle, `from` before `to`. */
export interface ListEdge {
  readonly from: TransactionIndex;
  readonly to: TransactionIndex;
  readonly relation: 'ww' | 'wr' | 'rw' | 'so' | 'rt';
  /** -1: none. */
  readonly key: number;
  /** Of wr and rw, where it is known: the read. */
  readonly operation?: number;
}

const shapes = ['G0', 'G1c', 'G-single', 'G-nonadjacent', 'G2-item'] as const;
type Shape = (typeof shapes)[number];
export type ListCycleName = `${Shape}${'' | '-process' | '-realtime'}`;

/** Elle's name. */
export function nameListCycle(cycle: readonly ListEdge[]): ListCycleName {
  const has = (kind: ListEdge['relation']): boolean => cycle.some((edge) => edge.relation === kind);
  const suffix = has('rt') ? '-realtime' : has('so') ? '-process' : '';
  return `${shapeOf(cycle)}${suffix}`;
}

function shapeOf(cycle: readonly ListEdge[]): Shape {
  const isRw = cycle.map((edge) => edge.relation === 'rw');
  const count = isRw.filter(Boolean).length;
  if (count === 0) return cycle.some((edge) => edge.relation === 'wr') ? 'G1c' : 'G0';
  if (count === 1) return 'G-single';
  return isRw.some((is, i) => is && isRw[(i + 1) % isRw.length]) ? 'G2-item' : 'G-nonadjacent';
}

/** Without the nodes between: what they join is one edge. */
export function cycleOf(edges: DependencyEdges, ids: readonly number[], transactionCount: number): ListEdge[] {
  const names = { [relation.ww]: 'ww', [relation.wr]: 'wr', [relation.rw]: 'rw', [relation.so]: 'so' } as const;
  const steps = ids.map((e) => ({
    from: edges.from.array[e],
    to: edges.to.array[e],
    relation: names[edges.relation.array[e] as keyof typeof names] ?? 'rt',
    key: edges.key.array[e],
  }));
  const first = steps.findIndex(({ from }) => from < transactionCount);
  const cycle: ListEdge[] = [];
  for (const step of [...steps.slice(first), ...steps.slice(0, first)]) {
    const last = cycle.at(-1);
    if (step.from < transactionCount || last === undefined) cycle.push(step);
    else cycle[cycle.length - 1] = { ...last, to: step.to };
  }
  return cycle;
}

const { ww, wr, rw, so, rt, pass } = relation;

interface Search {
  readonly shape: Shape;
  readonly relations: number;
  /** The relation of the first edge. */
  readonly first: number;
}

const searches: readonly Search[] = [
  { shape: 'G0', relations: ww, first: ww },
  { shape: 'G1c', relations: ww | wr, first: wr },
  { shape: 'G-single', relations: ww | wr | rw | pass, first: rw },
  { shape: 'G-nonadjacent', relations: ww | wr | rw | pass, first: rw },
  { shape: 'G2-item', relations: ww | wr | rw | pass, first: rw },
];

const kinds = [
  { suffix: '', relations: 0 },
  { suffix: '-process', relations: so },
  { suffix: '-realtime', relations: so | rt | pass },
] as const;

/** Nodes that one search may visit, and first edges that it may try. */
const visitsMax = 200_000;
const startsMax = 2_000;

/**
 * An example of each name that is found; of a shape the plainest kind only.
 * @param all the components of the graph of all edges: no cycle leaves one
 */
export function cycleAnomalies(
  edges: DependencyEdges,
  all: Components,
  transactionCount: number,
): Map<ListCycleName, ListEdge[]> {
  const inner = new Int32Column();
  for (let e = 0; e < edges.count; e += 1) if (all.of[edges.from.array[e]] === all.of[edges.to.array[e]]) inner.push(e);
  const found = new Map<ListCycleName, ListEdge[]>();
  const hasShape = new Set<Shape>();
  for (const kind of kinds) {
    for (const search of searches) {
      if (hasShape.has(search.shape)) continue;
      const cycle = findCycle(edges, inner.taken(), search, search.relations | kind.relations, transactionCount);
      if (cycle === null) continue;
      hasShape.add(search.shape);
      found.set(nameListCycle(cycle), cycle);
    }
  }
  return found;
}

function findCycle(
  edges: DependencyEdges,
  inner: Int32Array,
  search: Search,
  relations: number,
  transactionCount: number,
): ListEdge[] | null {
  const graph = graphOf(edges.nodeCount, (add) => {
    for (const e of inner)
      if ((edges.relation.array[e] & relations) !== 0) add(edges.from.array[e], edges.to.array[e], e);
  });
  const components = componentsOf(graph);
  const budget = { visits: visitsMax, starts: startsMax };
  for (const component of components.cyclic) {
    for (const v of component) {
      for (let at = graph.start[v]; at < graph.start[v + 1]; at += 1) {
        const e = graph.edge[at];
        const isFirst = edges.relation.array[e] === search.first && components.of[graph.to[at]] === components.of[v];
        if (!isFirst) continue;
        budget.starts -= 1;
        const ids = closeCycle(edges, graph, components, search.shape, e, budget);
        const cycle = ids === null ? null : cycleOf(edges, ids, transactionCount);
        if (cycle !== null && isSimple(cycle)) return cycle;
        if (budget.visits <= 0 || budget.starts <= 0) return null;
      }
    }
  }
  return null;
}

/** A path that crosses itself is two cycles, and not of this shape. */
function isSimple(cycle: readonly ListEdge[]): boolean {
  return new Set(cycle.map(({ from }) => from)).size === cycle.length;
}

/** Of a way: was the last edge rw, were there two or more, and two after one another? */
const state = { lastIsRw: 1, several: 2, adjacent: 4 } as const;

/** A way from the end of the first edge back to its begin that makes the shape. */
function closeCycle(
  edges: DependencyEdges,
  graph: Graph,
  { of }: Components,
  shape: Shape,
  first: number,
  budget: { visits: number },
): number[] | null {
  const begin = edges.from.array[first];
  const firstState = shape === 'G0' || shape === 'G1c' ? 0 : state.lastIsRw;
  const root = 8 * edges.to.array[first] + firstState;
  const cameBy = new Map<number, readonly [number, number]>([[root, [-1, first]]]);
  let level = [root];
  while (level.length > 0 && budget.visits > 0) {
    const following: number[] = [];
    for (const place of level) {
      const v = place >> 3;
      budget.visits -= 1;
      for (let at = graph.start[v]; at < graph.start[v + 1]; at += 1) {
        const w = graph.to[at];
        const next = of[w] === of[begin] ? after(place & 7, edges.relation.array[graph.edge[at]], shape) : -1;
        if (next === -1 || cameBy.has(8 * w + next)) continue;
        cameBy.set(8 * w + next, [place, graph.edge[at]]);
        if (w === begin && isShape(next, shape)) return wayBack(8 * w + next, cameBy);
        if (w !== begin) following.push(8 * w + next);
      }
    }
    level = following;
  }
  return null;
}

/** The state after one more edge; -1: the shape has no such edge there. */
function after(before: number, kind: number, shape: Shape): number {
  if (kind === pass) return before;
  if (kind !== rw) return before & ~state.lastIsRw;
  if (shape === 'G-single' || (shape === 'G-nonadjacent' && (before & state.lastIsRw) !== 0)) return -1;
  return before | state.lastIsRw | state.several | ((before & state.lastIsRw) === 0 ? 0 : state.adjacent);
}

/** Is a way with this state, which comes back to a first edge, a cycle of the shape? */
function isShape(end: number, shape: Shape): boolean {
  const isAdjacent = (end & state.adjacent) !== 0 || ((end & state.lastIsRw) !== 0 && (end & state.several) !== 0);
  switch (shape) {
    case 'G0':
    case 'G1c':
    case 'G-single':
      return true;
    case 'G-nonadjacent':
      return (end & state.several) !== 0 && !isAdjacent;
    case 'G2-item':
      return isAdjacent;
  }
}

function wayBack(end: number, cameBy: ReadonlyMap<number, readonly [number, number]>): number[] {
  const way: number[] = [];
  for (let place = end; place !== -1; ) {
    const [before, edge] = cameBy.get(place) ?? [-1, -1];
    way.push(edge);
    place = before;
  }
  return way.toReversed();
}
