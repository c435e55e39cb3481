/**
 * causal (Biswas and Enea, OOPSLA 2019; AWDIT, PLDI 2025): where t3 reads a key x from t1, every other writer of x from which so and wr lead
 * to t3 is before t1. Of each session the last such writer will do.
 *
 * Clocks tell which those are: by transaction and session, how many of the session's transactions are in the past. They stand in one array,
 * for a block of sessions at a time, so that memory is bounded however many sessions there are. A second array starts as a copy of the
 * clocks and grows with what is forced: an edge that is implied by so, wr or an edge to a later transaction of the session is left out.
 * A session's own clock only grows, so that for each key and writing session a cursor moves forward and nothing is searched.
 *
 * Cost: O((n + reads) * sessions) for n transactions.
 */
import { INITIAL, type CompactHistory } from '../history/index.ts';
import { ForcedEdges } from './forced-edges.ts';
import type { Reads } from './reads.ts';
import type { SessionOrder } from './session-order.ts';

export interface CausalOptions {
  /** Numbers that an array of clocks may have. Default 2^26, 256 MiB; there are two. */
  readonly clocksMax?: number;
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
  const { sessionCount, transactionCount } = history;
  const wide = Math.floor((options.clocksMax ?? 2 ** 26) / Math.max(1, transactionCount));
  const width = Math.max(1, Math.min(sessionCount, wide));
  const writers = writersByKey(history, reads, sessions);
  for (let first = 0; first < sessionCount && forced.toInitial < 0; first += width) {
    const block = { first, width: Math.min(width, sessionCount - first) };
    const clocks = clocksOf(history, reads, sessions, order, block);
    forceBlock({ history, reads, sessions, writers, block, clocks, forced });
  }
  return forced;
}

/** The sessions `[first, first + width)`. */
interface Block {
  readonly first: number;
  readonly width: number;
}

/** At `t * width + (session - first)`: how many of the session's transactions are before t by so and wr, or are t. */
function clocksOf(
  history: CompactHistory,
  { readStart, readFrom }: Reads,
  { previous, position }: SessionOrder,
  order: Int32Array,
  { first, width }: Block,
): Int32Array {
  const { session } = history;
  const clocks = new Int32Array(history.transactionCount * width);
  for (const t of order) {
    const row = t * width;
    const before = previous[t] as number;
    if (before >= 0) clocks.copyWithin(row, before * width, before * width + width);
    const end = readStart[t + 1] as number;
    for (let i = readStart[t] as number; i < end; i += 1) {
      const writer = readFrom[i] as number;
      if (writer === INITIAL) continue;
      const column = (session[writer] as number) - first;
      // Is the writer in the past already? Then so is its past.
      if (column >= 0 && column < width && (clocks[row + column] as number) >= (position[writer] as number)) continue;
      const other = writer * width;
      for (let c = 0; c < width; c += 1) {
        const theirs = clocks[other + c] as number;
        if (theirs > (clocks[row + c] as number)) clocks[row + c] = theirs;
      }
    }
    const own = (session[t] as number) - first;
    if (own >= 0 && own < width) clocks[row + own] = position[t] as number;
  }
  return clocks;
}

/** Who writes each key, session by session. */
interface WritersByKey {
  /** The segments of key k are `[segmentStart[k], segmentStart[k + 1])`; each is of one session, in the order of sessions. */
  readonly segmentStart: Int32Array;
  readonly segmentSession: Int32Array;
  /** The writers of segment g are `[writerStart[g], writerStart[g + 1])`, in session order. */
  readonly writerStart: Int32Array;
  readonly writer: Int32Array;
  readonly position: Int32Array;
}

