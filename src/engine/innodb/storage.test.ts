import { describe, expect, test } from 'vitest';
import type { SqlError } from '../../sql/model/sql-error.ts';
import type { AccessPath } from '../../sql/model/storage.ts';
import {
  all,
  begin,
  idIs,
  insert,
  lock,
  mysqlTable,
  now,
  remove,
  rowsOf,
  Running,
  update,
  withRows,
} from '../engine.test-support.ts';
import { innodbStorage } from './storage.ts';

const three = () =>
  withRows(
    innodbStorage(),
    [
      [1, 10, 100],
      [3, 30, 300],
      [5, 50, 500],
    ],
    mysqlTable,
  );
const add = (amount: number) => (row: readonly unknown[]) => [row[0], row[1], Number(row[2]) + amount] as number[];
const idFrom = (value: number): AccessPath => ({
  kind: 'index',
  index: 10,
  prefix: [],
  from: { value, isInclusive: true },
  isDescending: false,
});

describe('consistent reads', () => {
  test('read uncommitted sees what is not committed', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage, 'read uncommitted')];
    now(update(a, idIs(1), add(1)));
    expect(rowsOf(b.statement(), idIs(1))).toEqual([[1, 10, 101]]);
    a.rollback();
    expect(rowsOf(b.statement(), idIs(1))).toEqual([[1, 10, 100]]);
  });

  test('repeatable read opens its view at the first consistent read, not at a locking one', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    expect(now(lock(a, idIs(3), 'update'))).toHaveLength(1);
    now(update(b, idIs(1), add(1)));
    now(b.commit());
    expect(rowsOf(a.statement(), idIs(1))).toEqual([[1, 10, 101]]);
  });

  test('an own update makes a row visible that the view hides', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    expect(rowsOf(a.statement())).toHaveLength(3);
    now(insert(b, 2, 20, 200));
    now(update(b, idIs(1), add(1)));
    now(b.commit());
    expect(rowsOf(a.statement(), idIs(1))).toEqual([[1, 10, 100]]);
    expect(now(update(a, idIs(2), add(1)))).toEqual([[2, 20, 201]]);
    expect(rowsOf(a.statement())).toEqual([
      [1, 10, 100],
      [2, 20, 201],
      [3, 30, 300],
      [5, 50, 500],
    ]);
  });

  test('an own update that changes nothing does not', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    expect(rowsOf(a.statement())).toHaveLength(3);
    now(update(b, idIs(1), add(1)));
    now(b.commit());
    expect(now(update(a, idIs(1), () => [1, 10, 101]))).toEqual([[1, 10, 101]]);
    expect(rowsOf(a.statement(), idIs(1))).toEqual([[1, 10, 100]]);
  });
});

describe('gap locks at repeatable read', () => {
  test('a point that finds its row locks the row only', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    now(lock(a, idIs(3), 'update'));
    expect(now(insert(b, 2, 20, 200)).kind).toBe('inserted');
    expect(new Running(update(b, idIs(3), add(1))).wait?.blockers).toEqual([a.id]);
  });

  test('a point that finds none locks the gap, not the rows around it; gap locks do not conflict', () => {
    const storage = three();
    const [a, b, c] = [begin(storage, 'repeatable read'), begin(storage, 'repeatable read'), begin(storage)];
    now(lock(a, idIs(2), 'update'));
    now(lock(b, idIs(2), 'update'));
    now(update(c, idIs(3), add(1)));
    expect(new Running(insert(c, 2, 20, 200)).wait?.blockers).toEqual([a.id, b.id]);
  });

  test('a range locks its gaps and what follows', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    now(lock(a, idFrom(3), 'update'));
    expect(now(insert(b, 2, 20, 200)).kind).toBe('inserted');
    expect(new Running(insert(b, 9, 90, 900)).wait?.blockers).toEqual([a.id]);
  });

  test('two who lock the same gap and insert: one is the victim', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage, 'repeatable read')];
    now(lock(a, idIs(2), 'update'));
    now(lock(b, idIs(2), 'update'));
    const first = new Running(insert(a, 2, 20, 200));
    const second = new Running(insert(b, 2, 21, 200));
    expect((second.error as SqlError).detail.mysqlNumber).toBe(1213);
    expect(first.wait?.isReady()).toBe(true);
    expect(first.go().result).toMatchObject({ kind: 'inserted' });
  });
});

