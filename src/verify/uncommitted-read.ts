/**
 * Reads at read uncommitted: what was last written, by any transaction. Between the write and the end of its transaction, or until it is undone, a
 * read returns that and nothing else; before and after, what is committed.
 *
 * Cost: O(locks on the row that are kept).
 */
import { agrees, type Image } from './image.ts';
import type { Mirror } from './mirror.ts';
import { releaseOf } from './mutual-exclusion.ts';
import { kindCode, lockCode, type OperationTable } from './operation-table.ts';
import { none } from './slots.ts';

interface TakenBack {
  readonly session: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Statements that undid what they had written, at read uncommitted: others could see it, and the trace does not say what it was. They
 * failed, or are an INSERT IGNORE that hit a second unique key and names no row.
 */
export class TakenBackWrites {
  readonly #operations: OperationTable;
  #all: TakenBack[] = [];

  constructor(operations: OperationTable) {
    this.#operations = operations;
  }

  /** @param operation that writes, and may be one of them */
  note(operation: number): void {
    const { session, start, end, failed, mayReadMore, writes, entriesEnd } = this.#operations;
    const namesNothing = mayReadMore[operation] === 1 && writes[operation] === entriesEnd[operation];
    if (failed[operation] === 0 && !namesNothing) return;
    this.#all.push({
      session: session[operation],
      start: start[operation],
      end: end[operation],
    });
  }

  /** Nothing will be asked about times before the horizon. */
  forget(horizon: number): void {
    if (this.#all.some(({ end }) => end < horizon)) this.#all = this.#all.filter(({ end }) => end >= horizon);
  }

  /** May one of them have written this row while the operation read it? O(those that are kept x locks on the row that are kept) */
  mayShow(mirror: Mirror, row: number, operation: number): boolean {
    if (this.#all.length === 0) return false;
    const { start, end } = this.#operations;
    const [from, to] = [start[operation], end[operation]];
    return this.#all.some((each) => each.start <= to && each.end >= from && !isLockedByAnother(mirror, row, each));
  }
}

/** Had another session locked the row before the statement began, until after its end? */
function isLockedByAnother(mirror: Mirror, row: number, statement: TakenBack): boolean {
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
function isHeldUntil(takenBackAt: number, releaseStart: number, end: number): boolean {
  return takenBackAt === Infinity && releaseStart > end;
}
