import { describe, expect, test } from 'vitest';
import type { AccessPath, Storage } from '../../sql/model/storage.ts';
import {
  all,
  begin,
  idIs,
  insert,
  lock,
  mysqlTable,
  now,
  remove,
  Running,
  update,
  withRows,
} from '../engine.test-support.ts';
import { covers, mustWait, newLock, type LockKind, type LockMode, type LockOwner } from './gap-locks.ts';
import { innodbStorage } from './storage.ts';

const owner = (id: number): LockOwner => ({
  id,
  session: id,
  locksGaps: true,
  duplicateMode: 'S',
  grant: () => undefined,
  makeExplicit: () => undefined,
});
const [me, other] = [owner(1), owner(2)];
const record = { isSupremum: false, locks: [], index: { table: 1, splits: 0 }, row: {} };

/** MySQL manual, "InnoDB Locking"; lock_rec_has_to_wait. Rows: requested; columns: held by another, exclusively. */
test.each([
  ['record', [true, false, true, false]],
  ['gap', [false, false, false, false]],
  ['next-key', [true, false, true, false]],
  ['insert', [false, true, true, false]],
] as const)('%s waits for record, gap, next-key, insert: %o', (requested, expected) => {
  const held: readonly LockKind[] = ['record', 'gap', 'next-key', 'insert'];
  const request = newLock(me, record, 'X', requested);
  expect(held.map((kind) => mustWait(request, newLock(other, record, 'X', kind)))).toEqual(expected);
  expect(held.map((kind) => mustWait(request, newLock(me, record, 'X', kind)))).toEqual([false, false, false, false]);
});

test.each<[LockMode, LockKind, LockMode, LockKind, boolean]>([
  ['X', 'next-key', 'S', 'record', true],
  ['X', 'next-key', 'X', 'gap', true],
  ['S', 'next-key', 'X', 'record', false],
  ['X', 'record', 'X', 'next-key', false],
  ['X', 'gap', 'X', 'record', false],
])('%s %s covers %s %s: %s', (heldMode, heldKind, mode, kind, expected) => {
  expect(covers(newLock(me, record, heldMode, heldKind), newLock(me, record, mode, kind))).toBe(expected);
  expect(covers(newLock(other, record, heldMode, heldKind), newLock(me, record, mode, kind))).toBe(false);
});

test('a lock that is waited for covers nothing', () => {
  const waiting = { ...newLock(me, record, 'X', 'next-key'), isWaiting: true };
  expect(covers(waiting, newLock(me, record, 'X', 'gap'))).toBe(false);
});

const three = (): Storage =>
  withRows(
    innodbStorage(),
    [
      [1, 10, 100],
      [3, 30, 300],
      [5, 50, 500],
    ],
    mysqlTable,
  );
const index = (id: number, from: number, to: number): AccessPath => ({
  kind: 'index',
  index: id,
  prefix: [],
  from: { value: from, isInclusive: true },
  to: { value: to, isInclusive: true },
  isDescending: false,
});
const uIs = (value: number): AccessPath => ({ kind: 'index', index: 11, prefix: [value], isDescending: false });
const waits = (steps: ConstructorParameters<typeof Running>[0]): boolean => new Running(steps).wait !== null;

describe('what a locking read at repeatable read locks, as MariaDB 10.11 shows it', () => {
  test.each<[string, AccessPath, insertions: number[], rows: number[]]>([
    ['a primary key', idIs(3), [], [3]],
    ['a unique key, with the gap before it', uIs(30), [20], [3]],
    ['a unique key that is not there: the gap', uIs(20), [20], []],
    ['a range of primary keys that begins at a row, and what follows it', index(10, 3, 4), [40], [3, 5]],
    ['a range of another index, and the gaps to what follows it', index(11, 30, 40), [20, 40], [3]],
    ['everything', all, [5, 20, 40, 60], [1, 3, 5]],
  ])('%s', (_name, path, insertions, rows) => {
    const lockedGaps = [5, 20, 40, 60].filter((u) => {
      const storage = three();
      now(lock(begin(storage, 'repeatable read'), path, 'update'));
      return waits(insert(begin(storage), u / 10, u, u * 10));
    });
    const lockedRows = [1, 3, 5].filter((id) => {
      const storage = three();
      now(lock(begin(storage, 'repeatable read'), path, 'update'));
      return waits(lock(begin(storage), idIs(id), 'share'));
    });
    expect([lockedGaps, lockedRows]).toEqual([insertions, rows]);
  });
});

describe('locks when records come and go', () => {
  test('a gap that is split stays locked on both sides', () => {
    const storage = three();
    const [a, b] = [begin(storage, 'repeatable read'), begin(storage)];
    now(lock(a, idIs(2), 'update'));
    now(insert(a, 2, 20, 200));
    expect(waits(insert(b, 1.5, 15, 0))).toBe(true);
    expect(waits(insert(begin(storage), 2.5, 25, 0))).toBe(true);
  });

  test('so does one under a lock of the record and the gap', () => {
    const storage = three();
    const a = begin(storage, 'repeatable read');
    now(lock(a, all, 'update'));
    now(insert(a, 2, 20, 200));
    expect(waits(insert(begin(storage), 1.5, 15, 0))).toBe(true);
  });

  test.each([
    ['repeatable read', true],
    ['read committed', false],
  ] as const)('the gap of a purged record is locked by who had locked the record at %s: %s', (isolation, isLocked) => {
    const storage = three();
    const [a, b, c] = [begin(storage), begin(storage, isolation), begin(storage)];
    now(remove(a, idIs(3)));
    const waiting = new Running(lock(b, index(10, 2, 4), 'update'));
    expect(waiting.wait?.blockers).toEqual([a.id]);
    now(a.commit());
    expect(waiting.go().result).toEqual([]);
    expect(waits(insert(c, 3, 31, 0))).toBe(isLocked);
  });

  test('an insertion that is rolled back lets those waiting for it look again', () => {
    const storage = three();
    const [a, b] = [begin(storage), begin(storage)];
    const mark = a.savepoint();
    now(insert(a, 2, 20, 200));
    const waiting = new Running(lock(b, idIs(2), 'share'));
    expect(waiting.wait?.blockers).toEqual([a.id]);
    a.rollbackTo(mark);
    expect(waiting.wait?.isReady()).toBe(true);
    expect(waiting.go().result).toEqual([]);
  });
});

test('who shares a lock and wants it alone waits for who waits: a deadlock', () => {
  const storage = three();
  const [a, b] = [begin(storage), begin(storage)];
  now(lock(a, idIs(1), 'share'));
  const waiting = new Running(lock(b, idIs(1), 'update'));
  const victim = new Running(lock(a, idIs(1), 'update'));
  expect([waiting, victim].filter(({ error, wait }) => error !== null || wait?.isReady() === true)).toHaveLength(1);
});

test('a wait that is interrupted leaves no lock', () => {
  const storage = three();
  const [a, b, c] = [begin(storage), begin(storage), begin(storage)];
  const add = (row: readonly unknown[]): number[] => [Number(row[0]), Number(row[1]), 0];
  now(update(a, idIs(1), add));
  const steps = update(b, idIs(1), add);
  expect(steps.next().done).toBe(false);
  expect(() => steps.throw(new Error('1205'))).toThrow('1205');
  now(a.commit());
  expect(now(lock(c, idIs(1), 'update'))).toEqual([[1, 10, 0]]);
});