describe('read committed', () => {
  test('locks no gaps and unlocks rows that do not match', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    expect(now(lock(a, all, 'update', (row) => row.values[0] === 3))).toHaveLength(1);
    expect(now(update(b, idIs(1), add(1)))).toEqual([[1, 10, 101]]);
    expect(now(insert(b, 2, 20, 200)).kind).toBe('inserted');
    expect(new Running(update(b, idIs(3), add(1))).wait?.blockers).toEqual([a.id]);
  });

  test('an update passes over locked rows whose committed version does not match', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    now(update(a, idIs(1), add(1)));
    expect(now(update(b, all, add(1), (row) => row.values[0] === 3))).toEqual([[3, 30, 301]]);
    expect(new Running(update(b, all, add(1), (row) => row.values[2] === 100)).wait?.blockers).toEqual([a.id]);
  });
});

test('a duplicate of an open insertion waits with a shared lock', () => {
  const storage = three();
  const [a, b, c] = [begin(storage), begin(storage), begin(storage)];
  now(insert(a, 2, 20, 200));
  const second = new Running(insert(b, 2, 21, 201));
  const third = new Running(insert(c, 2, 22, 202));
  expect([second.wait?.blockers, third.wait?.blockers]).toEqual([[a.id], [a.id]]);
  now(a.commit());
  expect(second.go().result).toMatchObject({ kind: 'duplicate', index: 10, row: { values: [2, 20, 200] } });
  expect(third.go().result).toMatchObject({ kind: 'duplicate' });
});

test('the famous deadlock: three insert the same key and the first rolls back', () => {
  const storage = three();
  const [a, b, c] = [begin(storage), begin(storage), begin(storage)];
  now(insert(a, 2, 20, 200));
  const second = new Running(insert(b, 2, 21, 201));
  const third = new Running(insert(c, 2, 22, 202));
  a.rollback();
  second.go();
  third.go();
  if (!second.isDone) second.go();
  const results = [second, third].map(({ error, result }) =>
    error === null ? result?.kind : (error as SqlError).code,
  );
  expect(new Set(results)).toEqual(new Set(['40001', 'inserted']));
});

test('the victim of a deadlock is the one that has done least, and its transaction is gone', () => {
  const storage = three();
  const [a, b] = [begin(storage), begin(storage)];
  now(update(a, idIs(1), add(1)));
  now(update(b, idIs(3), add(1)));
  now(update(b, idIs(5), add(1)));
  const victim = new Running(update(a, idIs(3), add(1)));
  expect(now(update(b, idIs(1), add(1)))).toEqual([[1, 10, 101]]);
  expect(victim.wait?.isReady()).toBe(true);
  expect((victim.go().error as SqlError).detail.mysqlNumber).toBe(1213);
  a.rollback();
  now(b.commit());
  expect(rowsOf(begin(storage).statement()).map(([, , v]) => v)).toEqual([101, 301, 501]);
});

