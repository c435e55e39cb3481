/** Which transactions come before which whatever else is the case: from what is known of a history in which some reads are not. */
import type { TimeLimit } from '../../base/index.ts';
import { type CompactHistory, INITIAL, type TransactionIndex } from '../../history/index.ts';
import { chainsOf } from '../chains.ts';
import { commitOrder } from '../commit-order.ts';
import type { Reads } from '../reads.ts';
import { sessionOrder } from '../session-order.ts';
import type { CompactLevel } from '../verdict.ts';
import { edgesBySource, fillClocks, topologicalOrder } from './clocks.ts';
import { commitNode, snapshotNode } from './node.ts';
import { addKnownEdges, nodesOf, OrderEdges, type StrongLevel } from './nodes.ts';
import { saturate } from './saturate.ts';
import { versionsOf } from './versions.ts';

export interface SurelyBefore {
  /** Is what one transaction wrote before the reads of the other? For transactions that are surely members. */
  readonly isBefore: (a: TransactionIndex, b: TransactionIndex) => boolean;
  /** Does the level forbid a read of what was overwritten before the reader? */
  readonly overwriting: boolean;
  /** Those that surely are members. */
  readonly writersOf: (key: number) => TransactionIndex[];
}

/** @returns `null` where nothing is known: at pl-2, which asks for no session order, or where what is known is a contradiction. */
export function surelyBefore(
  history: CompactHistory,
  reads: Reads,
  level: CompactLevel,
  limit: TimeLimit,
): SurelyBefore | null {
  if (level === 'pl-2' || level === 'read-uncommitted') return null;
  const sessions = sessionOrder(history, reads);
  const order = commitOrder({ history, reads, sessions, forced: null });
  if (order.length < sessions.member.length) return null;
  const isStrong = !(level === 'read-committed' || level === 'read-atomic' || level === 'causal');
  const strongLevel: StrongLevel = isStrong ? level : 'serializable';
  const nodes = nodesOf(history, chainsOf(history, reads, sessions, order, 64), strongLevel);
  const { shift, chainOf, chainCount, memberOf, transactionOf, nodeCount } = nodes;
  if (nodeCount * chainCount > 2 ** 27) return null;
  const versions = versionsOf(history, nodes, reads);
  const edges = new OrderEdges();
  addKnownEdges(edges, nodes, reads, sessions);
  let clocks: Int32Array;
  if (isStrong) {
    const saturated = saturate(nodes, versions, edges, limit);
    if (saturated.order.length < nodeCount) return null;
    clocks = saturated.clocks;
  } else {
    clocks = new Int32Array(nodeCount * chainCount);
    const bySource = edgesBySource(edges, nodeCount);
    fillClocks(nodes, edges, bySource, topologicalOrder(nodes, edges, bySource), clocks);
  }
  return {
    isBefore: (a, b) => {
      const [first, second] = [memberOf[a], memberOf[b]];
      if (a === INITIAL || first < 0 || second < 0 || first === second) return false;
      const commit = commitNode(first, shift);
      return clocks[snapshotNode(second, shift) * chainCount + chainOf[commit]] >= commit;
    },
    overwriting: isStrong || level === 'causal',
    writersOf: (key) => {
      const [start, end] = [versions.keyStart[key], versions.keyStart[key + 1]];
      return Array.from(versions.writer.subarray(start, end), (m) => transactionOf[m]);
    },
  };
}
