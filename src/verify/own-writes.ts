/** Reads of rows that the transaction has written itself: what it wrote there decides what is seen, not the snapshot. */
import { ownViolation } from './evidence.ts';
import { agrees, type Columns, columnsBeside, qualifies } from './image.ts';
import type { Mirror } from './mirror.ts';
import { mayBeSame } from './same-writes.ts';
import { none } from './slots.ts';

/** Columns that the transaction has not written, of a row of which it has: their base may be as old as the snapshot. */
export interface Beside {
  readonly row: number;
  readonly image: Columns;
  /** Start of the first operation that wrote the row. */
  readonly writtenAt: number;
}

/** Compares what was read with what the transaction has written itself; what is left is for the snapshot. */
export function verifyOwn(mirror: Mirror, transaction: number, operation: number): readonly Beside[] | null {
  const { operations, rows, counts, transactions } = mirror;
  if (transactions.firstOwn[transaction] === none) return null;
  const { entries } = operations;
  const readsEnd = operations.writes[operation];
  let beside: Beside[] | null = null;
  for (let entry = operations.reads[operation]; entry < readsEnd; entry += 1) {
    const row = entries.row[entry];
    if (rows.isClouded[row] === 1) {
      entries.isOwn[entry] = 1;
      counts.skipped += 1;
      continue;
    }
    const own = rows.own(row, transaction);
    if (own === none) continue;
    entries.isOwn[entry] = 1;
    const image = entries.image[entry];
    const written = rows.owns.image[own];
    if (!agrees(written, image)) {
      // A write that changed nothing has left the row to the snapshot; an insert has left it the row that was there before.
      if (mayBeSame(mirror, row, own) || mayBeBesideAnother(mirror, transaction, row, own)) {
        entries.isOwn[entry] = 0;
        continue;
      }
      mirror.report(ownViolation(mirror, transaction, operation, row, image, own));
      continue;
    }
    const rest = columnsBeside(image, written, operations.emptyShape);
    if (rest === null) continue;
    beside ??= [];
    beside.push({ row, image: rest, writtenAt: operations.start[rows.owns.operation[own]] });
  }
  return beside;
}

/**
 * May its write be an insert, while its snapshot still has the row with this key that another has deleted since? Then both are there
 * (PostgreSQL, bug 17017: "operating as designed", and refused at serializable).
 */
function mayBeBesideAnother(
  { rows, transactions, mechanisms }: Mirror,
  transaction: number,
  row: number,
  own: number,
): boolean {
  const { owns, versions } = rows;
  const snapshotStart = transactions.snapshotStart[transaction];
  if (!mechanisms.firstUpdaterWins || mechanisms.certifier !== null || Number.isNaN(snapshotStart)) return false;
  for (let version = rows.versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version]) {
    if (versions.image[version] !== null || versions.end[version] < snapshotStart) continue;
    if (versions.start[version] <= owns.end[own]) return true;
  }
  return false;
}

/** A row that the transaction has written so that it satisfies a condition of its own read must have been returned. */
export function verifyOwnPredicates(mirror: Mirror, transaction: number, operation: number): void {
  const { operations, rows, transactions } = mirror;
  const { owns } = rows;
  let returned: ReadonlySet<number> | null = null;
  for (const { table, where } of operations.predicatesOf(operation)) {
    for (let own = transactions.firstOwn[transaction]; own !== none; own = owns.next[own]) {
      const row = owns.row[own];
      if (!rows.isOf(row, table) || rows.isClouded[row] === 1 || !qualifies(owns.image[own], where)) continue;
      returned ??= operations.rowsRead(operation);
      if (!returned.has(row) && !mayBeSame(mirror, row, own))
        mirror.report(ownViolation(mirror, transaction, operation, row, null, own));
    }
  }
}
