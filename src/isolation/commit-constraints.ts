/**
 * What the reads of a history demand of its commit orders, kept while the history grows.
 *
 * An order is a transitively closed bit matrix of pairs known to be in co: row a holds all b with a < b. For each read of x by t3 from t1 and each
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
import { Observations, strengths } from './observations.ts';

const { 'read-committed': READ_COMMITTED, causal: CAUSAL, prefix: PREFIX, serializable: SERIALIZABLE } = strengths;
const SNAPSHOT_ISOLATION = strengths['snapshot-isolation'];

/** Pairs known to be in co, transitively closed: row a holds all b with a < b. */
export type Order = BitMatrix;

/** The rules for co. What applies them returns false when the order has become cyclic. */
export class CommitConstraints {
  readonly observed = new Observations();
  /** What rows of the order at hand gained since the rules last looked. */
  readonly #delta = new BitMatrix(1);
  readonly #dirty: number[] = [];
  readonly #isDirty: boolean[] = [];

  /** so of a new node is in co. It has no wr edge yet: no rule can fire. */
  place(order: Order, node: number): void {
    order.clearRow(node); // the memory of an order is used again and again
    this.requirePair(order, 0, node);
    this.requirePair(order, this.observed.lastBefore(node), node);
    this.#forgetDirty();
  }

  /** wr to `node` is in co, and the rules hold for all that it read. */
  requireReads(order: Order, node: number): boolean {
    const strength = this.observed.strengthOf(node);
    const reads = this.observed.readsBy(node);
    for (const read of reads) if (!this.requirePair(order, this.observed.sourceOf(read), node)) return false;
    if (strength === READ_COMMITTED) return this.#requireMonotonic(order, reads);
    if (strength <= CAUSAL) return this.#requireVisible(order, node, strength, reads);
    for (const read of reads) if (!this.requireRead(order, read)) return false;
    return this.propagate(order);
  }

  /** `requireReads` where `order` holds all but the read that was added last, which is by `node`. */
  requireNewest(order: Order, node: number): boolean {
    const strength = this.observed.strengthOf(node);
    const read = this.observed.readsBy(node).at(-1) as number;
    if (this.observed.sawNews && strength !== READ_COMMITTED && strength !== SERIALIZABLE)
      return this.requireReads(order, node);
    const from = this.observed.sourceOf(read);
    if (!this.requirePair(order, from, node)) return false;
    if (strength >= PREFIX) return this.requireRead(order, read) && this.propagate(order);
    const writers = this.observed.writersOf(this.observed.keyOf(read));
    for (let i = 1; i < writers.length; i += 1) {
      const t2 = writers[i];
      if (t2 !== from && this.#isVisibleWeakly(node, t2, strength) && !this.requirePair(order, t2, from)) return false;
    }
    return this.propagate(order);
  }

  /** Of the levels below prefix; at read-committed to the newest read. */
  #isVisibleWeakly(node: number, t2: number, strength: number): boolean {
    if (strength === READ_COMMITTED) return this.observed.sources.has(node, t2);
    return strength === CAUSAL ? this.observed.past.has(node, t2) : this.observed.isDirect(node, t2);
  }

  /** read-committed: visible are the transactions that an earlier read of the same transaction saw. */
  #requireMonotonic(order: Order, reads: readonly number[]): boolean {
    const seen: number[] = [];
    for (const read of reads) {
      const key = this.observed.keyOf(read);
      const from = this.observed.sourceOf(read);
      for (const t2 of seen)
        if (t2 !== from && this.observed.writesKey(t2, key) && !this.requirePair(order, t2, from)) return false;
      if (from !== 0 && !seen.includes(from)) seen.push(from); // nothing is before the initial state that could be seen
    }
    return this.propagate(order);
  }

  #requireVisible(order: Order, node: number, strength: number, reads: readonly number[]): boolean {
    for (const read of reads) {
      const from = this.observed.sourceOf(read);
      const writers = this.observed.writersOf(this.observed.keyOf(read));
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
    const writers = this.observed.writersOf(this.observed.keyOf(read));
    for (let i = 1; i < writers.length; i += 1) if (!this.requireWriter(order, read, writers[i])) return false;
    return true;
  }

  /** Both rules for one strong read and one other writer `t2` of its key. */
  requireWriter(order: Order, read: number, t2: number): boolean {
    const t1 = this.observed.sourceOf(read);
    const t3 = this.observed.readerOf(read);
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
    const track = this.observed.strongReads > 0;
    for (let x = 0; x < this.observed.nodes; x += 1) {
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
    while (this.#delta.words < words) this.#delta.grow();
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
    for (const key of this.observed.writesBy(x)) {
      for (const read of this.observed.strongReadsOf(key)) {
        if (this.observed.sourceOf(read) !== x) {
          if (!this.requireWriter(order, read, x)) return false;
          continue;
        }
        for (const t2 of gained)
          if (this.observed.writesKey(t2, key) && !this.requireWriter(order, read, t2)) return false;
      }
    }
    for (const t3 of gained) {
      if (this.observed.strengthOf(t3) !== SNAPSHOT_ISOLATION || !this.observed.conflicts.has(t3, x)) continue;
      for (const read of this.observed.readsBy(t3)) if (!this.requireRead(order, read)) return false;
    }
    return true;
  }

  // ---- `visible` of the strong levels, over what is known of co

  #isVisible(order: Order, t2: number, t3: number): boolean {
    const strength = this.observed.strengthOf(t3);
    if (strength === SERIALIZABLE) return order.has(t2, t3);
    if (
      this.observed.isDirect(t3, t2) ||
      order.intersects(t2, this.observed.so, t3) ||
      order.intersects(t2, this.observed.sources, t3)
    )
      return true;
    if (strength === PREFIX) return false;
    return !everyElement(this.observed.conflicts, t3, (t4) => !((t4 === t2 || order.has(t2, t4)) && order.has(t4, t3)));
  }

  /** What must hold so that t2 is never visible to t3. Call it when t2 is not yet visible. */
  #forbidVisible(order: Order, t2: number, t3: number): boolean {
    const strength = this.observed.strengthOf(t3);
    if (strength === SERIALIZABLE) return this.requirePair(order, t3, t2);
    const beforeT2 = (t4: number): boolean => this.requirePair(order, t4, t2);
    if (!everyElement(this.observed.so, t3, beforeT2) || !everyElement(this.observed.sources, t3, beforeT2))
      return false;
    if (strength === PREFIX) return true;
    return everyElement(this.observed.conflicts, t3, (t4) => {
      if (t4 === t2 || order.has(t2, t4)) return this.requirePair(order, t3, t4);
      return !order.has(t4, t3) || this.requirePair(order, t4, t2);
    });
  }

  /**
   * A pair that is still open for this read and writer: deciding it either way brings the search forward. `null` when the axiom holds
   * in every total order that contains `order`.
   */
  openPair(order: Order, read: number, t2: number): readonly [number, number] | null {
    const t1 = this.observed.sourceOf(read);
    const t3 = this.observed.readerOf(read);
    if (t2 === t1 || t2 === t3 || order.has(t2, t1)) return null;
    if (!order.has(t1, t2)) return [t2, t1];
    if (this.observed.strengthOf(t3) !== SNAPSHOT_ISOLATION) return null;
    // t1 < t2 is known and prefix is settled; each conflict t4 must be after t3 or before t2.
    let open: readonly [number, number] | null = null;
    everyElement(this.observed.conflicts, t3, (t4) => {
      if (t4 !== t2 && !order.has(t4, t2) && !order.has(t3, t4)) open = [t4, t2];
      return open === null;
    });
    return open;
  }
}
