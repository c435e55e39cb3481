/**
 * The edges between the transactions of a history of lists, all that reads, sessions and times say: Adya's direct serialization graph.
 *
 * Appends that were not read come after all that were, in an order that is not known. So the last that was read is before each of them (ww),
 * and so is who read the whole list (rw). Elle (VLDB 2020) does the same. Where that would be too many edges they go through a node between.
 */
import { type CompactHistory, INITIAL, Int32Column, type TransactionIndex, Uint8Column } from '../../history/index.ts';
import type { Reads } from '../reads.ts';
import type { SessionOrder } from '../session-order.ts';
import type { ListReads } from './list-reads.ts';

/** Bits, so that a set of relations is a number. `pass` continues after a node between, and is of the relation that led there. */
export const relation = { ww: 1, wr: 2, rw: 4, so: 8, rt: 16, pass: 32 } as const;

/** From so many edges on, readers and appends without reads are joined by a node between. */
const pairsMax = 10_000;

export class DependencyEdges {
  readonly from = new Int32Column();
  readonly to = new Int32Column();
  readonly relation = new Uint8Column();
  /** -1 for so, rt and pass. */
  readonly key = new Int32Column();
  /** Transactions come first, then the nodes between. */
  nodeCount: number;

  constructor(nodeCount: number) {
    this.nodeCount = nodeCount;
  }

  get count(): number {
    return this.from.length;
  }

  add(from: number, to: number, kind: number, key = -1): void {
    if (from === to) return;
    this.from.push(from);
    this.to.push(to);
    this.relation.push(kind);
    this.key.push(key);
  }

  node(): number {
    this.nodeCount += 1;
    return this.nodeCount - 1;
  }
}

export interface Dependencies {
  readonly edges: DependencyEdges;
  /** By key: the transactions with appends that were not read, where there are two or more. */
  readonly unordered: readonly (readonly TransactionIndex[])[];
  /** Two who read the same version of a key and appended to it, and neither append was read; `null`: there are none. */
  readonly lostUpdate: { readonly a: TransactionIndex; readonly b: TransactionIndex; readonly key: number } | null;
}

export function dependenciesOf(lists: ListReads, reads: Reads, sessions: SessionOrder): Dependencies {
  const { registers } = lists;
  const edges = new DependencyEdges(registers.transactionCount);
  addVersions(edges, lists);
  const tails = tailsOf(lists);
  const readers = new Map<number, TransactionIndex[]>();
  for (let t = 0; t < registers.transactionCount; t += 1) {
    const before = sessions.previous[t];
    if (before >= 0) edges.add(before, t, relation.so);
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1)
      addRead(edges, lists, registers, t, reads, i, tails, readers);
  }
  return { edges, ...addTails(edges, lists, tails, readers) };
}

function addVersions(edges: DependencyEdges, { versionStart, version, appender, registers }: ListReads): void {
  for (let k = 0; k < registers.keyCount; k += 1) {
    for (let i = versionStart[k] + 1; i < versionStart[k + 1]; i += 1)
      edges.add(appender[version[i - 1]], appender[version[i]], relation.ww, k);
  }
}

function addRead(
  edges: DependencyEdges,
  { versionStart, version, appender, position }: ListReads,
  registers: CompactHistory,
  t: TransactionIndex,
  { readKey, readFrom, readOperation }: Reads,
  read: number,
  tails: ReadonlyMap<number, readonly TransactionIndex[]>,
  readers: Map<number, TransactionIndex[]>,
): void {
  const k = readKey[read];
  const from = readFrom[read];
  if (from !== INITIAL) edges.add(from, t, relation.wr, k);
  const place = from === INITIAL ? 0 : position[registers.value[readOperation[read]]];
  const next = versionStart[k] + place;
  if (next < versionStart[k + 1]) {
    edges.add(t, appender[version[next]], relation.rw, k);
  } else if (tails.has(k)) {
    const known = readers.get(k);
    if (known === undefined) readers.set(k, [t]);
    else if (known.at(-1) !== t) known.push(t);
  }
}

/** By key: the members with appends that are in no version that was read, each once. */
function tailsOf({ registers, isMember, position }: ListReads): Map<number, TransactionIndex[]> {
  const { kind, key, value, operationStart, transactionCount } = registers;
  const tails = new Map<number, TransactionIndex[]>();
  for (let t = 0; t < transactionCount; t += 1) {
    if (isMember[t] === 0) continue;
    for (let o = operationStart[t]; o < operationStart[t + 1]; o += 1) {
      if (kind[o] !== 1 || position[value[o]] !== 0) continue;
      const k = key[o];
      const known = tails.get(k);
      if (known === undefined) tails.set(k, [t]);
      else if (known.at(-1) !== t) known.push(t);
    }
  }
  return tails;
}

