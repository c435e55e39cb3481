/**
 * Writes of the InnoDB profile: the clustered index first, then the secondary ones in order. An insertion asks for the gap it goes into, a
 * unique key is looked at under a lock, records that are marked or made are locked for their writer.
 */
import { assert } from '../../base/index.ts';
import type { IndexChecks, IndexId, Waiting, SqlValue } from '../../sql/model/index.ts';
import { blockersOf, newLock, type LockableRecord } from './gap-locks.ts';
import * as footprints from './footprint.ts';
import { addRecord, maySplit } from './records.ts';
import {
  IndexRecord,
  InnodbRow,
  isComparable,
  isMarked,
  type InnodbIndex,
  type InnodbTable,
  type InnodbVersion,
} from './table.ts';
import type { InnodbTransaction } from './transaction.ts';
import { currentVersion } from '../versions.ts';

interface Duplicate {
  readonly kind: 'duplicate';
  readonly index: IndexId;
  readonly row: InnodbVersion;
}
type Key = readonly SqlValue[];
type Written<K extends string> = { readonly kind: K; readonly row: InnodbVersion } | Duplicate;

/** Who writes a row, in which statement, and what is checked meanwhile. */
export interface Writing {
  readonly transaction: InnodbTransaction;
  readonly command: number;
  readonly checks: IndexChecks | undefined;
}

export function* insertRow(writing: Writing, table: InnodbTable, values: SqlValue[]): Waiting<Written<'inserted'>> {
  const inserted = yield* insertClustered(writing, table, values);
  if (inserted.kind === 'duplicate') return inserted;
  const version = inserted.row;
  for (const index of table.indexes) {
    const key = version.keys[index.position];
    if (index.isClustered || !key) continue;
    const duplicate = yield* enter(writing, index, key, version.stored);
    if (duplicate !== null) return duplicate;
  }
  return inserted;
}

export function* updateRow(writing: Writing, version: InnodbVersion, values: SqlValue[]): Waiting<Written<'updated'>> {
  const { stored } = version;
  const { table } = stored;
  const keys = table.keysOf(values, stored.id);
  const isMoved = !table.clustered.hasKey(version, keys[0] ?? []);
  const changed = table.indexes.filter((index) => {
    const key = keys[index.position];
    return !index.isClustered && (isMoved || !key || !index.hasKey(version, key));
  });
  const old = pendingMarks(changed, version);
  try {
    let written: InnodbVersion;
    if (isMoved) {
      push(writing, stored, { values: version.values, keys: version.keys, isDeleted: true });
      yield* left(writing, table.clustered);
      const moved = yield* insertClustered(writing, table, values);
      if (moved.kind === 'duplicate') return moved;
      written = moved.row;
    } else {
      if (isLonger(values, version.values)) maySplit(writing.transaction.storage, table.clustered);
      written = push(writing, stored, { values, keys, isDeleted: false });
    }
    const duplicate = yield* changeSecondary(writing, changed, old, written);
    return duplicate ?? { kind: 'updated', row: written };
  } finally {
    for (const record of old) if (record !== undefined) record.isMarkPending = false;
  }
}

/** Does the row need more room than before? */
function isLonger(after: readonly SqlValue[], before: readonly SqlValue[]): boolean {
  return after.some((value, cell) => lengthOf(value) > lengthOf(before[cell] ?? null));
}

