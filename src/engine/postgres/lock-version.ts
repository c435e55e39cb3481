/** The locks of the rows that a statement finds: which version it gets when the row has changed meanwhile. `heap_lock_tuple`, EvalPlanQual. */
import { type LockRequest, type LockStrength, type Row, SqlError, type Waiting } from '../../sql/model/index.ts';
import { currentVersion, type Writer } from '../versions.ts';
import * as footprints from './footprint.ts';
import { keepsKeys, waitsAnyway } from './key-share.ts';
import type { SnapshotReader } from './index-walk.ts';
import type { StoredRow, Version } from './table.ts';

/**
 * Locks the row of a version that was found. Under READ COMMITTED the latest version counts if it still matches (EvalPlanQual in
 * PostgreSQL's words); with a snapshot for the transaction a row that has changed since is an error. @throws SqlError 40001, 55P03, 40P01
 * @returns `null`: the row has changed and does not match any more; `skipped`: SKIP LOCKED leaves it out because another transaction has locked it, in whatever version
 */
export function* lockVersion(
  found: Version,
  matches: (row: Row) => boolean,
  request: LockRequest,
  reader: SnapshotReader,
): Waiting<Version | 'skipped' | null> {
  const { transaction } = reader;
  const { stored } = found;
  footprints.recordLatestRead(transaction, stored, request);
  if (request.reading === 'statement' && hasWritten(stored, reader)) return null;
  const ifLocked = waitsAnyway(found, request, transaction.writer) ? 'wait' : request.ifLocked;
  const strength = request.strengthFor?.(found) ?? request.strength;
  const mustBeUnchanged = transaction.keepsSnapshot && usesSnapshot(request);
  if (mustBeUnchanged) checkUnchanged(found, strength === 'key share', reader);
  const before = transaction.rowLocks.mark();
  const isRefused = mustBeUnchanged
    ? (): boolean => isReplaced(found, strength, isWritten(request, strength), transaction.writer)
    : never;
  const outcome = yield* transaction.rowLocks.lock(stored, strength, ifLocked, isRefused);
  if (outcome === 'skipped') return 'skipped';
  if (mustBeUnchanged) checkUnchanged(found, strength === 'key share', reader);
  const current = currentVersion(stored.newest, transaction.writer);
  if (request.reading === 'referencing' && isWritten(request, strength) && isUnseen(found, reader))
    throw concurrent('update');
  if (current === found) return found;
  if (current === null || current.isDeleted) {
    // A row that is gone is not locked: who waits for it as well has nothing to wait for.
    transaction.rowLocks.release(before);
    return null;
  }
  if (strength === 'key share' && usesSnapshot(request) && keepsKeys(found, current)) return found;
  if (!matches(current)) return null;
  // The new version may need a stronger lock than the old one did.
  return request.strengthFor === undefined ? current : yield* lockVersion(current, matches, request, reader);
}

/** Of a row that a statement comes to twice (it has a WITH that writes) it changes the first time only. */
function hasWritten({ newest }: StoredRow, { transaction, command }: SnapshotReader): boolean {
  return newest?.writer === transaction.writer && newest.command === command;
}

/** Of a lock that is waited for whatever becomes of the row. */
export const never = (): boolean => false;

/** Does the statement write the row that it locks? The queries of foreign keys, which do not say it, lock what they only read FOR KEY SHARE. */
function isWritten({ purpose, reading }: LockRequest, strength: LockStrength): boolean {
  return purpose === 'update' || purpose === 'delete' || (reading === 'referencing' && strength !== 'key share');
}

/**
 * Has a commit replaced the version, so that a statement with the transaction's snapshot fails before its turn? PostgreSQL's queue is that of one
 * version: `heap_update` and `heap_delete` fail one after another then. A locking SELECT goes along the newer versions first, and waits for the
 * newest; it fails when one of them has been replaced as well, or the row is deleted (`heap_lock_updated_tuple_rec`).
 * The footprint needs no access of its own: a commit that changes the answer releases a lock that conflicts with `strength`.
 */
function isReplaced(found: Version, strength: LockStrength, isWrite: boolean, reader: Writer): boolean {
  const current = currentVersion(found.stored.newest, reader);
  if (current === found) return false;
  if (current === null || current.isDeleted) return true;
  if (strength === 'key share' && keepsKeys(found, current)) return false;
  // An update of a newer version that keeps its key lets FOR KEY SHARE pass, and which one does is not known here.
  const isNext = current.older === found;
  return isWrite || (strength !== 'key share' && !isNext);
}

/** @throws SqlError 40001 */
function checkUnchanged(found: Version, keyIsEnough: boolean, { transaction }: SnapshotReader): void {
  const current = currentVersion(found.stored.newest, transaction.writer);
  if (current === found) return;
  if (current === null || current.isDeleted) throw concurrent('delete');
  if (!keyIsEnough || !keepsKeys(found, current)) throw concurrent('update');
}

/** The version that is in the way of an upsert (`ExecOnConflictUpdate`). `null`: it has changed since. @throws SqlError 40001, 40P01 */
export function* lockConflict(
  found: Version,
  { strength }: LockRequest,
  reader: SnapshotReader,
): Waiting<Version | null> {
  const { stored } = found;
  const { transaction } = reader;
  transaction.storage.footprint?.touch(footprints.rowName(stored), 'see');
  yield* transaction.rowLocks.lock(stored, strength, 'wait', never);
  if (transaction.keepsSnapshot) checkUnchanged(found, false, reader);
  if (isUnseen(found, reader)) throw concurrent('update');
  return currentVersion(stored.newest, transaction.writer) === found ? found : null;
}

/** Has another transaction written it since the snapshot of the transaction? */
export function isUnseen(version: Version, reader: SnapshotReader): boolean {
  const { snapshot, transaction } = reader;
  const { writer, keepsSnapshot } = transaction;
  if (keepsSnapshot) footprints.recordIsSeen(reader, version.stored);
  return keepsSnapshot && version.writer !== writer && version.writer.commitSequence > snapshot;
}

function usesSnapshot({ reading }: LockRequest): boolean {
  return reading !== 'latest' && reading !== 'conflict';
}

function concurrent(what: 'update' | 'delete'): SqlError {
  return new SqlError('40001', `could not serialize access due to concurrent ${what}`);
}
