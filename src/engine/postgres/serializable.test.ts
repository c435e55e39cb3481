import { describe, expect, test } from 'vitest';
import { assert } from '../../base/assert.ts';
import type { SqlError } from '../../sql/model/sql-error.ts';
import type { AccessPath, Storage, StorageTransaction } from '../../sql/model/storage.ts';
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
  update,
  withRows,
} from '../engine.test-support.ts';
import { postgresStorage } from './storage.ts';

const refused = 'could not serialize access due to read/write dependencies among transactions';
const set = (v: number) => (row: readonly unknown[]) => [row[0], row[1], v] as number[];
const byV = (from: number, to: number): AccessPath => ({
  kind: 'index',
  index: 12,
  prefix: [],
  from: { value: from, isInclusive: true },
  to: { value: to, isInclusive: true },
  isDescending: false,
});

function two(options: Parameters<typeof postgresStorage>[0] = {}): Storage {
  const rows = [
    [1, 10, 100],
    [2, 20, 200],
  ];
  return withRows(postgresStorage(options), rows);
}

const serializable = (storage: Storage, isReadOnly = false): StorageTransaction =>
  storage.begin(0, { isolation: 'serializable', isReadOnly });

/** The error's message of each commit; `null` where it went well. */
function commitAll(...transactions: readonly StorageTransaction[]): (string | null)[] {
  return transactions.map((transaction) => {
    const { error } = new Running(transaction.commit());
    return error === null ? null : (error as SqlError).message;
  });
}

describe('two transactions that overwrite what the other has read', () => {
  test('by key: the one that commits later is refused', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), idIs(2));
    rowsOf(b.statement(), idIs(1));
    now(update(a, idIs(1), set(0)));
    now(update(b, idIs(2), set(0)));
    expect(commitAll(a, b)).toEqual([null, refused]);
    expect(rowsOf(begin(storage).statement())).toEqual([
      [1, 10, 0],
      [2, 20, 200],
    ]);
  });

  test('by range: insertions into what was read', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), byV(300, 400));
    rowsOf(b.statement(), byV(300, 400));
    now(insert(a, 3, 30, 300));
    now(insert(b, 4, 40, 400));
    expect(commitAll(a, b)).toEqual([null, refused]);
  });

  test('ranges that do not meet are no conflict, but on one page of an index they are', () => {
    const outcome = (storage: Storage): (string | null)[] => {
      const [a, b] = [serializable(storage), serializable(storage)];
      rowsOf(a.statement(), byV(300, 300));
      rowsOf(b.statement(), byV(400, 400));
      now(insert(a, 3, 30, 300));
      now(insert(b, 4, 40, 400));
      return commitAll(a, b);
    };
    expect(outcome(two())).toEqual([null, null]);
    expect(outcome(two({ predicateReads: 'index' }))).toEqual([null, refused]);
  });

  test('by range: rows that move into what was read', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    now(update(a, idIs(1), set(300)));
    expect(rowsOf(b.statement(), byV(300, 400))).toEqual([]);
    rowsOf(a.statement(), idIs(2));
    now(update(b, idIs(2), set(0)));
    expect(commitAll(a, b)).toEqual([null, refused]);
  });

  test('a deleted row and a scanned table count too', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), all);
    rowsOf(b.statement(), all);
    now(remove(a, idIs(1)));
    now(insert(b, 3, 30, 300));
    expect(commitAll(a, b)).toEqual([null, refused]);
  });

  test('the pivot may be refused at its next statement', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), idIs(2));
    rowsOf(b.statement(), idIs(1));
    now(update(a, idIs(1), set(0)));
    now(update(b, idIs(2), set(0)));
    expect(commitAll(a)).toEqual([null]);
    expect(() => rowsOf(b.statement(), idIs(1))).toThrow(refused);
  });
});

