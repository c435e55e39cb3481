/** How index records come and go, and what becomes of the locks on them and on the gaps around them. */
import { assert } from '../../base/index.ts';
import { waitName } from '../footprint.ts';
import * as footprints from './footprint.ts';
import { covers, newLock, noLocks, type LockableRecord, type RecordLock } from './gap-locks.ts';
import type { InnodbStorage } from './storage.ts';
import { IndexRecord, type InnodbIndex, type InnodbRow, type InnodbVersion } from './table.ts';

/** A new record splits a gap: who has locked the gap has locked both parts. */
export function addRecord(
  storage: InnodbStorage,
  index: InnodbIndex,
  key: IndexRecord['key'],
  row: InnodbRow,
): IndexRecord {
  const record = new IndexRecord(index, key, row);
  const isNew = index.tree.insert(record);
  assert(isNew, `a record of ${index.shape.name} is made once`);
  maySplit(storage, index);
  const { locks } = index.after(record);
  for (const lock of locks) if (lock.kind === 'next-key' || lock.kind === 'gap') giveGap(storage, lock, record);
  return record;
}

/** A page of the index gets a record, or a longer one. Locks of records that then move to a new page leave their structures, empty, behind. */
export function maySplit(storage: InnodbStorage, index: InnodbIndex): void {
  index.splits += 1;
  footprints.recordSplit(storage, index);
}

/** A record leaves: its locks become locks of the gap that is left, and transactions that waited for it read the index again. */
function removeRecord(storage: InnodbStorage, index: InnodbIndex, record: IndexRecord): void {
  const heir = index.after(record);
  footprints.recordRemoval(storage, record);
  if (!index.tree.removeEntry(record)) return;
  const { locks } = record;
  record.locks = noLocks;
  for (const lock of locks) {
    lock.isGone = true;
    const { locksGaps, duplicateMode } = lock.owner;
    // Below REPEATABLE READ only locks that look for duplicates (`lock_rec_inherit_to_gap`).
    const isPassedOn = locksGaps || lock.mode === duplicateMode;
    if (lock.kind !== 'insert' && !lock.isImplicit && isPassedOn) giveGap(storage, lock, heir);
  }
}

function giveGap(storage: InnodbStorage, lock: RecordLock, heir: LockableRecord): void {
  // The owner weighs more now.
  storage.footprint?.touch(waitName(lock.owner.session), 'change');
  const gap = newLock(lock.owner, heir, lock.mode, 'gap');
  if (!heir.locks.some((held) => covers(held, gap))) lock.owner.grant(gap);
}

/** Undoes the newest version of a row. */
export function pop(storage: InnodbStorage, version: InnodbVersion): void {
  const row = version.stored;
  row.newest = version.older;
  forget(storage, row, version);
}

/** Drops the versions that no read view from `oldest` on can see, and the records that only they had. */
export function purge(storage: InnodbStorage, row: InnodbRow, oldest: number): void {
  let version = row.newest;
  while (version !== null && version.writer.commitSequence > oldest) version = version.older;
  if (version === null) return;
  const garbage: InnodbVersion[] = [];
  for (let older = version.older; older !== null; older = older.older) garbage.push(older);
  version.older = null;
  if (version.isDeleted) {
    garbage.unshift(version);
    if (version === row.newest) row.newest = null;
    else cutBelow(row, version);
  }
  for (const each of garbage) forget(storage, row, each);
}

/** A deletion that every read view sees is dropped: the version above it begins the chain. */
function cutBelow(row: InnodbRow, deleted: InnodbVersion): void {
  let version = row.newest;
  while (version !== null && version.older !== deleted) version = version.older;
  if (version !== null) version.older = null;
}

function forget(storage: InnodbStorage, row: InnodbRow, version: InnodbVersion): void {
  for (const index of row.table.indexes) {
    const key = version.keys[index.position];
    if (!key || row.table.isInUse(row, index, key)) continue;
    const record = index.tree.getEntry(new IndexRecord(index, key, row));
    if (record !== undefined) removeRecord(storage, index, record);
  }
}
