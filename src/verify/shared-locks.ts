/**
 * What a read in shared mode locks in an engine that reads from whatever index has the columns (`Mechanisms.sharedLocks`): the row for certain
 * only where that was looked up by its key alone, else the columns that were returned. A write is then excluded for certain only where it
 * makes another row of these columns, or none.
 *
 * Cost: O(rows of the read).
 */
import { type Image, isColumns } from './image.ts';
import type { Mirror } from './mirror.ts';
import { lockCode } from './operation-table.ts';

/** Does the lock that the operation took by reading the row surely exclude the other lock on it? @param written undefined: nothing */
export function locksOut(mirror: Mirror, operation: number, row: number, written: Image | undefined): boolean {
  const { operations, mechanisms } = mirror;
  if (mechanisms.sharedLocks === 'rows' && !mechanisms.predicateLocks) return true;
  const { entries, reads, writes, lock } = operations;
  for (let entry = reads[operation]; entry < writes[operation]; entry += 1) {
    if (entries.row[entry] !== row) continue;
    const image = entries.image[entry];
    // Where there was no row there is a gap, in which only inserts wait.
    if (image === null) return written !== undefined && written !== null;
    const isOfRow = mechanisms.sharedLocks === 'rows' || lock[operation] === lockCode.update;
    return isOfRow || isLookup(mirror, operation) || changes(written, image);
  }
  return true;
}

/** Was what the operation read of the row kept from this write until its transaction ended, as far as shared locks decide that? */
export function isKept(mirror: Mirror, operation: number, row: number, written: Image | undefined): boolean {
  return mirror.mechanisms.sharedLocks === 'rows' || locksOut(mirror, operation, row, written);
}

/** One row, by all columns of its key and nothing else: no other index is looked at. */
function isLookup({ operations }: Mirror, operation: number): boolean {
  const { reads, writes, mayReadMore } = operations;
  const isOne = writes[operation] - reads[operation] === 1;
  return isOne && mayReadMore[operation] === 0 && operations.predicatesOf(operation).length === 0;
}

/** Is one of the columns that were read surely another now? */
function changes(written: Image | undefined, read: Image): boolean {
  if (written === undefined) return false;
  if (!isColumns(written) || !isColumns(read)) return written !== read;
  return read.shape.columns.some((column, i) => {
    const value = written.get(column);
    return value !== undefined && value !== read.values[i];
  });
}
