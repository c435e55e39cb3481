/**
 * Locks that programs take by a key of their own: `pg_advisory_lock(42)`, `GET_LOCK('job', 10)`. They belong to a session, which may take one
 * several times, or to its transaction. PostgreSQL manual, 13.3.5 "Advisory Locks"; MySQL manual, "Locking Functions".
 */
import type { StorageTransaction, Wait, Waiting } from '../sql/model/index.ts';
import type { FootprintRecorder } from './footprint.ts';
import { HeavyweightLocks, holdersFirst, type LockOwner, type LockRequest, touchLock } from './heavyweight-locks.ts';
import { waitWeight, type WeighedWaits } from './weighed-waits.ts';

export type AdvisoryMode = 'share' | 'exclusive';

export interface AdvisoryLock {
  readonly key: string;
  readonly mode: AdvisoryMode;
  /** A lock of the transaction goes with it, or with the savepoint that it is rolled back to. */
  readonly owner: 'session' | 'transaction';
}

export interface AdvisoryWait {
  readonly session: number;
  /** The transaction of the statement that waits. */
  readonly transaction: StorageTransaction;
  /** The error of one that would wait for ever. */
  readonly deadlock: () => Error;
  /** A time limit: when it is reached the lock is not taken. `null`: none but those of the statement. */
  readonly limitMs: number | null;
}

export interface AdvisoryLocksOptions {
  readonly footprints: FootprintRecorder | null;
  /** The open transaction of a session; where there is none, the negative number of the session. */
  readonly transactionOf: (session: number) => number;
  /** Where the storage does not find the deadlocks: see `PostgresStorageOptions`. */
  readonly deadlockVictim: 'last' | 'any';
  /** With those for other locks, where the engine looks for deadlocks among both. */
  readonly waits: WeighedWaits;
}

type Held = Record<AdvisoryLock['owner'], AdvisoryLock[]>;

export class AdvisoryLocks {
  /** With those on tables, where the engine has both in one manager. */
  readonly locks = new HeavyweightLocks(holdersFirst);
  readonly #options: AdvisoryLocksOptions;
  /** What each session and its transaction hold, in order. */
  readonly #held = new Map<number, Held>();

  constructor(options: AdvisoryLocksOptions) {
    this.#options = options;
  }

  /** @returns is it taken? */
  tryLock(session: number, lock: AdvisoryLock): boolean {
    return this.#take(session, lock, 'refuse');
  }

  #take(session: number, lock: AdvisoryLock, ifLocked: 'wait' | 'refuse'): boolean {
    const { key, mode } = lock;
    this.#touch(key, mode);
    const isTaken = this.locks.tryAcquire(tagOf(key), this.#owner(session), mode, ifLocked);
    if (isTaken) this.#of(session)[lock.owner].push(lock);
    return isTaken;
  }

