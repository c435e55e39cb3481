/**
 * causal (Biswas and Enea, OOPSLA 2019; AWDIT, PLDI 2025): where t3 reads a key x from t1, every other writer of x from which so and wr lead
 * to t3 is before t1. Of each chain of transactions (a session, usually) the last such writer will do.
 *
 * Clocks tell which those are: by transaction and chain, how many of the chain's transactions are in the past. They stand in one array, for
 * a block of chains at a time, so that memory is bounded however many sessions there are. A second array starts as a copy of the clocks and
 * grows with what is forced: an edge that is implied by so, wr or an edge from a later transaction of the chain is left out. Along a chain
 * clocks only grow, so that for each key and writing chain a cursor moves forward and nothing is searched.
 *
 * Cost: O((n + reads) * chains) for n transactions.
 */
import { INITIAL, type CompactHistory } from '../history/index.ts';
import { type Chains, chainsOf } from './chains.ts';
import { ForcedEdges } from './forced-edges.ts';
import type { Reads } from './reads.ts';
import type { SessionOrder } from './session-order.ts';
import { type WritersByKey, writersByKey } from './writers-by-key.ts';

export interface CausalOptions {
  /** Numbers that an array of clocks may have. Default 2^26, 256 MiB; there are two. */
  readonly clocksMax?: number;
  /** With more sessions than this, chains are looked for that are fewer. Default 64. */
  readonly sessionsMax?: number;
}

/** @param order the members in an order that contains so and wr */
export function causalEdges(
  history: CompactHistory,
  reads: Reads,
  sessions: SessionOrder,
  order: Int32Array,
  options: CausalOptions = {},
): ForcedEdges {
  const forced = new ForcedEdges();
  const chains = chainsOf(history, reads, sessions, order, options.sessionsMax ?? 64);
  const wide = Math.floor((options.clocksMax ?? 2 ** 26) / Math.max(1, history.transactionCount));
  const width = Math.max(1, Math.min(chains.count, wide));
  const writers = writersByKey(history, reads, chains);
  /** By key: its first segment in the block. */
  const segmentAt = writers.segmentStart.slice(0, history.keyCount);
  for (let first = 0; first < chains.count && forced.toInitial < 0; first += width) {
    const block = { first, width: Math.min(width, chains.count - first) };
    const clocks = clocksOf(history, reads, sessions, chains, order, block);
    forceBlock({ reads, chains, writers, segmentAt, block, clocks, forced });
    passBlock(writers, segmentAt, first + width);
  }
  return forced;
}

/** The chains `[first, first + width)`. */
interface Block {
  readonly first: number;
  readonly width: number;
}

/** At `t * width + (chain - first)`: how many of the chain's transactions are before t by so and wr, or are t. */
function clocksOf(
  { transactionCount }: CompactHistory,
  { readStart, readFrom }: Reads,
  { previous }: SessionOrder,
  { of, position }: Chains,
  order: Int32Array,
  { first, width }: Block,
): Int32Array {
  const clocks = new Int32Array(transactionCount * width);
  for (const t of order) {
    const row = t * width;
    const before = previous[t];
    if (before >= 0) clocks.copyWithin(row, before * width, before * width + width);
    const end = readStart[t + 1];
    for (let i = readStart[t]; i < end; i += 1) {
      const writer = readFrom[i];
      if (writer === INITIAL) continue;
      const column = of[writer] - first;
      // Is the writer in the past already? Then so is its past.
      if (column >= 0 && column < width && clocks[row + column] >= position[writer]) continue;
      const other = writer * width;
      for (let c = 0; c < width; c += 1) {
        const theirs = clocks[other + c];
        if (theirs > clocks[row + c]) clocks[row + c] = theirs;
      }
    }
    const own = of[t] - first;
    if (own >= 0 && own < width) clocks[row + own] = position[t];
  }
  return clocks;
}

interface BlockProblem {
  readonly reads: Reads;
  readonly chains: Chains;
  readonly writers: WritersByKey;
  readonly segmentAt: Int32Array;
  readonly block: Block;
  readonly clocks: Int32Array;
  readonly forced: ForcedEdges;
}

/** The edges from writers of the block's chains. */
function forceBlock({ reads, chains, writers, segmentAt, block, clocks, forced }: BlockProblem): void {
  const { readStart, readKey, readFrom } = reads;
  const { segmentStart, segmentChain, writerStart, writer, position } = writers;
  const { first, width } = block;
  const known = clocks.slice();
  const cursor = new Int32Array(segmentChain.length);
  const movedFor = new Int32Array(segmentChain.length).fill(-1);
  for (let c3 = 0; c3 < chains.count; c3 += 1) {
    for (let m = chains.start[c3]; m < chains.start[c3 + 1]; m += 1) {
      const t3 = chains.member[m];
      const end = readStart[t3 + 1];
      for (let i = readStart[t3]; i < end; i += 1) {
        const x = readKey[i];
        const t1 = readFrom[i];
        const lastSegment = segmentStart[x + 1];
        for (let g = segmentAt[x]; g < lastSegment; g += 1) {
          const c2 = segmentChain[g];
          const column = c2 - first;
          if (column >= width) break;
          const past = clocks[t3 * width + column] - (c2 === c3 ? 1 : 0);
          if (movedFor[g] !== c3) {
            movedFor[g] = c3;
            cursor[g] = writerStart[g];
          }
          let at = cursor[g];
          const after = writerStart[g + 1];
          while (at < after && position[at] <= past) at += 1;
          cursor[g] = at;
          if (at === writerStart[g] || writer[at - 1] === t1) continue;
          if (t1 === INITIAL) {
            forced.add(writer[at - 1], INITIAL, i);
            return;
          }
          const p2 = position[at - 1];
          const row = t1 * width + column;
          if (p2 <= known[row]) continue;
          known[row] = p2;
          forced.add(writer[at - 1], t1, i);
        }
      }
    }
  }
}

function passBlock({ segmentStart, segmentChain }: WritersByKey, segmentAt: Int32Array, next: number): void {
  for (let k = 0; k < segmentAt.length; k += 1) {
    let g = segmentAt[k];
    while (g < segmentStart[k + 1] && segmentChain[g] < next) g += 1;
    segmentAt[k] = g;
  }
}
