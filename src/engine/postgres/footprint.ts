/**
 * The footprint of a step of the PostgreSQL profile (`footprint.ts`), where a recorder is there.
 *
 * - A statement reads in its ranges what was committed when its snapshot was taken: the step that took it conflicts with the commits that make rows of
 *   these ranges visible. Where the statement has waited, or the snapshot is that of the transaction, the access is a late one of that step.
 * - Row locks conflict as their modes do. Whether a session waits is an access of its own: the transaction that closes a cycle of waits is the victim.
 * - A look-up of keys for uniqueness conflicts with writes of these keys, committed or not, and with the ends of their transactions.
 * - Rows are read in the order in which they were inserted, so insertions into a table conflict.
 * - SERIALIZABLE, besides, for transactions that rw-conflicts could refuse (`serializable-footprints.ts`): reads are remembered, so they conflict with
 *   uncommitted writes as well. Flags and rw-conflicts of a transaction are accessed under its session's name.
 * - The removal of old versions has no effect that a session can see.
 */
import type { AccessPath, LockRequest, LockStrength, SqlValue } from '../../sql/model/index.ts';
import { boundsOf } from '../index-tree.ts';
import { type AccessKind, type Footprint, waitName } from '../footprint.ts';
import type { SnapshotReader } from './index-walk.ts';
import type { Waiter } from './lock-wait.ts';
import type { PostgresStorage } from './storage.ts';
import { pathIndex, type PostgresTable, type StoredRow, type Version } from './table.ts';
import type { PostgresTransaction } from './transaction.ts';
import { type Watched, watchName } from './serializable.ts';

export const tries = {
  'key share': 'try key share',
  share: 'try share',
  'no key update': 'try no key update',
  update: 'try update',
} as const satisfies Record<LockStrength, AccessKind>;

export function rowName({ tableId, id }: StoredRow): string {
  return `row ${tableId} ${id}`;
}

export function indexName(table: PostgresTable, position: number): string {
  return `index ${table.shape.id} ${position}`;
}

/** Is a serializable transaction doomed or safe? Its statements ask when they begin, and with each row. */
export function recordFlagsRead({ storage, session, writer }: PostgresTransaction): void {
  if (writer.watched !== null) storage.serializable?.accessesOf(writer.watched).touch(watchName(session), 'read');
}

/** @returns the footprint of the step that takes the snapshot: what is read with it later is recorded there */
export function recordSnapshot({ storage, options, writer: { watched } }: PostgresTransaction): Footprint | null {
  const { footprint } = storage;
  if (footprint === null || options.isolation !== 'serializable') return footprint;
  // It reads all that are open, and they keep it.
  if (options.isReadOnly) footprint.touchAll();
  if (watched === null) return footprint;
  storage.serializable?.begins(watched);
  return footprint;
}

/** A read of the statement's snapshot, or of the transaction's, which is remembered at SERIALIZABLE. */
export function recordSnapshotRead(
  { transaction, snapshotFootprint }: SnapshotReader,
  table: PostgresTable,
  path: AccessPath,
): void {
  if (snapshotFootprint === null) return;
  touchPath(snapshotFootprint, table, path, 'see');
  const { storage, watched } = transaction;
  if (watched !== null) recordRememberedRead(storage, watched, table, path);
  // That it is safe, the end of a writer has decided.
  else recordFlagsRead(transaction);
}

/** A scan of a serializable transaction remembers what it comes to, in each step in which it continues. */
export function recordRememberedRead(
  { serializable, readsWholeIndex }: PostgresStorage,
  me: Watched,
  table: PostgresTable,
  path: AccessPath,
): void {
  if (serializable === null) return;
  for (const footprint of [serializable.readsOf(me), serializable.accessesOf(me)])
    touchPath(footprint, table, readsWholeIndex ? { kind: 'all' } : path, 'peek');
}

/** A read of what is committed now. */
export function recordLatestScan({ storage }: PostgresTransaction, table: PostgresTable, path: AccessPath): void {
  if (storage.footprint !== null) touchPath(storage.footprint, table, path, 'see');
}

