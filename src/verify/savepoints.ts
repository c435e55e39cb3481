/**
 * ROLLBACK TO SAVEPOINT: what the transaction has written since is as if it had not been. Locks that were taken since go then, or stay: as
 * `Mechanisms.savepointLocks` says.
 *
 * InnoDB learns of a savepoint only if it takes part in the transaction already. Of one that was set before the first statement it knows
 * nothing, and rolls back all that it has done (`ha_rollback_to_savepoint` of MySQL and MariaDB): the rows it locked are free, and the next
 * read takes another snapshot.
 *
 * Cost: O(operations and locks of the transaction) for each rollback or release.
 */
import { merged } from './image.ts';
import type { Mirror } from './mirror.ts';
import { kindCode } from './operation-table.ts';
import { none } from './slots.ts';

/** Does the transaction continue, or does the engine begin another one in its place? `perhaps`: it may have. */
export type Undone = 'goes-on' | 'begins-anew' | 'perhaps';

/**
 * @param operation the newest of the transaction: `rollback-to` or `release`, one that did not fail
 * @returns where it begins anew, nothing has been done yet
 */
export function undo(mirror: Mirror, transaction: number, operation: number): Undone {
  const { operations, transactions } = mirror;
  const { kind, next, isUndone } = operations;
  const savepoint = savepointBy(mirror, transaction, operation);
  const isRelease = kind[operation] === kindCode.release;
  if (!isRelease && mirror.mechanisms.savepointLocks === 'kept') {
    const beginning = beginningOf(mirror, transaction, savepoint);
    if (beginning !== 'goes-on') return beginning;
  }
  if (savepoint === none) return 'goes-on';
  if (isRelease) isUndone[savepoint] = 1;
  let failedAt = Infinity;
  for (let each = next[savepoint]; each !== none; each = next[each]) {
    if (isRelease && kind[each] !== kindCode.savepoint) continue;
    if (operations.failed[each] === 1 && isUndone[each] === 0) failedAt = Math.min(failedAt, operations.start[each]);
    isUndone[each] = 1;
  }
  if (isRelease) return 'goes-on';
  // An error has not ended it, as is known now.
  transactions.releaseStart[transaction] = Infinity;
  releaseLocks(mirror, transaction, operation, failedAt);
  undoWrites(mirror, transaction);
  return 'goes-on';
}

/** The last savepoint of the name, or `none`: it was set before the transaction began anew. */
function savepointBy({ operations, transactions }: Mirror, transaction: number, operation: number): number {
  const { kind, next, isUndone } = operations;
  const name = operations.savepointOf(operation);
  let savepoint = none;
  for (let each = transactions.firstOperation[transaction]; each !== none; each = next[each])
    if (kind[each] === kindCode.savepoint && isUndone[each] === 0 && operations.savepointOf(each) === name)
      savepoint = each;
  return savepoint;
}

/** Statements that name no row may or may not have been the engine's. */
function beginningOf({ operations, transactions }: Mirror, transaction: number, savepoint: number): Undone {
  const { kind, next, failed } = operations;
  let beginning: Undone = 'begins-anew';
  if (savepoint === none) return beginning;
  for (let each = transactions.firstOperation[transaction]; each !== savepoint; each = next[each]) {
    if (kind[each] !== kindCode.read && kind[each] !== kindCode.write) continue;
    if (failed[each] === 0 && operations.hasRows(each)) return 'goes-on';
    beginning = 'perhaps';
  }
  return beginning;
}

/** Locks that were taken since are free from the rollback on, or from the error that made it necessary. */
function releaseLocks(mirror: Mirror, transaction: number, operation: number, failedAt: number): void {
  const { operations, transactions, rows, mechanisms } = mirror;
  const { locks } = rows;
  const isKept = mechanisms.savepointLocks === 'kept';
  const start = operations.start[operation];
  for (let lock = transactions.firstLock[transaction]; lock !== none; lock = locks.next[lock]) {
    if (operations.isUndone[locks.operation[lock]] === 0 || locks.releaseEnd[lock] !== Infinity) continue;
    locks.releaseEnd[lock] = operations.end[operation];
    // InnoDB: the lock on a row that it has inserted goes with the row.
    if (!isKept || !isThere(mirror, locks.row[lock]))
      locks.releaseStart[lock] = Math.min(start, isKept ? start : failedAt);
  }
}

/** Is the row surely there without what open transactions have written? */
function isThere({ rows }: Mirror, row: number): boolean {
  const { versions } = rows;
  for (let version = rows.versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version]) {
    const image = versions.image[version];
    if (image === null || image === undefined) return false;
  }
  return true;
}

function undoWrites(mirror: Mirror, transaction: number): void {
  const { operations, transactions, rows } = mirror;
  const { kind, next, isUndone, failed } = operations;
  rows.dropOwn(transaction);
  transactions.isWriter[transaction] = 0;
  for (let each = transactions.firstOperation[transaction]; each !== none; each = next[each]) {
    if (kind[each] !== kindCode.write || isUndone[each] === 1 || failed[each] === 1) continue;
    writeOwn(mirror, transaction, each);
    transactions.isWriter[transaction] = 1;
  }
}

/** Puts what the operation writes on top of what the transaction has written before. */
export function writeOwn({ operations, rows }: Mirror, transaction: number, operation: number): void {
  const { entries, writes, end } = operations;
  const { owns } = rows;
  const writesEnd = operations.entriesEnd[operation];
  for (let entry = writes[operation]; entry < writesEnd; entry += 1) {
    const row = entries.row[entry];
    const image = entries.image[entry];
    const own = rows.own(row, transaction);
    if (own === none) rows.addOwn(row, transaction, operation, end[operation], image);
    else {
      owns.image[own] = merged(owns.image[own], image);
      if (image === null) owns.isDeleter[own] = 1;
      owns.end[own] = end[operation];
    }
  }
}