describe('of a deadlock on pages of any size', () => {
  const anywhere = () =>
    withRows(
      innodbStorage({ anyPage: true }),
      [1, 2, 3, 4, 5, 6, 7, 8].map((id) => [id, id * 10, 0]),
      mysqlTable,
    );
  const mayBeVictim = (statement: Running<unknown>): boolean => {
    const { wait, error } = statement;
    if (error !== null || wait?.isUrgent?.() === true) return true;
    return wait?.isReady() === true && statement.go().error !== null;
  };

  test.each([
    ['read committed', [false, true]],
    ['repeatable read', [true, true]],
  ] as const)('at %s those that weigh the same as rows lie on any page may be the victim', (level, expected) => {
    const storage = anywhere();
    const [a, b] = [begin(storage, level), begin(storage, level)];
    now(update(a, idIs(1), add(1)));
    now(update(b, idIs(3), add(1)));
    const waiting = [new Running(update(a, idIs(3), add(1))), new Running(update(b, idIs(1), add(1)))];
    expect(waiting.map(mayBeVictim)).toEqual(expected);
  });

  test.each([
    ['after', [true, true]],
    ['before', [true, false]],
  ] as const)('a row that is inserted %s a lock on its index may split the page of the lock', (when, expected) => {
    const storage = anywhere();
    const [a, b] = [begin(storage, 'read committed'), begin(storage, 'read committed')];
    if (when === 'before') now(insert(b, 21, 21, 0));
    now(update(b, idIs(3), add(1)));
    now(update(a, idIs(1), add(1)));
    const first = new Running(update(a, idIs(3), add(1)));
    if (when === 'after') now(insert(b, 21, 21, 0));
    const waiting = [first, new Running(update(b, idIs(1), add(1)))];
    expect(waiting.map(mayBeVictim)).toEqual(expected);
  });

  test.each([
    ['a longer text', ['word', 'a longer word'], [true, true]],
    ['a text as long', ['word', 'more'], [true, false]],
  ] as const)('a row that gets %s may need another page', (_name, [before, after], expected) => {
    const storage = withRows(
      innodbStorage({ anyPage: true }),
      [1, 2, 3, 4].map((id) => [id, id * 10, before]),
      mysqlTable,
    );
    const [a, b] = [begin(storage, 'read committed'), begin(storage, 'read committed')];
    const same = <T>(values: readonly T[]): T[] => [...values];
    now(update(b, idIs(3), same));
    now(update(a, idIs(1), same));
    const first = new Running(update(a, idIs(3), same));
    now(update(b, idIs(4), ([id = null, u = null]) => [id, u, after]));
    const waiting = [first, new Running(update(b, idIs(1), same))];
    expect(waiting.map(mayBeVictim)).toEqual(expected);
  });

  test('inserted rows weigh as rows, not as locks', () => {
    const storage = anywhere();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage, 'repeatable read')];
    for (const id of [21, 22, 23]) now(insert(a, id, id, 0));
    for (const id of [1, 2, 3, 4, 5, 6]) now(update(b, idIs(id), add(1)));
    const waiting = [new Running(update(a, idIs(1), add(1))), new Running(update(b, idIs(21), add(1)))];
    expect(waiting.map(mayBeVictim)).toEqual([true, false]);
  });
});

test('an update of the primary key makes another row; rollback brings the old one back', () => {
  const storage = three();
  const a = begin(storage, 'repeatable read');
  now(update(a, idIs(3), ([, u = null, v = null]) => [4, u, v]));
  expect(rowsOf(a.statement()).map(([id]) => id)).toEqual([1, 4, 5]);
  now(remove(a, idIs(1)));
  now(insert(a, 1, 11, 111));
  expect(rowsOf(a.statement(), idIs(1))).toEqual([[1, 11, 111]]);
  a.rollback();
  expect(rowsOf(begin(storage).statement())).toEqual([
    [1, 10, 100],
    [3, 30, 300],
    [5, 50, 500],
  ]);
});

test('a purged row takes every record of its old versions along', () => {
  const storage = withRows(innodbStorage(), [[1, 10, 1]], mysqlTable);
  const reader = storage.begin(2, { isolation: 'repeatable read', isReadOnly: false, takesSnapshot: true });
  const a = begin(storage);
  now(update(a, idIs(1), ([id = null, , v = null]) => [id, 15, v]));
  now(a.commit());
  const b = begin(storage);
  now(remove(b, idIs(1)));
  now(b.commit());
  now(insert(reader, 1, 10, 1));
  const c = begin(storage);
  const waiting = new Running(insert(c, 1, 10, 1));
  reader.rollback();
  expect(waiting.go().result).toMatchObject({ kind: 'inserted' });
  now(c.commit());
  const uIs10: AccessPath = { kind: 'index', index: 11, prefix: [10], isDescending: false };
  expect(rowsOf(begin(storage).statement(), uIs10)).toEqual([[1, 10, 1]]);
  expect(now(insert(begin(storage), 9, 10, 1))).toMatchObject({ kind: 'duplicate', index: 11 });
});

