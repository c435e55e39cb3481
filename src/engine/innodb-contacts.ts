/**
 * What the InnoDB profile tells of its steps (`footprint.ts`), where somebody wants to know.
 *
 * - A consistent read at READ COMMITTED meets the commits that make rows seen in its range; at READ UNCOMMITTED the writes, committed or
 *   not. Above, the read view is opened once, and what will be read with it is not known: opening it meets every commit of writes, and reads with
 *   it meet nobody. So does a statement at READ COMMITTED that has to wait with an open view.
 * - Locks meet on records as they conflict. What a scan goes over, and the gaps that are locked, meet records that are made or removed there.
 * - An insertion meets those gaps, and the removal of its neighbours; two insertions of different keys into one gap do not meet.
 * - When records are removed, which gives their locks to neighbours, depends on open read views: what opens or closes one meets the ends after
 *   which there are records to remove.
 * - Who waits, and who is looked at on the way round a cycle, is a contact of its own, with what a transaction weighs: it decides who is the victim.
 */
import type { SqlValue } from '../sql/value.ts';
import type { Footprint } from './footprint.ts';
import type { LockableRecord, RecordLock } from './gap-locks.ts';
import { boundsOf, type IndexPath } from './index-tree.ts';
import type { InnodbStorage } from './innodb-storage.ts';
import { AutoIncrementCounter } from './auto-increment-lock.ts';
import { IndexRecord, InnodbIndex, type InnodbRow, type InnodbVersion } from './innodb-table.ts';
import type { InnodbTransaction } from './innodb-transaction.ts';

type Key = readonly SqlValue[];

export function waitName(session: number): string {
  return `wait of ${session}`;
}

function indexName(index: InnodbIndex): string {
  return `index ${index.table} ${index.position}`;
}

// ---- reads without locks

export function reads({ storage, isolation }: InnodbTransaction, index: InnodbIndex, path: IndexPath): void {
  const { footprint } = storage;
  if (footprint === null || (isolation !== 'read uncommitted' && isolation !== 'read committed')) return;
  const bounds = boundsOf(path, index.shape.compare);
  const contact = isolation === 'read uncommitted' ? 'peek' : 'see';
  const contains = (key: Key): boolean => !bounds.isBelow(key) && !bounds.isAbove(key);
  footprint.touchRange(indexName(index), contact, contains);
}

// ---- records that are there or not

/** The records from `from` to `to` were gone over, those included; without one, from the first or to the last. */
export function walks({ footprint }: InnodbStorage, index: InnodbIndex, from: Key | null, to: Key | null): void {
  footprint?.touchRange(indexName(index), 'walk', between(index, from, to));
}

/** A new record is to come between these. */
export function inserts(
  { footprint }: InnodbStorage,
  index: InnodbIndex,
  key: Key,
  row: Key | null,
  next: IndexRecord | undefined,
): void {
  if (footprint === null) return;
  const previous = next === undefined ? index.tree.lastBefore(() => false) : index.tree.previous(next);
  footprint.touchRange(indexName(index), 'near', between(index, previous?.key ?? null, next?.key ?? null));
  footprint.touchKey(indexName(index), 'add', key, index.shape.compare, row ?? undefined, index.compareRows);
}

/** Where a page begins with the record, its locks are of the gap, too: both orders are to be seen. */
export function insertsBefore({ footprint }: InnodbStorage, next: IndexRecord): void {
  if (footprint !== null) touchRecord(footprint, next, 'try X');
}

export function removes({ footprint }: InnodbStorage, record: IndexRecord): void {
  if (footprint === null) return;
  for (const contact of ['remove', 'X', 'write'] as const) touchRecord(footprint, record, contact);
}

// ---- writes