/** Whether the snapshot contains a row is read. */
export function recordIsSeen({ snapshotFootprint }: SnapshotReader, row: StoredRow): void {
  snapshotFootprint?.touch(rowName(row), 'see');
}

function touchPath(footprint: Footprint, table: PostgresTable, path: AccessPath, kind: 'see' | 'peek'): void {
  const position = pathIndex(table, path);
  if (path.kind === 'all' || position === null) return footprint.touch(`table ${table.shape.id}`, kind);
  const { compareKeys } = table.tree(position);
  const bounds = boundsOf(path, compareKeys);
  const contains = (key: readonly SqlValue[]): boolean => !bounds.isBelow(key) && !bounds.isAbove(key);
  footprint.touchRange(indexName(table, position), kind, contains);
}

/** The latest version of a row that was found is read, whatever the snapshot. */
export function recordLatestRead({ storage }: PostgresTransaction, row: StoredRow, request: LockRequest): void {
  storage.footprint?.touch(rowName(row), 'see');
  // `waitsAnyway` reads versions that are not committed.
  if (request.strength === 'key share' && request.ifLocked !== 'wait')
    storage.footprint?.touch(rowName(row), 'try update');
}

/** Of a version, or its undo. */
export function recordWrite({ storage, writer: { watched } }: PostgresTransaction, version: Version): void {
  if (storage.footprint === null) return;
  touchVersion(storage.footprint, version, 'write');
  if (watched !== null && storage.serializable !== null)
    touchVersion(storage.serializable.writesOf(watched), version, 'write');
}

/** What a serializable transaction is about to write, also where that is refused: those who have read it are looked at. */
export function recordAttempt(
  { storage: { serializable } }: PostgresTransaction,
  me: Watched,
  table: PostgresTable,
  version: Version | null,
): void {
  if (serializable === null) return;
  for (const footprint of [serializable.writesOf(me), serializable.accessesOf(me)]) {
    footprint.touch(`table ${table.shape.id}`, 'write');
    if (version !== null) touchKeys(footprint, version, 'write');
  }
}

/** The same of the keys of a version, which may come after a wait. */
export function recordKeyAttempt(transaction: PostgresTransaction, me: Watched, version: Version): void {
  recordAttempt(transaction, me, version.stored.table, version);
}

export function recordCommit({ storage }: PostgresTransaction, written: readonly Version[]): void {
  const { footprint } = storage;
  if (footprint === null) return;
  if (written.length > 0) footprint.touch('snapshot', 'right');
  for (const version of written) {
    touchVersion(footprint, version, 'publish');
    touchVersion(footprint, version, 'write');
    footprint.touch(rowName(version.stored), 'publish');
  }
}

export function recordEnd({ storage, writer: { watched } }: PostgresTransaction): void {
  if (watched !== null) storage.serializable?.ends(watched);
}

export function recordWait({ storage, session }: Waiter): void {
  storage.footprint?.touch(waitName(session), 'change');
}

export function recordWaitRead(storage: PostgresStorage, transaction: number): void {
  const session = storage.open.get(transaction)?.session;
  if (session !== undefined) storage.footprint?.touch(waitName(session), 'read');
}

/** It conflicts with a scan of the table, and of each index by the old key and by the new one. */
function touchVersion(footprint: Footprint, version: Version, kind: 'write' | 'publish'): void {
  footprint.touch(`table ${version.stored.table.shape.id}`, kind);
  touchKeys(footprint, version, kind);
}

function touchKeys(footprint: Footprint, version: Version, kind: 'write' | 'publish'): void {
  const { table } = version.stored;
  for (const [position, { compare }] of table.shape.indexes.entries()) {
    const name = indexName(table, position);
    const key = version.keys[position] ?? null;
    const old = version.older?.keys[position] ?? null;
    if (key !== null) footprint.touchKey(name, kind, key, compare);
    if (old !== null && old !== key) footprint.touchKey(name, kind, old, compare);
  }
}
