/**
 * Is there a commit order that contains so, wr and the edges that a level forces? A topological sort (Kahn 1962), backwards, because the
 * predecessors of a transaction by so and wr are at hand: the one before it in its session and those it reads from. Linear in the edges.
 */
import type { TimeLimit } from '../base/index.ts';
import { INITIAL, type CompactHistory } from '../history/index.ts';
import type { ForcedEdges } from './forced-edges.ts';
import type { Reads } from './reads.ts';
import type { SessionOrder } from './session-order.ts';

export interface OrderProblem {
  readonly history: CompactHistory;
  readonly reads: Reads;
  /** `null` where the level does not ask for session order. */
  readonly sessions: SessionOrder | null;
  readonly forced: ForcedEdges | null;
  /** Until when evidence is sought. Default: no limit. */
  readonly evidenceLimit?: TimeLimit;
}

/** Edges by the transaction that they lead to: those of t are at `[start[t], start[t + 1])` of `edge`, positions in the forced edges. */
export interface ForcedByTarget {
  readonly start: Int32Array;
  readonly edge: Int32Array;
}

/**
 * The members in an order that contains all edges, or fewer of them where there is none. The edges to the initial state do not count: the
 * caller looks at `ForcedEdges.toInitial` first.
 */
export function commitOrder(problem: OrderProblem): Int32Array {
  const { history, reads, sessions, forced } = problem;
  const { readStart, readFrom, isMember } = reads;
  const n = history.transactionCount;
  const successors = countSuccessors(problem);
  const byTarget = forced === null ? null : forcedByTarget(forced, n);
  const order = new Int32Array(n);
  const stack = new Int32Array(n);
  let at = n;
  let height = 0;
  const release = (t: number): void => {
    const left = successors[t] - 1;
    successors[t] = left;
    if (left === 0) {
      stack[height] = t;
      height += 1;
    }
  };
  for (let last = n - 1; last >= 0; last -= 1) {
    if (isMember[last] === 0 || successors[last] !== 0) continue;
    stack[height] = last;
    height += 1;
    while (height > 0) {
      height -= 1;
      const t = stack[height];
      at -= 1;
      order[at] = t;
      successors[t] = taken;
      const previous = sessions === null ? -1 : sessions.previous[t];
      if (previous >= 0) release(previous);
      const end = readStart[t + 1];
      for (let i = readStart[t]; i < end; i += 1) if (readFrom[i] !== INITIAL) release(readFrom[i]);
      if (byTarget === null || forced === null) continue;
      const edgeEnd = byTarget.start[t + 1];
      for (let e = byTarget.start[t]; e < edgeEnd; e += 1) release(forced.from.array[byTarget.edge[e]]);
    }
  }
  return order.subarray(at);
}

/** Of a transaction that has its place. */
const taken = -1;

function countSuccessors({ history, reads, sessions, forced }: OrderProblem): Int32Array {
  const { readFrom, readStart } = reads;
  const n = history.transactionCount;
  const successors = new Int32Array(n);
  const count = (from: number): void => {
    if (from >= 0) successors[from] += 1;
  };
  const readCount = readStart[n];
  for (let i = 0; i < readCount; i += 1) count(readFrom[i]);
  if (sessions !== null) for (let t = 0; t < n; t += 1) count(sessions.previous[t]);
  if (forced !== null)
    for (let e = 0; e < forced.count; e += 1) if (forced.to.array[e] !== INITIAL) count(forced.from.array[e]);
  return successors;
}

export function forcedByTarget({ to, count }: ForcedEdges, transactionCount: number): ForcedByTarget {
  const start = new Int32Array(transactionCount + 1);
  for (let e = 0; e < count; e += 1) {
    const target = to.array[e];
    if (target !== INITIAL) start[target + 1] += 1;
  }
  for (let t = 0; t < transactionCount; t += 1) start[t + 1] += start[t];
  const next = start.slice(0, transactionCount);
  const edge = new Int32Array(start[transactionCount]);
  for (let e = 0; e < count; e += 1) {
    const target = to.array[e];
    if (target === INITIAL) continue;
    const at = next[target];
    edge[at] = e;
    next[target] = at + 1;
  }
  return { start, edge };
}
