/**
 * Mutual exclusion (Leopard, ICDE 2023, V.B): a lock is acquired in its operation and released when its transaction ends. Of two locks that
 * exclude each other one is released before the other is acquired. Of the two orders at most one is possible, ties apart (Theorem 3);
 * none is a violation, one is a dependency.
 *
 * Cost: O(locks of the transaction x locks on a row that are kept).
 */
import { contextOf, operationsOf } from './evidence.ts';
import type { Mirror } from './mirror.ts';
import { kindCode, lockCode } from './operation-table.ts';
import { locksOut } from './shared-locks.ts';
import { none } from './slots.ts';
import { fateCode } from './transaction-table.ts';
import { formatInterval, type Violation } from './violation.ts';

/** Compares the locks of a transaction that has ended with those of others that ended before it. */
export function verifyLocks(mirror: Mirror, transaction: number): void {
  const { rows, transactions, operations } = mirror;
  const { locks } = rows;
  const { fate, isAbandoned } = transactions;
  const reported = new Set<number>();
  for (let lock = transactions.firstLock[transaction]; lock !== none; lock = locks.next[lock]) {
    const row = locks.row[lock];
    for (let other = rows.locks.ofRow.first[row]; other !== none; other = locks.ofRow.next[other]) {
      const by = locks.transaction[other];
      if (by === transaction || fate[by] === fateCode.open || fate[by] === fateCode.unknown) continue;
      if (isAbandoned[by] === 1 || !excludeEachOther(mirror, lock, other)) continue;
      const isFirst = releaseOf(mirror, other) <= operations.end[locks.operation[lock]];
      const isSecond = releaseOf(mirror, lock) <= operations.end[locks.operation[other]];
      if (isFirst !== isSecond) relate(mirror, row, isFirst ? other : lock, isFirst ? lock : other);
      if (isFirst || isSecond || reported.has(by)) continue;
      reported.add(by);
      mirror.report(lockViolation(mirror, row, other, lock));
    }
  }
}

/** A plain read that commits by itself is a consistent read without locks (InnoDB at serializable). */
export function isConsistentRead({ operations, transactions }: Mirror, transaction: number, ending: number): boolean {
  const { start, end, kind, lock } = operations;
  const first = transactions.firstOperation[transaction];
  const isPlainRead = kind[first] === kindCode.read && lock[first] === lockCode.none;
  return isPlainRead && start[first] === start[ending] && end[first] === end[ending];
}

function excludeEachOther(mirror: Mirror, one: number, two: number): boolean {
  const { locks } = mirror.rows;
  const [isExclusive, isOther] = [locks.isExclusive[one] === 1, locks.isExclusive[two] === 1];
  if (!isExclusive && !isOther) return false;
  return isLockedOut(mirror, one, two) && isLockedOut(mirror, two, one);
}

/** Where the first is a read's: does it lock the second out? */
function isLockedOut(mirror: Mirror, one: number, two: number): boolean {
  const { locks } = mirror.rows;
  if (locks.isExclusive[one] === 1) return true;
  return locksOut(mirror, locks.operation[one], locks.row[one], locks.image[two]);
}

/** The lock goes no earlier: with its transaction, or with what ROLLBACK TO took back. */
export function releaseOf({ rows: { locks }, transactions }: Mirror, lock: number): number {
  return Math.min(transactions.releaseStart[locks.transaction[lock]], locks.releaseStart[lock]);
}

/** The order of two locks is an order of what was done under them. */
function relate(mirror: Mirror, row: number, earlier: number, later: number): void {
  const { rows, transactions, mechanisms } = mirror;
  const { locks, versions } = rows;
  // What was done under a lock that was released early was undone.
  if (locks.releaseStart[earlier] !== Infinity || locks.releaseStart[later] !== Infinity) return;
  const [first, second] = [locks.transaction[earlier], locks.transaction[later]];
  if (transactions.fate[first] !== fateCode.committed || transactions.fate[second] !== fateCode.committed) return;
  if (locks.isExclusive[earlier] === 1 && locks.isExclusive[later] === 1) {
    const [before, after] = [versionBy(mirror, row, first), versionBy(mirror, row, second)];
    if (before !== none && after !== none) versions.follow(before, after);
  } else if (mechanisms.mutualExclusion === 'reads-and-writes') {
    mirror.depend(first, second, locks.isExclusive[earlier] === 1 ? 'wr' : 'rw', row);
  }
}

function versionBy({ rows }: Mirror, row: number, writer: number): number {
  const { versions } = rows;
  let version = rows.versions.ofRow.first[row];
  while (version !== none && versions.writer[version] !== writer) version = versions.ofRow.next[version];
  return version;
}

function lockViolation(mirror: Mirror, row: number, first: number, second: number): Violation {
  const { rows, transactions, operations } = mirror;
  const { locks } = rows;
  const base = mirror.base();
  const both = [first, second].map((lock) => ({
    operation: operations.operationAt(locks.operation[lock]),
    isExclusive: locks.isExclusive[lock] === 1,
    release: {
      start: releaseOf(mirror, lock),
      end: Math.min(transactions.endEnd[locks.transaction[lock]], locks.releaseEnd[lock]),
    },
    transaction: locks.transaction[lock],
    name: transactions.name[locks.transaction[lock]],
  }));
  const held = both.map(({ operation, isExclusive, release, name }) => {
    const how = isExclusive ? 'exclusively' : 'shared';
    return `${name} locked it ${how} in ${formatInterval(operation, base)} until ${formatInterval(release, base)}`;
  });
  const key = rows.key(row);
  const what = key === databaseKey ? 'the database' : key;
  return {
    mechanism: 'mutual-exclusion',
    reason: `two locks on ${what} that exclude each other were held at once, whatever the order: ${held.join(', ')}`,
    transactions: both.map(({ name }) => name).toReversed(),
    rows: [key],
    evidence: both.flatMap(({ operation, transaction, name }) => {
      const ending = operationsOf(mirror, transaction).at(-1);
      return [
        { operation, role: `acquires the lock of ${name}` },
        ...(ending === undefined || ending.start === operation.start
          ? []
          : [{ operation: ending, role: 'releases it' }]),
      ];
    }),
    context: contextOf(
      mirror,
      both.map(({ transaction }) => transaction),
    )(),
  };
}

/** The row that stands for the whole database where writes lock all of it. */
export const databaseKey = '\u0000database';
