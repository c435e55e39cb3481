/**
 * Which reads and writes of a serializable transaction are conflicts: what a scan comes across, and who has read what a write changes. After
 * `HeapCheckForSerializableConflictOut` and the callers of `CheckForSerializableConflictIn`.
 */
import { boundsOf, type KeyBounds } from '../index-tree.ts';
import type { AccessPath } from '../../sql/model/index.ts';
import { changesKey, type PostgresTable, type StoredRow, type Version } from './table.ts';
import type { PostgresTransaction } from './transaction.ts';
import * as footprints from './footprint.ts';
import { checkDoomed, type Watched } from './serializable.ts';

const everything: KeyBounds = { isBelow: () => false, isAbove: () => false };

/** A scan begins. */
export function readPath(transaction: PostgresTransaction, me: Watched, table: PostgresTable, path: AccessPath): void {
  if (path.kind === 'all') return table.reads.readTable(me);
  const position = table.indexPosition(path.index);
  const bounds = transaction.storage.readsWholeIndex ? everything : boundsOf(path, table.tree(position).compareKeys);
  table.reads.readRange(me, position, bounds);
}

/**
 * A scan has come to a row and sees `visible` of it. An index leads to the versions with its key: from the visible one to the next, which
 * overwrote it, and to those that the index has an entry of their own for.
 * @param hasKey does the scan's index lead to this version? Always for a scan of the table.
 * @throws SqlError 40001
 */
export function readRow(
  transaction: PostgresTransaction,
  me: Watched,
  row: StoredRow,
  visible: Version | null,
  hasKey: ((version: Version) => boolean) | null,
): void {
  footprints.recordFlagsRead(transaction);
  checkDoomed(me, 'conflict out checking');
  for (const version of newerVersions(row, visible)) {
    const overwritesVisible = version.older === visible && visible !== null && !visible.isDeleted;
    const isMet =
      (overwritesVisible && (hasKey === null || hasKey(visible))) ||
      (!version.isDeleted && (hasKey === null || (hasKey(version) && !isReachedFrom(visible, version))));
    if (isMet) conflictOut(transaction, me, version);
  }
  if (visible === null || visible.isDeleted || hasKey === null || !hasKey(visible)) return;
  if (visible.writer === transaction.writer) return;
  visible.readers ??= new Set();
  const { readers } = visible;
  if (readers.has(me)) return;
  readers.add(me);
  me.reads.push(() => readers.delete(me));
}

/** Oldest first. */
function newerVersions(row: StoredRow, visible: Version | null): Version[] {
  const newer: Version[] = [];
  for (let version = row.newest; version !== null && version !== visible; version = version.older) newer.push(version);
  return newer.toReversed();
}

/** No key of any index has changed since the visible version: such updates share one entry, and a scan stops at what it sees. */
function isReachedFrom(visible: Version | null, version: Version): boolean {
  if (visible === null || visible.isDeleted) return false;
  for (let newer: Version | null = version; newer !== null && newer !== visible; newer = newer.older)
    if (newer.older === null || changesKey(newer.older, newer)) return false;
  return true;
}

function conflictOut(transaction: PostgresTransaction, me: Watched, version: Version): void {
  const { watched } = version.writer;
  if (version.writer === transaction.writer || watched === null) return;
  transaction.storage.watch.conflictOut(me, watched);
}

/**
 * Before a version is overwritten, or (`null`) a row is inserted. As in `heap_insert`, the transaction has its number first: also one whose write is refused
 * and rolled back to a savepoint.
 * @throws SqlError 40001
 */
export function writeRow(
  transaction: PostgresTransaction,
  me: Watched,
  table: PostgresTable,
  version: Version | null,
): void {
  footprints.recordFlagsRead(transaction);
  footprints.recordAttempt(transaction, me, table, version);
  transaction.number();
  checkDoomed(me, 'conflict in checking');
  me.hasWritten = true;
  const { watch } = transaction.storage;
  for (const reader of version?.readers ?? []) watch.conflictIn(me, reader);
  for (const reader of table.reads.tableReaders()) watch.conflictIn(me, reader);
}

/** Before a key is entered into an index. @throws SqlError 40001 */
export function writeKey(transaction: PostgresTransaction, me: Watched, version: Version, position: number): void {
  const key = version.keys[position];
  if (!key) return;
  footprints.recordFlagsRead(transaction);
  footprints.recordKeyAttempt(transaction, me, version);
  checkDoomed(me, 'conflict in checking');
  const { reads } = version.stored.table;
  for (const reader of reads.rangeReaders(position, key)) transaction.storage.watch.conflictIn(me, reader);
}
