import { describe, expect, test } from 'vitest';
import type { SqlError } from '../../sql/model/sql-error.ts';
import { assert } from '../../base/assert.ts';
import type { AccessPath, StorageTransaction } from '../../sql/model/storage.ts';
import {
  all,
  begin,
  idIs,
  insert,
  lock,
  now,
  remove,
  rowsOf,
  Running,
  table,
  update,
  withRows,
} from '../engine.test-support.ts';
import { postgresStorage, type PostgresStorageOptions } from './storage.ts';

const three = (options: PostgresStorageOptions = {}) =>
  withRows(postgresStorage(options), [
    [1, 10, 100],
    [2, 20, 200],
    [3, null, 200],
  ]);
const add = (amount: number) => (row: readonly unknown[]) => [row[0], row[1], Number(row[2]) + amount] as number[];
const byV = (prefix: number[], rest: object = {}): AccessPath => ({
  kind: 'index',
  index: 12,
  prefix,
  isDescending: false,
  ...rest,
});

describe('one transaction', () => {
  test('scans the table and its indexes', () => {
    const view = begin(three()).statement();
    expect(rowsOf(view).map(([id]) => id)).toEqual([1, 2, 3]);
    expect(rowsOf(view, idIs(2))).toEqual([[2, 20, 200]]);
    expect(rowsOf(view, idIs(9))).toEqual([]);
    expect(rowsOf(view, byV([200])).map(([id]) => id)).toEqual([2, 3]);
    expect(rowsOf(view, byV([], { isDescending: true })).map(([id]) => id)).toEqual([3, 2, 1]);
    expect(rowsOf(view, byV([], { from: { value: 100, isInclusive: false } })).map(([id]) => id)).toEqual([2, 3]);
    expect(rowsOf(view, byV([], { to: { value: 200, isInclusive: false } })).map(([id]) => id)).toEqual([1]);
  });

  test('sees its own writes in the next statement, not in the same', () => {
    const transaction = begin(three());
    const view = transaction.statement();
    now(view.insert(table.id, [4, 40, 400], 'share'));
    expect(rowsOf(view)).toHaveLength(3);
    expect(rowsOf(transaction.statement())).toHaveLength(4);
  });

  test('finds an updated row by its new key only', () => {
    const transaction = begin(three());
    now(update(transaction, idIs(1), add(1)));
    expect(rowsOf(transaction.statement(), byV([100]))).toEqual([]);
    expect(rowsOf(transaction.statement(), byV([101]))).toEqual([[1, 10, 101]]);
  });

  test('a duplicate is refused; NULLs are no duplicates', () => {
    const transaction = begin(three());
    expect(now(insert(transaction, 1, 50, 0))).toMatchObject({
      kind: 'duplicate',
      index: 10,
      row: { values: [1, 10, 100] },
    });
    expect(now(insert(transaction, 5, 10, 0))).toMatchObject({ kind: 'duplicate', index: 11 });
    expect(now(insert(transaction, 5, null, 0)).kind).toBe('inserted');
    expect(now(update(transaction, idIs(2), () => [2, 10, 0]))).toBe('duplicate');
    expect(rowsOf(transaction.statement())).toHaveLength(4);
  });

  test('a deleted key is free again', () => {
    const transaction = begin(three());
    expect(now(remove(transaction, idIs(1)))).toBe(1);
    expect(now(insert(transaction, 1, 10, 7)).kind).toBe('inserted');
    expect(rowsOf(transaction.statement(), idIs(1))).toEqual([[1, 10, 7]]);
  });

  test('savepoints and rollback take writes and locks back', () => {
    const storage = three();
    const transaction = begin(storage);
    now(update(transaction, idIs(1), add(1)));
    const mark = transaction.savepoint();
    now(update(transaction, idIs(1), add(1)));
    now(remove(transaction, idIs(2)));
    now(insert(transaction, 4, 40, 400));
    transaction.rollbackTo(mark);
    expect(rowsOf(transaction.statement())).toEqual([
      [1, 10, 101],
      [2, 20, 200],
      [3, null, 200],
    ]);
    const other = begin(storage);
    expect(now(lock(other, idIs(2), 'update'))).toHaveLength(1);
    transaction.rollback();
    expect(rowsOf(other.statement())).toEqual([
      [1, 10, 100],
      [2, 20, 200],
      [3, null, 200],
    ]);
  });
});

