/**
 * Metadata locks: a statement shares those of its tables, DDL locks its table exclusively, until the transaction ends or is rolled back to a savepoint.
 * Requests queue, so what comes after a DDL statement waits for it. Deadlocks are found among these locks only, not with row locks, as in the server.
 * MySQL manual, "Metadata Locking". With them InnoDB's own locks on tables, which statements that write or lock share: DDL on a table also locks
 * the tables that refer to it exclusively (`lock_table_children`). The modes are PostgreSQL's: only DDL's conflict.
 */
import { SqlError, type TableId, type TableLockMode, type Waiting } from '../../sql/model/index.ts';
import type { Footprint } from '../footprint.ts';
import { HeavyweightLocks, type LockMode, type LockOwner, type LockTag, touchLock } from '../heavyweight-locks.ts';
import { WaitsFor } from '../waits-for.ts';

/** Of all transactions. */
export class MetadataLocks {
  /** In footprints and to those that wait. */
  readonly name: string;
  readonly locks = new HeavyweightLocks({ letsHoldersPass: false });
  readonly waitsFor = new WaitsFor();

  constructor(name: 'metadata lock' | 'table lock') {
    this.name = name;
  }
}

/** What one transaction holds. */
export class HeldMetadata {
  readonly #shared: MetadataLocks;
  readonly #owner: LockOwner;
  readonly #footprint: () => Footprint | null;
  readonly #held: { readonly tag: LockTag; readonly mode: LockMode }[] = [];

  constructor(shared: MetadataLocks, owner: LockOwner, footprint: () => Footprint | null) {
    this.#shared = shared;
    this.#owner = owner;
    this.#footprint = footprint;
  }

  /** @returns did it have to wait? @throws SqlError 40001 (1213) */
  *lock(table: TableId, mode: TableLockMode, name: string): Waiting<boolean> {
    const tag = `${this.#shared.name} ${table}`;
    if (this.#held.some((lock) => lock.tag === tag && rank(lock.mode) >= rank(mode))) return false;
    const { locks } = this.#shared;
    this.#touch(tag, mode);
    const isFree = locks.tryAcquire(tag, this.#owner, mode, 'wait');
    if (!isFree) yield* this.#wait(tag, mode, name);
    this.#held.push({ tag, mode });
    return !isFree;
  }

  *#wait(tag: LockTag, mode: LockMode, name: string): Waiting<void> {
    const { locks, waitsFor } = this.#shared;
    const { id } = this.#owner;
    const request = locks.request(tag, this.#owner, mode);
    const blockers = (): readonly number[] => locks.blockers(request);
    try {
      waitsFor.begin(id, blockers);
      if (waitsFor.cycleThrough(id).length > 0) throw deadlock();
      while (blockers().length > 0)
        yield {
          blockers: blockers(),
          reason: `${this.#shared.name} on ${name}`,
          isReady: () => blockers().length === 0,
        };
      locks.acquire(request);
    } finally {
      waitsFor.end(id);
      locks.leave(request);
      this.#touch(tag, mode);
    }
  }

  /** For `release`. */
  mark(): number {
    return this.#held.length;
  }

  release(from: number): void {
    for (const { tag, mode } of this.#held.splice(from)) {
      this.#touch(tag, mode);
      this.#shared.locks.release(tag, this.#owner.session, mode);
    }
  }

  #touch(tag: LockTag, mode: LockMode): void {
    const footprint = this.#footprint();
    if (footprint !== null) touchLock(footprint, tag, mode);
  }
}

/** A lock of one rank is also one of those below: of statements that read, of those that write or lock rows, of DDL. */
function rank(mode: LockMode): number {
  return mode === 'access share' ? 0 : mode === 'row share' || mode === 'row exclusive' ? 1 : 2;
}

function deadlock(): SqlError {
  return new SqlError('40001', 'Deadlock found when trying to get lock; try restarting transaction', {
    mysqlNumber: 1213,
  });
}
