import { describe, expect, test } from 'vitest';
import { InputError, seeded } from '../../base/index.ts';
import { formatHistory } from '../../history/index.ts';
import { check, type ConstrainingLevel, constrainingLevels } from '../../isolation/index.ts';
import { drawing } from '../../mockdb/index.ts';
import { SqlError } from '../../sql/model/sql-error.ts';
import type { Row, StorageTransaction } from '../../sql/model/storage.ts';
import type { SqlValue } from '../../sql/model/value.ts';
import { cell, everyRow, unrecorded } from '../../sql/model/storage.ts';
import { axiomaticStorage } from './storage.ts';
import { all, idIs, now, request, rowsOf, Running, table } from '../engine.test-support.ts';
import { deleteRow, insert, oldest, options, read, readAll, storeWith, update } from './axiomatic.test-support.ts';

describe('a statement reads, as in figure 9 of the paper,', () => {
  test('the existence of all rows, then the columns of its condition, then what it returns of the rows that match', () => {
    const store = storeWith([
      [1, 'a', 10],
      [2, 'b', 20],
    ]);
    const t = store.begin(0, options);
    for (const row of t.statement().scan(table.id, all, everyRow)) if ((cell(row, 2) as number) > 15) cell(row, 1);
    now(t.commit());
    expect(formatHistory(store.history()).split('\n').at(-1)).toBe('r t/1 _, r t/2 _, r t/1/v _, r t/2/v _, r t/2/u _');
    expect(store.history().initial).toEqual(
      new Map<string, unknown>([
        ['t/1', true],
        ['t/2', true],
        ['t/1/v', 10],
        ['t/2/v', 20],
        ['t/2/u', 'b'],
      ]),
    );
  });

  test('each cell once; the next statement reads again', () => {
    const store = storeWith([[1, 'a', 10]]);
    const t = store.begin(0, options);
    const view = t.statement();
    for (let i = 0; i < 3; i += 1) for (const row of view.scan(table.id, all, everyRow)) cell(row, 2);
    readAll(t, 2);
    now(t.commit());
    const { operations } = store.history().transactions[0] ?? { operations: [] };
    expect(operations.map(({ key }) => key)).toEqual(['t/1', 't/1/v', 't/1', 't/1/v']);
  });

  test('along an index only rows that have had such a key', () => {
    const store = storeWith([
      [1, 'a', 10],
      [2, 'b', 20],
    ]);
    const t = store.begin(0, options);
    read(t, 2, 1);
    now(t.commit());
    expect(formatHistory(store.history())).toContain('r t/2 _, r t/2/u _');
  });

  test('at row granularity whole rows', () => {
    const store = storeWith([[1, 'a', 10]], { granularity: 'row' });
    const t = store.begin(0, options);
    expect(rowsOf(t.statement())).toEqual([[1, 'a', 10]]);
    update(t, 1, 2, 11);
    now(t.commit());
    expect(store.history().transactions[0]?.operations).toEqual([
      { kind: 'read', key: 't/1', value: { id: 1, u: 'a', v: 10 }, from: -1 },
      { kind: 'read', key: 't/1', value: { id: 1, u: 'a', v: 10 }, from: -1 },
      { kind: 'write', key: 't/1', value: { id: 1, u: 'a', v: 11 } },
    ]);
  });

  test('an update writes the cells that are assigned, an insert all, a delete existence', () => {
    const store = storeWith([[1, 'a', 10]]);
    const t = store.begin(0, options);
    update(t, 1, 2, 11);
    insert(t, 2, 'b', 20);
    deleteRow(t, 1);
    now(t.commit());
    expect(formatHistory(store.history()).split('\n').at(-1)).toBe(
      'r t/1 _, r t/1/id _, w t/1/v 11, w t/2 true, w t/2/id 2, w t/2/u "b", w t/2/v 20, r t/1 _, r t/1/id _, w t/1 false',
    );
  });
});