function writersByKey(history: CompactHistory, reads: Reads, sessions: SessionOrder): WritersByKey {
  const { keyCount, session } = history;
  const { writeStart, writeKey } = reads;
  const keyStart = new Int32Array(keyCount + 1);
  for (const t of sessions.member) {
    for (let w = writeStart[t] as number; w < (writeStart[t + 1] as number); w += 1) {
      const after = (writeKey[w] as number) + 1;
      keyStart[after] = (keyStart[after] as number) + 1;
    }
  }
  for (let k = 0; k < keyCount; k += 1) keyStart[k + 1] = (keyStart[k + 1] as number) + (keyStart[k] as number);
  const count = keyStart[keyCount] as number;
  const writer = new Int32Array(count);
  const position = new Int32Array(count);
  const next = keyStart.slice(0, keyCount);
  let segments = 0;
  for (const t of sessions.member) {
    for (let w = writeStart[t] as number; w < (writeStart[t + 1] as number); w += 1) {
      const k = writeKey[w] as number;
      const at = next[k] as number;
      if (at === keyStart[k] || session[writer[at - 1] as number] !== session[t]) segments += 1;
      writer[at] = t;
      position[at] = sessions.position[t] as number;
      next[k] = at + 1;
    }
  }
  return { ...segmentsOf(history, keyStart, writer, segments), writer, position };
}

function segmentsOf(
  { keyCount, session }: CompactHistory,
  keyStart: Int32Array,
  writer: Int32Array,
  segments: number,
): Pick<WritersByKey, 'segmentStart' | 'segmentSession' | 'writerStart'> {
  const segmentStart = new Int32Array(keyCount + 1);
  const segmentSession = new Int32Array(segments);
  const writerStart = new Int32Array(segments + 1);
  let g = 0;
  for (let k = 0; k < keyCount; k += 1) {
    segmentStart[k] = g;
    const end = keyStart[k + 1] as number;
    for (let at = keyStart[k] as number; at < end; at += 1) {
      const s = session[writer[at] as number] as number;
      if (at !== keyStart[k] && segmentSession[g - 1] === s) continue;
      segmentSession[g] = s;
      writerStart[g] = at;
      g += 1;
    }
  }
  segmentStart[keyCount] = g;
  writerStart[g] = writer.length;
  return { segmentStart, segmentSession, writerStart };
}

interface BlockProblem {
  readonly history: CompactHistory;
  readonly reads: Reads;
  readonly sessions: SessionOrder;
  readonly writers: WritersByKey;
  readonly block: Block;
  readonly clocks: Int32Array;
  readonly forced: ForcedEdges;
}

/** The edges from writers of the block's sessions. */
function forceBlock({ history, reads, sessions, writers, block, clocks, forced }: BlockProblem): void {
  const { readStart, readKey, readFrom } = reads;
  const { segmentStart, segmentSession, writerStart, writer, position } = writers;
  const { first, width } = block;
  const known = clocks.slice();
  const cursor = new Int32Array(segmentSession.length);
  const movedFor = new Int32Array(segmentSession.length).fill(-1);
  for (let s3 = 0; s3 < history.sessionCount; s3 += 1) {
    for (let m = sessions.start[s3] as number; m < (sessions.start[s3 + 1] as number); m += 1) {
      const t3 = sessions.member[m] as number;
      const end = readStart[t3 + 1] as number;
      for (let i = readStart[t3] as number; i < end; i += 1) {
        const x = readKey[i] as number;
        const t1 = readFrom[i] as number;
        const lastSegment = segmentStart[x + 1] as number;
        for (let g = segmentStart[x] as number; g < lastSegment; g += 1) {
          const s2 = segmentSession[g] as number;
          const column = s2 - first;
          if (column < 0) continue;
          if (column >= width) break;
          const past = (clocks[t3 * width + column] as number) - (s2 === s3 ? 1 : 0);
          if (movedFor[g] !== s3) {
            movedFor[g] = s3;
            cursor[g] = writerStart[g] as number;
          }
          let at = cursor[g] as number;
          const after = writerStart[g + 1] as number;
          if (at < after && (position[at] as number) <= past) {
            do at += 1;
            while (at < after && (position[at] as number) <= past);
            cursor[g] = at;
          }
          if (at === writerStart[g] || writer[at - 1] === t1) continue;
          const p2 = position[at - 1] as number;
          if (t1 === INITIAL) {
            forced.add(writer[at - 1] as number, INITIAL, i);
            return;
          }
          const row = t1 * width + column;
          if (p2 <= (known[row] as number)) continue;
          known[row] = p2;
          forced.add(writer[at - 1] as number, t1, i);
        }
      }
    }
  }
}
