/**
 * The causal past of each transaction of a growing ordered history, as rows of bits, and what a new read may see at the levels that are
 * explored directly: read-committed, read-atomic, causal. There `visible` does not mention co, so a read of x by t3 from t1 forces t2 before t1
 * for each other writer t2 of x that is visible to t3, and a history is at its level if (so U wr) and the forced pairs are acyclic. Nothing is
 * checked from scratch: they are acyclic already, and the reader is the last of all, so only a pair that the new read forces can close a cycle.
 * Most forced pairs are in (so U wr)+ themselves; those between concurrent transactions are kept, and they are few.
 */
import { BitMatrix } from '../base/index.ts';
import type { Log } from './ordered-history.ts';

export class Causality {
  /** The history so far. */
  #logs: readonly Log[] = [];
  /** Row t: the transactions before t in (so U wr)+, by position. */
  readonly #past = new BitMatrix(1);
  /** A row for each external read of the run: the past of its transaction before that read. */
  #before = new Int32Array(64);
  readonly #firstRead: number[] = [];
  #reads = 0;
  /** Per key: the committed transactions that write it, in order. The lists are longer than they count. */
  readonly #writers: number[][] = [];
  readonly #writerCounts: number[] = [];
  readonly #writtenKeys: number[] = [];
  /** Pairs of concurrent transactions that reads force: (from, to), the position of the reader, and which of its reads. */
  readonly #forced: number[] = [];
  #forcedLength = 0;
  /** Memory of `#isAcyclic`. */
  readonly #states: number[] = [];

