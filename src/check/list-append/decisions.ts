/**
 * At which levels can a history of lists be? With the order of versions known, the definition (`src/isolation/definition.ts`) with ww in the
 * commit order is a question about cycles:
 *
 * - pl-2: ww and wr; read-committed, read-atomic, causal: so, wr and ww have no cycle, and no read saw a version older than one that is visible
 *   to it (`stale-reads.ts`);
 * - prefix: so, wr, ww, and so or wr followed by rw; snapshot-isolation: so, wr and ww, and each of them followed by rw (Cerone and Gotsman,
 *   JACM 2018, theorem 10); a transaction is two nodes here, its commit and the snapshot that is only left by rw;
 * - serializable: so, wr, ww, rw; strict-serializable: real time too.
 */
import { type DependencyEdges, relation } from './edges.ts';
import { type Graph, graphOf } from './graph.ts';

/** Of which edges the graph of a level consists. */
export type GraphLevel =
  | 'pl-2'
  | 'read-committed'
  | 'prefix'
  | 'snapshot-isolation'
  | 'serializable'
  | 'strict-serializable';

const { ww, wr, rw, so, rt, pass } = relation;

const relations: Record<GraphLevel, number> = {
  'pl-2': ww | wr,
  'read-committed': ww | wr | so,
  prefix: ww | wr | so | rw | pass,
  'snapshot-isolation': ww | wr | so | rw | pass,
  serializable: ww | wr | so | rw | pass,
  'strict-serializable': ww | wr | so | rw | rt | pass,
};

/** Edges with these relations lead to the snapshot too. */
const beforeSnapshot: Partial<Record<GraphLevel, number>> = {
  prefix: so | wr,
  'snapshot-isolation': so | wr | ww,
};

/** Node v of the edges is node v here, its commit; its snapshot, at levels that have one, is `nodeCount + v`. */
export function levelGraph(edges: DependencyEdges, level: GraphLevel): Graph {
  const { from, to, relation: kinds, nodeCount, count } = edges;
  const wanted = relations[level];
  const snapshots = beforeSnapshot[level];
  if (snapshots === undefined) {
    return graphOf(nodeCount, (add) => {
      for (let e = 0; e < count; e += 1) if ((kinds.array[e] & wanted) !== 0) add(from.array[e], to.array[e], e);
    });
  }
  return graphOf(2 * nodeCount, (add) => {
    for (let e = 0; e < count; e += 1) {
      const [source, target, kind] = [from.array[e], to.array[e], kinds.array[e]];
      if ((kind & wanted) === 0) continue;
      add(kind === rw ? nodeCount + source : source, target, e);
      if ((kind & snapshots) !== 0) add(source, nodeCount + target, e);
    }
  });
}