describe('own writes', () => {
  test('are seen by later statements and not by the one that writes', () => {
    const store = storeWith([[1, 'a', 10]]);
    const t = store.begin(0, options);
    const view = t.statement();
    now(view.insert(table.id, [2, 'b', 20], 'share'));
    expect([...view.scan(table.id, all, everyRow)]).toHaveLength(1);
    expect(readAll(t, 2)).toEqual([10, 20]);
    expect(read(t, 2, 1)).toBe('b');
    update(t, 2, 1, 'c');
    expect(read(t, 2, 1)).toBe('c');
    const found = [
      ...t.statement().scan(table.id, { kind: 'index', index: 11, prefix: ['c'], isDescending: false }, everyRow),
    ];
    expect(found.map((row) => cell(row, 0))).toEqual([2]);
    expect(deleteRow(t, 2)).toBe(1);
    expect(readAll(t, 2)).toEqual([10]);
    now(t.commit());
    expect(check(store.history(), 'serializable').kind).toBe('satisfied');
  });

  test('go with a savepoint, and so do the reads that saw them; a failed statement leaves its reads', () => {
    const store = storeWith([[1, 'a', 10]]);
    const t = store.begin(0, options);
    update(t, 1, 2, 11);
    const savepoint = t.savepoint();
    update(t, 1, 2, 12);
    insert(t, 2, 'b', 20);
    expect(read(t, 1, 2)).toBe(12);
    t.rollbackTo(savepoint);
    expect(readAll(t, 2)).toEqual([11]);
    expect(read(t, 2, 2)).toBeUndefined();
    const view = t.statement();
    now(view.insert(table.id, [3, 'c', 30], 'share'));
    view.undo();
    expect(readAll(t, 2)).toEqual([11]);
    expect(insert(t, 2, 'b', 21)).toBe('inserted');
    now(t.commit());
    expect(store.history().transactions[0]?.operations.filter(({ kind }) => kind === 'write')).toEqual([
      { kind: 'write', key: 't/1/v', value: 11 },
      { kind: 'write', key: 't/2', value: true },
      { kind: 'write', key: 't/2/id', value: 2 },
      { kind: 'write', key: 't/2/u', value: 'b' },
      { kind: 'write', key: 't/2/v', value: 21 },
    ]);
    expect(check(store.history(), 'serializable').kind).toBe('satisfied');
  });

  test('of a transaction that is rolled back are seen by nobody', () => {
    const store = storeWith([]);
    const t = store.begin(0, options);
    insert(t, 1, 'a', 10);
    t.rollback();
    const other = store.begin(1, options);
    expect(readAll(other, 2)).toEqual([]);
    expect(insert(other, 1, 'a', 11)).toBe('inserted');
    now(other.commit());
    expect(formatHistory(store.history())).toBe(
      'initial {"t/1":false}\nw t/1 true, w t/1/id 1, w t/1/u "a", w t/1/v 10 !\nw t/1 true, w t/1/id 1, w t/1/u "a", w t/1/v 11',
    );
  });
});

describe('weak behaviour', () => {
  test('a row mixed from two transactions is seen at read-committed and not at read-atomic', () => {
    const torn = (level: ConstrainingLevel) => {
      const store = storeWith([[1, 'a', 0]], { level }, (admissible) =>
        admissible.some(({ value }) => value === 'b') ? 0 : oldest(admissible),
      );
      const t = store.begin(0, options);
      update(t, 1, 1, 'b');
      update(t, 1, 2, 1);
      now(t.commit());
      const other = store.begin(1, options);
      const [row] = [...other.statement().scan(table.id, all, everyRow)] as [Row];
      return [cell(row, 2), cell(row, 1)];
    };
    expect(torn('read-committed')).toEqual([0, 'b']);
    expect(torn('causal')).toEqual([0, 'a']);
  });

  test('a deleted row is seen by another session, not by a later transaction of the same', () => {
    const store = storeWith([[1, 'a', 10]], {}, oldest);
    const t = store.begin(0, options);
    deleteRow(t, 1);
    now(t.commit());
    const other = store.begin(1, options);
    expect(readAll(other, 2)).toEqual([10]);
    expect(readAll(store.begin(0, options), 2)).toEqual([]);
  });

  test('FOR UPDATE protects nothing', () => {
    const store = storeWith([[1, 'a', 0]], {}, oldest);
    for (const session of [0, 1]) {
      const t = store.begin(session, options);
      expect(update(t, 1, 2, session + 1)).toBe(1);
      now(t.commit());
    }
    const t = store.begin(2, options);
    expect(read(t, 1, 2)).toBe(0);
  });

  test('the second of two lost updates is refused at snapshot-isolation with 40001 and leaves no trace', () => {
    const store = storeWith([[1, 'a', 0]], { level: 'snapshot-isolation', granularity: 'row' });
    const [a, b] = [store.begin(0, options), store.begin(1, options)];
    update(a, 1, 2, 1);
    update(b, 1, 2, 2);
    now(a.commit());
    expect(() => now(b.commit())).toThrow(SqlError);
    expect(store.history().transactions).toHaveLength(1);
    expect(() => b.statement()).toThrow('could not serialize access');
  });
});