describe('what is not dangerous', () => {
  test('one edge: a reader before a writer', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), idIs(1));
    now(update(b, idIs(1), set(0)));
    expect(commitAll(b, a)).toEqual([null, null]);
  });

  test('a structure whose first transaction was the first to commit', () => {
    const storage = withRows(postgresStorage(), [
      [1, 10, 100],
      [2, 20, 200],
      [3, 30, 300],
    ]);
    const [first, pivot, last] = [serializable(storage), serializable(storage), serializable(storage)];
    rowsOf(first.statement(), idIs(1));
    rowsOf(pivot.statement(), idIs(2));
    now(update(first, idIs(3), set(0)));
    now(update(last, idIs(2), set(0)));
    expect(commitAll(first, last)).toEqual([null, null]);
    now(update(pivot, idIs(1), set(0)));
    expect(commitAll(pivot)).toEqual([null]);
  });

  test('transactions of other levels are not watched', () => {
    const storage = two();
    const [a, b] = [serializable(storage), begin(storage, 'repeatable read')];
    rowsOf(a.statement(), idIs(2));
    rowsOf(b.statement(), idIs(1));
    now(update(a, idIs(1), set(0)));
    now(update(b, idIs(2), set(0)));
    expect(commitAll(a, b)).toEqual([null, null]);
  });

  test('an aborted transaction leaves no edges', () => {
    const storage = two();
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), idIs(2));
    rowsOf(b.statement(), idIs(1));
    now(update(a, idIs(1), set(0)));
    now(update(b, idIs(2), set(0)));
    a.rollback();
    expect(commitAll(b)).toEqual([null]);
  });

  test('what a writer has read itself', () => {
    const storage = two();
    const a = serializable(storage);
    rowsOf(a.statement(), all);
    now(update(a, idIs(1), set(0)));
    rowsOf(a.statement(), all);
    expect(commitAll(a)).toEqual([null]);
  });
});

/**
 * Fekete, O'Neil and O'Neil: a report that reads between the pivot's two neighbours. The receipt (1) is written by a transaction that has read
 * the batch number (2), which the batch's end overwrites and commits first.
 */
describe('the read-only anomaly', () => {
  const run = (isReadOnly: boolean, reportFirst: boolean): (string | null)[] => {
    const storage = two();
    const receipt = serializable(storage);
    rowsOf(receipt.statement(), idIs(2));
    const early = reportFirst ? serializable(storage, isReadOnly) : null;
    if (early !== null) rowsOf(early.statement(), idIs(2));
    const batch = serializable(storage);
    now(update(batch, idIs(2), set(0)));
    now(batch.commit());
    const report = early ?? serializable(storage, isReadOnly);
    let failed: string | null = null;
    try {
      rowsOf(report.statement(), all);
    } catch (error) {
      failed = (error as SqlError).message;
    }
    const writes = new Running(update(receipt, idIs(1), set(0)));
    const outcomes = writes.error === null ? commitAll(receipt) : [(writes.error as SqlError).message];
    return [...outcomes, failed ?? commitAll(report)[0] ?? null];
  };

  test('is refused when the report has seen the end of the batch', () => {
    expect(run(true, false)).toEqual([refused, null]);
  });

  test('is none when the snapshot of the declared read-only report is older', () => {
    expect(run(true, true)).toEqual([null, null]);
  });
});

test('who comes upon a committed pivot is refused, although what the pivot depended on is forgotten', () => {
  const storage = two();
  const receipt = serializable(storage);
  rowsOf(receipt.statement(), idIs(2));
  const batch = serializable(storage);
  now(update(batch, idIs(2), set(0)));
  expect(commitAll(batch)).toEqual([null]);
  const report = serializable(storage);
  rowsOf(report.statement(), idIs(2));
  now(update(receipt, idIs(1), set(0)));
  expect(commitAll(receipt)).toEqual([null]);
  expect(() => rowsOf(report.statement(), idIs(1))).toThrow(refused);
});

test('a deferrable transaction waits for writers, not for readers', () => {
  const storage = two();
  const writer = serializable(storage);
  now(update(writer, idIs(1), set(0)));
  const reader = serializable(storage, true);
  rowsOf(reader.statement(), idIs(2));
  const deferrable = storage.begin(0, { isolation: 'serializable', isReadOnly: true, isDeferrable: true });
  const steps = deferrable.takeSafeSnapshot?.();
  assert(steps !== undefined, 'PostgreSQL has safe snapshots');
  const waiting = new Running(steps);
  expect(waiting.wait?.blockers).toEqual([writer.id]);
  expect(commitAll(writer)).toEqual([null]);
  expect(waiting.go().isDone).toBe(true);
});

test('locks do not count as writes', () => {
  const storage = two();
  const [a, b] = [serializable(storage), serializable(storage)];
  now(lock(a, idIs(1), 'share'));
  rowsOf(b.statement(), idIs(1));
  now(update(b, idIs(2), set(0)));
  expect(commitAll(a, b)).toEqual([null, null]);
});

test('nothing is remembered when everyone has ended', () => {
  const storage = two();
  for (let i = 0; i < 3; i++) {
    const [a, b] = [serializable(storage), serializable(storage)];
    rowsOf(a.statement(), byV(0, 900));
    rowsOf(b.statement(), all);
    now(update(b, idIs(1), set(i)));
    expect(commitAll(b, a)).toEqual([null, null]);
  }
});
