import { describe, expect, test } from 'vitest';
import { Footprint } from './footprint.ts';
import { tableLockModes } from '../sql/model/index.ts';
import { HeavyweightLocks, holdersFirst, type LockMode, type LockOwner, touchLock } from './heavyweight-locks.ts';

const [a, b, c] = [1, 2, 3].map((id): LockOwner => ({ session: id, id: id + 10 })) as [LockOwner, LockOwner, LockOwner];

/** Table 13.2 of the manual: which of the later modes each mode conflicts with, in order of `tableLockModes`. */
const conflictTable = [
  '.......X', // access share
  '......XX', // row share
  '....XXXX', // row exclusive
  '...XXXXX', // share update exclusive
  '..XX.XXX', // share
  '..XXXXXX', // share row exclusive
  '.XXXXXXX', // exclusive
  'XXXXXXXX', // access exclusive
];

describe('the conflict table', () => {
  test('two sessions hold modes together as the manual says', () => {
    const held = tableLockModes.map((first) =>
      tableLockModes.map((second) => (isFree(first, second) ? '.' : 'X')).join(''),
    );
    expect(held).toEqual(conflictTable);
  });

  test('footprints conflict where modes do', () => {
    const conflicts = tableLockModes.map((first) =>
      tableLockModes.map((second) => (doFootprintsConflict(first, second) ? 'X' : '.')).join(''),
    );
    expect(conflicts).toEqual(conflictTable);
  });

  function isFree(first: LockMode, second: LockMode): boolean {
    const locks = new HeavyweightLocks(holdersFirst);
    locks.tryAcquire('table 1', a, first, 'wait');
    return locks.tryAcquire('table 1', b, second, 'wait');
  }

  function doFootprintsConflict(first: LockMode, second: LockMode): boolean {
    const [one, other] = [new Footprint(), new Footprint()];
    touchLock(one, 'table 1', first);
    touchLock(other, 'table 1', second);
    return one.conflictsWith(other);
  }
});

describe('the queue', () => {
  test('a request waits behind an earlier one that conflicts with it', () => {
    const locks = new HeavyweightLocks(holdersFirst);
    locks.tryAcquire('t', a, 'access share', 'wait');
    const exclusive = locks.request('t', b, 'access exclusive');
    expect(locks.tryAcquire('t', c, 'access share', 'wait')).toBe(false);
    const share = locks.request('t', c, 'access share');
    expect([locks.blockers(exclusive), locks.blockers(share)]).toEqual([[11], [12]]);
    locks.release('t', 1, 'access share');
    expect([locks.blockers(exclusive), locks.blockers(share)]).toEqual([[], [12]]);
    locks.leave(exclusive);
    expect(locks.blockers(share)).toEqual([]);
  });

  test('a session that holds what others wait for goes before them', () => {
    const locks = new HeavyweightLocks(holdersFirst);
    locks.tryAcquire('t', a, 'access share', 'wait');
    locks.request('t', b, 'access exclusive');
    expect(locks.tryAcquire('t', a, 'row exclusive', 'wait')).toBe(true);
    expect(locks.tryAcquire('t', c, 'row exclusive', 'wait')).toBe(false);
  });

  test('a request that precedes one which has to wait goes before it, and behind one that has not', () => {
    const precedes = (requested: LockMode): boolean => requested === 'access exclusive';
    const locks = new HeavyweightLocks({ passes: () => false, precedes });
    locks.tryAcquire('t', a, 'row exclusive', 'wait');
    const share = locks.request('t', b, 'share');
    locks.release('t', 1, 'row exclusive');
    const later = locks.request('t', c, 'row exclusive');
    const exclusive = locks.request('t', a, 'access exclusive');
    expect([share, exclusive, later].map((request) => locks.blockers(request))).toEqual([[], [12], [12, 11]]);
  });

  test('of two that share and both want more, the later one is refused at once', () => {
    const locks = new HeavyweightLocks(holdersFirst);
    locks.tryAcquire('t', a, 'share', 'wait');
    locks.tryAcquire('t', b, 'share', 'wait');
    const first = locks.request('t', a, 'exclusive');
    expect(locks.isEarlyDeadlock(first)).toBe(false);
    expect(locks.isEarlyDeadlock(locks.request('t', b, 'exclusive'))).toBe(true);
  });

  test('one that waits for a place in the queue only can overtake, and go back', () => {
    const locks = new HeavyweightLocks(holdersFirst);
    locks.tryAcquire('t', a, 'access share', 'wait');
    const exclusive = locks.request('t', b, 'access exclusive');
    const share = locks.request('t', c, 'access share');
    expect(locks.overtake(12, 11)).toBeNull();
    const back = locks.overtake(13, 12);
    expect([locks.blockers(exclusive), locks.blockers(share)]).toEqual([[11, 13], []]);
    back?.();
    expect([locks.blockers(exclusive), locks.blockers(share)]).toEqual([[11], [12]]);
  });
});

test('a lock is free when it was released as often as it was acquired', () => {
  const locks = new HeavyweightLocks(holdersFirst);
  expect([locks.tryAcquire('t', a, 'exclusive', 'wait'), locks.tryAcquire('t', a, 'exclusive', 'wait')]).toEqual([
    true,
    true,
  ]);
  locks.release('t', 1, 'exclusive');
  expect(locks.tryAcquire('t', b, 'exclusive', 'wait')).toBe(false);
  locks.release('t', 1, 'exclusive');
  expect(locks.tryAcquire('t', b, 'exclusive', 'wait')).toBe(true);
  expect(locks.release('t', 1, 'exclusive')).toBe(false);
});
