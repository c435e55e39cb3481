/**
 * The footprint of a step of the InnoDB profile (`footprint.ts`), where a recorder is there.
 *
 * - A consistent read conflicts with the commits that make rows of its range visible; at READ UNCOMMITTED with the writes, committed or not. It reads
 *   what was committed when its read view was opened: so the access is one of that step, and a late one where the step is over.
 * - Record locks conflict as their modes do. A scan, and a gap that is locked, conflicts with records that are added or removed there.
 * - An insertion conflicts with those, and with the removal of its neighbours; two insertions of different keys into one gap do not conflict.
 * - The removal of a record moves its locks to the neighbour, and it depends on open read views: opening or closing one conflicts with the end of a
 *   transaction that leaves records to remove.
 * - Deadlock detection reads the waits-for graph and each transaction's weight, which choose the victim: both are accesses.
 */
import type { SqlValue, TableId } from '../../sql/model/index.ts';
import { assert } from '../../base/index.ts';
import { type AccessKind, type Footprint, waitName } from '../footprint.ts';
import { blockersOf, type LockableRecord, type RecordLock } from './gap-locks.ts';
import { boundsOf, type IndexPath } from '../index-tree.ts';
import type { InnodbStorage } from './storage.ts';
import { IndexRecord, InnodbIndex, type InnodbRow, type InnodbVersion } from './table.ts';
import type { InnodbTransaction } from './transaction.ts';

type Key = readonly SqlValue[];

function indexName(index: InnodbIndex): string {
  return `index ${index.table} ${index.position}`;
}

// ---- reads without locks

/** With the read view that is open; at READ UNCOMMITTED without one. */
export function recordRead(
  { storage, isolation, readViewFootprint }: InnodbTransaction,
  index: InnodbIndex,
  path: IndexPath,
): void {
  const isUncommitted = isolation === 'read uncommitted';
  const footprint = isUncommitted ? storage.footprint : readViewFootprint;
  if (footprint === null) return;
  const bounds = boundsOf(path, index.shape.compare);
  const contains = (key: Key): boolean => !bounds.isBelow(key) && !bounds.isAbove(key);
  footprint.touchRange(indexName(index), isUncommitted ? 'peek' : 'see', contains);
}

/** Whether the read view contains the row of a record is read. */
export function recordIsSeen({ readViewFootprint }: InnodbTransaction, { index, key }: IndexRecord): void {
  readViewFootprint?.touchKey(indexName(index), 'see', key, index.shape.compare);
}

/** The committed version of a row is read where only its record in a secondary index is locked: that does not keep writers of other columns out. */
export function recordCommittedRead({ footprint }: InnodbStorage, { index, key }: IndexRecord): void {
  footprint?.touchKey(indexName(index), 'see', key, index.shape.compare);
}

// ---- records that are there or not

/** A scan of the records from `from` to `to`, inclusive; without one, from the first or to the last. */
export function recordWalk({ footprint }: InnodbStorage, index: InnodbIndex, from: Key | null, to: Key | null): void {
  footprint?.touchRange(indexName(index), 'walk', between(index, from, to));
}

/** A new record is to come between these. */
export function recordInsert(
  { footprint }: InnodbStorage,
  index: InnodbIndex,
  key: Key,
  row: Key | null,
  next: IndexRecord | undefined,
): void {
  if (footprint === null) return;
  const previous = next === undefined ? index.tree.lastBefore(() => false) : index.tree.previous(next);
  footprint.touchRange(indexName(index), 'neighbours', between(index, previous?.key ?? null, next?.key ?? null));
  footprint.touchKey(indexName(index), 'add', key, index.shape.compare, row ?? undefined, index.compareRows);
}

/** Where a page begins with the record, its locks cover the gap, too: so the insertion conflicts with them. */
export function recordInsertBefore({ footprint }: InnodbStorage, next: IndexRecord): void {
  if (footprint !== null) touchRecord(footprint, next, 'try X');
}

export function recordRemoval({ footprint }: InnodbStorage, record: IndexRecord): void {
  if (footprint === null) return;
  for (const kind of ['remove', 'X', 'write'] as const) touchRecord(footprint, record, kind);
}

// ---- writes

