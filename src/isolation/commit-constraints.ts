/**
 * What the reads of a history demand of its commit orders, kept while the history grows.
 *
 * Nodes are transactions; node 0 is the initial state. The structure (so, wr, who writes what) is what was observed. An order is a
 * transitively closed bit matrix of pairs known to be in co: row a holds all b with a < b. For each read of x by t3 from t1 and each
 * other writer t2 of x, the definition demands: visible(t2, t3) implies t2 < t1. So two rules are applied until nothing changes:
 *
 *     visible(t2, t3) is known   =>   t2 < t1
 *     t1 < t2 is known           =>   not visible(t2, t3)
 *
 * For read-committed, read-atomic and causal, `visible` does not mention co: only the first rule fires, once, when the read is made.
 * For the levels above ("strong"), a new pair wakes the reads that it can touch and no others.
 * Axioms: MonkeyDB (OOPSLA 2021) section 3.2; Biswas and Enea, OOPSLA 2019.
 */
import { BitMatrix, everyElement } from '../base/index.ts';
import type { IsolationLevel } from './level.ts';

const strengths: Readonly<Record<ConstrainingLevel, number>> = {
  'read-committed': 0,
  'read-atomic': 1,
  causal: 2,
  prefix: 3,
  'snapshot-isolation': 4,
  serializable: 5,
};
const { 'read-committed': READ_COMMITTED, causal: CAUSAL, prefix: PREFIX, serializable: SERIALIZABLE } = strengths;
const SNAPSHOT_ISOLATION = strengths['snapshot-isolation'];

/** The levels whose reads constrain the commit order, which are those that a mock database can be at. */
export type ConstrainingLevel = Exclude<IsolationLevel, 'read-uncommitted' | 'strict-serializable'>;
/** The levels that a mock database can be at, weakest first. */
export const constrainingLevels = Object.keys(strengths) as ConstrainingLevel[];

/** Pairs known to be in co, transitively closed: row a holds all b with a < b. */
export type Order = BitMatrix;

export class CommitConstraints {
  /** Number of nodes so far; ids are dense. */
  nodes = 1;
  /** How many reads were made at a strong level. */
  strongReads = 0;

  readonly #strength: number[] = [SERIALIZABLE];
  readonly #session: number[] = [-1];
  readonly #readsBy: number[][] = [[]];
  readonly #writesBy: (readonly number[])[] = [[]];
  readonly #readBy: number[] = [];
  readonly #readKey: number[] = [];
  readonly #readFrom: number[] = [];
  /** Per key: its writers in order of commit, the initial state first; its strong reads. */
  readonly #writers: number[][] = [];
  readonly #strongReadsOf: number[][] = [];
  readonly #sessionLast: number[] = [];
  readonly #sequence: number[] = [0];
  #commits = 0;

  /** Row t: the transactions before t in so; those that t read from; those before t in (so U wr)+; those it conflicts with in a key. */
  readonly #so = new BitMatrix(1);
  readonly #sources = new BitMatrix(1);
  readonly #past = new BitMatrix(1);
  readonly #conflicts = new BitMatrix(1);
  /** What the reader on trial saw before. */
  readonly #saved = new BitMatrix(1);
  /** Did the read that was added last make more transactions visible to its reader? If not, earlier reads of the reader stay as they are. */
  #sawNews = false;
  /** What rows of the order at hand gained since the rules last looked. */
  readonly #delta = new BitMatrix(1);
  readonly #dirty: number[] = [];
  readonly #isDirty: boolean[] = [];

  get words(): number {
    return this.#so.words;
  }

