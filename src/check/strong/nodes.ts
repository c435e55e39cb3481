/**
 * What the levels above causal order: points of a history. At serializable a transaction is one point. At prefix and snapshot-isolation it is
 * two, its snapshot and, after that, its commit (Crooks et al., PODC 2017; Viper, EuroSys 2023), and the axioms of the definition say:
 *
 * - what is before t by so or wr committed before the snapshot of t;
 * - where t3 reads x from t1, every other writer of x committed before t1 did, or after the snapshot of t3;
 * - snapshot-isolation: of two writers of one key, one committed before the snapshot of the other.
 *
 * For a commit order that satisfies the definition puts each snapshot right after the last commit that must be before it, and the other way
 * round. Points are numbered along chains (see `chains.ts`), so that a number tells the place in a chain.
 */
import { type CompactHistory, INITIAL, Int32Column, type TransactionIndex } from '../../history/index.ts';
import type { Chains } from '../chains.ts';
import type { Reads } from '../reads.ts';
import type { SessionOrder } from '../session-order.ts';
import { commitNode, memberAt, type Shift, snapshotNode } from './node.ts';
import { endTimes, type EndTimes } from './real-time.ts';

export type StrongLevel = 'prefix' | 'snapshot-isolation' | 'serializable' | 'strict-serializable';

export interface Nodes {
  readonly level: StrongLevel;
  /** 1 where snapshot and commit are two points, else 0: see node.ts. */
  readonly shift: Shift;
  readonly memberCount: number;
  readonly nodeCount: number;
  /** Members are numbered chain by chain. By member: the transaction; by transaction: the member, or -1. */
  readonly transactionOf: Int32Array;
  readonly memberOf: Int32Array;
  /** By node. Nodes of a chain stand one after another, each before the next. */
  readonly chainOf: Int32Array;
  readonly chainCount: number;
  readonly times: EndTimes | null;
}

export function nodesOf(history: CompactHistory, chains: Chains, level: StrongLevel): Nodes {
  const shift = level === 'prefix' || level === 'snapshot-isolation' ? 1 : 0;
  const memberCount = chains.start[chains.count];
  const transactionOf = chains.member.slice(0, memberCount);
  const memberOf = new Int32Array(history.transactionCount).fill(-1);
  transactionOf.forEach((t, m) => (memberOf[t] = m));
  const times = level === 'strict-serializable' ? endTimes(history, transactionOf) : null;
  const nodeCount = snapshotNode(memberCount, shift) + (times?.count ?? 0);
  const chainOf = new Int32Array(nodeCount).fill(chains.count);
  for (let m = 0; m < memberCount; m += 1) {
    const chain = chains.of[transactionOf[m]];
    chainOf[snapshotNode(m, shift)] = chain;
    chainOf[commitNode(m, shift)] = chain;
  }
  const chainCount = chains.count + (times === null || times.count === 0 ? 0 : 1);
  return { level, shift, memberCount, nodeCount, transactionOf, memberOf, chainOf, chainCount, times };
}

/** The transaction that a node is of; `INITIAL` for a point in time. */
export function transactionAt({ shift, memberCount, transactionOf }: Nodes, node: number): TransactionIndex {
  const member = memberAt(node, shift);
  return member < memberCount ? transactionOf[member] : INITIAL;
}

/** Why one node is before another: the rules by which edges are found. */
export const rule = {
  sessionOrder: 0,
  writeRead: 1,
  realTime: 2,
  /** The initial version is the first: who read it did so before all others write. */
  initialRead: 3,
  /** A writer that is before the reader is before the writer that was read. `cause`: the read. */
  overwritten: 4,
  /** A reader is before the writers that come after the writer that it read from. `cause`: the version read. */
  antiDependency: 5,
  /** Of two writers of a key, the one that cannot be the later is the earlier. `cause`: the key. */
  writeConflict: 6,
  decision: 7,
  learned: 8,
} as const;

/** Edges of an order of nodes, with reasons. Neighbours in a chain have none: that they follow each other is understood. */
export class OrderEdges {
  readonly from = new Int32Column();
  readonly to = new Int32Column();
  readonly rule = new Int32Column();
  readonly cause = new Int32Column();

  get count(): number {
    return this.from.length;
  }

  /** Takes the edges from the given one on away. */
  cut(count: number): ReturnType<OrderEdges['at']>[] {
    const taken = Array.from({ length: this.count - count }, (_, i) => this.at(count + i));
    for (const column of [this.from, this.to, this.rule, this.cause]) column.length = count;
    return taken;
  }

  at(e: number): [from: number, to: number, why: number, cause: number] {
    const { from, to, rule: rules, cause } = this;
    return [from.array[e], to.array[e], rules.array[e], cause.array[e]];
  }

  add(from: number, to: number, why: number, cause: number): void {
    this.from.push(from);
    this.to.push(to);
    this.rule.push(why);
    this.cause.push(cause);
  }
}

/** so, wr and real time, as far as chains do not say it. */
export function addKnownEdges(edges: OrderEdges, nodes: Nodes, reads: Reads, sessions: SessionOrder): void {
  const { shift, memberCount, transactionOf, memberOf, times } = nodes;
  for (let m = 0; m < memberCount; m += 1) {
    const t = transactionOf[m];
    const before = sessions.previous[t];
    if (before >= 0) addUnlessNext(edges, nodes, memberOf[before], m, rule.sessionOrder, -1);
    let last = -1;
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1) {
      const from = reads.readFrom[i];
      if (from === INITIAL || from === last) continue;
      last = from;
      addUnlessNext(edges, nodes, memberOf[from], m, rule.writeRead, i);
    }
  }
  if (times === null) return;
  const first = snapshotNode(memberCount, shift);
  for (let m = 0; m < memberCount; m += 1) {
    const [end, start] = [times.endsAt[m], times.startsAfter[m]];
    if (end >= 0) edges.add(m, first + end, rule.realTime, -1);
    if (start >= 0) edges.add(first + start, m, rule.realTime, -1);
  }
}

function addUnlessNext(edges: OrderEdges, nodes: Nodes, before: number, m: number, why: number, cause: number): void {
  const { shift, chainOf } = nodes;
  if (before + 1 === m && chainOf[snapshotNode(before, shift)] === chainOf[snapshotNode(m, shift)]) return;
  edges.add(commitNode(before, shift), snapshotNode(m, shift), why, cause);
}
