/**
 * ROLLBACK TO SAVEPOINT: what the transaction has written since is as if it had not been. Locks that were taken since may be released then
 * (PostgreSQL) or be kept (InnoDB), so they say nothing any more.
 *
 * Cost: O(operations of the transaction) for each rollback or release.
 */
import { type Image, merged } from './image.ts';
import type { Mirror } from './mirror.ts';
import { kindCode } from './operation-table.ts';
import { none } from './slots.ts';

/** @param operation the newest of the transaction: `rollback-to` or `release`, one that did not fail */
export function undo(mirror: Mirror, transaction: number, operation: number): void {
  const { operations, transactions, rows } = mirror;
  const { kind, next, isUndone } = operations;
  const name = operations.savepointOf(operation);
  let savepoint = none;
  for (let each = transactions.firstOperation[transaction] as number; each !== none; each = next[each] as number)
    if (kind[each] === kindCode.savepoint && isUndone[each] === 0 && operations.savepointOf(each) === name)
      savepoint = each;
  if (savepoint === none) return;
  const isRelease = kind[operation] === kindCode.release;
  if (isRelease) isUndone[savepoint] = 1;
  for (let each = next[savepoint] as number; each !== none; each = next[each] as number)
    if (!isRelease || kind[each] === kindCode.savepoint) isUndone[each] = 1;
  if (isRelease) return;
  rows.dropLocksSince(transaction, (each) => isUndone[each] === 1);
  rows.dropOwn(transaction);
  for (let each = transactions.firstOperation[transaction] as number; each !== none; each = next[each] as number)
    if (kind[each] === kindCode.write && isUndone[each] === 0 && operations.failed[each] === 0)
      writeOwn(mirror, transaction, each);
}

/** Puts what the operation writes on top of what the transaction has written before. */
export function writeOwn({ operations, rows }: Mirror, transaction: number, operation: number): void {
  const { entries, writes, end } = operations;
  const { owns } = rows;
  const writesEnd = operations.entriesEnd[operation] as number;
  for (let entry = writes[operation] as number; entry < writesEnd; entry += 1) {
    const row = entries.row[entry] as number;
    const image = entries.image[entry] as Image;
    const own = rows.own(row, transaction);
    if (own === none) rows.addOwn(row, transaction, operation, end[operation] as number, image);
    else {
      owns.image[own] = merged(owns.image[own], image);
      owns.end[own] = end[operation] as number;
    }
  }
}