  /** Takes it, and waits for it where others have it. @returns is it taken, or has the limit been reached? @throws SqlError of a deadlock */
  *lock(lock: AdvisoryLock, wait: AdvisoryWait): Waiting<boolean> {
    const { key, mode } = lock;
    const { session } = wait;
    if (this.#take(session, lock, 'wait')) return true;
    const request = this.locks.request(tagOf(key), this.#owner(session), mode);
    try {
      if (this.locks.isEarlyDeadlock(request)) throw wait.deadlock();
      if (!(yield* this.#wait(lock, request, wait))) return false;
      this.locks.acquire(request);
      this.#of(session)[lock.owner].push(lock);
      return true;
    } finally {
      this.#touch(key, mode);
      this.locks.leave(request);
    }
  }

  /** @returns did the session hold it? Locks of the transaction do not count */
  unlock(session: number, key: string, mode: AdvisoryMode): boolean {
    const { session: locks } = this.#of(session);
    const at = locks.findLastIndex((lock) => lock.key === key && lock.mode === mode);
    if (at < 0) return false;
    locks.splice(at, 1);
    this.#release(session, key, mode);
    return true;
  }

  /** @returns how many the session held */
  unlockAll(session: number): number {
    const locks = this.#held.get(session)?.session.splice(0) ?? [];
    for (const { key, mode } of locks) this.#release(session, key, mode);
    return locks.length;
  }

  /** How many the transaction of the session has: a mark for `endTransaction`. */
  mark(session: number): number {
    return this.#held.get(session)?.transaction.length ?? 0;
  }

  /** The transaction has ended, or is rolled back to a mark. */
  endTransaction(session: number, mark = 0): void {
    const locks = this.#held.get(session)?.transaction.splice(mark) ?? [];
    for (const { key, mode } of locks) this.#release(session, key, mode);
  }

  endSession(session: number): void {
    this.endTransaction(session);
    this.unlockAll(session);
    this.#held.delete(session);
  }

  /** The session that holds it, or is the next to; `null`: it is free. */
  holder(key: string): number | null {
    this.#touch(key, 'share');
    return this.locks.holder(tagOf(key))?.session ?? null;
  }

  #wait({ key, mode }: AdvisoryLock, request: LockRequest, wait: AdvisoryWait): Waiting<boolean> {
    const blockers = (): readonly number[] => this.locks.blockers(request);
    const reason = `advisory lock ${key}`;
    const { transaction } = wait;
    if (wait.limitMs !== null || transaction.wait === undefined)
      return this.#waitAlone(request.owner, { ...wait, blockers, reason });
    return whole(transaction.wait(blockers, reason, () => this.#touch(key, mode)));
  }

  /** Among locks by key only: the engines that have these find no deadlocks with rows. @returns has the wait ended before the limit? */
  *#waitAlone(
    owner: LockOwner,
    wait: AdvisoryWait & { readonly blockers: () => readonly number[]; readonly reason: string },
  ): Waiting<boolean> {
    const { blockers, reason, limitMs, deadlock } = wait;
    const { footprints, deadlockVictim, waits } = this.#options;
    const state = { isLate: false };
    const isFree = (): boolean => blockers().length === 0;
    const look = (id: number): void => footprints?.current.touch(`lock wait of ${id}`, 'read');
    const isStuck = (onLook?: typeof look): boolean =>
      deadlockVictim === 'any' ? waits.mayBeVictim(owner.id, onLook) : waits.isVictim(owner.id, onLook);
    const end = (): void => void (state.isLate = true);
    const limit: Pick<Wait, 'limit'> = limitMs === null ? {} : { limit: { ms: limitMs, reached: end } };
    const isReady = (): boolean => isFree() || state.isLate || isStuck();
    footprints?.current.touch(`lock wait of ${owner.id}`, 'change');
    // It keeps its snapshot for ranges that are not known yet.
    footprints?.current.touch('snapshot', 'left');
    waits.begin(owner.id, waitWeight.name, blockers);
    try {
      if (deadlockVictim === 'any') yield { blockers: blockers(), reason, isReady, ...limit };
      while (!isFree() && !state.isLate) {
        if (isStuck(look)) throw deadlock();
        yield { blockers: blockers(), reason, isReady, ...limit };
      }
      return isFree();
    } finally {
      waits.end(owner.id);
      footprints?.current.touch(`lock wait of ${owner.id}`, 'change');
    }
  }

  #release(session: number, key: string, mode: AdvisoryMode): void {
    this.#touch(key, mode);
    this.locks.release(tagOf(key), session, mode);
  }

  /** Its transaction changes while it holds locks. */
  #owner(session: number): LockOwner {
    const { transactionOf } = this.#options;
    return {
      session,
      get id() {
        return transactionOf(session);
      },
    };
  }

  #of(session: number): Held {
    const known = this.#held.get(session);
    if (known !== undefined) return known;
    const held: Held = { session: [], transaction: [] };
    this.#held.set(session, held);
    return held;
  }

  #touch(key: string, mode: AdvisoryMode): void {
    const footprint = this.#options.footprints?.current;
    if (footprint !== undefined) touchLock(footprint, tagOf(key), mode);
  }
}

function tagOf(key: string): string {
  return `advisory ${key}`;
}

function* whole(waiting: Waiting<void>): Waiting<true> {
  yield* waiting;
  return true;
}
