/**
 * The footprint of a step of the PostgreSQL profile (`footprint.ts`), where a recorder is there.
 *
 * - A statement of READ COMMITTED reads in its ranges what is committed when it begins: it conflicts with the commits that make rows of these ranges
 *   visible. One that waits keeps its old snapshot for ranges that are not known yet: it conflicts with every commit of writes.
 * - Above, the snapshot is taken once, and what will be read with it is not known: it conflicts with every commit of writes. The reads with it conflict
 *   with nothing.
 * - Row locks conflict as their modes do. Whether a session waits is an access of its own: the transaction that closes a cycle of waits is the victim.
 * - A look-up of keys for uniqueness conflicts with writes of these keys, committed or not, and with the ends of their transactions.
 * - Rows are read in the order in which they were inserted, so insertions into a table conflict.
 * - SERIALIZABLE, besides: reads are remembered, so they conflict with uncommitted writes as well. Flags and rw-conflicts of a transaction are accessed
 *   under its session's name. Commits are compared with each other and with snapshots, also where no rw-conflict is yet: each conflicts with each.
 *   Numbers of writers are compared with ends and snapshots.
 * - The removal of old versions has no effect that a session can see.
 */
import type { AccessPath, LockRequest, LockStrength, SqlValue } from '../../sql/model/index.ts';
import { boundsOf } from '../index-tree.ts';
import { type AccessKind, type Footprint, waitName } from '../footprint.ts';
import type { Waiter } from './lock-wait.ts';
import type { PostgresStorage } from './storage.ts';
import { pathIndex, type PostgresTable, type StoredRow, type Version } from './table.ts';
import type { PostgresTransaction } from './transaction.ts';
import { watchName } from './serializable.ts';

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

export function recordStatementBegin({ storage, session, options }: PostgresTransaction): void {
  if (options.isolation === 'serializable') storage.footprint?.touch(watchName(session), 'read');
}

export function recordSnapshot({ storage, keepsSnapshot, options }: PostgresTransaction): void {
  const { footprint } = storage;
  if (footprint === null) return;
  if (keepsSnapshot) footprint.touch('snapshot', 'left');
  if (options.isolation !== 'serializable') return;
  footprint.touch('serializable', 'read');
  footprint.touch('writers', 'right');
  // It reads all that are open, and they keep it.
  if (options.isReadOnly) footprint.touchAll();
}

/** A read of the statement's snapshot, or of the transaction's, which is remembered at SERIALIZABLE. */
export function recordSnapshotRead(transaction: PostgresTransaction, table: PostgresTable, path: AccessPath): void {
  if (!transaction.keepsSnapshot) recordPathRead(transaction, table, path, 'see');
  else if (transaction.watched !== null)
    recordPathRead(transaction, table, transaction.storage.readsWholeIndex ? { kind: 'all' } : path, 'peek');
}

export function recordPathRead(
  { storage }: PostgresTransaction,
  table: PostgresTable,
  path: AccessPath,
  kind: 'see' | 'peek',
): void {
  const { footprint } = storage;
  if (footprint === null) return;
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
export function recordWrite({ storage }: PostgresTransaction, version: Version): void {
  if (storage.footprint !== null) touchVersion(storage.footprint, version, 'write');
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

export function recordEnd({ storage, writerNumber, options }: PostgresTransaction): void {
  const { footprint } = storage;
  if (footprint === null) return;
  if (writerNumber !== Infinity) footprint.touch('writers', 'left');
  if (options.isolation !== 'serializable') return;
  footprint.touch('serializable', 'change');
  footprint.touch('writers', 'left');
  footprint.touch('writer numbers', 'right');
}

/** The statement begins to wait: what it will read with its snapshot is not known yet. */
export function recordWait({ storage, session, keepsSnapshot }: Waiter): void {
  storage.footprint?.touch(waitName(session), 'change');
  if (!keepsSnapshot) storage.footprint?.touch('snapshot', 'left');
}

export function recordWaitRead(storage: PostgresStorage, transaction: number): void {
  const session = storage.open.get(transaction)?.session;
  if (session !== undefined) storage.footprint?.touch(waitName(session), 'read');
}

/** It conflicts with a scan of the table, and of each index by the old key and by the new one. */
function touchVersion(footprint: Footprint, version: Version, kind: 'write' | 'publish'): void {
  const { table } = version.stored;
  footprint.touch(`table ${table.shape.id}`, kind);
  for (const [position, { compare }] of table.shape.indexes.entries()) {
    const name = indexName(table, position);
    const key = version.keys[position] ?? null;
    const old = version.older?.keys[position] ?? null;
    if (key !== null) footprint.touchKey(name, kind, key, compare);
    if (old !== null && old !== key) footprint.touchKey(name, kind, old, compare);
  }
}