function addTails(
  edges: DependencyEdges,
  { versionStart, version, appender }: ListReads,
  tails: ReadonlyMap<number, readonly TransactionIndex[]>,
  readers: ReadonlyMap<number, readonly TransactionIndex[]>,
): Omit<Dependencies, 'edges'> {
  const unordered: (readonly TransactionIndex[])[] = [];
  let lostUpdate: Dependencies['lostUpdate'] = null;
  for (const [key, appending] of tails) {
    const end = versionStart[key + 1];
    const last = end > versionStart[key] ? appender[version[end - 1]] : -1;
    for (const t of appending) if (last !== -1) edges.add(last, t, relation.ww, key);
    if (appending.length > 1) unordered.push(appending);
    const reading = readers.get(key) ?? [];
    const isAppending = new Set(appending);
    const both = reading.filter((t) => isAppending.has(t));
    if (both.length > 1) lostUpdate ??= { a: both[0], b: both[1], key };
    addAntiDependencies(edges, key, reading, appending, both);
  }
  return { unordered, lostUpdate };
}

/** From each of `reading` to each other of `appending`; `both` are in both. */
function addAntiDependencies(
  edges: DependencyEdges,
  key: number,
  reading: readonly TransactionIndex[],
  appending: readonly TransactionIndex[],
  both: readonly TransactionIndex[],
): void {
  if (reading.length * appending.length <= pairsMax) {
    for (const from of reading) for (const to of appending) edges.add(from, to, relation.rw, key);
    return;
  }
  // A way through a node from a transaction back to itself would be a cycle that is none.
  const isBoth = new Set(both);
  join(
    edges,
    key,
    reading,
    appending.filter((t) => !isBoth.has(t)),
  );
  join(
    edges,
    key,
    reading.filter((t) => !isBoth.has(t)),
    both,
  );
  // All but itself: those before it, through a chain of nodes, and those after it, through another.
  for (const order of [both, both.toReversed()]) {
    let next = -1;
    for (const t of order) {
      if (next >= 0) edges.add(t, next, relation.rw, key);
      const node = edges.node();
      edges.add(node, t, relation.pass, key);
      if (next >= 0) edges.add(node, next, relation.pass, key);
      next = node;
    }
  }
}

function join(
  edges: DependencyEdges,
  key: number,
  reading: readonly TransactionIndex[],
  appending: readonly TransactionIndex[],
): void {
  if (reading.length === 0 || appending.length === 0) return;
  const node = edges.node();
  for (const from of reading) edges.add(from, node, relation.rw, key);
  for (const to of appending) edges.add(node, to, relation.pass, key);
}

/**
 * Real time: moments in a chain, each after the transactions that have ended and before those that start after that. Two transactions are ordered
 * through moments exactly where one ended before the other started. Members without an end, of unknown fate, precede none.
 * @returns do all members have the times that are to be known? O(n log n)
 */
export function addRealTime(edges: DependencyEdges, history: CompactHistory, isMember: Uint8Array): boolean {
  const members = [...isMember.keys()].filter((t) => isMember[t] === 1);
  const isUnknown = (t: number): boolean => history.status[t] === 2;
  const start = (t: number): number => history.start?.[t] ?? NaN;
  const end = (t: number): number => (isUnknown(t) ? NaN : (history.end?.[t] ?? NaN));
  const byStart = members.filter((t) => !Number.isNaN(start(t))).toSorted((a, b) => start(a) - start(b));
  const byEnd = members.filter((t) => !Number.isNaN(end(t))).toSorted((a, b) => end(a) - end(b));
  let moment = -1;
  let next = 0;
  for (const t of byStart) {
    let isNew = true;
    while (next < byEnd.length && end(byEnd[next]) < start(t)) {
      if (isNew) {
        const node = edges.node();
        if (moment >= 0) edges.add(moment, node, relation.pass);
        moment = node;
        isNew = false;
      }
      edges.add(byEnd[next], moment, relation.rt);
      next += 1;
    }
    if (moment >= 0) edges.add(moment, t, relation.pass);
  }
  return members.every((t) => !Number.isNaN(start(t)) && (isUnknown(t) || !Number.isNaN(end(t))));
}
