/**
 * The commit orders that a growing history still has, at its transactions' levels: may this read see that write, may this transaction
 * commit? Nothing is checked from scratch: two orders are kept and extended.
 *
 * `known` holds the pairs that every commit order must have. Adding to it what a new read brings can refute the read at once. For the
 * weak levels that is also a proof: acyclic means allowed. For the strong levels some pairs stay open, and deciding them is a search
 * (the problem is NP-complete); `solved` keeps one way in which they were all decided. A read that fits `solved` is allowed; one that
 * contradicts `known` is not; only what does neither is searched anew.
 */
import { type TimeLimit, unlimited, assert, BitMatrix, everyElement } from '../base/index.ts';
import { CommitConstraints, type Order } from './commit-constraints.ts';
import { linearExtension } from './linear-extension.ts';
import type { ConstrainingLevel, Observations } from './observations.ts';
import { OpenPairs } from './open-pairs.ts';

export interface CommitOrdersOptions {
  /** Decisions that one search may take before it gives up; then a read counts as not allowed. Default 100,000. */
  readonly stepsMax?: number;
  /** When it is over, the search throws, and the orders are of no use any more. Default: none. */
  readonly limit?: TimeLimit;
}

/** `nodeOf` old nodes: 0 for those that are gone. `keyOf` old keys: those without reads and writes are not in it. */
interface ShorterOrders {
  readonly orders: CommitOrders;
  readonly nodeOf: Int32Array;
  readonly keyOf: ReadonlyMap<number, number>;
}

const NOBODY = -1;

export class CommitOrders {
  readonly #constraints = new CommitConstraints();
  readonly observed: Observations = this.#constraints.observed;

  readonly #knownBefore: Order = new BitMatrix(1);
  readonly #solvedBefore: Order = new BitMatrix(1);
  #wasSolved = false;
  #checkpointOf = NOBODY;
  #known: Order = new BitMatrix(1);
  #solved: Order = new BitMatrix(1);
  #trial: Order = new BitMatrix(1);
  readonly #openPairs: OpenPairs;
  /** Does `solved` decide all that is open? False until the first strong read. */
  #isSolved = false;
  readonly #stepsMax: number;
  readonly #limit: TimeLimit;
  /** Pairs that `fix` put into the orders: no observation demands them. */
  #fixed: (readonly [number, number])[] = [];
  /** Nodes that are before all nodes that begin from now on. */
  #barrier: readonly number[] = [];

  constructor(options: CommitOrdersOptions = {}) {
    this.#stepsMax = options.stepsMax ?? 100_000;
    this.#limit = options.limit ?? unlimited;
    this.#openPairs = new OpenPairs(this.#constraints, this.#stepsMax, this.#limit);
  }

  /** Did a search give up? Then a read that the level allows may have been withheld. */
  get gaveUp(): boolean {
    return this.#openPairs.gaveUp;
  }

  /** Forgets the history and keeps the memory. */
  reset(): void {
    const { nodes } = this.observed;
    this.#known.clear(nodes);
    this.#solved.clear(nodes);
    this.#isSolved = false;
    this.#openPairs.gaveUp = false;
    this.#checkpointOf = NOBODY;
    this.#fixed = [];
    this.#barrier = [];
    this.observed.reset();
  }

