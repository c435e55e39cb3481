/**
 * Metadata locks: a statement shares those of its tables, DDL locks its table exclusively, until the transaction ends or is rolled back to a savepoint.
 * Requests queue, so what comes after a DDL statement waits for it. Deadlocks are found among these locks and those of GET_LOCK only, not with row locks,
 * as in the server. MySQL manual, "Metadata Locking". With them InnoDB's own locks on tables, which statements that write or lock share: DDL on a table also
 * locks the tables that refer to it exclusively (`lock_table_children`).
 *
 * The modes are PostgreSQL's that conflict alike: `access share` is MDL_SHARED_READ, `row exclusive` MDL_SHARED_WRITE, `share update exclusive`
 * MDL_SHARED_UPGRADABLE, `share row exclusive` MDL_SHARED_NO_WRITE, `access exclusive` MDL_EXCLUSIVE.
 */
import { SqlError, type TableId, type TableLockMode, type Waiting } from '../../sql/model/index.ts';
import type { Footprint } from '../footprint.ts';
import { HeavyweightLocks, type LockMode, type LockOwner, type LockTag, touchLock } from '../heavyweight-locks.ts';
import { waitWeight, type WeighedWaits } from '../weighed-waits.ts';

/** Of all transactions. */
export class MetadataLocks {
  /** In footprints and to those that wait. */
  readonly name: string;
  readonly locks = new HeavyweightLocks({ passes: isOfDefinition, precedes });
  readonly waits: WeighedWaits;

  /** @param waits where deadlocks are looked for */
  constructor(name: 'metadata lock' | 'table lock', waits: WeighedWaits) {
    this.name = name;
    this.waits = waits;
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
    const tag = this.#tagOf(table);
    if (this.holds(table, mode)) return false;
    const { locks } = this.#shared;
    this.#touch(tag, mode);
    const isFree = locks.tryAcquire(tag, this.#owner, mode, 'wait');
    if (!isFree) yield* this.#wait(tag, mode, name);
    this.#held.push({ tag, mode });
    return !isFree;
  }

  /** This mode or one that includes it. */
  holds(table: TableId, mode: TableLockMode): boolean {
    const tag = this.#tagOf(table);
    return this.#held.some((lock) => lock.tag === tag && rank(lock.mode) >= rank(mode));
  }

  /** Gives the exclusive lock up; the weaker ones stay. */
  downgrade(table: TableId): void {
    const tag = this.#tagOf(table);
    const at = this.#held.findIndex((lock) => lock.tag === tag && lock.mode === 'access exclusive');
    const [lock] = at < 0 ? [] : this.#held.splice(at, 1);
    if (lock !== undefined) this.#release(lock);
  }

  *#wait(tag: LockTag, mode: LockMode, name: string): Waiting<void> {
    const { locks, waits } = this.#shared;
    const { id } = this.#owner;
    const request = locks.request(tag, this.#owner, mode);
    const blockers = (): readonly number[] => locks.blockers(request);
    const reason = `${this.#shared.name} on ${name}`;
    const isReady = (): boolean => blockers().length === 0 || waits.isVictim(id);
    try {
      waits.begin(id, isOfDefinition(mode) ? waitWeight.definition : waitWeight.rows, blockers);
      while (!isReady()) yield { blockers: blockers(), reason, isReady };
      if (blockers().length > 0) throw deadlock();
      locks.acquire(request);
    } finally {
      waits.end(id);
      locks.leave(request);
      this.#touch(tag, mode);
    }
  }

  /** For `release`. */
  mark(): number {
    return this.#held.length;
  }

  release(from: number): void {
    for (const lock of this.#held.splice(from)) this.#release(lock);
  }

  #release({ tag, mode }: { readonly tag: LockTag; readonly mode: LockMode }): void {
    this.#touch(tag, mode);
    this.#shared.locks.release(tag, this.#owner.session, mode);
  }

  #tagOf(table: TableId): LockTag {
    return `${this.#shared.name} ${table}`;
  }

  #touch(tag: LockTag, mode: LockMode): void {
    const footprint = this.#footprint();
    if (footprint !== null) touchLock(footprint, tag, mode);
  }
}

/** A lock of one rank includes those below that its holder asks for. */
const ranks: readonly LockMode[] = ['access share', 'row exclusive', 'share update exclusive', 'share row exclusive'];

/** The exclusive ones are above them. */
function rank(mode: LockMode): number {
  const at = ranks.indexOf(mode);
  return at < 0 ? ranks.length : at;
}

function isOfDefinition(mode: LockMode): boolean {
  return rank(mode) >= rank('share update exclusive');
}

/** `m_waiting_incompatible` in mdl.cc: a request does not get its lock while one that precedes it waits, even one that came later. */
function precedes(requested: LockMode, waiting: LockMode): boolean {
  if (requested === 'access exclusive') return waiting !== 'access exclusive';
  return requested === 'share row exclusive' && waiting === 'row exclusive';
}

function deadlock(): SqlError {
  return new SqlError('40001', 'Deadlock found when trying to get lock; try restarting transaction', {
    mysqlNumber: 1213,
  });
}
