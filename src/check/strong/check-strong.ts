/**
 * prefix, snapshot-isolation, serializable and strict-serializable of large histories. First what follows without choices (`saturate`), then an
 * order that is guessed (`schedule`), then a search (`OrderSearch`). Deciding is NP-complete (Papadimitriou 1979; Biswas and Enea, OOPSLA 2019),
 * so the search has limits; on histories of real stores little is open after the first step.
 */
import { type TimeLimit, unlimited } from '../../base/index.ts';
import type { CompactHistory } from '../../history/index.ts';
import { chainsOf } from '../chains.ts';
import { edgesBySource, topologicalOrder } from './clocks.ts';
import type { Reads } from '../reads.ts';
import type { SessionOrder } from '../session-order.ts';
import { FrontierSearch } from './frontier-search.ts';
import { isCommit, memberAt } from './node.ts';
import { addKnownEdges, type Nodes, nodesOf, OrderEdges, type StrongLevel } from './nodes.ts';
import { openPairs } from './open-pairs.ts';
import { OrderSearch } from './order-search.ts';
import { OrderState } from './order-state.ts';
import { saturate } from './saturate.ts';
import { type Schedule, schedule } from './schedule.ts';
import { type Versions, versionsOf } from './versions.ts';

export interface StrongOptions {
  /** Changes that the search may make. Default 2,000,000,000: some minutes. */
  readonly stepsMax?: number;
  /** When it is over, the check throws: `checkCompact` catches it. Default: none. */
  readonly limit?: TimeLimit;
  /** Numbers that an array of clocks may have, nodes x chains. Default 2^27, 512 MiB; there are three. */
  readonly strongClocksMax?: number;
  /** `all`: a guess, then both searches in turn. The others are for tests. Default `all`. */
  readonly engine?: 'all' | 'search' | 'frontier';
  /** Pairs of writers whose order may be open. Default 20,000,000, at 12 bytes. */
  readonly openPairsMax?: number;
}

export type StrongOutcome =
  | { readonly kind: 'satisfied'; readonly commitOrder: Int32Array }
  | { readonly kind: 'violated'; readonly problem: StrongProblem | null }
  | { readonly kind: 'unknown'; readonly reason: 'step-limit' | 'missing-times' };

/** What is known of a history where that is contradictory in itself, without a search. */
export interface StrongProblem {
  readonly nodes: Nodes;
  readonly versions: Versions;
  readonly edges: OrderEdges;
  /** The nodes that are on no cycle and after none. */
  readonly sorted: Int32Array;
}

/** @param order the members in an order that contains so and wr */
export function checkStrong(
  history: CompactHistory,
  reads: Reads,
  sessions: SessionOrder,
  order: Int32Array,
  level: StrongLevel,
  options: StrongOptions = {},
): StrongOutcome {
  const chains = chainsOf(history, reads, sessions, order, 64);
  const nodes = nodesOf(history, chains, level);
  if (nodes.nodeCount * nodes.chainCount > (options.strongClocksMax ?? 2 ** 27))
    return { kind: 'unknown', reason: 'step-limit' };
  const versions = versionsOf(history, nodes, reads);
  const edges = new OrderEdges();
  addKnownEdges(edges, nodes, reads, sessions);
  const { order: sorted, clocks } = saturate(nodes, versions, edges, options.limit ?? unlimited);
  if (sorted.length < nodes.nodeCount) return { kind: 'violated', problem: { nodes, versions, edges, sorted } };
  const found = findOrder(nodes, versions, edges, clocks, options);
  if (found === 'violated') return { kind: 'violated', problem: null };
  if (found === 'unknown') return { kind: 'unknown', reason: 'step-limit' };
  if (nodes.times?.isIncomplete === true) return { kind: 'unknown', reason: 'missing-times' };
  return { kind: 'satisfied', commitOrder: commitsOf(nodes, found) };
}

/** What each of the two searches may do before it is the other's turn. */
const searchSteps = 200_000;
const frontierSteps = 20_000;
/** It looks at the next node of every chain. */
const frontierChainsMax = 100;

/** The first search that answers wins. The one learns from contradictions, the other is quick where sessions are few. */
function findOrder(
  nodes: Nodes,
  versions: Versions,
  edges: OrderEdges,
  clocks: Int32Array,
  options: StrongOptions,
): Int32Array | 'violated' | 'unknown' {
  const { stepsMax = 2_000_000_000, limit = unlimited, openPairsMax = 20_000_000, engine = 'all' } = options;
  const guess = guessed(nodes, versions, edges);
  if (guess.forced === 0 && engine === 'all') return guess.order;
  const place = new Int32Array(nodes.nodeCount);
  guess.order.forEach((node, i) => (place[node] = i));
  const isForFrontiers = engine === 'frontier' || (engine === 'all' && nodes.chainCount <= frontierChainsMax);
  const frontier = isForFrontiers ? new FrontierSearch(nodes, versions, edges, place) : null;
  const pairs = engine === 'frontier' ? null : openPairs(nodes, versions, clocks, openPairsMax, limit);
  // The other search keeps its edges to itself: these grow.
  const own = new OrderEdges();
  if (pairs !== null) for (let e = 0; e < edges.count; e += 1) own.add(...edges.at(e));
  const search =
    pairs === null
      ? null
      : new OrderSearch(nodes, versions, new OrderState(nodes, versions, own, clocks, limit), pairs, place);
  let turn = 0;
  for (let steps = 0; steps < stepsMax; steps += searchSteps) {
    limit.checkNow();
    const result = search?.run(Math.min(searchSteps, stepsMax - steps)) ?? 'open';
    if (result === 'satisfied') return search?.order() ?? 'unknown';
    if (result === 'violated') return result;
    const other = frontier?.run(frontierSteps, limit) ?? 'open';
    if (other === 'satisfied') return frontier?.order() ?? 'unknown';
    if (other === 'violated') return other;
    if (search === null && frontier?.isFull !== false) return 'unknown';
    // What was decided so far may be enough for a better guess.
    turn += 1;
    if (engine !== 'all' || (turn & (turn - 1)) !== 0) continue;
    const again = guessed(nodes, versions, own);
    if (again.forced === 0) return again.order;
  }
  return 'unknown';
}

function guessed(nodes: Nodes, versions: Versions, edges: OrderEdges): Schedule {
  const bySource = edgesBySource(edges, nodes.nodeCount);
  return schedule(nodes, versions, edges, bySource, topologicalOrder(nodes, edges, bySource));
}

function commitsOf({ shift, memberCount, transactionOf }: Nodes, order: Int32Array): Int32Array {
  const commits = order.filter((node) => memberAt(node, shift) < memberCount && isCommit(node, shift));
  return commits.map((node) => transactionOf[memberAt(node, shift)]);
}
