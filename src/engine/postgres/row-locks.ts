/**
 * PostgreSQL's row locks: four strengths, held until the end of the transaction or of the savepoint they were taken in, and one queue for each
 * row. Manual, "13.3.2 Row-Level Locks". Waiters queue by tuple locks, which conflict as the row locks do.
 */
import type { LockStrength } from '../../sql/model/index.ts';
import type { Writer } from '../versions.ts';

export interface RowLock {
  readonly owner: Writer;
  /** The transaction's number among those that write or lock: the order of PostgreSQL's transaction ids. */
  readonly number: number;
  readonly strength: LockStrength;
}

/** Strengths that conflict, by bits in order of strength. */
const rank: Record<LockStrength, number> = { 'key share': 0, share: 1, 'no key update': 2, update: 3 };
const conflicts: Record<LockStrength, number> = {
  'key share': 0b1000,
  share: 0b1100,
  'no key update': 0b1110,
  update: 0b1111,
};

function conflict(a: LockStrength, b: LockStrength): boolean {
  return (conflicts[a] & (1 << rank[b])) !== 0;
}

/** The locks on one row. Few rows have one, so a row makes it when it is first locked. */
export class RowLocks {
  readonly held: RowLock[] = [];
  readonly queue: RowLock[] = [];

  /** Does `owner` hold this strength or a stronger one? */
  holds(owner: Writer, strength: LockStrength): boolean {
    return this.held.some((lock) => lock.owner === owner && rank[lock.strength] >= rank[strength]);
  }

  /**
   * Others that hold what conflicts, and, for one that stands in line, those before it. Who has a lock already and wants a stronger one does
   * not stand in line, or those before it would wait for it (`skip_tuple_lock` in heapam.c).
   * @param isRefused the request is for a version that has been replaced: only FOR KEY SHARE can hold that one, and its line is gone
   */
  blockers(request: RowLock, isRefused: boolean): number[] {
    const ids = this.#holders(request, isRefused).map(({ owner }) => owner.id);
    if (isRefused) return ids;
    const place = this.held.some((lock) => lock.owner === request.owner) ? 0 : this.queue.indexOf(request);
    for (let i = 0; i < place; i++) {
      const before = this.queue[i] as RowLock;
      if (blocks(before, request)) ids.push(before.owner.id);
    }
    return ids;
  }

  /**
   * Those of `blockers` that it waits for now: of several holders the one with the lowest number. PostgreSQL keeps them as a multixact, sorted by
   * transaction id, and waits for one member after another (`Do_MultiXactIdWait` in heapam.c), so a deadlock with a later one is found later.
   */
  nextBlockers(request: RowLock, isRefused: boolean): number[] {
    const ids = this.blockers(request, isRefused);
    const holders = this.#holders(request, isRefused).toSorted((a, b) => a.number - b.number);
    const [first, ...later] = new Set(holders.map(({ owner }) => owner.id));
    return first === undefined ? ids : ids.filter((id) => !later.includes(id));
  }

  #holders(request: RowLock, isRefused: boolean): RowLock[] {
    return this.held.filter((lock) => blocks(lock, request) && (!isRefused || lock.strength === 'key share'));
  }

  isBlocked(request: RowLock): boolean {
    return this.held.length > 0 && this.held.some((lock) => blocks(lock, request));
  }

  /** Held without a check: a lock that conflicts with no other. */
  grant(lock: RowLock): void {
    this.held.push(lock);
  }

  release(lock: RowLock): void {
    remove(this.held, lock);
  }

  leave(request: RowLock): void {
    remove(this.queue, request);
  }
}

function blocks(lock: RowLock, request: RowLock): boolean {
  return lock.owner !== request.owner && conflict(lock.strength, request.strength);
}

function remove<T>(items: T[], item: T): void {
  const at = items.indexOf(item);
  if (at >= 0) items.splice(at, 1);
}
