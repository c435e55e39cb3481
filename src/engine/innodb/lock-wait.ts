/** How a transaction waits for a record lock, and the deadlocks that it is in: `Deadlock` of lock0lock.cc. */
import { assert } from '../../base/index.ts';
import { SqlError, type Waiting } from '../../sql/model/index.ts';
import { waitName } from '../footprint.ts';
import * as footprints from './footprint.ts';
import { blockersOf, type RecordLock } from './gap-locks.ts';
import type { InnodbTransaction } from './transaction.ts';

export class LockWait {
  readonly #transaction: InnodbTransaction;
  #lock: RecordLock | null = null;
  /** How often it has waited: what was read before a wait may have changed. */
  #count = 0;
  /** It was a deadlock's victim and is rolled back; its statement does not know yet. */
  #isVictim = false;
  /** Those of which one is to be the victim of a deadlock that this transaction is in; the first to be resumed is. */
  #candidates: readonly LockWait[] = [];

  constructor(transaction: InnodbTransaction) {
    this.#transaction = transaction;
  }

  get count(): number {
    return this.#count;
  }

  /** The lock it waits for. */
  get lock(): RecordLock | null {
    return this.#lock;
  }

  /** The transaction that it waits for first; a lock's first conflict counts, as in the server. */
  get waitsFor(): InnodbTransaction | null {
    return this.blockers[0] ?? null;
  }

  /** The transactions that have to let go before it gets its lock, in the order in which they asked for theirs. */
  get blockers(): readonly InnodbTransaction[] {
    if (this.#lock === null || this.#lock.isGone) return [];
    const { open } = this.#transaction.storage;
    const owners = new Set(blockersOf(this.#lock).map(({ owner }) => open.get(owner.id)));
    return [...owners].filter((owner) => owner !== undefined);
  }

  /** @throws SqlError 40001 (1213) */
  *until(lock: RecordLock, reason: string): Waiting<void> {
    const transaction = this.#transaction;
    this.#count += 1;
    lock.isWaiting = true;
    lock.hasWaited = true;
    transaction.recordLocks.add(lock);
    this.#lock = lock;
    footprints.recordWait(transaction);
    try {
      const isOver = (): boolean => this.#isVictim || lock.isGone || blockersOf(lock).length === 0;
      const isUrgent = (): boolean => this.#candidates.length > 0;
      const isReady = (): boolean => isOver() || isUrgent();
      if (!isOver()) this.breakDeadlock(transaction);
      while (!isOver()) {
        yield { blockers: blockersOf(lock).map(({ owner }) => owner.id), reason, isReady, isUrgent };
        if (isUrgent()) this.#becomeVictim();
      }
      if (this.#isVictim) throw deadlockError();
      lock.isWaiting = false;
    } finally {
      this.#lock = null;
      this.#settleDeadlock();
      footprints.recordWaitEnd(transaction, lock);
      if (lock.isWaiting) {
        transaction.recordLocks.remove((other) => other === lock);
        if (transaction.isOpen) transaction.storage.lookForDeadlocks();
      }
    }
  }

  /** Rolls the lightest on a cycle of waits back, if this is on one; of several that may be, the scheduler chooses. @param preferred the victim among equals */
  breakDeadlock(preferred: InnodbTransaction | null): void {
    const cycle: InnodbTransaction[] = [this.#transaction];
    for (let next = this.waitsFor; next !== this.#transaction; next = next.lockWait.waitsFor) {
      if (next === null || cycle.includes(next)) return;
      cycle.push(next);
    }
    if (cycle.some(({ lockWait }) => lockWait.#candidates.length > 0)) return;
    const candidates = this.#transaction.storage.anyPage ? lightestOnSomePages(cycle, preferred) : [];
    if (candidates.length > 1) {
      const waits = candidates.map(({ lockWait }) => lockWait);
      for (const wait of waits) wait.#candidates = waits;
      return;
    }
    const least = Math.min(...cycle.map(({ weight }) => weight.least));
    const lightest = cycle.filter(({ weight }) => weight.least === least);
    const victim = preferred !== null && lightest.includes(preferred) ? preferred : lightest.at(-1);
    assert(victim !== undefined, 'a cycle has a lightest transaction');
    victim.lockWait.#becomeVictim();
  }

  #becomeVictim(): void {
    const { storage, session } = this.#transaction;
    this.#settleDeadlock();
    this.#isVictim = true;
    storage.footprint?.touch(waitName(session), 'change');
    this.#transaction.rollback();
  }

  #settleDeadlock(): void {
    for (const candidate of this.#candidates) candidate.#candidates = [];
  }
}

/**
 * Those of a cycle that weigh no more than any other, as their locks may lie on few pages and those of the others on many. Of equals the one that closed the
 * cycle is the victim, so another has to weigh less than that.
 */
function lightestOnSomePages(
  cycle: readonly InnodbTransaction[],
  closing: InnodbTransaction | null,
): readonly InnodbTransaction[] {
  const weighed = cycle.map((transaction) => ({ transaction, ...transaction.weight }));
  return weighed
    .filter((each) =>
      weighed.every((other) => {
        const excess = other.most - each.least;
        return each === other || excess > 0 || (excess === 0 && other.transaction !== closing);
      }),
    )
    .map(({ transaction }) => transaction);
}

function deadlockError(): SqlError {
  return new SqlError('40001', 'Deadlock found when trying to get lock; try restarting transaction', {
    mysqlNumber: 1213,
  });
}
