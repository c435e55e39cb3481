/** The row locks of one transaction: until it ends, or is rolled back to a savepoint from before. `heap_lock_tuple` (heapam.c). */
import { type LockStrength, SqlError, type Waiting } from '../../sql/model/index.ts';
import type { Writer } from '../versions.ts';
import * as footprints from './footprint.ts';
import { type Waiter, waitForBlockers } from './lock-wait.ts';
import { type RowLock, RowLocks } from './row-locks.ts';
import type { StoredRow } from './table.ts';

/** A transaction that locks rows. */
export interface RowLocker extends Waiter {
  readonly writer: Writer;
  /** Its number among those that write or lock: given when it is first needed. */
  number(): number;
}

export class HeldRowLocks {
  readonly #locker: RowLocker;
  readonly #held: { readonly row: StoredRow; readonly lock: RowLock }[] = [];

  constructor(locker: RowLocker) {
    this.#locker = locker;
  }

  /** For `release`. */
  mark(): number {
    return this.#held.length;
  }

  /**
   * @param isRefused will the statement fail whatever the lock's holders do? Asked again while it waits
   * @throws SqlError 55P03, 40P01
   */
  *lock(
    row: StoredRow,
    strength: LockStrength,
    ifLocked: 'wait' | 'error' | 'skip',
    isRefused: () => boolean,
  ): Waiting<'granted' | 'skipped' | 'refused'> {
    const { writer, storage } = this.#locker;
    const locks = (row.locks ??= new RowLocks());
    if (locks.holds(writer, strength)) return 'granted';
    const lock: RowLock = { owner: writer, number: this.#locker.number(), strength };
    const isBlocked = locks.isBlocked(lock);
    const access = isBlocked && ifLocked !== 'wait' ? footprints.tries[strength] : strength;
    storage.footprint?.touch(footprints.rowName(row), access);
    if (isBlocked) {
      if (ifLocked === 'skip') return 'skipped';
      if (ifLocked === 'error')
        throw new SqlError('55P03', `could not obtain lock on row in relation "${row.table.shape.name}"`);
      yield* this.#waitFor(row, locks, lock, isRefused);
      if (isRefused()) return 'refused';
    }
    locks.grant(lock);
    this.#held.push({ row, lock });
    return 'granted';
  }

  /** In the row's queue, where the transaction has no lock of the row yet. */
  *#waitFor(row: StoredRow, locks: RowLocks, lock: RowLock, isRefused: () => boolean): Waiting<void> {
    const { writer, storage } = this.#locker;
    if (!locks.held.some(({ owner }) => owner === writer)) locks.queue.push(lock);
    try {
      const touch = (): void => storage.footprint?.touch(footprints.rowName(row), lock.strength);
      // Where any on a cycle may be the victim, when a deadlock is found is left to timers as well.
      const blockers = (): number[] =>
        storage.anyVictim ? locks.blockers(lock, isRefused()) : locks.nextBlockers(lock, isRefused());
      yield* waitForBlockers(this.#locker, blockers, `row lock on ${row.table.shape.name} ${row.id}`, touch);
    } finally {
      locks.leave(lock);
    }
  }

  /** Those since the mark. */
  release(mark: number): void {
    const { footprint } = this.#locker.storage;
    for (let i = mark; i < this.#held.length; i++) {
      const { row, lock } = this.#held[i] as { row: StoredRow; lock: RowLock };
      const { locks } = row;
      if (locks === null) continue;
      footprint?.touch(footprints.rowName(row), lock.strength);
      locks.release(lock);
      if (locks.held.length === 0 && locks.queue.length === 0) row.locks = null;
    }
    this.#held.length = mark;
  }
}
