/**
 * PostgreSQL's heavyweight locks: on tables and, as advisory locks, on numbers. Eight modes, one conflict table, and for each locked object a
 * queue in which a request waits behind the earlier ones that conflict with it. Manual, "13.3.1 Table-Level Locks"; `LockAcquireExtended`
 * (lock.c), `ProcSleep` (proc.c) and `DeadLockCheck` (deadlock.c) of PostgreSQL 15.
 */
import { assert } from '../base/index.ts';
import type { TableLockMode } from '../sql/model/index.ts';
import type { Footprint } from './footprint.ts';

/** Advisory locks are `share` or `exclusive`. */
export type LockMode = TableLockMode;

const strong = ['share row exclusive', 'exclusive', 'access exclusive'] as const;

const conflicts: Record<LockMode, readonly LockMode[]> = {
  'access share': ['access exclusive'],
  'row share': ['exclusive', 'access exclusive'],
  'row exclusive': ['share', ...strong],
  'share update exclusive': ['share update exclusive', 'share', ...strong],
  share: ['row exclusive', 'share update exclusive', ...strong],
  'share row exclusive': ['row exclusive', 'share update exclusive', 'share', ...strong],
  exclusive: ['row share', 'row exclusive', 'share update exclusive', 'share', ...strong],
  'access exclusive': ['access share', 'row share', 'row exclusive', 'share update exclusive', 'share', ...strong],
};

/** Names what is locked: `table 16384`, `advisory 1 2`. */
export type LockTag = string;

/**
 * Locks belong to sessions: what a session holds is never in its own way. `id` is the transaction that waits for them or has to end before
 * they are free, in the waits-for graph.
 */
export interface LockOwner {
  readonly session: number;
  readonly id: number;
}

interface HeldLock {
  readonly owner: LockOwner;
  readonly mode: LockMode;
  /** How many times it was acquired and not released yet. */
  count: number;
}

export interface LockRequest {
  readonly tag: LockTag;
  readonly owner: LockOwner;
  readonly mode: LockMode;
}

interface LockedObject {
  held: HeldLock[];
  queue: LockRequest[];
}

/** Objects that no session locks or waits for are kept up to here: most are locked again soon. */
const unusedMax = 1_000;

/** Which requests go before others that wait already. */
export interface QueueOrder {
  /** Does a session that holds a lock of this mode go before those that wait for it? */
  readonly passes: (held: LockMode) => boolean;
  /** Does a request of a mode go before one that waits for another, whoever holds what? */
  readonly precedes: (requested: LockMode, waiting: LockMode) => boolean;
}

export const holdersFirst: QueueOrder = { passes: () => true, precedes: () => false };

export class HeavyweightLocks {
  readonly #objects = new Map<LockTag, LockedObject>();
  readonly #order: QueueOrder;

  constructor(order: QueueOrder) {
    this.#order = order;
  }

  /**
   * Grants the lock unless another session is in the way: it holds, or waits for, a conflicting mode. A session that would wait goes before those that
   * wait for what it holds, where holders pass; one that would not is refused (`dontWait` of `LockAcquireExtended`).
   */
  tryAcquire(tag: LockTag, owner: LockOwner, mode: LockMode, ifLocked: 'wait' | 'refuse'): boolean {
    const object = this.#object(tag);
    if (object.held.length === 0 && object.queue.length === 0) {
      object.held.push({ owner, mode, count: 1 });
      return true;
    }
    const known = object.held.find((lock) => lock.owner.session === owner.session && lock.mode === mode);
    if (known !== undefined) {
      known.count++;
      return true;
    }
    const request = { tag, owner, mode };
    const place = ifLocked === 'wait' ? this.#queuePlace(object, request) : object.queue.length;
    if (blockersIn(object, request, place).length > 0) {
      this.#forgetUnused(tag, object);
      return false;
    }
    object.held.push({ owner, mode, count: 1 });
    return true;
  }

