/** The heavyweight locks of one transaction, on tables and names: until it ends, or is rolled back to a savepoint from before. */
import { SqlError, type Waiting } from '../../sql/model/index.ts';
import { type LockMode, type LockTag, touchLock } from '../heavyweight-locks.ts';
import { deadlockError, type Waiter, waitForBlockers } from './lock-wait.ts';

/** `reason`: of a wait, `title`: in errors. */
interface LockedObject {
  readonly reason: string;
  readonly title: string;
}

export class HeldHeavyweightLocks {
  readonly #waiter: Waiter;
  /** In order. */
  readonly #held: { readonly tag: LockTag; readonly mode: LockMode }[] = [];

  constructor(waiter: Waiter) {
    this.#waiter = waiter;
  }

  /** For `release`. */
  mark(): number {
    return this.#held.length;
  }

  /** @returns is it held? */
  tryLock(tag: LockTag, mode: LockMode): boolean {
    if (this.#isHeld(tag, mode)) return true;
    this.#touch(tag, mode);
    const isFree = this.#waiter.storage.heavyweight.tryAcquire(tag, this.#waiter, mode, 'refuse');
    if (isFree) this.#held.push({ tag, mode });
    return isFree;
  }

  /** @returns did it have to wait? @throws SqlError 55P03, 40P01 */
  *lock(tag: LockTag, mode: LockMode, ifLocked: 'wait' | 'error', describe: () => LockedObject): Waiting<boolean> {
    if (this.#isHeld(tag, mode)) return false;
    const { storage, id } = this.#waiter;
    const { heavyweight } = storage;
    const touch = (): void => this.#touch(tag, mode);
    touch();
    const isFree = heavyweight.tryAcquire(tag, this.#waiter, mode, ifLocked === 'wait' ? 'wait' : 'refuse');
    if (!isFree) {
      if (ifLocked === 'error') throw new SqlError('55P03', `could not obtain lock on ${describe().title}`);
      const request = heavyweight.request(tag, this.#waiter, mode);
      try {
        if (heavyweight.isEarlyDeadlock(request)) throw deadlockError([id, ...heavyweight.blockers(request)]);
        yield* waitForBlockers(this.#waiter, () => heavyweight.blockers(request), describe().reason, touch);
        heavyweight.acquire(request);
      } finally {
        heavyweight.leave(request);
      }
    }
    this.#held.push({ tag, mode });
    return !isFree;
  }

  /** Those since the mark. */
  release(mark: number): void {
    const { storage, session } = this.#waiter;
    for (const { tag, mode } of this.#held.splice(mark)) {
      this.#touch(tag, mode);
      storage.heavyweight.release(tag, session, mode);
    }
  }

  #isHeld(tag: LockTag, mode: LockMode): boolean {
    return this.#held.some((lock) => lock.tag === tag && lock.mode === mode);
  }

  #touch(tag: LockTag, mode: LockMode): void {
    const { footprint } = this.#waiter.storage;
    if (footprint !== null) touchLock(footprint, tag, mode);
  }
}
