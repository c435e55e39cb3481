/**
 * Reads at read uncommitted: what was last written, by any transaction. Between the write and the end of its transaction, or until it is undone, a
 * read returns that and nothing else; before and after, what is committed.
 *
 * Cost: O(locks on the row that are kept).
 */
import { agrees, type Image } from './image.ts';
import type { Mirror } from './mirror.ts';
import { releaseOf } from './mutual-exclusion.ts';
import { kindCode, lockCode } from './operation-table.ts';
import { none } from './slots.ts';
import type { UndoneWrite } from './undone-writes.ts';

/** May a statement whose writes were undone have written this row while the operation read it? O(those that are kept x locks on the row that are kept) */
export function mayShowUndone(mirror: Mirror, row: number, operation: number): boolean {
  const { start, end } = mirror.operations;
  const [from, to] = [start[operation], end[operation]];
  return mirror.undone.some((each) => each.start <= to && each.end >= from && !isLockedByAnother(mirror, row, each));
}

/** Had another session locked the row before the statement began, until after its end? */
function isLockedByAnother(mirror: Mirror, row: number, statement: UndoneWrite): boolean {
  const { rows, operations } = mirror;
  const { locks } = rows;
  for (let lock = rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock]) {
    const operation = locks.operation[lock];
    if (locks.isExclusive[lock] === 0 || operations.session[operation] === statement.session) continue;
    if (operations.end[operation] <= statement.start && releaseOf(mirror, lock) >= statement.end) return true;
  }
  return false;
}

/** Is it a plain read at read uncommitted? */
export function isUncommitted({ operations, mechanisms }: Mirror, operation: number): boolean {
  const { kind, lock } = operations;
  const isPlain = kind[operation] === kindCode.read && lock[operation] === lockCode.none;
  return isPlain && mechanisms.consistentRead === 'uncommitted';
}

/** May another transaction have written the row, whatever, and not committed it yet? */
export function mayBeDirty(mirror: Mirror, reader: number, row: number, start: number, end: number): boolean {
  const { locks } = mirror.rows;
  for (let lock = mirror.rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock])
    if (mayBeThere(mirror, lock, reader, start, end)) return true;
  return false;
}

/**
 * The lock under which another transaction wrote what was read, if that may still have been there; or `none`. While a statement writes, its row
 * may be gone: InnoDB carries out a REPLACE of a row that foreign keys refer to as a delete and an insert.
 */
export function dirtyReadOf(
  mirror: Mirror,
  reader: number,
  row: number,
  image: Image,
  start: number,
  end: number,
): number {
  const { rows, operations } = mirror;
  const { locks } = rows;
  for (let lock = rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock]) {
    const written = locks.image[lock];
    if (written === undefined || !mayBeThere(mirror, lock, reader, start, end)) continue;
    const isBeingWritten = operations.end[locks.operation[lock]] >= start;
    if (agrees(written, image) || (image === null && isBeingWritten)) return lock;
  }
  return none;
}

/** May what another transaction wrote under the lock have been there, not committed, between start and end? */
function mayBeThere(
  { rows: { locks }, operations, transactions }: Mirror,
  lock: number,
  reader: number,
  start: number,
  end: number,
): boolean {
  const writer = locks.transaction[lock];
  if (locks.image[lock] === undefined || writer === reader) return false;
  if (operations.start[locks.operation[lock]] > end) return false;
  // Once it has committed it is a version like others.
  return Math.min(transactions.endEnd[writer], locks.releaseEnd[lock]) >= start;
}

/** The lock under which another transaction surely had overwritten this version, and had not ended; or `none`. */
export function hiddenBy(
  { rows, operations, transactions }: Mirror,
  reader: number,
  row: number,
  version: number,
  start: number,
  end: number,
): number {
  const { locks, versions } = rows;
  for (let lock = rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock]) {
    const [operation, writer] = [locks.operation[lock], locks.transaction[lock]];
    const written = locks.image[lock];
    if (written === undefined || writer === reader || operations.end[operation] >= start) continue;
    if (versions.end[version] >= operations.start[operation]) continue;
    if (isHeldUntil(rows.locks.releaseEnd[lock], transactions.releaseStart[writer], end)) return lock;
  }
  return none;
}

/** Neither undone nor ended at `end`. */
function isHeldUntil(undoneAt: number, releaseStart: number, end: number): boolean {
  return undoneAt === Infinity && releaseStart > end;
}