test('a savepoint takes table locks back', () => {
  const storage = three();
  const [a, b] = [1, 2].map((session) =>
    storage.begin(session, { isolation: 'read committed', isReadOnly: false }),
  ) as [StorageTransaction, StorageTransaction];
  const exclusively = (transaction: StorageTransaction) => {
    const steps = transaction.lockTable?.(table.id, 'access exclusive', 'wait');
    assert(steps !== undefined, 'PostgreSQL locks tables');
    return new Running(steps);
  };
  const mark = a.savepoint();
  exclusively(a);
  const waiting = exclusively(b);
  expect(waiting.wait?.blockers).toEqual([a.id]);
  a.rollbackTo(mark);
  expect(waiting.go().isDone).toBe(true);
});

describe('read committed', () => {
  test('the query of a constraint sees what was committed since its statement began', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    const view = a.statement();
    now(insert(b, 4, 40, 400));
    now(b.commit());
    expect(rowsOf(view, idIs(4))).toEqual([]);
    expect(rowsOf(view.constraintQuery(), idIs(4))).toEqual([[4, 40, 400]]);
  });

  test('an update waits, then goes to the latest version', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    now(update(a, idIs(1), add(1)));
    const waiting = new Running(update(b, idIs(1), add(10)));
    expect(waiting.wait).toMatchObject({ blockers: [a.id], reason: 'row lock on t 1' });
    expect(waiting.wait?.isReady()).toBe(false);
    expect(rowsOf(begin(storage).statement(), idIs(1))).toEqual([[1, 10, 100]]);
    now(a.commit());
    expect(waiting.wait?.isReady()).toBe(true);
    expect(waiting.go().result).toEqual([[1, 10, 111]]);
  });

  test('a row that was deleted or no longer matches is passed over', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    now(update(a, idIs(1), add(1)));
    now(remove(a, idIs(2)));
    const waiting = new Running(lock(b, all, 'update', (row) => row.values[2] !== 101));
    now(a.commit());
    expect(waiting.go().result).toEqual([[3, null, 200]]);
  });

  test('a unique key waits for whoever inserts or deletes it', () => {
    const storage = three();
    const [a, b, c] = [begin(storage), begin(storage), begin(storage)];
    now(insert(a, 4, 40, 400));
    now(remove(a, idIs(1)));
    const taken = new Running(insert(b, 4, 50, 0));
    const freed = new Running(insert(c, 1, 60, 0));
    expect([taken.wait?.blockers, freed.wait?.blockers]).toEqual([[a.id], [a.id]]);
    now(a.commit());
    expect(taken.go().result).toMatchObject({ kind: 'duplicate', index: 10 });
    expect(freed.go().result).toMatchObject({ kind: 'inserted' });
  });

  test('who closes a cycle of waits is the victim', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    now(update(a, idIs(1), add(1)));
    now(update(b, idIs(2), add(1)));
    const waiting = new Running(update(a, idIs(2), add(1)));
    const victim = new Running(update(b, idIs(1), add(1)));
    expect((victim.error as SqlError).code).toBe('40P01');
    b.rollback();
    expect(waiting.go().result).toEqual([[2, 20, 201]]);
  });

  test.each([0, 1])('any of those on a cycle of waits can be the victim: %i', (which) => {
    const storage = three({ deadlockVictim: 'any' });
    const transactions = [begin(storage), begin(storage)] as const;
    now(update(transactions[0], idIs(1), add(1)));
    now(update(transactions[1], idIs(2), add(1)));
    const running = [
      new Running(update(transactions[0], idIs(2), add(1))),
      new Running(update(transactions[1], idIs(1), add(1))),
    ] as const;
    expect(running.map(({ wait }) => wait?.isReady())).toEqual([true, true]);
    const [victim, other] = which === 0 ? running : [running[1], running[0]];
    expect((victim.go().error as SqlError).code).toBe('40P01');
    expect(other.wait?.isReady()).toBe(false);
    transactions[which as 0 | 1].rollback();
    expect(other.go().result).toHaveLength(1);
  });
});