/** A version is written, or taken back: readers of what is not committed see it, and index records may be marked as deleted by it, or no longer. */
export function writes({ footprint }: InnodbStorage, version: InnodbVersion): void {
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

export function commits({ footprint }: InnodbStorage, written: readonly InnodbVersion[]): void {
  if (footprint === null) return;
  if (written.length > 0) footprint.touch('snapshot', 'right');
  for (const version of written) touchVersion(footprint, version, 'publish');
  if (written.some(({ stored }) => mayRemoveRecords(stored))) footprint.touch('read views', 'change');
}

/** What is overwritten would be removed now, if no read view were older. */
export function purges(
  { footprint }: InnodbStorage,
  overwritten: readonly { readonly rows: readonly InnodbRow[] }[],
): void {
  if (footprint === null) return;
  if (overwritten.some(({ rows }) => rows.some(mayRemoveRecords))) footprint.touch('read views', 'change');
}

/** Is there a key that only old versions have? */
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

/** A lock is taken or let go, or (`try`) was in vain asked for. An insertion's lock is nothing that others wait for. */
export function locks({ footprint }: InnodbStorage, lock: RecordLock, how: 'take' | 'try'): void {
  if (footprint !== null) touchLock(footprint, lock, how);
}

/** Has a transaction the AUTO-INC lock, or waits one for it? */
export function looksAtCounter({ footprint }: InnodbStorage, { index }: LockableRecord): void {
  if (index instanceof AutoIncrementCounter) footprint?.touch(index.contactName, 'read');
}

function touchLock(footprint: Footprint, { record, mode, kind }: RecordLock, how: 'take' | 'try'): void {
  if (record.index instanceof AutoIncrementCounter)
    footprint.touch(record.index.contactName, how === 'take' ? 'change' : 'read');
  if (kind === 'insert' || !(record.index instanceof InnodbIndex)) return;
  const contact = how === 'take' ? mode : (`try ${mode}` as const);
  if (kind !== 'gap' && record instanceof IndexRecord) touchRecord(footprint, record, contact);
  if (kind !== 'record' || record.isSupremum) touchGap(footprint, record.index, record);
}

/** Is this record marked as deleted? Asked without a lock. */
export function looksAt({ footprint }: InnodbStorage, record: IndexRecord): void {
  if (footprint !== null) touchRecord(footprint, record, 'try S');
}

/** It has to wait: a statement below REPEATABLE READ goes on with the read view that it has. */
export function waits(transaction: InnodbTransaction): void {
  const { storage, session, locksGaps, readView } = transaction;
  storage.footprint?.touch(waitName(session), 'change');
  if (!locksGaps && readView !== Infinity) storage.footprint?.touch('snapshot', 'left');
  looksForDeadlock(transaction, true);
}

export function hasWaited({ storage, session }: InnodbTransaction, lock: RecordLock): void {
  storage.footprint?.touch(waitName(session), 'change');
  if (storage.footprint !== null) asksWho(storage.footprint, lock);
}

/**
 * Who is looked at on the way from a transaction over those that it waits for, up to one that does not wait. Only where the way may have
 * changed: a lock on the record that it waits for is gone, or it has just begun to wait.
 */
export function looksForDeadlock(from: InnodbTransaction, isNew = false): void {
  const { footprint, unlocked } = from.storage;
  if (footprint === null || from.waiting === null) return;
  if (!isNew && !unlocked.has(from.waiting.record)) return;
  const seen = new Set<InnodbTransaction>();
  for (let next: InnodbTransaction | null = from; next !== null && !seen.has(next); next = next.waitsFor) {
    seen.add(next);
    footprint.touch(waitName(next.session), 'read');
    if (next.waiting !== null) asksWho(footprint, next.waiting);
  }
}

/** Whom does a lock wait for? */
function asksWho(footprint: Footprint, lock: RecordLock): void {
  const { record, kind } = lock;
  // Of an insertion: meets locks of the gap, which a range of records to be made does.
  if (kind === 'insert' && record.index instanceof InnodbIndex)
    footprint.touchRange(indexName(record.index), 'add', gapBefore(record.index, record));
  else touchLock(footprint, lock, 'try');
}

function touchGap(footprint: Footprint, index: InnodbIndex, record: LockableRecord): void {
  footprint.touchRange(indexName(index), 'walk', gapBefore(index, record));
}

function gapBefore(index: InnodbIndex, record: LockableRecord): (key: Key) => boolean {
  const isRecord = record instanceof IndexRecord;
  const previous = isRecord ? index.tree.previous(record) : index.tree.lastBefore(() => false);
  return between(index, previous?.key ?? null, isRecord ? record.key : null);
}

/** The ends belong to it. */
function between({ shape: { compare } }: InnodbIndex, from: Key | null, to: Key | null): (key: Key) => boolean {
  return (key) => (from === null || compare(key, from) >= 0) && (to === null || compare(key, to) <= 0);
}

function touchVersion(footprint: Footprint, version: InnodbVersion, contact: 'write' | 'publish'): void {
  for (const index of version.stored.table.indexes) {
    const keys = new Set([version.keys[index.position], version.older?.keys[index.position]]);
    for (const key of keys) if (key) footprint.touchKey(indexName(index), contact, key, index.shape.compare);
  }
}

function touchRecord(
  footprint: Footprint,
  { index, key, row }: IndexRecord,
  contact: Parameters<Footprint['touchKey']>[1],
): void {
  touchRow(footprint, index, key, row, contact);
}

function touchRow(
  footprint: Footprint,
  index: InnodbIndex,
  key: Key,
  row: InnodbRow,
  contact: Parameters<Footprint['touchKey']>[1],
): void {
  footprint.touchKey(indexName(index), contact, key, index.shape.compare, row.clusteredKey, index.compareRows);
}