  /** Joins the queue; `acquire` it when `blockers` is empty, or `leave`. */
  request(tag: LockTag, owner: LockOwner, mode: LockMode): LockRequest {
    const object = this.#object(tag);
    const request = { tag, owner, mode };
    object.queue.splice(this.#queuePlace(object, request), 0, request);
    return request;
  }

  /** The transactions in the way of a request that waits: those that hold a conflicting mode, and those before it in the queue. */
  blockers(request: LockRequest): number[] {
    const object = this.#object(request.tag);
    const place = object.queue.indexOf(request);
    assert(place >= 0, `the request for ${request.tag} waits`);
    return blockersIn(object, request, place).map(({ id }) => id);
  }

  leave(request: LockRequest): void {
    const object = this.#object(request.tag);
    object.queue = object.queue.filter((other) => other !== request);
    this.#forgetUnused(request.tag, object);
  }

  /** Grants a request that nothing blocks, and takes it out of the queue. */
  acquire(request: LockRequest): void {
    this.leave(request);
    const { tag, owner, mode } = request;
    this.#object(tag).held.push({ owner, mode, count: 1 });
  }

  /** Undoes one acquisition. @returns did the session hold it? */
  release(tag: LockTag, session: number, mode: LockMode): boolean {
    const object = this.#objects.get(tag);
    const lock = object?.held.find((each) => each.owner.session === session && each.mode === mode);
    if (object === undefined || lock === undefined) return false;
    lock.count--;
    if (lock.count === 0) object.held = object.held.filter((each) => each !== lock);
    this.#forgetUnused(tag, object);
    return true;
  }

  /** Who holds it, or else is the next to; `null`: it is free. */
  holder(tag: LockTag): LockOwner | null {
    const object = this.#objects.get(tag);
    return object?.held[0]?.owner ?? object?.queue[0]?.owner ?? null;
  }

  /**
   * A request would close a cycle with a session that waits for what the requesting session holds here: two that share a lock and both want
   * more. PostgreSQL refuses the later one at once.
   */
  isEarlyDeadlock({ tag, owner, mode }: LockRequest): boolean {
    const object = this.#object(tag);
    return object.queue.some(
      (waiting) =>
        waiting.owner.session !== owner.session &&
        heldBy(object, owner).some((held) => isConflict(held, waiting.mode)) &&
        heldBy(object, waiting.owner).some((held) => isConflict(held, mode)),
    );
  }

  /**
   * A cycle that exists only through places in a queue is no deadlock: the later request may go first. Moves it there.
   * @param waiter waits for `blocker`, by transaction
   * @returns moves it back; `null` where `blocker` holds a conflicting lock, or does not wait before it
   */
  overtake(waiter: number, blocker: number): (() => void) | null {
    for (const object of this.#objects.values()) {
      const behind = object.queue.find(({ owner }) => owner.id === waiter);
      const before = object.queue.find(({ owner }) => owner.id === blocker);
      if (behind === undefined || before === undefined) continue;
      if (object.queue.indexOf(before) > object.queue.indexOf(behind)) continue;
      if (heldBy(object, before.owner).some((held) => isConflict(held, behind.mode))) continue;
      const queue = object.queue.filter((each) => each !== behind);
      const old = object.queue;
      object.queue = queue.toSpliced(queue.indexOf(before), 0, behind);
      return () => (object.queue = old);
    }
    return null;
  }

  /** Before the first that waits for what the requesting session holds, or that it precedes and that still has to wait; or at the end. */
  #queuePlace(object: LockedObject, { owner, mode }: LockRequest): number {
    const { passes, precedes } = this.#order;
    const own = heldBy(object, owner).filter(passes);
    const place = object.queue.findIndex(
      (waiting, i) =>
        own.some((held) => isConflict(held, waiting.mode)) ||
        (precedes(mode, waiting.mode) && blockersIn(object, waiting, i).length > 0),
    );
    return place < 0 ? object.queue.length : place;
  }

  #object(tag: LockTag): LockedObject {
    let object = this.#objects.get(tag);
    if (object === undefined) this.#objects.set(tag, (object = { held: [], queue: [] }));
    return object;
  }

  #forgetUnused(tag: LockTag, { held, queue }: LockedObject): void {
    if (held.length === 0 && queue.length === 0 && this.#objects.size > unusedMax) this.#objects.delete(tag);
  }
}

/** Requests conflict in a footprint as their modes do. */
export function touchLock(footprint: Footprint, tag: LockTag, mode: LockMode): void {
  footprint.touch(`${tag} ${mode}`, 'left');
  for (const other of conflicts[mode]) footprint.touch(`${tag} ${other}`, 'right');
}

function isConflict(a: LockMode, b: LockMode): boolean {
  return conflicts[a].includes(b);
}

function heldBy({ held }: LockedObject, { session }: LockOwner): LockMode[] {
  return held.flatMap(({ owner, mode }) => (owner.session === session ? [mode] : []));
}

function blockersIn({ held, queue }: LockedObject, { owner, mode }: LockRequest, place: number): LockOwner[] {
  return [...held, ...queue.slice(0, place)].flatMap((other) =>
    other.owner.session !== owner.session && isConflict(other.mode, mode) ? [other.owner] : [],
  );
}