  reset(logs: readonly Log[]): void {
    this.#logs = logs;
    this.#reads = 0;
    for (const key of this.#writtenKeys) this.#writerCounts[key] = 0;
    this.#writtenKeys.length = 0;
    this.#forcedLength = 0;
  }

  // ---- the history grows

  begin({ position, previous }: Log): void {
    if (position === this.#past.capacity) this.#grow();
    this.#firstRead[position] = this.#reads;
    if (previous < 0) this.#past.clearRow(position);
    else {
      this.#past.copyRow(position, this.#past, previous);
      this.#past.add(position, previous);
    }
  }

  /** The last transaction reads `key` from `source`, which is allowed. Call it before the read is in its log. */
  see(log: Log, key: number, source: number): void {
    const { position } = log;
    this.#force(log, log.sources.length, key, source);
    const { words, bits } = this.#past;
    const row = this.#reads * words;
    if (row + words > this.#before.length) this.#before = extended(this.#before);
    for (let w = 0; w < words; w += 1) this.#before[row + w] = bits[position * words + w] as number;
    this.#reads += 1;
    if (source < 0) return;
    this.#past.union(position, this.#past, source);
    this.#past.add(position, source);
  }

  commit({ position, writeKeys }: Log): void {
    for (const key of writeKeys) {
      const count = this.writersOf(key);
      if (count === 0) this.#writtenKeys.push(key);
      (this.#writers[key] ??= [])[count] = position;
      this.#writerCounts[key] = count + 1;
    }
  }

  #grow(): void {
    const { words } = this.#past;
    const wider = new Int32Array(this.#before.length * 2);
    for (let row = 0; row < this.#reads; row += 1)
      for (let w = 0; w < words; w += 1) wider[row * 2 * words + w] = this.#before[row * words + w] as number;
    this.#before = wider;
    this.#past.grow();
  }

  // ---- what is known of it

  /** How many committed transactions write `key`. */
  writersOf(key: number): number {
    return this.#writerCounts[key] ?? 0;
  }

  /** The position of the `i`-th of them. */
  writerOf(key: number, i: number): number {
    return (this.#writers[key] as number[])[i] as number;
  }

  /** Is `a` before `b` in (so U wr)+? */
  isBefore(a: number, b: number): boolean {
    return this.#past.has(b, a);
  }

  /** Was `a` before `b` in (so U wr)+ when `b` was about to make that read? */
  wasBefore(a: number, b: number, read: number): boolean {
    const { words } = this.#past;
    const row = ((this.#firstRead[b] as number) + read) * words;
    return ((this.#before[row + (a >>> 5)] as number) & (1 << (a & 31))) !== 0;
  }

  /**
   * May the transaction at `b`, after only its first `read` reads, read `key` from `from`? The history is that of the transactions before `b`,
   * of `t`, and of the causal past of `t`; where `t` is -1, of all.
   */
  allowsRead(b: number, read: number, key: number, from: number, t = -1): boolean {
    const end = this.#forcedLength;
    const isAllowed = this.#force(this.#logs[b] as Log, read, key, from) && this.#isAcyclic(end, b, read, t);
    this.#forcedLength = end;
    return isAllowed;
  }

  /** Notes the pairs that such a read forces. @returns false where one of them is against (so U wr)+ */
  #force(log: Log, read: number, key: number, from: number): boolean {
    if (log.explored === 'any') return true;
    if (log.explored === 'read-committed') return this.#forceSeen(log, read, key, from);
    for (let i = this.writersOf(key) - 1; i >= 0; i -= 1) {
      const t = this.writerOf(key, i);
      if (t === from || t >= log.position || !this.#isVisible(log, read, t)) continue;
      if (!this.#forcePair(t, from, log.position, read)) return false;
    }
    return from < 0 || this.#isVisible(log, read, from) || this.#forceNew(log, read, from);
  }

  /** At read-committed, visible is what an earlier read of the same transaction saw. */
  #forceSeen(log: Log, read: number, key: number, from: number): boolean {
    for (let i = 0; i < read; i += 1) {
      const t = log.sources[i] as number;
      if (t < 0 || t === from || !this.#writes(t, key)) continue;
      if (!this.#forcePair(t, from, log.position, read)) return false;
    }
    return true;
  }

  /** What becomes visible by a read from `from`, earlier reads should have seen. */
  #forceNew(log: Log, read: number, from: number): boolean {
    for (let i = 0; i < read; i += 1) {
      const key = log.readKeys[i] as number;
      const seen = log.sources[i] as number;
      for (let w = this.writersOf(key) - 1; w >= 0; w -= 1) {
        const t = this.writerOf(key, w);
        if (t === seen || !this.#comesWith(log, read, from, t)) continue;
        if (!this.#forcePair(t, seen, log.position, read)) return false;
      }
    }
    return true;
  }

  #forcePair(a: number, b: number, reader: number, read: number): boolean {
    if (b < 0 || this.isBefore(b, a)) return false;
    if (this.isBefore(a, b)) return true;
    const at = this.#forcedLength;
    this.#forced[at] = a;
    this.#forced[at + 1] = b;
    this.#forced[at + 2] = reader;
    this.#forced[at + 3] = read;
    this.#forcedLength = at + 4;
    return true;
  }

  /** At read-atomic and causal, to a transaction that made its first `read` reads. */
  #isVisible(log: Log, read: number, t: number): boolean {
    const { position, session, sources } = log;
    if (!(read === sources.length ? this.isBefore(t, position) : this.wasBefore(t, position, read))) return false;
    if (log.explored === 'causal' || (this.#logs[t] as Log).session === session) return true;
    for (let i = 0; i < read; i += 1) if (sources[i] === t) return true;
    return false;
  }

  /** Does `t` become visible by a read from `from`? */
  #comesWith(log: Log, read: number, from: number, t: number): boolean {
    if (t === from) return true;
    return log.explored === 'causal' && this.isBefore(t, from) && !this.#isVisible(log, read, t);
  }

  #writes(position: number, key: number): boolean {
    const { status, writeKeys } = this.#logs[position] as Log;
    return status === 'committed' && writeKeys.includes(key);
  }

  /** Does no cycle go through the forced pairs from `first` on, with those of the history of `allowsRead`? */
  #isAcyclic(first: number, b: number, read: number, t: number): boolean {
    if (first === this.#forcedLength) return true;
    for (let at = 0; at < this.#forcedLength; at += 4) {
      const [reader, by] = [this.#forced[at + 2] as number, this.#forced[at + 3] as number];
      const isThere =
        at >= first || (reader === b ? by < read : t < 0 || reader < b || reader === t || this.isBefore(reader, t));
      this.#states[at] = isThere ? UNVISITED : DONE;
    }
    for (let at = first; at < this.#forcedLength; at += 4) if (!this.#visit(at)) return false;
    return true;
  }

  /** Depth first over forced pairs: one leads to another where its end is, or is before, the other's start. */
  #visit(at: number): boolean {
    if (this.#states[at] !== UNVISITED) return this.#states[at] === DONE;
    this.#states[at] = OPEN;
    const end = this.#forced[at + 1] as number;
    for (let next = 0; next < this.#forcedLength; next += 4) {
      const start = this.#forced[next] as number;
      if ((start === end || this.isBefore(end, start)) && !this.#visit(next)) return false;
    }
    this.#states[at] = DONE;
    return true;
  }
}

const UNVISITED = 0;
const OPEN = 1;
const DONE = 2;

function extended(bits: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(bits.length * 2);
  longer.set(bits);
  return longer;
}