describe('an index over several columns', () => {
  const both = {
    id: 20,
    name: 't_u_v',
    isPrimary: false,
    isUnique: false,
    nullsAreEqual: false,
    isDeferrable: false,
    cells: [1, 2],
    keyOf: (values: readonly SqlValue[]) => [values[1] ?? null, values[2] ?? null],
    compare: table.indexes[0]?.compare as (typeof table.indexes)[number]['compare'],
  };

  test.each([
    ['few', 4],
    ['too many', 30],
  ])('finds a row by a key that only a mixed row has; %s keys', (_name, updates) => {
    const store = storeWith([[1, 'u0', 0]], { level: 'read-committed' });
    store.alterTable({ ...table, indexes: [...table.indexes, both] });
    for (let i = 1; i <= updates; i += 1) {
      const t = store.begin(0, options);
      update(t, 1, 1, `u${i}`);
      update(t, 1, 2, i);
      now(t.commit());
    }
    const found = (...prefix: SqlValue[]): number =>
      [
        ...store
          .begin(1, options)
          .statement()
          .scan(table.id, { kind: 'index', index: 20, prefix, isDescending: false }, everyRow),
      ].length;
    expect(found('u1', 3)).toBe(1);
    expect(found('u4', 0)).toBe(1);
    // Too many keys to keep: the row is looked at whatever the key.
    expect(found('u1', 99)).toBe(updates === 4 ? 0 : 1);
  });

  test('forgets keys that have left the window', () => {
    const store = storeWith([[1, 'u0', 0]], { windowMax: 2 });
    for (let i = 1; i <= 20; i += 1) {
      const t = store.begin(0, options);
      update(t, 1, 1, `u${i}`);
      now(t.commit());
    }
    const found = (u: string): number =>
      [
        ...store
          .begin(1, options)
          .statement()
          .scan(table.id, { kind: 'index', index: 11, prefix: [u], isDescending: false }, everyRow),
      ].length;
    expect([found('u0'), found('u10'), found('u20')]).toEqual([0, 0, 1]);
  });
});

