/** Which state a read sees, and when a transaction takes its snapshot: `Mechanisms.consistentRead` in code. */
import type { Mirror } from './mirror.ts';
import { kindCode, lockCode, type OperationTable } from './operation-table.ts';
import { snapshotCode } from './transaction-table.ts';

/** The snapshot of the transaction, if this is the operation that takes it. */
export function takeSnapshot(
  { operations, transactions, mechanisms }: Mirror,
  transaction: number,
  operation: number,
): void {
  const { snapshotStart, snapshotEnd, snapshotFrom, first } = transactions;
  if (!Number.isNaN(snapshotStart[transaction])) return;
  const { kind, lock, start, end } = operations;
  const { consistentRead, lockingReads } = mechanisms;
  if (consistentRead === 'transaction') {
    snapshotStart[transaction] = first[transaction];
    snapshotEnd[transaction] = Infinity;
    return;
  }
  const isPlainRead =
    kind[operation] === kindCode.read && (lock[operation] === lockCode.none || lockingReads === 'as-plain');
  const takes =
    consistentRead === 'begin' ||
    (consistentRead === 'first-statement' &&
      (kind[operation] === kindCode.read || kind[operation] === kindCode.write)) ||
    (consistentRead === 'first-read' && isPlainRead);
  if (!takes) {
    // CALL and the like may have read, too.
    const mayRead = consistentRead === 'first-read' && operations.mayWriteOf(operation)?.includes('*') === true;
    if (mayRead) snapshotFrom[transaction] = Math.min(start[operation], snapshotFrom[transaction]);
    return;
  }
  // Whether it came so far is not known, nor whether a read that failed was a plain one.
  if (operations.failed[operation] === 1 && consistentRead !== 'begin') {
    snapshotFrom[transaction] = Math.min(start[operation], snapshotFrom[transaction]);
    return;
  }
  snapshotStart[transaction] = Math.min(start[operation], snapshotFrom[transaction]);
  snapshotEnd[transaction] = end[operation];
}

/** What state the operation reads: one of `snapshotCode`. */
export function snapshotOf(
  { operations, transactions, mechanisms }: Mirror,
  transaction: number,
  operation: number,
): number {
  const { consistentRead, lockingReads } = mechanisms;
  if (isLocking(operations, operation) && lockingReads !== 'as-plain') return snapshotCode.rows;
  switch (consistentRead) {
    case 'none':
    case 'uncommitted':
    case 'row':
      return snapshotCode.rows;
    case 'statement':
      return snapshotCode.operation;
    case 'transaction':
      return snapshotCode.window;
    case 'begin':
    case 'first-statement':
      return snapshotCode.transaction;
    case 'first-read':
      // What a writing statement reads before the first read has no snapshot to be held to.
      return Number.isNaN(transactions.snapshotStart[transaction]) ? snapshotCode.rows : snapshotCode.transaction;
  }
}

/** Does it look for rows in a snapshot, and then at their latest versions: `Mechanisms.lockingReads`? */
export function isFollowing({ operations, mechanisms }: Mirror, operation: number): boolean {
  return mechanisms.lockingReads === 'followed' && isLocking(operations, operation);
}

function isLocking({ kind, lock }: OperationTable, operation: number): boolean {
  return kind[operation] === kindCode.write || lock[operation] !== lockCode.none;
}