describe('repeatable read', () => {
  test('the view of the latest rows has what is newer than the snapshot, and the own writes', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    now(update(a, idIs(1), add(1)));
    now(insert(b, 4, 40, 400));
    now(remove(b, idIs(2)));
    now(b.commit());
    const latest = a.statement().latestView?.();
    assert(latest !== undefined, 'PostgreSQL has one');
    expect(rowsOf(latest).map(([id, , v]) => [id, v])).toEqual([
      [1, 101],
      [3, 200],
      [4, 400],
    ]);
    expect(rowsOf(a.statement()).map(([id]) => id)).toEqual([1, 2, 3]);
  });

  test('keeps the snapshot of its first statement and refuses rows that changed since', () => {
    const storage = three();
    const a = begin(storage, 'repeatable read');
    const b = begin(storage);
    now(update(b, idIs(1), add(1)));
    now(b.commit());
    expect(rowsOf(a.statement(), idIs(1))).toEqual([[1, 10, 101]]);
    const c = begin(storage);
    now(update(c, idIs(1), add(1)));
    now(remove(c, idIs(2)));
    now(c.commit());
    expect(rowsOf(a.statement())).toEqual([
      [1, 10, 101],
      [2, 20, 200],
      [3, null, 200],
    ]);
    expect(() => now(update(a, idIs(1), add(1)))).toThrow('could not serialize access due to concurrent update');
    expect(() => now(lock(a, idIs(2), 'share'))).toThrow('could not serialize access due to concurrent delete');
  });
});

describe('in the order of the heap', () => {
  const ids = (transaction: StorageTransaction, path: AccessPath = all): unknown[] =>
    rowsOf(transaction.statement(), path).map(([id]) => id);

  test('a scan of the table comes to a row where its visible version was written', () => {
    const storage = three({ scanOrder: 'heap' });
    const [writer, old, reader] = [begin(storage), begin(storage, 'repeatable read'), begin(storage)];
    expect(ids(old)).toEqual([1, 2, 3]);
    now(update(writer, idIs(1), add(1)));
    expect([ids(writer), ids(reader)]).toEqual([
      [2, 3, 1],
      [1, 2, 3],
    ]);
    now(writer.commit());
    expect([ids(reader), ids(old)]).toEqual([
      [2, 3, 1],
      [1, 2, 3],
    ]);
  });

  test('an index has equal keys in the order of their entries: a new one where a key has changed, the old one else', () => {
    const storage = three({ scanOrder: 'heap' });
    const transaction = begin(storage);
    now(update(transaction, idIs(2), (row) => [row[0], 21, 200] as number[]));
    expect(ids(transaction, byV([200]))).toEqual([3, 2]);
    expect(ids(transaction, byV([200], { isDescending: true }))).toEqual([2, 3]);
  });
});

test('versions that no snapshot can see are dropped', () => {
  const storage = three();
  const reader = begin(storage, 'repeatable read');
  expect(rowsOf(reader.statement(), idIs(1))).toHaveLength(1);
  for (let i = 0; i < 3; i++) {
    const writer = begin(storage);
    now(update(writer, idIs(1), add(1)));
    now(writer.commit());
  }
  expect(rowsOf(reader.statement(), idIs(1))).toEqual([[1, 10, 100]]);
  now(reader.commit());
  expect(rowsOf(begin(storage).statement(), byV([]))).toHaveLength(3);
});