/** Of a version, or its undo. READ UNCOMMITTED reads it, and it may set or clear the delete marks of index records. */
export function recordWrite({ footprint }: InnodbStorage, version: InnodbVersion): void {
  if (footprint === null) return;
  touchVersion(footprint, version, 'write');
  const { older, stored } = version;
  for (const index of stored.table.indexes) {
    const key = version.keys[index.position] ?? null;
    const old = older?.keys[index.position] ?? null;
    const isKept = key !== null && old !== null && index.shape.compare(key, old) === 0;
    if (isKept && older?.isDeleted === version.isDeleted && !index.isClustered) continue;
    for (const each of new Set([key, old])) if (each !== null) touchRow(footprint, index, each, stored, 'X');
  }
}

export function recordCommit({ footprint }: InnodbStorage, written: readonly InnodbVersion[]): void {
  if (footprint === null) return;
  if (written.length > 0) footprint.touch('snapshot', 'right');
  for (const version of written) touchVersion(footprint, version, 'publish');
  if (written.some(({ stored }) => mayRemoveRecords(stored))) footprint.touch('read views', 'change');
}

/** The removal of overwritten versions, which older read views delay. */
export function recordPurge(
  { footprint }: InnodbStorage,
  overwritten: readonly { readonly rows: readonly InnodbRow[] }[],
): void {
  if (footprint === null) return;
  if (overwritten.some(({ rows }) => rows.some(mayRemoveRecords))) footprint.touch('read views', 'change');
}

/** Do only old versions have one of the keys? */
function mayRemoveRecords({ newest, table }: InnodbRow): boolean {
  if (newest === null || newest.isDeleted) return true;
  for (let version = newest.older; version !== null; version = version.older)
    for (const index of table.indexes) {
      const key = version.keys[index.position];
      if (key && !index.hasKey(newest, key)) return true;
    }
  return false;
}

// ---- locks

/** A lock is acquired or released, or (`try`) was refused. Other transactions do not wait for an insertion's lock. */
export function recordLock({ footprint }: InnodbStorage, lock: RecordLock, how: 'take' | 'try'): void {
  if (footprint !== null) touchLock(footprint, lock, how);
}

/** Does a transaction hold the AUTO-INC lock or wait for it? */
export function recordAutoIncrementRead({ footprint }: InnodbStorage, { index }: LockableRecord): void {
  footprint?.touch(autoIncrementName(index), 'read');
}

function autoIncrementName({ table }: { readonly table: TableId }): string {
  return `AUTO-INC lock of ${table}`;
}

function touchLock(footprint: Footprint, { record, mode, kind }: RecordLock, how: 'take' | 'try'): void {
  if (kind === 'auto-increment')
    return footprint.touch(autoIncrementName(record.index), how === 'take' ? 'change' : 'read');
  if (kind === 'insert') return;
  if (kind !== 'gap' && record instanceof IndexRecord)
    touchRecord(footprint, record, how === 'take' ? mode : `try ${mode}`);
  if (kind !== 'record' || record.isSupremum) touchGap(footprint, record, 'walk');
}

/** A read of a record's delete mark, without a lock. */
export function recordMarkRead({ footprint }: InnodbStorage, record: IndexRecord): void {
  if (footprint !== null) touchRecord(footprint, record, 'try S');
}

/** The transaction begins to wait. */
export function recordWait(transaction: InnodbTransaction): void {
  const { storage, session } = transaction;
  storage.footprint?.touch(waitName(session), 'change');
  recordDeadlockSearch(transaction, true);
}

export function recordWaitEnd({ storage, session }: InnodbTransaction, lock: RecordLock): void {
  storage.footprint?.touch(waitName(session), 'change');
  if (storage.footprint !== null) touchBlockers(storage.footprint, lock);
}

/**
 * Deadlock detection follows the waits-for graph from a transaction up to one that does not wait. Only where that path may have changed: a lock on the
 * record that the transaction waits for is gone, or the transaction has just begun to wait. Of several transactions that hold a lock the path leads to
 * the one that asked first: so where it may come back, it depends on the order in which they asked, and the victim on what all on the way weigh.
 */
