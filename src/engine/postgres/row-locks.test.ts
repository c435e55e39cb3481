import { describe, expect, test } from 'vitest';
import type { LockStrength } from '../../sql/model/storage.ts';
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

const strengths: readonly LockStrength[] = ['key share', 'share', 'no key update', 'update'];
const one = () =>
  withRows(postgresStorage(), [
    [1, 10, 100],
    [2, 20, 200],
  ]);
const add = (row: readonly unknown[]) => [row[0], row[1], Number(row[2]) + 1] as number[];

/** PostgreSQL manual, table 13.3: requested by current. */
test.each([
  ['key share', [false, false, false, true]],
  ['share', [false, false, true, true]],
  ['no key update', [false, true, true, true]],
  ['update', [true, true, true, true]],
] as const)('%s conflicts as the manual says', (requested, expected) => {
  const waits = strengths.map((held) => {
    const storage = one();
    now(lock(begin(storage), idIs(1), held));
    return new Running(lock(begin(storage), idIs(1), requested)).wait !== null;
  });
  expect(waits).toEqual(expected);
});

describe('NOWAIT and SKIP LOCKED', () => {
  test('fail, or pass over the row', () => {
    const storage = one();
    now(lock(begin(storage), idIs(1), 'update'));
    const b = begin(storage);
    expect(() => now(lock(b, all, 'share', () => true, 'error'))).toThrow(
      'could not obtain lock on row in relation "t"',
    );
    expect(now(lock(b, all, 'share', () => true, 'skip'))).toEqual([[2, 20, 200]]);
  });
});

describe('writes lock', () => {
  test('an update of other columns lets foreign keys share the key; one of a key does not', () => {
    const storage = one();
    const [a, b] = [begin(storage), begin(storage)];
    now(update(a, idIs(1), add));
    now(update(a, idIs(2), () => [2, 21, 200]));
    expect(now(lock(b, idIs(1), 'key share'))).toEqual([[1, 10, 100]]);
    expect(new Running(lock(b, idIs(2), 'key share')).wait?.blockers).toEqual([a.id]);
  });

  test('a delete waits for shared keys', () => {
    const storage = one();
    const [a, b] = [begin(storage), begin(storage)];
    now(lock(a, idIs(1), 'key share'));
    expect(new Running(remove(b, idIs(1))).wait?.blockers).toEqual([a.id]);
  });
});

describe('the line', () => {
  test('first come, first served; who can share need not wait for who cannot', () => {
    const storage = one();
    const [a, b, c, d] = [begin(storage), begin(storage), begin(storage), begin(storage)];
    now(lock(a, idIs(1), 'share'));
    const second = new Running(lock(b, idIs(1), 'update'));
    const third = new Running(lock(c, idIs(1), 'update'));
    expect(third.wait?.blockers).toEqual([a.id, b.id]);
    expect(now(lock(d, idIs(1), 'share'))).toHaveLength(1);
    now(a.commit());
    now(d.commit());
    expect([second.wait?.isReady(), third.wait?.isReady()]).toEqual([true, false]);
    expect(second.go().isDone).toBe(true);
    expect(third.wait?.blockers).toEqual([a.id, b.id]);
  });

  test('who has a lock and wants a stronger one does not stand in line', () => {
    const storage = one();
    const [a, b] = [begin(storage), begin(storage)];
    now(lock(a, idIs(1), 'key share'));
    const waiting = new Running(lock(b, idIs(1), 'update'));
    expect(now(lock(a, idIs(1), 'update'))).toHaveLength(1);
    expect(waiting.wait?.isReady()).toBe(false);
  });

  test('of several holders it waits for one after another, in order of transaction ids, and finds a deadlock with the second when the first has ended', () => {
    const storage = one();
    const [a, b, c] = [begin(storage), begin(storage), begin(storage)];
    now(lock(c, idIs(2), 'update'));
    now(lock(a, idIs(1), 'key share'));
    now(update(b, idIs(1), add));
    const behind = new Running(lock(b, idIs(2), 'update'));
    const waiting = new Running(remove(c, idIs(1)));
    expect(waiting.wait?.blockers).toEqual([a.id]);
    now(a.commit());
    expect([waiting.wait?.isReady(), behind.wait?.isReady()]).toEqual([true, false]);
    expect(String(waiting.go().error)).toContain('deadlock detected');
  });

  test('a statement that is interrupted leaves it', () => {
    const storage = one();
    const [a, b, c] = [begin(storage), begin(storage), begin(storage)];
    now(lock(a, idIs(1), 'update'));
    const steps = lock(b, idIs(1), 'update');
    expect(steps.next().done).toBe(false);
    expect(() => steps.throw(new Error('57014'))).toThrow('57014');
    const third = new Running(lock(c, idIs(1), 'update'));
    expect(third.wait?.blockers).toEqual([a.id]);
  });
});

test('going back to a savepoint releases the locks taken since, and wakes who waits for them', () => {
  const storage = one();
  const [a, b] = [begin(storage), begin(storage)];
  now(lock(a, idIs(1), 'share'));
  const mark = a.savepoint();
  now(update(a, idIs(1), add));
  const waiting = new Running(lock(b, idIs(1), 'key share'));
  expect(waiting.isDone).toBe(true);
  const writer = new Running(insert(b, 3, 10, 0));
  expect(writer.wait?.blockers).toEqual([a.id]);
  a.rollbackTo(mark);
  expect(writer.wait?.isReady()).toBe(true);
  expect(writer.go().result).toMatchObject({ kind: 'duplicate' });
  expect(now(lock(b, idIs(1), 'share'))).toEqual([[1, 10, 100]]);
  expect(rowsOf(b.statement())).toHaveLength(2);
});
