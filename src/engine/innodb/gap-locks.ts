/**
 * InnoDB's record locks. Every index record has a list of locks in order of request, granted or waiting; a lock covers the record, the gap
 * before it, or both (next-key). MySQL manual, "InnoDB Locking"; the rules are those of `lock_rec_has_to_wait` in lock0lock.
 */
import type { LockRequest, TableId } from '../../sql/model/index.ts';
import type { Footprint } from '../footprint.ts';

export type LockMode = 'S' | 'X';
/**
 * `insert`: an insertion into the gap that waits for others' gap locks; no lock waits for it. `auto-increment`: of a table's counter, and of nothing else
 * (`auto-increment-lock.ts`).
 */
export type LockKind = 'next-key' | 'record' | 'gap' | 'insert' | 'auto-increment';

export interface LockOwner {
  readonly id: number;
  readonly session: number;
  /** Does its level lock ranges? */
  readonly locksGaps: boolean;
  /** With which lock its statement under way looks for rows of a key that it writes. X: it would replace or update them. */
  readonly duplicateMode: LockMode;
  /** Adds a lock that need not wait. */
  grant(lock: RecordLock): void;
  /** Of its locks one that another transaction waits for, or would: it has a structure from now on. */
  makeExplicit(lock: RecordLock): void;
}

export interface RecordLock {
  readonly owner: LockOwner;
  readonly record: LockableRecord;
  readonly mode: LockMode;
  readonly kind: LockKind;
  isWaiting: boolean;
  /** It had to wait: then it is a structure of its own. */
  hasWaited: boolean;
  /** The record has left the index: a transaction that waits for the lock reads the index again. */
  isGone: boolean;
  /** Of a written row. It becomes a lock structure when another transaction waits for it. */
  isImplicit: boolean;
  /** Of its index, when it got a structure. */
  splitsBefore: number;
  /** Of the steps in which it joined the queue, and in which it got a structure. */
  queuedIn: Footprint | null;
  countedIn: Footprint | null;
}

/** An index record, the end of an index, or a table's AUTO_INCREMENT counter. */
export interface LockableRecord {
  readonly isSupremum: boolean;
  /** In order of request. Shared when empty. */
  locks: RecordLock[];
  /** The index by identity, or the counter itself; and their table. */
  readonly index: { readonly table: TableId; readonly splits: number };
  /** `null` for what is no index record. */
  readonly row: object | null;
}

export const noLocks: RecordLock[] = [];

/** Must a request wait for another's lock on the same record or counter? */
export function mustWait(request: RecordLock, other: RecordLock): boolean {
  if (request.owner === other.owner) return false;
  if (request.mode === 'S' && other.mode === 'S') return false;
  if (other.kind === 'insert') return false;
  const isInsert = request.kind === 'insert';
  if (isInsert) return other.kind !== 'record' || request.record.isSupremum;
  if (request.record.isSupremum || request.kind === 'gap') return false;
  return other.kind !== 'gap';
}

/** Is what a request asks for held already? */
export function covers(held: RecordLock, request: RecordLock): boolean {
  if (held.owner !== request.owner || held.isWaiting || held.kind === 'insert') return false;
  if (held.mode === 'S' && request.mode === 'X') return false;
  return held.kind === 'next-key' || held.kind === request.kind || request.record.isSupremum;
}

/**
 * The locks that a request has to wait for: those before it, waiting ones too, or for a new one all. So who shares a lock and wants it
 * exclusively waits for others that wait for it, and closes a cycle: MariaDB 10.11 does so; MySQL 8.0.21 lets it pass (bug 11745929).
 */
export function blockersOf(request: RecordLock): RecordLock[] {
  const { locks } = request.record;
  const place = locks.indexOf(request);
  const before = place < 0 ? locks : locks.slice(0, place);
  return before.filter((other) => mustWait(request, other));
}

export function enqueue(request: RecordLock): void {
  const { record } = request;
  if (record.locks === noLocks) record.locks = [];
  record.locks.push(request);
}

export function newLock(owner: LockOwner, record: LockableRecord, mode: LockMode, kind: LockKind): RecordLock {
  const { splits: splitsBefore } = record.index;
  return {
    owner,
    record,
    mode,
    kind,
    isWaiting: false,
    hasWaited: false,
    isGone: false,
    isImplicit: false,
    splitsBefore,
    queuedIn: null,
    countedIn: null,
  };
}

export function dequeue(lock: RecordLock): void {
  const { locks } = lock.record;
  const at = locks.indexOf(lock);
  if (at >= 0) locks.splice(at, 1);
}

/** Key share is InnoDB's share lock, the update strengths its exclusive lock. */
export function modeOf({ strength }: LockRequest): LockMode {
  return strength === 'key share' || strength === 'share' ? 'S' : 'X';
}
