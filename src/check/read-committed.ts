/**
 * read-committed of Biswas and Enea (OOPSLA 2019): where t3 reads from t2 and afterwards reads a key x from t1, and t2 writes x too, t2 is
 * before t1. AWDIT (PLDI 2025): for each key it is enough to look at the nearest later read of it that did not see t2. A farther one saw a
 * t1' after which the nearer one's t1 is forced by the same rule, since t1' is read too... so the order is closed by transitivity.
 *
 * Cost: for each writer that t3 reads from, the smaller of its writes and of the keys that t3 reads later: O(n^1.5) for n operations, times
 * a logarithm where the keys are the smaller side.
 */
import { INITIAL, type CompactHistory } from '../history/index.ts';
import { ForcedEdges } from './forced-edges.ts';
import { type Reads, writesKey } from './reads.ts';

const noReader = -2;

export function readCommittedEdges(history: CompactHistory, reads: Reads): ForcedEdges {
  const { readStart, readFrom, writeStart, writeKey } = reads;
  const forced = new ForcedEdges();
  const later = new LaterReads(history, reads);
  const seenBy = new Int32Array(history.transactionCount).fill(-1);
  let isFirst = new Uint8Array(64);
  for (let t3 = 0; t3 < history.transactionCount; t3 += 1) {
    const begin = readStart[t3];
    const end = readStart[t3 + 1];
    if (end - begin < 2) continue;
    if (end - begin > isFirst.length) isFirst = new Uint8Array(2 * (end - begin));
    for (let i = begin; i < end; i += 1) {
      const t2 = readFrom[i];
      isFirst[i - begin] = t2 !== INITIAL && seenBy[t2] !== t3 ? 1 : 0;
      if (t2 !== INITIAL) seenBy[t2] = t3;
    }
    later.begin(t3);
    for (let i = end - 1; i >= begin; i -= 1) {
      const t2 = readFrom[i];
      if (isFirst[i - begin] === 1) {
        const [first, after] = [writeStart[t2], writeStart[t2 + 1]];
        if (after - first <= later.count) {
          for (let w = first; w < after; w += 1) later.force(t2, writeKey[w], forced);
        } else {
          for (let j = 0; j < later.count; j += 1)
            if (writesKey(reads, t2, later.keys[j])) later.force(t2, later.keys[j], forced);
        }
      }
      later.add(i);
    }
  }
  return forced;
}

/** The reads of one transaction that come later, by key: the nearest one, and the nearest that saw another writer than that. */
class LaterReads {
  /** The keys read later, each once. */
  keys = new Int32Array(64);
  count = 0;
  readonly #history: CompactHistory;
  readonly #reads: Reads;
  readonly #readBy: Int32Array;
  readonly #nearest: Int32Array;
  readonly #other: Int32Array;
  #reader = -1;

  constructor(history: CompactHistory, reads: Reads) {
    this.#history = history;
    this.#reads = reads;
    this.#readBy = new Int32Array(history.keyCount).fill(-1);
    this.#nearest = new Int32Array(history.keyCount);
    this.#other = new Int32Array(history.keyCount);
  }

  begin(reader: number): void {
    this.#reader = reader;
    this.count = 0;
  }

  add(read: number): void {
    const { readKey, readFrom } = this.#reads;
    const key = readKey[read];
    if (this.#readBy[key] !== this.#reader) {
      this.#readBy[key] = this.#reader;
      this.#nearest[key] = read;
      this.#other[key] = noReader;
      if (this.count === this.keys.length) {
        const grown = new Int32Array(2 * this.count);
        grown.set(this.keys);
        this.keys = grown;
      }
      this.keys[this.count] = key;
      this.count += 1;
    } else if (readFrom[this.#nearest[key]] === readFrom[read]) {
      this.#nearest[key] = read;
    } else {
      this.#other[key] = this.#nearest[key];
      this.#nearest[key] = read;
    }
  }

  /** t2, which writes the key and is read from already, comes before the writer that the nearest later read saw instead. */
  force(t2: number, key: number, forced: ForcedEdges): void {
    if (this.#readBy[key] !== this.#reader) return;
    const { readFrom } = this.#reads;
    let read = this.#nearest[key];
    if (readFrom[read] === t2) read = this.#other[key];
    if (read === noReader) return;
    const t1 = readFrom[read];
    if (t1 > t2 && this.#history.session[t1] === this.#history.session[t2]) return; // session order says so
    forced.add(t2, t1, read);
  }
}
