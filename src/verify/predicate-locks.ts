/**
 * Mutual exclusion with predicate locks: where a locking read locks the ranges that it has scanned until its transaction ends (InnoDB's
 * next-key locks, SQL Server's key ranges), a row that it did not return cannot become one that it should have returned.
 *
 * Only this is asked, and only of a write that surely satisfies the conditions: the row was inserted, or was there and did not satisfy them.
 * Then whatever index was scanned, the write has to put an entry into a range that is locked, or to change an entry that the scan has passed.
 * Rows that it did return are locked one by one, mutual-exclusion.ts.
 *
 * Cost: O(writes x predicates) of transactions that overlap.
 */
import { contextOf, operationsOf } from './evidence.ts';
import type { Mirror } from './mirror.ts';
import { releaseOf } from './mutual-exclusion.ts';
import { none } from './slots.ts';
import type { PredicateRead } from '../trace/index.ts';
import { fateCode } from './transaction-table.ts';
import { formatInterval, type Violation } from './violation.ts';
import { qualifies } from './image.ts';

interface PredicateLock {
  readonly operation: number;
  readonly predicate: PredicateRead;
  readonly returned: ReadonlySet<number>;
}

export class PredicateLocks {
  readonly #mirror: Mirror;
  readonly #ofTransaction = new Map<number, PredicateLock[]>();

  constructor(mirror: Mirror) {
    this.#mirror = mirror;
  }

  get isEmpty(): boolean {
    return this.#ofTransaction.size === 0;
  }

  /** What a locking read has scanned. */
  add(transaction: number, operation: number): void {
    const { operations } = this.#mirror;
    const predicates = operations.predicatesOf(operation);
    if (predicates.length === 0) return;
    const returned = operations.rowsRead(operation);
    const locks = this.#ofTransaction.get(transaction) ?? [];
    this.#ofTransaction.set(transaction, locks);
    for (const predicate of predicates) locks.push({ operation, predicate, returned });
  }

  drop(transaction: number): void {
    this.#ofTransaction.delete(transaction);
  }

  /** Compares a transaction that has ended with others that ended before it and overlap. */
  verify(transaction: number, others: Iterable<number>): void {
    const own = this.#ofTransaction.get(transaction);
    for (const other of others) {
      if (other === transaction) continue;
      const conflict = this.#conflict(own, transaction, other) ?? this.#conflict(this.#of(other), other, transaction);
      if (conflict !== null) this.#mirror.report(conflict);
    }
  }

  #of(transaction: number): readonly PredicateLock[] | undefined {
    return this.#ofTransaction.get(transaction);
  }

  #conflict(held: readonly PredicateLock[] | undefined, reader: number, writer: number): Violation | null {
    const { rows, transactions, operations } = this.#mirror;
    if (held === undefined || this.#isOut(reader) || this.#isOut(writer)) return null;
    const { locks } = rows;
    for (let lock = transactions.firstLock[writer]; lock !== none; lock = locks.next[lock]) {
      const [row, image] = [locks.row[lock], locks.image[lock]];
      if (image === undefined || image === null) continue;
      const writtenBy = operations.end[locks.operation[lock]];
      for (const { operation, predicate, returned } of held) {
        if (operations.isUndone[operation] === 1 || returned.has(row)) continue;
        if (transactions.releaseStart[reader] <= writtenBy) continue;
        if (releaseOf(this.#mirror, lock) <= operations.end[operation]) continue;
        if (rows.isOf(row, predicate.table) && qualifies(image, predicate.where))
          return this.#violation(reader, operation, predicate, writer, lock);
      }
    }
    return null;
  }

  #isOut(transaction: number): boolean {
    const { fate, isAbandoned } = this.#mirror.transactions;
    return (
      isAbandoned[transaction] === 1 || fate[transaction] === fateCode.open || fate[transaction] === fateCode.unknown
    );
  }

  #violation(reader: number, read: number, { table }: PredicateRead, writer: number, lock: number): Violation {
    const mirror = this.#mirror;
    const { rows, transactions, operations } = mirror;
    const write = rows.locks.operation[lock];
    const key = rows.key(rows.locks.row[lock]);
    const sides = [
      { transaction: reader, operation: operations.operationAt(read), how: `locked what it read of ${table}` },
      { transaction: writer, operation: operations.operationAt(write), how: `wrote ${key}, which belongs to it,` },
    ].map((side) => ({ ...side, name: transactions.name[side.transaction] }));
    const held = sides.map(({ transaction, operation, how, name }) => {
      const release = {
        start: transactions.releaseStart[transaction],
        end: transactions.endEnd[transaction],
      };
      return `${name} ${how} in ${formatInterval(operation, mirror.base())} until ${formatInterval(release, mirror.base())}`;
    });
    return {
      mechanism: 'mutual-exclusion',
      reason: `a range that was locked and a row in it were held at once, whatever the order: ${held.join(', ')}`,
      transactions: sides.map(({ name }) => name),
      rows: [key],
      evidence: sides.flatMap(({ transaction, operation, name }) => [
        { operation, role: `acquires the lock of ${name}` },
        ...operationsOf(mirror, transaction)
          .slice(-1)
          .map((ending) => ({ operation: ending, role: 'releases it' })),
      ]),
      context: contextOf(mirror, [reader, writer])(),
    };
  }
}