describe('unique keys hold whatever the level', () => {
  test('a key of the latest state is a duplicate though no read sees it', () => {
    const store = storeWith([[1, 'a', 10]], {}, oldest);
    const t = store.begin(0, options);
    insert(t, 2, 'b', 20);
    now(t.commit());
    const other = store.begin(1, options);
    expect(readAll(other, 2)).toEqual([10]);
    const view = other.statement();
    expect(now(view.insert(table.id, [2, 'x', 0], 'share'))).toMatchObject({ kind: 'duplicate', index: 10 });
    expect(now(view.insert(table.id, [3, 'b', 0], 'share'))).toMatchObject({ kind: 'duplicate', index: 11 });
    expect(now(view.insert(table.id, [3, null, 0], 'share')).kind).toBe('inserted');
  });

  test('an update to a key that is taken is refused, to its own is not', () => {
    const store = storeWith([
      [1, 'a', 10],
      [2, 'b', 20],
    ]);
    const t = store.begin(0, options);
    const view = t.statement();
    const [row] = [...view.scan(table.id, idIs(2), everyRow)] as [Row];
    expect(now(view.update(row, [2, 'a', 0], [1]))).toMatchObject({ kind: 'duplicate', index: 11 });
    expect(now(view.update(row, [2, 'b', 0], [1])).kind).toBe('updated');
    expect(now(view.update(row, [1, 'b', 0], [0]))).toMatchObject({ kind: 'duplicate', index: 10 });
  });

  test('who needs a key that an open transaction has inserted waits for its end', () => {
    const outcomes = [true, false].map((commits) => {
      const store = storeWith([]);
      const [a, b] = [store.begin(0, options), store.begin(1, options)];
      insert(a, 1, 'a', 10);
      const waiting = new Running(b.statement().insert(table.id, [1, 'b', 20], 'share'));
      expect(waiting.wait).toMatchObject({ blockers: [a.id], reason: 'unique key of t_pkey' });
      expect(waiting.wait?.isReady()).toBe(false);
      expect(waiting.go().isDone).toBe(false);
      if (commits) now(a.commit());
      else a.rollback();
      expect(waiting.wait?.isReady()).toBe(true);
      return waiting.go().result?.kind;
    });
    expect(outcomes).toEqual(['duplicate', 'inserted']);
  });

  test('who would close a circle of waits is told 40P01 at once', () => {
    const store = storeWith([]);
    const [a, b] = [store.begin(0, options), store.begin(1, options)];
    insert(a, 1, 'a', 0);
    insert(b, 2, 'b', 0);
    const waiting = new Running(a.statement().insert(table.id, [2, 'x', 0], 'share'));
    expect(waiting.isDone).toBe(false);
    expect(() => now(b.statement().insert(table.id, [1, 'y', 0], 'share'))).toThrow('deadlock detected');
    b.rollback();
    expect(waiting.go().result?.kind).toBe('inserted');
  });

  test('a primary key that changes is another row: existence of both is written', () => {
    const store = storeWith([[1, 'a', 10]]);
    const t = store.begin(0, options);
    expect(update(t, 1, 0, 5)).toBe(1);
    expect(readAll(t, 0)).toEqual([5]);
    now(t.commit());
    const writes = store.history().transactions[0]?.operations.filter(({ kind }) => kind === 'write');
    expect(writes?.map(({ key }) => key)).toEqual(['t/1', 't/5', 't/5/id', 't/5/u', 't/5/v']);
  });

  test('a row inserted where one was deleted is the same cell', () => {
    const store = storeWith([[1, 'a', 10]]);
    const t = store.begin(0, options);
    deleteRow(t, 1);
    expect(insert(t, 1, 'b', 20)).toBe('inserted');
    now(t.commit());
    expect(store.history().transactions[0]?.operations.filter(({ key }) => key === 't/1')).toHaveLength(3);
    expect(readAll(store.begin(0, options), 1)).toEqual(['b']);
  });
});

describe('reading the latest state', () => {
  const latest = { ...request('key share'), reading: 'latest' } as const;
  const find = (t: StorageTransaction, id: number) => {
    const found: SqlValue[][] = [];
    const matches = (row: Row): boolean => cell(row, 0) === id;
    const take = (row: Row): boolean => found.push([...(row.values as SqlValue[])]) > 0;
    return { found, steps: t.statement().lock(table.id, idIs(id), unrecorded(matches), latest, take) };
  };

  test('is not in the history and ignores what the reads see', () => {
    const store = storeWith([[1, 'a', 10]], {}, oldest);
    const t = store.begin(0, options);
    update(t, 1, 2, 11);
    now(t.commit());
    const other = store.begin(1, options);
    const { found, steps } = find(other, 1);
    now(steps);
    now(other.commit());
    expect(found).toEqual([[1, 'a', 11]]);
    expect(store.history().transactions[1]?.operations).toEqual([]);
  });

  test('waits for who is deleting or inserting the row, not for who updates it', () => {
    const store = storeWith([
      [1, 'a', 10],
      [2, 'b', 20],
    ]);
    const [a, b] = [store.begin(0, options), store.begin(1, options)];
    update(a, 2, 2, 21);
    const updated = find(b, 2);
    now(updated.steps);
    expect(updated.found).toEqual([[2, 'b', 20]]);
    deleteRow(a, 1);
    insert(a, 3, 'c', 30);
    const deleted = find(b, 1);
    const waiting = new Running(deleted.steps);
    expect(waiting.wait?.blockers).toEqual([a.id]);
    now(a.commit());
    expect(waiting.go().isDone).toBe(true);
    expect(deleted.found).toEqual([]);
    const inserted = find(b, 3);
    now(inserted.steps);
    expect(inserted.found).toEqual([[3, 'c', 30]]);
  });
});