  begin(session: number, level: ConstrainingLevel): number {
    const node = this.observed.begin(session, level);
    this.#checkpointOf = NOBODY;
    this.#growOrders();
    this.#constraints.place(this.#known, node);
    if (this.#isSolved) this.#constraints.place(this.#solved, node);
    if (this.#barrier.length > 0) this.#impose(this.#barrier.map((before) => [before, node]));
    return node;
  }

  /** A serializable observer of the end: after every transaction so far, in a session of its own. */
  beginObserver(session: number): number {
    const node = this.begin(session, 'serializable');
    for (const order of this.#isSolved ? [this.#known, this.#solved] : [this.#known]) {
      for (let t = 1; t < node; t += 1)
        assert(this.#constraints.requirePair(order, t, node), 'a new node is before no other');
      assert(this.#constraints.propagate(order), 'an observer that read nothing contradicts nothing');
    }
    return node;
  }

  /** May `node` read `key` from `from`? */
  allowsRead(node: number, key: number, from: number): boolean {
    const { observed } = this;
    const constraints = this.#constraints;
    if (from === 0 && observed.writersOf(key).length === 1) return true; // there is no other writer that could be visible
    observed.tryRead(node, key, from);
    const allowed = this.#extend((order) => constraints.requireNewest(order, node), this.#ownReads(node));
    observed.removeRead(node);
    return allowed;
  }

  /** `node` reads `key` from `from`, which must be allowed. */
  read(node: number, key: number, from: number): void {
    const { observed } = this;
    const constraints = this.#constraints;
    if (this.#checkpointOf !== node) this.#takeCheckpoint(node);
    observed.addRead(node, key, from);
    if (from === 0 && observed.writersOf(key).length === 1) return;
    this.#accept((order) => constraints.requireNewest(order, node), this.#ownReads(node));
  }

  /** `node` commits its writes; false, and nothing changes, where no commit order remains. */
  commit(node: number, keys: readonly number[]): boolean {
    const { observed } = this;
    const constraints = this.#constraints;
    observed.addWrites(node, keys);
    if (observed.strongReads === 0) {
      this.#checkpointOf = NOBODY;
      return true;
    }
    const touched = new Set<number>();
    for (const key of keys) for (const read of observed.strongReadsOf(key)) touched.add(read);
    for (const reader of observed.conflictingReaders(node))
      for (const read of observed.readsBy(reader)) touched.add(read);
    const reads = [...touched];
    const require = (order: Order): boolean =>
      reads.every((read) => constraints.requireRead(order, read)) && constraints.propagate(order);
    if (!this.#extend(require, reads)) {
      observed.removeWrites(node);
      return false;
    }
    this.#accept(require, reads);
    this.#checkpointOf = NOBODY;
    return true;
  }

  /** Undoes all reads of `node`, which has not committed. */
  forget(node: number): void {
    if (this.observed.readsBy(node).length === 0) return;
    this.observed.removeReads(node);
    if (this.#checkpointOf === node) this.#returnToCheckpoint();
    else assert(this.rebuild(), 'fewer reads cannot contradict');
  }

  /** The orders before the first read of `node`, for as long as only `node` changes them. */
  #takeCheckpoint(node: number): void {
    this.#checkpointOf = NOBODY;
    if (this.observed.readsBy(node).length > 0) return;
    const { nodes } = this.observed;
    this.#knownBefore.copyFrom(this.#known, nodes);
    if (this.#isSolved) this.#solvedBefore.copyFrom(this.#solved, nodes);
    this.#wasSolved = this.#isSolved;
    this.#checkpointOf = node;
  }

  #returnToCheckpoint(): void {
    const { nodes } = this.observed;
    this.#known.copyFrom(this.#knownBefore, nodes);
    if (this.#wasSolved) this.#solved.copyFrom(this.#solvedBefore, nodes);
    this.#isSolved = this.#wasSolved;
    this.#checkpointOf = NOBODY;
  }

  /** Computes the orders anew from the structure. @returns false when no commit order exists (or the search gave up: `gaveUp`) */
  rebuild(pairs: readonly (readonly [number, number])[] = []): boolean {
    const { observed } = this;
    const constraints = this.#constraints;
    this.#growOrders();
    this.#known.clear(observed.nodes);
    this.#isSolved = false;
    for (let node = 1; node < observed.nodes; node += 1) constraints.place(this.#known, node);
    for (const [a, b] of [...this.#fixed, ...pairs]) if (!constraints.requirePair(this.#known, a, b)) return false;
    for (let node = 1; node < observed.nodes; node += 1) if (!constraints.requireReads(this.#known, node)) return false;
    if (!constraints.propagate(this.#known)) return false;
    return observed.strongReads === 0 || this.#solve();
  }

  /** One commit order of the history so far: the nodes but the initial state, first to last. */
  commitOrder(): number[] {
    return linearExtension(this.#isSolved ? this.#solved : this.#known, this.observed.nodes);
  }

  /** Nodes that no open node is before, each after those before it: the start of `commitOrder()` without what has to wait for an open node. */
  closedStart(isOpen: (node: number) => boolean): number[] {
    const order = this.#isSolved ? this.#solved : this.#known;
    const waits = new Uint8Array(this.observed.nodes);
    for (let node = 1; node < waits.length; node += 1) {
      if (!isOpen(node)) continue;
      waits[node] = 1;
      everyElement(order, node, (after) => (waits[after] = 1) === 1);
    }
    return this.commitOrder().filter((node) => waits[node] === 0);
  }

  /**
   * From now on only commit orders count that begin with `first`, which is a start of `closedStart()`, and that have `barrier` before every
   * node to come. There is one left: that of `commitOrder()`.
   */
  fix(first: readonly number[], barrier: readonly number[]): void {
    const isFirst = new Set(first);
    const last = first.at(-1);
    const pairs = first.slice(1).map((node, i): [number, number] => [first[i], node]);
    if (last === undefined) return;
    for (let node = 1; node < this.observed.nodes; node += 1) if (!isFirst.has(node)) pairs.push([last, node]);
    this.#impose(pairs);
    this.#barrier = [last, ...barrier];
  }

  /** From now on only commit orders count that have `early` before `late`. @returns false, and nothing changes, where `solved` has it otherwise */
  putBefore(early: readonly number[], late: readonly number[]): boolean {
    const order = this.#isSolved ? this.#solved : this.#known;
    if (early.some((a) => late.some((b) => order.has(b, a)))) return false;
    this.#impose(early.flatMap((a) => late.map((b): [number, number] => [a, b])));
    return true;
  }

  #impose(pairs: readonly (readonly [number, number])[]): void {
    for (const order of this.#isSolved ? [this.#known, this.#solved] : [this.#known]) {
      for (const [a, b] of pairs) assert(this.#constraints.requirePair(order, a, b), 'a commit order has these pairs');
      assert(this.#constraints.propagate(order), 'a commit order has these pairs');
    }
    this.#fixed.push(...pairs);
    this.#checkpointOf = NOBODY;
  }

  /**
   * The same without the nodes `gone`, which `fix` put first: they become part of the initial state, node 0. When that loses nothing is the
   * caller's to know (see engine/axiomatic/window.ts). What finished weak transactions read from the initial state is dropped too: it can
   * demand nothing any more. Nodes and keys are numbered anew.
   */
  without(gone: readonly number[], isOpen: (node: number) => boolean): ShorterOrders {
    const { observed } = this;
    const nodeOf = new Int32Array(observed.nodes);
    const isGone = new Set(gone);
    const kept = this.commitOrder().filter((node) => !isGone.has(node));
    const keyOf = new Map<number, number>();
    const newKey = (key: number): number => keyOf.get(key) ?? (keyOf.set(key, keyOf.size), keyOf.size - 1);
    const orders = new CommitOrders({ stepsMax: this.#stepsMax, limit: this.#limit });
    const { observed: shorter } = orders;
    for (const old of kept) {
      const node = shorter.begin(observed.sessionOf(old), observed.levelOf(old));
      nodeOf[old] = node;
      const isSettled = !isOpen(old) && !observed.isStrong(old);
      for (const read of observed.readsBy(old)) {
        const from = nodeOf[observed.sourceOf(read)];
        if (from !== 0 || !isSettled) shorter.addRead(node, newKey(observed.keyOf(read)), from);
      }
      if (observed.sequenceOf(old) > 0) shorter.addWrites(node, observed.writesBy(old).map(newKey));
    }
    orders.#copyOrders(this, kept, nodeOf);
    return { orders, nodeOf, keyOf };
  }

  #copyOrders(from: CommitOrders, kept: readonly number[], nodeOf: Int32Array): void {
    this.#growOrders();
    this.#openPairs.gaveUp = from.gaveUp;
    this.#isSolved = from.#isSolved && this.observed.strongReads > 0;
    this.#barrier = from.#barrier.map((old) => nodeOf[old]).filter((node) => node !== 0);
    for (const old of kept) {
      const node = nodeOf[old];
      const copyRow = (order: Order, row: Order, note: (a: number, b: number) => void): void => {
        order.add(0, node);
        everyElement(row, old, (other) => {
          const after = nodeOf[other];
          assert(after !== 0, 'those that are gone came first');
          order.add(node, after);
          note(node, after);
          return true;
        });
      };
      copyRow(this.#known, from.#known, (a, b) => this.#fixed.push([a, b]));
      if (this.#isSolved) copyRow(this.#solved, from.#solved, () => {});
    }
  }

  /** The structure may have grown without the orders. */
  #growOrders(): void {
    while (this.#known.words < this.observed.words) {
      for (const order of [this.#known, this.#solved, this.#trial, this.#knownBefore, this.#solvedBefore]) {
        order.grow();
      }
    }
  }

  /** The reads that a new read of `node` can open again: its own, if it is strong. */
  #ownReads(node: number): readonly number[] {
    return this.observed.isStrong(node) ? this.observed.readsBy(node) : [];
  }

  /** Has the history, with what `require` adds, a commit order? Leaves it in `trial`. `reads` are those that may be open again. */
  #extend(require: (order: Order) => boolean, reads: readonly number[]): boolean {
    const { nodes, strongReads } = this.observed;
    if (strongReads > 0 && this.#isSolved) {
      this.#trial.copyFrom(this.#solved, nodes);
      if (require(this.#trial) && this.#openPairs.settle(this.#trial, reads)) return true;
    }
    this.#trial.copyFrom(this.#known, nodes);
    if (!require(this.#trial)) return false;
    return strongReads === 0 || this.#settleAll(this.#trial);
  }

  #accept(require: (order: Order) => boolean, reads: readonly number[]): void {
    if (this.observed.strongReads > 0) {
      assert(this.#extend(require, reads), 'only what is allowed is accepted');
      [this.#solved, this.#trial] = [this.#trial, this.#solved];
      this.#isSolved = true;
    }
    assert(require(this.#known), 'only what is allowed is accepted');
  }

  #solve(): boolean {
    this.#solved.copyFrom(this.#known, this.observed.nodes);
    this.#isSolved = this.#settleAll(this.#solved);
    return this.#isSolved;
  }

  #settleAll(order: Order): boolean {
    const reads: number[] = [];
    for (let node = 1; node < this.observed.nodes; node += 1) for (const read of this.#ownReads(node)) reads.push(read);
    return this.#openPairs.settle(order, reads);
  }
}
