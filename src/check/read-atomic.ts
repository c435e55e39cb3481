/**
 * read-atomic (Biswas and Enea, OOPSLA 2019; AWDIT, PLDI 2025): where t3 reads a key x from t1, every other writer of x that is before t3 in
 * its session, or that t3 reads anything from, is before t1. Of the session the last writer will do: those before it are before it.
 *
 * Cost: for each writer that t3 reads from, the smaller of its writes and of the keys that t3 reads: O(n^1.5) for n operations, times a
 * logarithm where the keys are the smaller side.
 */
import { INITIAL, type CompactHistory } from '../history/index.ts';
import { ForcedEdges } from './forced-edges.ts';
import { type Reads, writesKey } from './reads.ts';
import type { SessionOrder } from './session-order.ts';

export function readAtomicEdges(history: CompactHistory, reads: Reads, sessions: SessionOrder): ForcedEdges {
  const { readStart, readKey, readFrom, writeStart, writeKey } = reads;
  const forced = new ForcedEdges();
  const keys = new KeysRead(history, reads);
  const seenBy = new Int32Array(history.transactionCount).fill(-1);
  const writtenIn = new Int32Array(history.keyCount).fill(-1);
  const lastWriter = new Int32Array(history.keyCount);
  for (let s = 0; s < history.sessionCount; s += 1) {
    for (let m = sessions.start[s]; m < sessions.start[s + 1]; m += 1) {
      const t3 = sessions.member[m];
      const begin = readStart[t3];
      const end = readStart[t3 + 1];
      keys.begin(t3);
      for (let i = begin; i < end; i += 1) {
        const x = readKey[i];
        if (!keys.add(i, forced)) continue;
        if (writtenIn[x] === s && lastWriter[x] !== readFrom[i]) forced.add(lastWriter[x], readFrom[i], i);
      }
      for (let i = begin; i < end; i += 1) {
        const t2 = readFrom[i];
        if (t2 === INITIAL || seenBy[t2] === t3) continue;
        seenBy[t2] = t3;
        keys.forceBy(t2, forced);
      }
      for (let w = writeStart[t3]; w < writeStart[t3 + 1]; w += 1) {
        writtenIn[writeKey[w]] = s;
        lastWriter[writeKey[w]] = t3;
      }
    }
  }
  return forced;
}

/** The keys that one transaction reads, each with its first read. */
class KeysRead {
  readonly #history: CompactHistory;
  readonly #reads: Reads;
  readonly #readBy: Int32Array;
  readonly #first: Int32Array;
  #keys = new Int32Array(64);
  #count = 0;
  #reader = -1;

  constructor(history: CompactHistory, reads: Reads) {
    this.#history = history;
    this.#reads = reads;
    this.#readBy = new Int32Array(history.keyCount).fill(-1);
    this.#first = new Int32Array(history.keyCount);
  }

  begin(reader: number): void {
    this.#reader = reader;
    this.#count = 0;
  }

  /** @returns false where the key was read before; if another write was seen then, each of the two writers is before the other */
  add(read: number, forced: ForcedEdges): boolean {
    const { readKey, readFrom } = this.#reads;
    const key = readKey[read];
    if (this.#readBy[key] === this.#reader) {
      const first = this.#first[key];
      const [before, now] = [readFrom[first], readFrom[read]];
      if (before === now) return false;
      if (before !== INITIAL) forced.add(before, now, read);
      if (now !== INITIAL) forced.add(now, before, first);
      return false;
    }
    this.#readBy[key] = this.#reader;
    this.#first[key] = read;
    if (this.#count === this.#keys.length) {
      const grown = new Int32Array(2 * this.#count);
      grown.set(this.#keys);
      this.#keys = grown;
    }
    this.#keys[this.#count] = key;
    this.#count += 1;
    return true;
  }

  /** t2, which the transaction reads from, comes before the writers that it saw of the other keys that t2 writes. */
  forceBy(t2: number, forced: ForcedEdges): void {
    const { writeStart, writeKey } = this.#reads;
    const [first, after] = [writeStart[t2], writeStart[t2 + 1]];
    if (after - first <= this.#count) {
      for (let w = first; w < after; w += 1) this.#force(t2, writeKey[w], forced);
      return;
    }
    for (let j = 0; j < this.#count; j += 1) {
      const key = this.#keys[j];
      if (writesKey(this.#reads, t2, key)) this.#force(t2, key, forced);
    }
  }

  #force(t2: number, key: number, forced: ForcedEdges): void {
    if (this.#readBy[key] !== this.#reader) return;
    const read = this.#first[key];
    const t1 = this.#reads.readFrom[read];
    if (t1 === t2) return;
    if (t1 > t2 && this.#history.session[t1] === this.#history.session[t2]) return; // session order says so
    forced.add(t2, t1, read);
  }
}
