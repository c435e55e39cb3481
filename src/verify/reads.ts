/** What transactions read: compared with what they wrote themselves, then with their snapshots, once every commit that these may see is known. */
import { MinHeap } from '../base/index.ts';
import { ReadVerifier } from './consistent-read.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { Mirror } from './mirror.ts';
import { type Beside, verifyOwn, verifyOwnPredicates } from './own-writes.ts';
import { grownBytes, grownInts, Slots } from './slots.ts';
import { snapshotOf } from './snapshots.ts';
import { snapshotCode } from './transaction-table.ts';

export class Reads {
  readonly #mirror: Mirror;
  readonly #lifetimes: Lifetimes;
  readonly #verifier: ReadVerifier;
  readonly #waiting = new WaitingReads();
  /** Those, by when every commit that they may have seen is known. */
  readonly #byReady = new MinHeap();

  constructor(mirror: Mirror, lifetimes: Lifetimes) {
    this.#mirror = mirror;
    this.#lifetimes = lifetimes;
    this.#verifier = new ReadVerifier(mirror);
  }

  /** Reads that are not verified yet. */
  get waiting(): number {
    return this.#byReady.size;
  }

  /** Verifies what the operation read, now or when `verifyUpTo` comes to it. */
  add(transaction: number, operation: number): void {
    const mirror = this.#mirror;
    const { operations, transactions } = mirror;
    if (mirror.mechanisms.consistentRead === 'none') return;
    const hasPredicates = operations.hasExtra[operation] === 1 && operations.predicatesOf(operation).length > 0;
    if (operations.reads[operation] === operations.writes[operation] && !hasPredicates) return;
    const beside = verifyOwn(mirror, transaction, operation);
    if (hasPredicates) verifyOwnPredicates(mirror, transaction, operation);
    if (beside === null && !hasPredicates && this.#isAllOwn(operation)) return;
    const snapshot = snapshotOf(mirror, transaction, operation);
    const end = operations.end[operation];
    const ready = snapshot === snapshotCode.transaction ? transactions.snapshotEnd[transaction] : end;
    if (ready < this.#lifetimes.frontier && beside === null) {
      this.#verifier.verify(transaction, operation, snapshot, null);
      return;
    }
    transactions.pendingReads[transaction] += 1;
    this.#byReady.push(beside === null ? ready : end, this.#waiting.add(transaction, operation, snapshot, beside));
  }

  #isAllOwn(operation: number): boolean {
    const { entries, reads, writes } = this.#mirror.operations;
    const end = writes[operation];
    for (let entry = reads[operation]; entry < end; entry += 1) if (entries.isOwn[entry] === 0) return false;
    return true;
  }

  /** Verifies the reads of which every commit that they may have seen is known when operations up to `time` are. */
  verifyUpTo(time: number): void {
    if (this.#byReady.minKey < time || time === Infinity) this.#verifyReady(time);
  }

  #verifyReady(time: number): void {
    const { pendingReads } = this.#mirror.transactions;
    for (;;) {
      if (this.#byReady.size === 0 || (this.#byReady.minKey >= time && time !== Infinity)) return;
      const read = this.#byReady.pop();
      const { transaction, operation, snapshot, beside } = this.#waiting;
      const [by, at, moment, columns] = [transaction[read], operation[read], snapshot[read], beside[read]];
      pendingReads[by] -= 1;
      this.#waiting.remove(read);
      this.#verifier.verify(by, at, moment, columns);
      this.#lifetimes.release(by);
    }
  }
}

/** Reads that wait until every commit that they may have seen is known. */
class WaitingReads extends Slots {
  transaction = new Int32Array();
  operation = new Int32Array();
  snapshot = new Uint8Array();
  readonly beside: (readonly Beside[] | null)[] = [];

  add(transaction: number, operation: number, snapshot: number, beside: readonly Beside[] | null): number {
    const read = this.take();
    this.transaction[read] = transaction;
    this.operation[read] = operation;
    this.snapshot[read] = snapshot;
    this.beside[read] = beside;
    return read;
  }

  remove(read: number): void {
    this.beside[read] = null;
    this.give(read);
  }

  protected override grow(capacity: number): void {
    this.transaction = grownInts(this.transaction, capacity);
    this.operation = grownInts(this.operation, capacity);
    this.snapshot = grownBytes(this.snapshot, capacity);
  }
}
