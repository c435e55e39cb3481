/**
 * Writes that change nothing. InnoDB locks the row, finds it to be what the write would make of it and leaves it (`row_upd`, error
 * HA_ERR_RECORD_IS_THE_SAME): no version is the transaction's. At repeatable read, what it reads afterwards is its snapshot, which may be older.
 *
 * Cost: O(versions of the row that are kept).
 */
import { type Image, isColumns } from './image.ts';
import type { Mirror } from './mirror.ts';
import { none } from './slots.ts';
import { unknownMark } from '../trace/index.ts';

/** May the row have been what the transaction wrote there, before it did? */
export function mayBeSame({ rows, mechanisms }: Mirror, row: number, own: number): boolean {
  if (mechanisms.sameWrites === 'written') return false;
  const { versions, owns } = rows;
  const written = owns.image[own];
  for (let version = rows.versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version]) {
    if (versions.start[version] > owns.end[own]) continue;
    if (mayHold(versions.image[version], written)) return true;
  }
  return false;
}

/**
 * A statement that may have matched more rows than it names, as an UPDATE that changes nothing, of a client whose answer counts changed rows: of
 * those the transaction may read the latest version from then on, as in MySQL 9.7, or its snapshot, as in MariaDB and earlier MySQL (bug 108015).
 */
export function noteRenewal(
  { operations, transactions, mechanisms }: Mirror,
  transaction: number,
  operation: number,
): void {
  if (mechanisms.sameWrites !== 'either' || operations.mayReadMore[operation] === 0) return;
  transactions.renewedUntil[transaction] = operations.end[operation];
}

/** May the row have been what the version holds already, so that its writer has left it as it was? */
export function mayBeUnwritten({ rows, mechanisms }: Mirror, row: number, version: number): boolean {
  if (mechanisms.sameWrites === 'written') return false;
  const { versions } = rows;
  const written = versions.image[version];
  if (written === undefined) return true;
  for (let other = rows.versions.ofRow.first[row]; other !== none; other = versions.ofRow.next[other]) {
    if (other === version || versions.start[other] > versions.end[version]) continue;
    if (written !== null && mayHold(versions.image[other], written)) return true;
  }
  return false;
}

/** Of the two any column may be unknown. */
function mayHold(version: Image | undefined, written: Image): boolean {
  if (version === undefined || version === written) return true;
  if (!isColumns(version) || !isColumns(written)) return false;
  return written.shape.columns.every((column, i) => {
    const [held, value] = [version.get(column), written.values[i]];
    return held === undefined || value === unknownMark || held === value;
  });
}