test('a transaction that has the record and enters its key anew passes those who wait for the record', () => {
  const storage = withRows(innodbStorage(), [[1, 10, 1]], mysqlTable);
  const [a, b] = [begin(storage), begin(storage)];
  const uIs10: AccessPath = { kind: 'index', index: 11, prefix: [10], isDescending: false };
  now(update(a, idIs(1), ([id = null, , v = null]) => [id, 11, v]));
  const waiting = new Running(lock(b, uIs10, 'update'));
  expect(waiting.wait).not.toBeNull();
  now(update(a, idIs(1), ([id = null, , v = null]) => [id, 10, v]));
  now(a.commit());
  expect(waiting.go().result).toEqual([[1, 10, 1]]);
});

test('with innodb_snapshot_isolation a lock refuses a row that changed after the read view, and none that is in it', () => {
  const storage = three();
  const change = (id: number): void => {
    const writer = begin(storage);
    now(update(writer, idIs(id), add(1)));
    now(writer.commit());
  };
  change(1);
  const a = storage.begin(1, { isolation: 'repeatable read', isReadOnly: false, checksSnapshot: true });
  rowsOf(a.statement());
  expect(now(lock(a, idIs(1), 'update'))).toEqual([[1, 10, 101]]);
  change(3);
  expect(new Running(lock(a, idIs(3), 'update')).error).toMatchObject({ detail: { mysqlNumber: 1020 } });
});

test('at read committed a scan unlocks a row that does not match, and keeps the lock that an earlier statement took', () => {
  const storage = three();
  const a = begin(storage);
  now(lock(a, idIs(1), 'update'));
  now(lock(a, all, 'update', () => false));
  const isLocked = (id: number): boolean => new Running(lock(begin(storage), idIs(id), 'share')).wait !== null;
  expect([1, 3, 5].map(isLocked)).toEqual([true, false, false]);
});

test.each([
  ['before the first statement: it begins anew, without locks', false, [false, false]],
  ['later: locks stay', true, [true, true]],
] as const)('a rollback to a savepoint from %s', (_name, hasBegun, expected) => {
  const storage = three();
  const a = begin(storage, 'repeatable read');
  if (hasBegun) now(lock(a, idIs(1), 'update'));
  const mark = a.savepoint();
  now(lock(a, idIs(1), 'update'));
  now(lock(a, idIs(3), 'update'));
  a.rollbackTo(mark);
  const isLocked = (id: number): boolean => new Running(lock(begin(storage), idIs(id), 'share')).wait !== null;
  expect([1, 3].map(isLocked)).toEqual(expected);
});

test('NULLs are no duplicates in a unique index', () => {
  const storage = three();
  const a = begin(storage);
  const kinds = [7, 8].map((id) => now(insert(a, id, null, 0)).kind);
  expect(kinds).toEqual(['inserted', 'inserted']);
});

test.each([
  ['by its key at REPEATABLE READ', 'repeatable read', 3, true],
  ['by the key of another row', 'repeatable read', 5, false],
  ['by its key at READ COMMITTED', 'read committed', 3, false],
] as const)(
  'does a search %s lock the gap before a row with which a page begins',
  (_name, level, searched, expected) => {
    const storage = onPages(['t rows #2']);
    const [a, b] = [begin(storage, level), begin(storage)];
    now(lock(a, idIs(searched), 'update'));
    const insertion = new Running(insert(b, 2, 2, 0));
    expect(insertion.wait !== null).toBe(expected);
  },
);

test('an insertion before a row that another transaction has locked is reported: it would matter that a page began there', () => {
  const reported: string[] = [];
  const storage = onPages([], (record) => reported.push(record));
  const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
  now(lock(a, idIs(3), 'update'));
  now(insert(b, 4, 4, 0));
  expect(reported).toEqual([]);
  now(insert(b, 2, 2, 0));
  expect(reported).toEqual(['t rows #2']);
});

function onPages(begins: readonly string[], onPageBegin: (record: string) => void = () => {}) {
  const rows = [1, 3, 5].map((id) => [id, id * 10, 0]);
  return withRows(innodbStorage({ pageBegins: new Set(begins), onPageBegin }), rows, mysqlTable);
}