/** Values of one type differ in length where they are texts or bytes, and NULL takes no room. */
function lengthOf(value: SqlValue): number {
  if (value === null) return -1;
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

export function* deleteRow(writing: Writing, version: InnodbVersion): Waiting<InnodbVersion> {
  const { indexes, clustered } = version.stored.table;
  const content = { values: version.values, keys: version.keys, isDeleted: true };
  const old = pendingMarks(indexes, version);
  try {
    const deleted = push(writing, version.stored, content);
    yield* left(writing, clustered);
    yield* changeSecondary(writing, indexes, old, null);
    return deleted;
  } finally {
    for (const record of old) if (record !== undefined) record.isMarkPending = false;
  }
}

/** The records to delete-mark, which count as unmarked until their locks are granted. */
function pendingMarks(indexes: readonly InnodbIndex[], version: InnodbVersion): readonly (IndexRecord | undefined)[] {
  const records = indexes.map((index) => secondaryRecord(index, version));
  for (const record of records) if (record !== undefined) record.isMarkPending = true;
  return records;
}

/** Index by index: the old record is delete-marked, the new one is entered. */
function* changeSecondary(
  writing: Writing,
  indexes: readonly InnodbIndex[],
  old: readonly (IndexRecord | undefined)[],
  written: InnodbVersion | null,
): Waiting<Duplicate | null> {
  for (const [i, index] of indexes.entries()) {
    const record = old[i];
    if (record !== undefined) {
      yield* writing.transaction.lockImplicitly(record, reasonOf(index));
      record.isMarkPending = false;
      yield* left(writing, index);
    }
    const key = written?.keys[index.position];
    const duplicate = key && written ? yield* enter(writing, index, key, written.stored) : null;
    if (duplicate !== null) return duplicate;
  }
  return null;
}

/** The record that a version has in a secondary index. */
function secondaryRecord(index: InnodbIndex, version: InnodbVersion): IndexRecord | undefined {
  const key = version.keys[index.position];
  if (index.isClustered || !key) return undefined;
  return index.tree.getEntry(new IndexRecord(index, key, version.stored));
}

function* left({ checks }: Writing, index: InnodbIndex): Waiting<void> {
  if (checks !== undefined) yield* checks.left(index.shape.id);
}

function push(
  { transaction, command }: Writing,
  row: InnodbRow,
  content: { readonly values: SqlValue[]; readonly keys: InnodbVersion['keys']; readonly isDeleted: boolean },
): InnodbVersion {
  const version = row.table.push(row, transaction.writer, command, content);
  transaction.wrote(version);
  return version;
}

/** A new record, or the delete-marked one of the same key made anew. */
function* insertClustered(writing: Writing, table: InnodbTable, values: SqlValue[]): Waiting<Written<'inserted'>> {
  const { transaction, checks } = writing;
  if (checks !== undefined) yield* checks.entering(table.clustered.shape.id);
  const id = table.nextRowId();
  // The number is the key, and the order.
  if (table.isKeyHidden) transaction.storage.footprint?.touch(`order of ${table.shape.id}`, 'change');
  const keys = table.keysOf(values, id);
  const key = keys[0];
  assert(key !== null && key !== undefined, `a row of ${table.shape.name} has a clustered key`);
  const index = table.clustered;
  for (;;) {
    const [record] = index.tree.allWith(key);
    footprints.recordWalk(transaction.storage, index, key, key);
    if (record === undefined) {
      if (
        yield* waitForGap(
          transaction,
          index,
          index.tree.first((other) => index.shape.compare(other.key, key) > 0),
          key,
          null,
        )
      )
        continue;
      const row = new InnodbRow(table, id, key);
      const version = push(writing, row, { values, keys, isDeleted: false });
      transaction.grantImplicit(addRecord(transaction.storage, index, key, row));
      return { kind: 'inserted', row: version };
    }
    const isFree =
      record.row.newest?.isDeleted === true && blockersOf(newLock(transaction, record, 'X', 'record')).length === 0;
    if (isFree) {
      // The search for a duplicate locks it before it is made anew: that lock stays when the statement fails.
      yield* transaction.lock(
        record,
        transaction.duplicateMode,
        'record',
        'wait',
        `duplicate key of ${table.shape.name}`,
      );
      transaction.grantImplicit(record);
      return { kind: 'inserted', row: push(writing, record.row, { values, keys, isDeleted: false }) };
    }
    const reason = `duplicate key of ${table.shape.name}`;
    if ((yield* transaction.lock(record, transaction.duplicateMode, 'record', 'wait', reason)) === 'gone') continue;
    const { newest } = record.row;
    if (newest !== null && !newest.isDeleted) return { kind: 'duplicate', index: index.shape.id, row: newest };
    if ((yield* transaction.lock(record, 'X', 'record', 'wait', reason)) === 'gone') continue;
    const version = push(writing, record.row, { values, keys, isDeleted: false });
    return { kind: 'inserted', row: version };
  }
}

/** The record of a secondary index, when its key is free. */
function* enter(
  { transaction, checks }: Writing,
  index: InnodbIndex,
  key: Key,
  row: InnodbRow,
): Waiting<Duplicate | null> {
  const probe = new IndexRecord(index, key, row);
  if (checks !== undefined) yield* checks.entering(index.shape.id);
  for (;;) {
    if (index.shape.isUnique && isComparable(key, index.shape)) {
      const found = yield* findDuplicate(transaction, index, key, row);
      if (found === 'again') continue;
      if (found !== null) return found;
    }
    const there = index.tree.getEntry(probe);
    footprints.recordWalk(transaction.storage, index, key, key);
    if (there !== undefined) {
      assert(there.row === row, `the records of a row that is gone have left ${index.shape.name}`);
      if ((yield* transaction.lock(there, 'X', 'record', 'wait', reasonOf(index))) === 'gone') continue;
      return null;
    }
    if (yield* waitForGap(transaction, index, index.tree.next(probe), key, row.clusteredKey)) continue;
    transaction.grantImplicit(addRecord(transaction.storage, index, key, row));
    return null;
  }
}

/** Locks the records with a key, delete-marked ones too, and the one after them. A wait begins the search anew: there may be others by then. */
function* findDuplicate(
  transaction: InnodbTransaction,
  index: InnodbIndex,
  key: Key,
  row: InnodbRow,
): Waiting<Duplicate | 'again' | null> {
  const equal = index.tree.allWith(key);
  footprints.recordWalk(transaction.storage, index, key, key);
  const last = equal.at(-1);
  if (last === undefined) return null;
  for (const record of [...equal, index.after(last)]) {
    const waits = transaction.lockWait.count;
    yield* transaction.lock(record, transaction.duplicateMode, 'next-key', 'wait', reasonOf(index));
    if (transaction.lockWait.count > waits) return 'again';
    if (!(record instanceof IndexRecord) || record.row === row) continue;
    // Another transaction may be writing columns that are not in the index.
    footprints.recordCommittedRead(transaction.storage, record);
    const current = currentVersion(record.row.newest, transaction.writer);
    if (current !== null && index.shape.compare(record.key, key) === 0 && !isMarked(index, record))
      return { kind: 'duplicate', index: index.shape.id, row: current };
  }
  return null;
}

/** @returns did it wait? Then everything may have changed */
function* waitForGap(
  transaction: InnodbTransaction,
  index: InnodbIndex,
  next: IndexRecord | undefined,
  key: Key,
  clusteredKey: Key | null,
): Waiting<boolean> {
  footprints.recordInsert(transaction.storage, index, key, clusteredKey, next);
  const heir: LockableRecord = next ?? index.supremum;
  transaction.insertsBefore(heir);
  if (next !== undefined && transaction.locksGaps) footprints.recordInsertBefore(transaction.storage, next);
  if (blockersOf(newLock(transaction, heir, 'X', 'insert')).length === 0) return false;
  yield* transaction.lock(heir, 'X', 'insert', 'wait', `gap in ${index.shape.name}`);
  return true;
}

function reasonOf(index: InnodbIndex): string {
  return `record of ${index.shape.name}`;
}
