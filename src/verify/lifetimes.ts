/**
 * How long the mirror keeps transactions: while they are open, by session; then until nothing that is open overlaps with them; then until no
 * version of a row, no read that waits and no dependency names them. What ends goes with its locks, its writes and its operations.
 */
import type { SerializationCertifier } from './certifier.ts';
import type { Mirror } from './mirror.ts';
import type { PredicateLocks } from './predicate-locks.ts';
import { IntQueue, none } from './slots.ts';
import { stateCode } from './transaction-table.ts';

export class Lifetimes {
  /** The start of the last operation. */
  frontier = -Infinity;
  readonly #mirror: Mirror;
  readonly #certifier: SerializationCertifier;
  readonly #predicateLocks: PredicateLocks;
  /** By session, or `none`. */
  readonly #open: number[] = [];
  #openCount = 0;
  /** In order of their first operations: those at the head are active. */
  readonly #active = new IntQueue();
  /** Over, in order of their ends, until nothing open overlaps with them. */
  readonly ended = new IntQueue();

  constructor(mirror: Mirror, certifier: SerializationCertifier, predicateLocks: PredicateLocks) {
    this.#mirror = mirror;
    this.#certifier = certifier;
    this.#predicateLocks = predicateLocks;
  }

  get openCount(): number {
    return this.#openCount;
  }

  /** Those that are open. */
  open(): number[] {
    return this.#open.filter((transaction) => transaction !== none);
  }

  /** The one that is open in the session, or `none`. */
  openIn(session: number): number {
    return session < this.#open.length ? this.#open[session] : none;
  }

  begin(name: string, session: number, start: number): number {
    const { transactions } = this.#mirror;
    const transaction = transactions.open(name, session, start);
    while (this.#open.length <= session) this.#open.push(none);
    this.#open[session] = transaction;
    this.#openCount += 1;
    this.#active.push(transaction);
    transactions.references[transaction] += 1;
    return transaction;
  }

  /** The session is without a transaction from here. */
  leave(session: number): void {
    this.#open[session] = none;
    this.#openCount -= 1;
  }

  leaveAll(): void {
    this.#open.length = 0;
    this.#openCount = 0;
  }

  /** Its end is verified: it is kept as long as something open overlaps with it. */
  end(transaction: number): void {
    this.#mirror.transactions.state[transaction] = stateCode.ended;
    this.ended.push(transaction);
  }

  dropLocks(transaction: number): void {
    this.#mirror.rows.dropLocks(transaction);
    this.#predicateLocks.drop(transaction);
  }

  /** The first operation of the oldest transaction that is open or has reads to verify. */
  horizon(): number {
    const { transactions } = this.#mirror;
    for (;;) {
      const oldest = this.#active.head;
      if (oldest === none) return this.frontier;
      if (transactions.isActive(oldest)) return Math.min(transactions.first[oldest], this.frontier);
      this.#active.shift();
      this.dereference(oldest);
    }
  }

  /** Retires what nothing open overlaps with any more. */
  retire(): void {
    const { transactions, undone } = this.#mirror;
    const horizon = this.horizon();
    undone.forget(horizon);
    for (;;) {
      const transaction = this.ended.head;
      if (transaction === none || transactions.endEnd[transaction] >= horizon) return;
      this.ended.shift();
      this.giveUp(transaction);
    }
  }

  /** Nothing that is open or still to come conflicts with it: only the graph and its versions may still need it. */
  giveUp(transaction: number): void {
    const { transactions, rows } = this.#mirror;
    this.dropLocks(transaction);
    rows.dropOwn(transaction);
    rows.endClouds(transaction, Infinity);
    this.#certifier.forget(transaction);
    transactions.state[transaction] = stateCode.retired;
    transactions.view[transaction] = null;
    if (transactions.order[transaction] === -1) this.release(transaction);
    else this.#certifier.retire(transaction);
  }

  /** One version of it less, or it has left the queue. */
  dereference(transaction: number): void {
    this.#mirror.transactions.references[transaction] -= 1;
    this.release(transaction);
  }

  /** Frees it, with its operations, if nothing needs it any more. */
  release(transaction: number): void {
    const { transactions, operations } = this.#mirror;
    const { references, pendingReads, order, firstOperation } = transactions;
    if (!transactions.isRetired(transaction) || references[transaction] > 0) return;
    if (pendingReads[transaction] > 0 || order[transaction] !== -1) return;
    for (let operation = firstOperation[transaction]; operation !== none; ) {
      const next = operations.next[operation];
      operations.remove(operation);
      operation = next;
    }
    transactions.remove(transaction);
  }
}