describe('loading', () => {
  test('what is written before the start is the initial state; a rollback takes it back', () => {
    const store = axiomaticStorage({ level: 'causal', decisions: drawing({ chooser: seeded(1) }) });
    store.createTable(table);
    const a = store.begin(0, options);
    insert(a, 1, 'a', 10);
    update(a, 1, 2, 11);
    expect(insert(a, 1, 'b', 0)).toBe('duplicate');
    const savepoint = a.savepoint();
    deleteRow(a, 1);
    a.rollbackTo(savepoint);
    expect(update(a, 1, 0, 4)).toBe(1);
    expect(() => store.start()).toThrow(InputError);
    now(a.commit());
    const b = store.begin(0, options);
    insert(b, 2, 'b', 20);
    b.rollback();
    store.start();
    expect(store.isLoading).toBe(false);
    const t = store.begin(0, options);
    expect(rowsOf(t.statement()).length).toBe(1);
    expect(readAll(t, 2)).toEqual([11]);
    expect(read(t, 4, 1)).toBe('a');
    now(t.commit());
    store.start();
    expect(store.history().transactions).toEqual([]);
    expect(readAll(store.begin(0, options), 2)).toEqual([11]);
  });

  test('a rollback reaches rows of a table that was altered meanwhile', () => {
    const store = axiomaticStorage({ level: 'causal', decisions: drawing({ chooser: seeded(1) }) });
    store.createTable(table);
    const a = store.begin(0, options);
    insert(a, 1, 'a', 10);
    now(a.commit());
    const b = store.begin(0, options);
    insert(b, 2, 'b', 20);
    deleteRow(b, 1);
    store.alterTable({ ...table, columns: [...table.columns, 'w'] }, (values) => [...values, 0]);
    store.alterTable(table, (values) => values.slice(0, 3));
    b.rollback();
    store.start();
    expect(readAll(store.begin(0, options), 1)).toEqual(['a']);
  });

  test('read-uncommitted constrains no read: it is no level of a store', () => {
    const decisions = drawing({ chooser: seeded(1) });
    expect(() => axiomaticStorage({ level: 'read-uncommitted' as 'causal', decisions })).toThrow(/level/);
  });
});

test('the final state is by one commit order, outside of the history, and cannot be written', () => {
  for (const level of constrainingLevels) {
    const store = storeWith([[1, 'a', 0]], { level }, oldest);
    for (const session of [0, 1]) {
      const t = store.begin(session, options);
      update(t, 1, 2, session + 1);
      try {
        now(t.commit());
      } catch (error) {
        expect(error).toBeInstanceOf(SqlError);
      }
    }
    const strong = store.beginStrong(5);
    expect([1, 2]).toContain(read(strong, 1, 2));
    expect(read(strong, 1, 1)).toBe('a');
    expect(() => insert(strong, 2, 'b', 0)).toThrow('cannot write');
    expect(store.history().transactions.length).toBeLessThanOrEqual(2);
  }
});

test('ALTER TABLE keeps the latest state, under a new name once the table is in the history', () => {
  const store = storeWith([[1, 'a', 10]]);
  const t = store.begin(0, options);
  update(t, 1, 2, 11);
  const wider = { ...table, columns: [...table.columns, 'w'] };
  expect(() => store.alterTable(wider, (values) => [...values, 0])).toThrow('open transactions');
  now(t.commit());
  store.alterTable(wider, (values) => [...values, 0]);
  const other = store.begin(1, options);
  expect(readAll(other, 3)).toEqual([0]);
  expect(readAll(other, 2)).toEqual([11]);
  now(other.commit());
  expect(store.history().transactions[1]?.operations[0]?.key).toBe('t#2/1');
  expect(check(store.history(), 'serializable').kind).toBe('satisfied');
  const unique = { ...table.indexes[2], id: 13, name: 'w', isUnique: true } as (typeof table.indexes)[number];
  const twice = store.begin(1, options);
  now(twice.statement().insert(table.id, [2, 'b', 11, 0], 'share'));
  now(twice.commit());
  expect(() => store.alterTable({ ...wider, indexes: [...table.indexes, unique] })).toThrow('unique index "w"');
});
