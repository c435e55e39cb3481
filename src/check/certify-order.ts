/**
 * Re-checks a commit order of a large history with the definition: no forced edges, no clocks, no sort. For every read the newest writer of
 * its key that is visible to it must not be after the write that it saw.
 *
 * Cost: read-committed and read-atomic the sum over all transactions of the writes of those that they read from; causal the square of the
 * transactions in bits (10,000 transactions take 12 MB).
 */
import { BitMatrix } from '../base/index.ts';
import { type CompactHistory, INITIAL, type TransactionIndex } from '../history/index.ts';
import { type Reads, readsOf } from './reads.ts';
import { type SessionOrder, sessionOrder } from './session-order.ts';

export type CertifiedLevel = 'pl-2' | 'read-committed' | 'read-atomic' | 'causal';

/** Is the history at the level by this commit order? */
export function certifyCommitOrder(history: CompactHistory, level: CertifiedLevel, order: Int32Array): boolean {
  const reads = readsOf(history);
  const sessions = sessionOrder(history, reads);
  const co = positionsIn(order, history, reads);
  if (co === null || reads.anomalous.length > 0 || reads.firstAmbiguous >= 0) return false;
  const base = { history, reads, sessions, co };
  if (!containsWr(base)) return false;
  switch (level) {
    case 'pl-2':
      return true;
    case 'read-committed':
      return containsSo(base) && isReadCommitted(base);
    case 'read-atomic':
      return containsSo(base) && isReadAtomic(base);
    case 'causal':
      return containsSo(base) && isCausal(base, order);
  }
}

interface Ordered {
  readonly history: CompactHistory;
  readonly reads: Reads;
  readonly sessions: SessionOrder;
  /** By transaction: its place in the commit order; -1: it has none. */
  readonly co: Int32Array;
}

/** `null`: it is not an order of the members. */
function positionsIn(order: Int32Array, { transactionCount }: CompactHistory, { isMember }: Reads): Int32Array | null {
  const co = new Int32Array(transactionCount).fill(-1);
  for (const [place, t] of order.entries()) {
    if (isMember[t] !== 1 || co[t] !== -1) return null;
    co[t] = place;
  }
  return isMember.every((is, t) => (is === 1) === co[t] >= 0) ? co : null;
}

/** The initial state is before everything. */
function placeOf({ co }: Ordered, t: TransactionIndex): number {
  return t === INITIAL ? -1 : co[t];
}

function containsWr(ordered: Ordered): boolean {
  return everyRead(ordered, (by, _key, from) => placeOf(ordered, from) < placeOf(ordered, by));
}

function containsSo({ sessions, co }: Ordered): boolean {
  return sessions.member.every((t) => {
    const before = sessions.previous[t];
    return before < 0 || co[before] < co[t];
  });
}

function everyRead(
  { reads, sessions }: Ordered,
  holds: (by: TransactionIndex, key: number, from: TransactionIndex) => boolean,
): boolean {
  return sessions.member.every((t) => {
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1)
      if (!holds(t, reads.readKey[i], reads.readFrom[i])) return false;
    return true;
  });
}

/** Reads what an earlier read of the same transaction made visible, or newer. */
function isReadCommitted(ordered: Ordered): boolean {
  let newest = new Map<number, number>();
  let reader = -1;
  return everyRead(ordered, (by, key, from) => {
    if (by !== reader) newest = new Map();
    reader = by;
    const isFine = placeOf(ordered, from) >= (newest.get(key) ?? -1);
    addWrites(ordered, from, newest);
    return isFine;
  });
}

/** Reads what its session has written before, what the transactions that it reads from have written, or newer. */
function isReadAtomic(ordered: Ordered): boolean {
  const { reads, sessions, history } = ordered;
  for (let s = 0; s < history.sessionCount; s += 1) {
    const written = new Map<number, number>();
    for (let m = sessions.start[s]; m < sessions.start[s + 1]; m += 1) {
      const t = sessions.member[m];
      const seen = new Map<number, number>();
      const [begin, end] = [reads.readStart[t], reads.readStart[t + 1]];
      for (let i = begin; i < end; i += 1) addWrites(ordered, reads.readFrom[i], seen);
      for (let i = begin; i < end; i += 1) {
        const key = reads.readKey[i];
        const place = placeOf(ordered, reads.readFrom[i]);
        if (place < Math.max(seen.get(key) ?? -1, written.get(key) ?? -1)) return false;
      }
      addWrites(ordered, t, written);
    }
  }
  return true;
}

function addWrites(ordered: Ordered, t: TransactionIndex, newest: Map<number, number>): void {
  if (t === INITIAL) return;
  const { writeStart, writeKey } = ordered.reads;
  for (let w = writeStart[t]; w < writeStart[t + 1]; w += 1) {
    const key = writeKey[w];
    newest.set(key, Math.max(newest.get(key) ?? -1, placeOf(ordered, t)));
  }
}

/** No write that is newer than what was seen is in the past. */
function isCausal(ordered: Ordered, order: Int32Array): boolean {
  const { history, reads, sessions, co } = ordered;
  const past = new BitMatrix(Math.ceil(history.transactionCount / 32));
  const addPast = (t: TransactionIndex, before: TransactionIndex): void => {
    if (before === INITIAL) return;
    past.union(t, past, before);
    past.add(t, before);
  };
  for (const t of order) {
    addPast(t, sessions.previous[t]);
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1) addPast(t, reads.readFrom[i]);
  }
  /** By key: its writers, in commit order. */
  const writers = new Map<number, TransactionIndex[]>();
  for (const t of order) {
    for (let w = reads.writeStart[t]; w < reads.writeStart[t + 1]; w += 1) {
      const key = reads.writeKey[w];
      const known = writers.get(key);
      if (known === undefined) writers.set(key, [t]);
      else known.push(t);
    }
  }
  return everyRead(ordered, (by, key, from) => {
    const newer = (writers.get(key) ?? []).filter((t) => co[t] > placeOf(ordered, from));
    return newer.every((t) => !past.has(by, t));
  });
}
