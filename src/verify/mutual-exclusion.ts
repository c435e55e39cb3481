/**
 * Mutual exclusion (Leopard, ICDE 2023, V.B): a lock is acquired in its operation and released when its transaction ends. Of two locks that
 * exclude each other one is released before the other is acquired. Of the two orders at most one is possible, ties apart (Theorem 3);
 * none is a violation, one is a dependency.
 *
 * Cost: O(locks of the transaction x locks on a row that are kept).
 */
import type { Mirror } from './mirror.ts';
import { dropLocks, type Lock, type Row, type VerifiedTransaction } from './state.ts';
import { formatInterval, type Violation } from './violation.ts';

/** Of two transactions, the one that had the lock first; `both`: either may have. */
type LockOrder = 'first' | 'second' | 'both' | 'neither';

function lockOrder(first: Lock, second: Lock): LockOrder {
  const isFirst = first.transaction.releaseStart <= second.end;
  const isSecond = second.transaction.releaseStart <= first.end;
  if (isFirst) return isSecond ? 'both' : 'first';
  return isSecond ? 'second' : 'neither';
}

/** Compares the locks of a transaction that has ended with those of others that ended before it. */
export function verifyLocks(
  mirror: Mirror,
  transaction: VerifiedTransaction,
  onOrder: (row: Row, earlier: Lock, later: Lock) => void,
): void {
  const horizon = mirror.horizon();
  const reported = new Set<VerifiedTransaction>();
  for (const lock of transaction.locks) {
    const { row } = lock;
    dropLocks(row, horizon);
    for (const other of row.locks) {
      if (other.transaction === transaction || other.transaction.fate === 'open') continue;
      if (other.transaction.fate === 'unknown' || !(lock.isExclusive || other.isExclusive)) continue;
      const order = lockOrder(other, lock);
      if (order === 'first') onOrder(row, other, lock);
      if (order === 'second') onOrder(row, lock, other);
      if (order !== 'neither' || reported.has(other.transaction)) continue;
      reported.add(other.transaction);
      mirror.report(lockViolation(mirror, row, other, lock));
    }
  }
}

function lockViolation(mirror: Mirror, row: Row, first: Lock, second: Lock): Violation {
  const base = mirror.base();
  const held = ({ transaction, isExclusive, start, end }: Lock): string => {
    const released = formatInterval({ start: transaction.releaseStart, end: transaction.endEnd }, base);
    return `${transaction.name} locked it ${isExclusive ? 'exclusively' : 'shared'} in ${formatInterval({ start, end }, base)} until ${released}`;
  };
  const what = row.key === databaseKey ? 'the database' : row.key;
  return {
    mechanism: 'mutual-exclusion',
    reason: `two locks on ${what} that exclude each other were held at once, whatever the order: ${held(first)}, ${held(second)}`,
    transactions: [second.transaction.name, first.transaction.name],
    rows: [row.key],
    evidence: [first, second].flatMap(({ transaction, operation }) => {
      const ending = transaction.operations.at(-1);
      return [
        { operation, role: `acquires the lock of ${transaction.name}` },
        ...(ending === undefined || ending === operation ? [] : [{ operation: ending, role: 'releases it' }]),
      ];
    }),
    context: [...first.transaction.operations, ...second.transaction.operations],
  };
}

/** The row that stands for the whole database where writes lock all of it. */
export const databaseKey = '\u0000database';
