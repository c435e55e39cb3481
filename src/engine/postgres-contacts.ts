/**
 * What the PostgreSQL profile tells of its steps (`footprint.ts`), where somebody wants to know.
 *
 * - A statement of READ COMMITTED sees, of the ranges it reads, what is committed when it begins: it meets the commits that make rows seen
 *   there. One that has to wait goes on with its old snapshot, on ranges that nobody knows yet: it meets every commit of writes.
 * - Above, the snapshot is taken once, and what will be read with it is not known: it meets every commit of writes. Reads with it meet nobody.
 * - Row locks meet as they conflict. Who waits, and who is asked whether he waits, is a contact of its own: who closes a cycle is the victim.
 * - Keys that are looked up for uniqueness meet writes of these keys, committed or not, and the ends of their transactions.
 * - Rows are read in the order in which they were inserted, so insertions into a table meet.
 * - SERIALIZABLE, besides: reads are remembered, so they meet writes that are not committed as well. Flags and edges between transactions are
 *   contacts by transaction. Commits are compared with each other and with snapshots, even where no edge is yet: each meets each. Numbers
 *   of writers are compared with ends and snapshots.
 * - Cleaning up old versions has no effect that anybody sees.
 */
import type { AccessPath, LockRequest, LockStrength } from '../sql/storage.ts';
import type { SqlValue } from '../sql/value.ts';
import { boundsOf } from './index-tree.ts';
import type { Contact, Footprint } from './footprint.ts';
import type { PostgresStorage } from './postgres-storage.ts';
import { pathIndex, type PostgresTable, type StoredRow, type Version } from './postgres-table.ts';
import type { PostgresTransaction } from './postgres-transaction.ts';
import { watchName } from './serializable.ts';

export const tries = {
  'key share': 'try key share',
  share: 'try share',
  'no key update': 'try no key update',
  update: 'try update',
} as const satisfies Record<LockStrength, Contact>;

export function rowName({ tableId, id }: StoredRow): string {
  return `row ${tableId} ${id}`;
}

export function indexName(table: PostgresTable, position: number): string {
  return `index ${table.shape.id} ${position}`;
}

export function waitName(session: number): string {
  return `wait of ${session}`;
}

export function statementBegins({ storage, session, options }: PostgresTransaction): void {
  if (options.isolation === 'serializable') storage.footprint?.touch(watchName(session), 'read');
}

export function takesSnapshot({ storage, keepsSnapshot, options }: PostgresTransaction): void {
  const { footprint } = storage;
  if (footprint === null) return;
  if (keepsSnapshot) footprint.touch('snapshot', 'left');
  if (options.isolation !== 'serializable') return;
  footprint.touch('serializable', 'read');
  footprint.touch('writers', 'right');
  // It looks at all that are open, and they remember it.
  if (options.isReadOnly) footprint.touchAll();
}

/** A read of the statement's snapshot, or of the transaction's, which is remembered at SERIALIZABLE. */
export function readsSnapshot(transaction: PostgresTransaction, table: PostgresTable, path: AccessPath): void {
  if (!transaction.keepsSnapshot) touchPath(transaction, table, path, 'see');
  else if (transaction.watched !== null)
    touchPath(transaction, table, transaction.storage.readsWholeIndex ? { kind: 'all' } : path, 'peek');
}

export function touchPath(
  { storage }: PostgresTransaction,
  table: PostgresTable,
  path: AccessPath,
  contact: 'see' | 'peek',
): void {
  const { footprint } = storage;
  if (footprint === null) return;
  const position = pathIndex(table, path);
  if (path.kind === 'all' || position === null) return footprint.touch(`table ${table.shape.id}`, contact);
  const { compareKeys } = table.tree(position);
  const bounds = boundsOf(path, compareKeys);
  const contains = (key: readonly SqlValue[]): boolean => !bounds.isBelow(key) && !bounds.isAbove(key);
  footprint.touchRange(indexName(table, position), contact, contains);
}

/** A row that was found is looked at again, whatever the snapshot. */
export function looksAtLatest({ storage }: PostgresTransaction, row: StoredRow, request: LockRequest): void {
  storage.footprint?.touch(rowName(row), 'see');
  // `waitsAnyway` looks at versions that are not committed.
  if (request.strength === 'key share' && request.ifLocked !== 'wait')
    storage.footprint?.touch(rowName(row), 'try update');
}

/** A version is written, or taken back. */
export function writes({ storage }: PostgresTransaction, version: Version): void {
  if (storage.footprint !== null) touchVersion(storage.footprint, version, 'write');
}

export function commits({ storage }: PostgresTransaction, written: readonly Version[]): void {
  const { footprint } = storage;
  if (footprint === null) return;
  if (written.length > 0) footprint.touch('snapshot', 'right');
  for (const version of written) {
    touchVersion(footprint, version, 'publish');
    touchVersion(footprint, version, 'write');
    footprint.touch(rowName(version.stored), 'publish');
  }
}

export function ends({ storage, writerNumber, options }: PostgresTransaction): void {
  const { footprint } = storage;
  if (footprint === null) return;
  if (writerNumber !== Infinity) footprint.touch('writers', 'left');
  if (options.isolation !== 'serializable') return;
  footprint.touch('serializable', 'change');
  footprint.touch('writers', 'left');
  footprint.touch('writer numbers', 'right');
}

/** Somebody is in the way: what this statement goes on to read with its snapshot is not known yet. */
export function waits({ storage, session, keepsSnapshot }: PostgresTransaction): void {
  storage.footprint?.touch(waitName(session), 'change');
  if (!keepsSnapshot) storage.footprint?.touch('snapshot', 'left');
}

export function looksAtWait(storage: PostgresStorage, transaction: number): void {
  const session = storage.open.get(transaction)?.session;
  if (session !== undefined) storage.footprint?.touch(waitName(session), 'read');
}

/** A scan of the table meets it, and one of each index by the old key and by the new one. */
function touchVersion(footprint: Footprint, version: Version, contact: 'write' | 'publish'): void {
  const { table } = version.stored;
  footprint.touch(`table ${table.shape.id}`, contact);
  for (const [position, { compare }] of table.shape.indexes.entries()) {
    const name = indexName(table, position);
    const key = version.keys[position] ?? null;
    const old = version.older?.keys[position] ?? null;
    if (key !== null) footprint.touchKey(name, contact, key, compare);
    if (old !== null && old !== key) footprint.touchKey(name, contact, old, compare);
  }
}
