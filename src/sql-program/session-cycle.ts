/**
 * Sessions whose transactions are serializable one by one, and yet no order of the whole sessions explains them: one session looked, another
 * wrote, and the first acted on what it had seen. The dependencies of the transactions (write-read, write-write, anti-dependency, by a commit
 * order that the history has) are read as edges between sessions, and the shortest cycle is taken. No isolation level prevents such a cycle:
 * it takes one transaction around both statements, or a constraint.
 */
import { type History, INITIAL, type Key, type TransactionIndex } from '../history/index.ts';
import type { Edge } from '../isolation/index.ts';
import { sessionName } from './cause-text.ts';

/** @param commitOrder of the committed transactions; reads of aborted ones count: they decided what their session did next */
export function sessionCycle(history: History, commitOrder: readonly TransactionIndex[]): readonly Edge[] | null {
  const edges = shortestFirst(dependencies(history, commitOrder));
  const sessionOf = sessionsOf(history);
  for (const first of edges) {
    const second = edges.find(
      (edge) => sessionOf(edge.from) === sessionOf(first.to) && sessionOf(edge.to) === sessionOf(first.from),
    );
    if (second !== undefined) return [first, second];
  }
  return longerCycle(edges, sessionOf);
}

type SessionOf = (t: TransactionIndex) => string;

/** A session of the program may have several connections. */
function sessionsOf({ sessions, transactions }: History): SessionOf {
  return (t) => sessionName(sessions[transactions[t]?.session ?? -1] ?? '');
}

/** Between different sessions. */
function dependencies(history: History, commitOrder: readonly TransactionIndex[]): Edge[] {
  const { transactions } = history;
  const writers = writersByKey(history, commitOrder);
  const edges: Edge[] = [];
  transactions.forEach(({ operations }, t) =>
    operations.forEach((operation, o) => {
      if (operation.kind === 'write' || operation.from === undefined) return;
      const { key, from, condition } = operation;
      if (from !== INITIAL) edges.push({ from, to: t, relation: 'wr', key, operation: o });
      const order = writers.get(key) ?? [];
      const next = order.slice(order.indexOf(from) + 1).find((writer) => writer !== t);
      const predicate = condition === undefined ? {} : { condition };
      if (next !== undefined) edges.push({ from: t, to: next, relation: 'rw', key, operation: o, ...predicate });
    }),
  );
  for (const [key, order] of writers)
    order.slice(1).forEach((to, i) => edges.push({ from: order[i] ?? to, to, relation: 'ww', key }));
  const sessionOf = sessionsOf(history);
  return edges.filter(({ from, to }) => sessionOf(from) !== sessionOf(to));
}

function writersByKey(
  { transactions }: History,
  commitOrder: readonly TransactionIndex[],
): Map<Key, TransactionIndex[]> {
  const writers = new Map<Key, TransactionIndex[]>();
  for (const t of commitOrder) {
    const keys = new Set(transactions[t]?.operations.flatMap(({ kind, key }) => (kind === 'write' ? [key] : [])));
    for (const key of keys) writers.set(key, [...(writers.get(key) ?? []), t]);
  }
  return writers;
}

/** What was not seen says more than what was; what a condition did not find says most. */
function shortestFirst(edges: readonly Edge[]): Edge[] {
  const rank = ({ relation, condition }: Edge): number =>
    relation === 'rw' ? (condition === undefined ? 1 : 0) : relation === 'ww' ? 2 : 3;
  return edges.toSorted((a, b) => rank(a) - rank(b));
}

function longerCycle(edges: readonly Edge[], sessionOf: SessionOf): readonly Edge[] | null {
  let best: readonly Edge[] | null = null;
  for (const first of edges) {
    const back = shortestPath(edges, sessionOf(first.to), sessionOf(first.from), sessionOf);
    if (back !== null && (best === null || back.length + 1 < best.length)) best = [first, ...back];
  }
  return best;
}

function shortestPath(
  edges: readonly Edge[],
  start: string,
  goal: string,
  sessionOf: SessionOf,
): readonly Edge[] | null {
  const paths = new Map<string, readonly Edge[]>([[start, []]]);
  for (const [session, path] of paths) {
    if (session === goal) return path;
    for (const edge of edges) {
      const next = sessionOf(edge.to);
      if (sessionOf(edge.from) === session && !paths.has(next)) paths.set(next, [...path, edge]);
    }
  }
  return null;
}