  /** Forgets the history and keeps the memory. */
  reset(): void {
    for (const rows of [this.#so, this.#sources, this.#past, this.#conflicts]) rows.clear(this.nodes);
    for (const list of this.#writers) list.length = 1;
    for (const list of this.#strongReadsOf) list.length = 0;
    for (const list of [this.#strength, this.#session, this.#readsBy, this.#writesBy]) list.length = 1;
    for (const list of [this.#readBy, this.#readKey, this.#readFrom, this.#sessionLast]) list.length = 0;
    this.nodes = 1;
    this.strongReads = 0;
    this.#sequence.length = 1;
    this.#commits = 0;
  }

  // ---- the structure: what was observed

  /** A new transaction, the last of its session so far. */
  begin(session: number, level: ConstrainingLevel): number {
    const node = this.nodes;
    if (node === this.#so.capacity) {
      for (const rows of [this.#so, this.#sources, this.#past, this.#conflicts, this.#saved, this.#delta]) rows.grow();
    }
    this.nodes += 1;
    this.#strength.push(strengths[level]);
    this.#session.push(session);
    this.#readsBy.push([]);
    this.#writesBy.push([]);
    const previous = this.#sessionLast[session] ?? 0;
    this.#so.copyRow(node, this.#so, previous);
    this.#so.add(node, previous);
    this.#sessionLast[session] = node;
    this.#past.copyRow(node, this.#past, previous);
    this.#past.add(node, previous);
    this.#sources.clearRow(node);
    return node;
  }

  /** @returns the read's id */
  addRead(node: number, key: number, from: number): number {
    const read = this.#readBy.length;
    this.#touch(key);
    this.#readBy.push(node);
    this.#readKey.push(key);
    this.#readFrom.push(from);
    this.#readsBy[node].push(read);
    if (this.isStrong(node)) {
      this.strongReads += 1;
      this.#strongReadsOf[key].push(read);
    }
    this.#see(node, from);
    return read;
  }

  /** Adds a read on trial: `removeRead` takes it back. One trial at a time. */
  tryRead(node: number, key: number, from: number): number {
    this.#saved.copyRow(0, this.#sources, node);
    this.#saved.copyRow(1, this.#past, node);
    return this.addRead(node, key, from);
  }

  /** Undoes the read on trial. */
  removeRead(node: number): void {
    const key = this.#readKey.pop() as number;
    this.#readBy.pop();
    this.#readFrom.pop();
    this.#readsBy[node].pop();
    if (this.isStrong(node)) {
      this.strongReads -= 1;
      this.#strongReadsOf[key].pop();
    }
    this.#sources.copyRow(node, this.#saved, 0);
    this.#past.copyRow(node, this.#saved, 1);
  }

  /** `node` commits; from now on its writes can be read. */
  addWrites(node: number, keys: readonly number[]): void {
    this.#writesBy[node] = keys;
    this.#commits += 1;
    this.#sequence[node] = this.#commits;
    for (const key of keys) {
      this.#touch(key);
      const writers = this.#writers[key];
      for (let i = 1; i < writers.length; i += 1) {
        this.#conflicts.add(node, writers[i]);
        this.#conflicts.add(writers[i], node);
      }
      writers.push(node);
    }
  }

  /** Undoes the writes that were added last, which were by `node`. */
  removeWrites(node: number): void {
    for (const key of this.writesBy(node)) this.#writers[key].pop();
    this.#writesBy[node] = [];
    everyElement(this.#conflicts, node, (other) => {
      this.#conflicts.delete(other, node);
      return true;
    });
    this.#conflicts.clearRow(node);
  }

  /** Undoes all reads of `node`; it stays as an empty transaction. No transaction may have read from it. */
  removeReads(node: number): void {
    if (this.#isLastReader(node)) this.#popReads(node);
    else this.#filterReads(node);
    this.#sources.clearRow(node);
    this.#past.copyRow(node, this.#past, this.#lastBefore(node));
    this.#past.add(node, this.#lastBefore(node));
  }

  /** Are all reads of `node` the last ones of the history? */
  #isLastReader(node: number): boolean {
    const { length } = this.#readsBy[node];
    return this.#readBy.slice(this.#readBy.length - length).every((by) => by === node);
  }

  #popReads(node: number): void {
    const own = this.#readsBy[node];
    for (let read = own.pop(); read !== undefined; read = own.pop()) {
      if (this.isStrong(node)) {
        this.strongReads -= 1;
        this.#strongReadsOf[this.#readKey[read]].pop();
      }
      this.#readBy.pop();
      this.#readKey.pop();
      this.#readFrom.pop();
    }
  }

  /** The ids of the reads that came later change. */
  #filterReads(node: number): void {
    const reads: [number, number, number][] = [];
    this.#readBy.forEach((by, read) => {
      if (by !== node) reads.push([by, this.#readKey[read], this.#readFrom[read]]);
    });
    for (const list of this.#readsBy) list.length = 0;
    for (const list of this.#strongReadsOf) list.length = 0;
    for (const list of [this.#readBy, this.#readKey, this.#readFrom]) list.length = 0;
    this.strongReads = 0;
    for (const [by, key, from] of reads) this.addRead(by, key, from);
  }

  levelOf(node: number): ConstrainingLevel {
    return constrainingLevels[this.#strength[node]];
  }

  sessionOf(node: number): number {
    return this.#session[node];
  }

  isStrong(node: number): boolean {
    return this.#strength[node] >= PREFIX;
  }

  /** The position of `node` among the commits so far; 0 for the initial state and while it has not committed. */
  sequenceOf(node: number): number {
    return this.#sequence[node] ?? 0;
  }

  /** The committed writers of `key` in order of commit, the initial state first. */
  writersOf(key: number): readonly number[] {
    this.#touch(key);
    return this.#writers[key];
  }

  readsBy(node: number): readonly number[] {
    return this.#readsBy[node];
  }

  writesBy(node: number): readonly number[] {
    return this.#writesBy[node];
  }

  strongReadsOf(key: number): readonly number[] {
    return this.#strongReadsOf[key] ?? [];
  }

  sourceOf(read: number): number {
    return this.#readFrom[read];
  }

  readerOf(read: number): number {
    return this.#readBy[read];
  }

  keyOf(read: number): number {
    return this.#readKey[read];
  }

  /** The snapshot-isolation readers whose conflicts `node` has joined, `node` itself among them. */
  conflictingReaders(node: number): number[] {
    const readers = [node];
    everyElement(this.#conflicts, node, (other) => readers.push(other) > 0);
    return readers.filter((reader) => this.#strength[reader] === SNAPSHOT_ISOLATION);
  }

  #touch(key: number): void {
    while (this.#writers.length <= key) {
      this.#writers.push([0]);
      this.#strongReadsOf.push([]);
    }
  }

  #see(node: number, from: number): void {
    this.#sawNews = from !== 0 && !this.#isDirect(node, from);
    this.#sources.add(node, from);
    this.#past.union(node, this.#past, from);
    this.#past.add(node, from);
  }

  // ---- the rules: what follows for co. Each returns false when the order has become cyclic.

  /** so of a new node is in co. It has no wr edge yet: no rule can fire. */
  place(order: Order, node: number): void {
    order.clearRow(node); // the memory of an order is used again and again
    this.requirePair(order, 0, node);
    this.requirePair(order, this.#lastBefore(node), node);
    this.#forgetDirty();
  }

  #lastBefore(node: number): number {
    let last = 0;
    everyElement(this.#so, node, (before) => (last = before) >= 0);
    return last;
  }

  /** wr to `node` is in co, and the rules hold for all that it read. */
  requireReads(order: Order, node: number): boolean {
    const strength = this.#strength[node];
    const reads = this.#readsBy[node];
    for (const read of reads) if (!this.requirePair(order, this.#readFrom[read], node)) return false;
    if (strength === READ_COMMITTED) return this.#requireMonotonic(order, reads);
    if (strength <= CAUSAL) return this.#requireVisible(order, node, strength, reads);
    for (const read of reads) if (!this.requireRead(order, read)) return false;
    return this.propagate(order);
  }

  /** `requireReads` where `order` holds all but the read that was added last, which is by `node`. */
  requireNewest(order: Order, node: number): boolean {
    const strength = this.#strength[node];
    const read = this.#readsBy[node].at(-1) as number;
    if (this.#sawNews && strength !== READ_COMMITTED && strength !== SERIALIZABLE)
      return this.requireReads(order, node);
    const from = this.#readFrom[read];
    if (!this.requirePair(order, from, node)) return false;
    if (strength >= PREFIX) return this.requireRead(order, read) && this.propagate(order);
    const writers = this.#writers[this.#readKey[read]];
    for (let i = 1; i < writers.length; i += 1) {
      const t2 = writers[i];
      if (t2 !== from && this.#isVisibleWeakly(node, t2, strength) && !this.requirePair(order, t2, from)) return false;
    }
    return this.propagate(order);
  }

  /** Of the levels below prefix; at read-committed to the newest read. */
  #isVisibleWeakly(node: number, t2: number, strength: number): boolean {
    if (strength === READ_COMMITTED) return this.#sources.has(node, t2);
    return strength === CAUSAL ? this.#past.has(node, t2) : this.#isDirect(node, t2);
  }

  /** read-committed: visible are the transactions that an earlier read of the same transaction saw. */
  #requireMonotonic(order: Order, reads: readonly number[]): boolean {
    const seen: number[] = [];
    for (const read of reads) {
      const key = this.#readKey[read];
      const from = this.#readFrom[read];
      for (const t2 of seen)
        if (t2 !== from && this.#writesKey(t2, key) && !this.requirePair(order, t2, from)) return false;
      if (from !== 0 && !seen.includes(from)) seen.push(from); // nothing is before the initial state that could be seen
    }
    return this.propagate(order);
  }

  #requireVisible(order: Order, node: number, strength: number, reads: readonly number[]): boolean {
    for (const read of reads) {
      const from = this.#readFrom[read];
      const writers = this.#writers[this.#readKey[read]];
      for (let i = 1; i < writers.length; i += 1) {
        const t2 = writers[i];
        if (t2 === from) continue;
        if (this.#isVisibleWeakly(node, t2, strength) && !this.requirePair(order, t2, from)) return false;
      }
    }
    return this.propagate(order);
  }

  /** Both rules for one strong read and every other writer of its key. */
  requireRead(order: Order, read: number): boolean {
    const writers = this.#writers[this.#readKey[read]];
    for (let i = 1; i < writers.length; i += 1) if (!this.requireWriter(order, read, writers[i])) return false;
    return true;
  }

  /** Both rules for one strong read and one other writer `t2` of its key. */
  requireWriter(order: Order, read: number, t2: number): boolean {
    const t1 = this.#readFrom[read];
    const t3 = this.#readBy[read];
    if (t2 === t1 || t2 === t3) return true;
    if (this.#isVisible(order, t2, t3)) return this.requirePair(order, t2, t1);
    return !order.has(t1, t2) || this.#forbidVisible(order, t2, t3);
  }

  requirePair(order: Order, a: number, b: number): boolean {
    if (order.has(a, b)) return true;
    if (a === b || order.has(b, a)) {
      this.#forgetDirty();
      return false;
    }
    const track = this.strongReads > 0;
    for (let x = 0; x < this.nodes; x += 1) {
      if (x !== a && !order.has(x, a)) continue;
      if (order.has(x, b)) continue;
      if (track) this.#noteDelta(order, x, b);
      order.union(x, order, b);
      order.add(x, b);
    }
    return true;
  }

  #noteDelta(order: Order, x: number, b: number): void {
    const { words } = order;
    if (!this.#isDirty[x]) this.#dirty.push(x);
    this.#isDirty[x] = true;
    for (let w = 0; w < words; w += 1) {
      const gained = order.bits[b * words + w] & ~order.bits[x * words + w];
      this.#delta.bits[x * words + w] |= gained;
    }
    this.#delta.add(x, b);
  }

  #forgetDirty(): void {
    for (const x of this.#dirty) {
      this.#delta.clearRow(x);
      this.#isDirty[x] = false;
    }
    this.#dirty.length = 0;
  }

  /** Applies the rules to all pairs that are new in `order`, and to what they bring. */
  propagate(order: Order): boolean {
    for (let x = this.#dirty.pop(); x !== undefined; x = this.#dirty.pop()) {
      const gained: number[] = [];
      everyElement(this.#delta, x, (b) => gained.push(b) > 0);
      this.#delta.clearRow(x);
      this.#isDirty[x] = false;
      if (!this.#wake(order, x, gained)) {
        this.#forgetDirty();
        return false;
      }
    }
    return true;
  }

  /** `x` is now known to be before each of `gained`: as another writer t2, as a source t1, or as a conflicting transaction. */
  #wake(order: Order, x: number, gained: readonly number[]): boolean {
    if (x === 0) return true; // 0 < t2 is known before t2 writes: the rules fired when t2's writes were added
    for (const key of this.#writesBy[x]) {
      for (const read of this.#strongReadsOf[key]) {
        if (this.#readFrom[read] !== x) {
          if (!this.requireWriter(order, read, x)) return false;
          continue;
        }
        for (const t2 of gained) if (this.#writesKey(t2, key) && !this.requireWriter(order, read, t2)) return false;
      }
    }
    for (const t3 of gained) {
      if (this.#strength[t3] !== SNAPSHOT_ISOLATION || !this.#conflicts.has(t3, x)) continue;
      for (const read of this.#readsBy[t3]) if (!this.requireRead(order, read)) return false;
    }
    return true;
  }

  #writesKey(t: number, key: number): boolean {
    return t === 0 || this.#writesBy[t].includes(key);
  }

  #isDirect(node: number, t: number): boolean {
    return this.#so.has(node, t) || this.#sources.has(node, t);
  }

  // ---- `visible` of the strong levels, over what is known of co

  #isVisible(order: Order, t2: number, t3: number): boolean {
    const strength = this.#strength[t3];
    if (strength === SERIALIZABLE) return order.has(t2, t3);
    if (this.#isDirect(t3, t2) || order.intersects(t2, this.#so, t3) || order.intersects(t2, this.#sources, t3))
      return true;
    if (strength === PREFIX) return false;
    return !everyElement(this.#conflicts, t3, (t4) => !((t4 === t2 || order.has(t2, t4)) && order.has(t4, t3)));
  }

  /** What must hold so that t2 is never visible to t3. Call it when t2 is not yet visible. */
  #forbidVisible(order: Order, t2: number, t3: number): boolean {
    const strength = this.#strength[t3];
    if (strength === SERIALIZABLE) return this.requirePair(order, t3, t2);
    const beforeT2 = (t4: number): boolean => this.requirePair(order, t4, t2);
    if (!everyElement(this.#so, t3, beforeT2) || !everyElement(this.#sources, t3, beforeT2)) return false;
    if (strength === PREFIX) return true;
    return everyElement(this.#conflicts, t3, (t4) => {
      if (t4 === t2 || order.has(t2, t4)) return this.requirePair(order, t3, t4);
      return !order.has(t4, t3) || this.requirePair(order, t4, t2);
    });
  }

  /**
   * A pair that is still open for this read and writer: deciding it either way brings the search forward. `null` when the axiom holds
   * in every total order that contains `order`.
   */
  openPair(order: Order, read: number, t2: number): readonly [number, number] | null {
    const t1 = this.#readFrom[read];
    const t3 = this.#readBy[read];
    if (t2 === t1 || t2 === t3 || order.has(t2, t1)) return null;
    if (!order.has(t1, t2)) return [t2, t1];
    if (this.#strength[t3] !== SNAPSHOT_ISOLATION) return null;
    // t1 < t2 is known and prefix is settled; each conflict t4 must be after t3 or before t2.
    let open: readonly [number, number] | null = null;
    everyElement(this.#conflicts, t3, (t4) => {
      if (t4 !== t2 && !order.has(t4, t2) && !order.has(t3, t4)) open = [t4, t2];
      return open === null;
    });
    return open;
  }
}
