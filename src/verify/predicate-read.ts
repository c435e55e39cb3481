/** Reads by a condition: a row that every candidate says is there and satisfies it must have been returned. */
import { listCandidates } from './candidates.ts';
import { qualifies } from './image.ts';
import type { Mirror } from './mirror.ts';
import { addPredicateReader } from './phantoms.ts';
import { none } from './slots.ts';
import { isFollowing } from './snapshots.ts';
import type { Condition, PredicateRead } from '../trace/index.ts';
import { snapshotCode } from './transaction-table.ts';

interface Read {
  readonly transaction: number;
  readonly operation: number;
  readonly snapshot: number;
}

/** O(rows of which a version may satisfy the conditions, row-index.ts) @param onMissing a row, and the interval of the snapshot */
export function verifyPredicate(
  mirror: Mirror,
  { transaction, operation, snapshot }: Read,
  { table, where }: PredicateRead,
  onMissing: (row: number, start: number, end: number) => void,
): void {
  const { rows, transactions, operations, mechanisms } = mirror;
  const isOfTransaction = snapshot === snapshotCode.transaction;
  const start = isOfTransaction
    ? transactions.snapshotStart[transaction]
    : snapshot === snapshotCode.window
      ? transactions.first[transaction]
      : operations.start[operation];
  const end = isOfTransaction ? transactions.snapshotEnd[transaction] : operations.end[operation];
  const found = rows.rowsWhere(table, where);
  const returned = operations.rowsRead(operation);
  addPredicateReader(mirror, { transaction, predicate: { table, where }, returned, end }, found);
  const isFollower = isFollowing(mirror, operation);
  for (const row of found) {
    if (returned.has(row) || !mayQualify(mirror, row, where) || rows.hasWritten(transaction, row)) continue;
    if (rows.isHidden(row, start)) continue;
    const candidates = listCandidates(mirror, row, start, end, null);
    if (candidates.length === 0 || (isFollower && rows.mayBeReplaced(row, start, end))) continue;
    // It may have moved behind the scan, in an index where nothing keeps it from that.
    if (candidates.length > 1 && snapshot === snapshotCode.rows && !mechanisms.predicateLocks) continue;
    if (candidates.every((version) => qualifies(rows.versions.image[version], where))) onMissing(row, start, end);
  }
}

/** The latest version by start is a candidate, or one that overlaps with it: most rows fail here without a list. */
function mayQualify({ rows }: Mirror, row: number, where: readonly Condition[]): boolean {
  const { versions } = rows;
  for (let version = rows.versions.ofRow.first[row]; version !== none; version = versions.ofRow.next[version])
    if (qualifies(versions.image[version], where)) return true;
  return false;
}
