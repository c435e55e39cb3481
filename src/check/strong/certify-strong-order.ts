/**
 * Re-checks a commit order of a large history with the definition of a level above causal: no clocks, no rules, no search. Where each
 * transaction's snapshot must be follows from the order; of each key that it reads, the newest writer that committed up to there must not be
 * after the one that it read from. O(operations * log(writers of a key)).
 */
import { type CompactHistory, INITIAL, statusCode } from '../../history/index.ts';
import type { Reads } from '../reads.ts';
import { sessionOrder } from '../session-order.ts';
import type { StrongLevel } from './nodes.ts';

/** Is the history at the level by this commit order? */
export function certifyStrongOrder(
  history: CompactHistory,
  reads: Reads,
  level: StrongLevel,
  order: Int32Array,
): boolean {
  const co = placesOf(history, reads, order);
  if (co === null || reads.anomalous.length > 0 || reads.firstAmbiguous >= 0) return false;
  const { previous } = sessionOrder(history, reads);
  const writers = writersInOrder(history, reads, order, co);
  for (const t of order) {
    const own = co[t];
    const before = previous[t];
    if (before >= 0 && co[before] > own) return false;
    let snapshot = before >= 0 ? co[before] : -1;
    const [first, after] = [reads.readStart[t], reads.readStart[t + 1]];
    for (let i = first; i < after; i += 1) {
      const from = reads.readFrom[i];
      if (from === INITIAL) continue;
      if (co[from] > own) return false;
      snapshot = Math.max(snapshot, co[from]);
    }
    if (level === 'serializable' || level === 'strict-serializable') snapshot = own - 1;
    if (level === 'snapshot-isolation')
      for (let w = reads.writeStart[t]; w < reads.writeStart[t + 1]; w += 1)
        snapshot = Math.max(snapshot, newestUpTo(writers, reads.writeKey[w], own - 1));
    for (let i = first; i < after; i += 1) {
      const from = reads.readFrom[i];
      const newest = newestUpTo(writers, reads.readKey[i], snapshot);
      if (newest > (from === INITIAL ? -1 : co[from])) return false;
    }
  }
  return level !== 'strict-serializable' || respectsTime(history, order);
}

/** By transaction: its place in the order; `null`: that is not one of the members. */
function placesOf({ transactionCount }: CompactHistory, { isMember }: Reads, order: Int32Array): Int32Array | null {
  const co = new Int32Array(transactionCount).fill(-1);
  for (const [place, t] of order.entries()) {
    if (isMember[t] !== 1 || co[t] !== -1) return null;
    co[t] = place;
  }
  return order.length === isMember.reduce((sum, is) => sum + is, 0) ? co : null;
}

interface Writers {
  /** By key: where its writers start. Their places, ascending. */
  readonly start: Int32Array;
  readonly place: Int32Array;
}

function writersInOrder({ keyCount }: CompactHistory, reads: Reads, order: Int32Array, co: Int32Array): Writers {
  const { writeStart, writeKey } = reads;
  const start = new Int32Array(keyCount + 1);
  const forEach = (visit: (key: number, t: number) => void): void => {
    for (const t of order) for (let w = writeStart[t]; w < writeStart[t + 1]; w += 1) visit(writeKey[w], t);
  };
  forEach((key) => (start[key + 1] += 1));
  for (let k = 0; k < keyCount; k += 1) start[k + 1] += start[k];
  const next = start.slice(0, keyCount);
  const place = new Int32Array(start[keyCount]);
  forEach((key, t) => {
    const at = next[key];
    place[at] = co[t];
    next[key] = at + 1;
  });
  return { start, place };
}

/** The place of the newest writer of the key that is not after `limit`; -1: only the initial state. */
function newestUpTo({ start, place }: Writers, key: number, limit: number): number {
  let low = start[key];
  let high = start[key + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (place[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low === start[key] ? -1 : place[low - 1];
}

/** No transaction is before one that ended before it started. Times that are missing say nothing. */
function respectsTime(history: CompactHistory, order: Int32Array): boolean {
  let latestStart = -Infinity;
  for (const t of order) {
    const end = history.status[t] === statusCode.unknown ? NaN : (history.end?.[t] ?? NaN);
    if (end < latestStart) return false;
    const start = history.start?.[t] ?? NaN;
    if (start > latestStart) latestStart = start;
  }
  return true;
}