export function recordDeadlockSearch(from: InnodbTransaction, isNew = false): void {
  const { footprint, unlocked } = from.storage;
  if (footprint === null || from.lockWait.lock === null) return;
  if (!isNew && !unlocked.has(from.lockWait.lock.record)) return;
  for (const next of reachableFrom([from])) {
    footprint.touch(waitName(next.session), 'read');
    if (next.lockWait.lock !== null) touchBlockers(footprint, next.lockWait.lock);
    if (!reachableFrom(next.lockWait.blockers).has(from)) continue;
    recordWeight(footprint, next);
    if (next.lockWait.blockers.length > 1 && next.lockWait.lock !== null)
      for (const { queuedIn, record } of blockersOf(next.lockWait.lock))
        if (queuedIn !== null) touchOrder(queuedIn, record);
  }
}

/** These transactions, those that they wait for, and so on. */
function reachableFrom(transactions: Iterable<InnodbTransaction>): ReadonlySet<InnodbTransaction> {
  const reached = new Set(transactions);
  // A set is walked to what is added meanwhile.
  for (const each of reached) for (const blocker of each.lockWait.blockers) reached.add(blocker);
  return reached;
}

/** A read of what a transaction weighs: it depends on who has waited for what it wrote, and on splits since its locks got their structures. */
function recordWeight(footprint: Footprint, { session, storage, recordLocks }: InnodbTransaction): void {
  footprint.touch(weightName(session), 'right');
  if (!storage.anyPage) return;
  for (const { countedIn, record } of recordLocks.explicit()) {
    if (!(record.index instanceof InnodbIndex)) continue;
    const name = pagesName(record.index);
    footprint.touch(name, 'right');
    countedIn?.touch(name, 'right');
  }
}

/** A lock got a structure because another transaction waits for it, or would. */
export function recordExplicit({ footprint }: InnodbStorage, { owner }: RecordLock): void {
  footprint?.touch(weightName(owner.session), 'left');
}

function weightName(session: number): string {
  return `weight of ${session}`;
}

/** Transactions that hold locks in the index may weigh more now. */
export function recordSplit({ footprint, anyPage }: InnodbStorage, index: InnodbIndex): void {
  if (anyPage) footprint?.touch(pagesName(index), 'left');
}

function pagesName(index: InnodbIndex): string {
  return `pages of ${indexName(index)}`;
}

/** Its place among the locks on a record. */
function touchOrder(footprint: Footprint, record: LockableRecord): void {
  if (record instanceof IndexRecord) touchRecord(footprint, record, 'change');
  else if (record.index instanceof InnodbIndex) footprint.touch(`end of ${indexName(record.index)}`, 'change');
}

/** A read of the locks that a lock waits for. */
function touchBlockers(footprint: Footprint, lock: RecordLock): void {
  // An insertion waits for locks of the gap, with which the addition of any key to it conflicts.
  if (lock.kind === 'insert') touchGap(footprint, lock.record, 'add');
  else touchLock(footprint, lock, 'try');
}

function touchGap(footprint: Footprint, record: LockableRecord, kind: 'walk' | 'add'): void {
  const { index } = record;
  assert(index instanceof InnodbIndex, 'a gap is one of an index');
  footprint.touchRange(indexName(index), kind, gapBefore(index, record));
}

function gapBefore(index: InnodbIndex, record: LockableRecord): (key: Key) => boolean {
  const isRecord = record instanceof IndexRecord;
  const previous = isRecord ? index.tree.previous(record) : index.tree.lastBefore(() => false);
  return between(index, previous?.key ?? null, isRecord ? record.key : null);
}

/** Inclusive. */
function between({ shape: { compare } }: InnodbIndex, from: Key | null, to: Key | null): (key: Key) => boolean {
  return (key) => (from === null || compare(key, from) >= 0) && (to === null || compare(key, to) <= 0);
}

function touchVersion(footprint: Footprint, version: InnodbVersion, kind: 'write' | 'publish'): void {
  for (const index of version.stored.table.indexes) {
    const keys = new Set([version.keys[index.position], version.older?.keys[index.position]]);
    for (const key of keys) if (key) footprint.touchKey(indexName(index), kind, key, index.shape.compare);
  }
}

function touchRecord(footprint: Footprint, { index, key, row }: IndexRecord, kind: AccessKind): void {
  touchRow(footprint, index, key, row, kind);
}

function touchRow(footprint: Footprint, index: InnodbIndex, key: Key, row: InnodbRow, kind: AccessKind): void {
  footprint.touchKey(indexName(index), kind, key, index.shape.compare, row.clusteredKey, index.compareRows);
}
