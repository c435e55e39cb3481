import { describe, expect, test } from 'vitest';
import { SqlError, type Wait, type Waiting } from '../../sql/model/index.ts';
import { type Moment, Scheduler, type SchedulerOptions, type Settle } from './scheduler.ts';
import { pause } from '../../engine/index.ts';

const jobOptions = { lockTimeoutMs: Infinity, lockTimeoutError: () => new SqlError('55P03', 'too long') };

/** A scheduler whose settling the test ends by hand, and that notes who went. */
function scheduler(changes: Partial<SchedulerOptions> = {}, holds: (moment: Moment) => boolean = () => false) {
  const went: number[] = [];
  const settling: (() => void)[] = [];
  const settleByHand: Settle = (callback) => {
    settling.push(callback);
    return () => void settling.splice(settling.indexOf(callback), 1);
  };
  const made = new Scheduler({
    nextSession: (ready) => {
      const next = ready.at(-1) as number;
      went.push(next);
      return next;
    },
    settle: settleByHand,
    holdBack: (moment) => (holds(moment) ? settleByHand : null),
    ...changes,
  });
  const settle = (): void => settling.shift()?.();
  return { made, went, settle, isSettling: () => settling.length > 0 };
}

function* once<T>(result: T): Waiting<T> {
  yield* [];
  return result;
}

function* pausesOnce<T>(result: T): Waiting<T> {
  yield pause;
  return result;
}

function* waitsFor<T>(wait: Wait, result: T): Waiting<T> {
  while (!wait.isReady()) yield wait;
  return result;
}

describe('a statement', () => {
  test('goes at once when nobody else is expected', async () => {
    const { made, went } = scheduler();
    expect(await made.run(1, once('a'), jobOptions)).toBe('a');
    expect(went).toEqual([1]);
  });

  test('is kept until the session with an open transaction has come too; then either may go first', async () => {
    const { made, went } = scheduler();
    made.expect(2, true);
    const first = made.run(1, once('a'), jobOptions);
    expect(went).toEqual([]);
    const second = made.run(2, once('b'), jobOptions);
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
    expect(went).toEqual([2, 1]);
  });

  test('goes when those who were expected do not come', async () => {
    const { made, went, settle } = scheduler();
    made.expect(2, true);
    const first = made.run(1, once('a'), jobOptions);
    settle();
    expect(await first).toBe('a');
    expect(went).toEqual([1]);
  });

  test('goes when the one that was expected has hung up', async () => {
    const { made } = scheduler();
    made.expect(2, true);
    const first = made.run(1, once('a'), jobOptions);
    made.expect(2, false);
    expect(await first).toBe('a');
  });

  test('is held back once a decision, then among all that have come', async () => {
    let draws = 0;
    const { made, went, settle } = scheduler({}, () => (draws += 1) > 0);
    const first = made.run(1, once('a'), jobOptions);
    const second = made.run(2, once('b'), jobOptions);
    expect(went).toEqual([]);
    expect(draws).toBe(1);
    settle();
    settle();
    await Promise.all([first, second]);
    expect(went).toEqual([2, 1]);
  });

  test('whose turn the recorded schedule says waits for nobody; another waits for it', async () => {
    const schedule = [2, 1];
    const { made, went } = scheduler({ awaited: () => schedule[0], nextSession: () => schedule.shift() as number });
    const first = made.run(1, once('a'), jobOptions);
    expect(schedule).toEqual([2, 1]);
    expect(await made.run(2, once('b'), jobOptions)).toBe('b');
    expect(await first).toBe('a');
    expect(went).toEqual([]);
    expect(schedule).toEqual([]);
  });
});

describe('a statement that stops inside', () => {
  const onlyInside = (moment: Moment): boolean => moment === 'inside the only statement';

  test('continues at once where none is held back', async () => {
    const { made, went } = scheduler();
    expect(await made.run(1, pausesOnce('a'), jobOptions)).toBe('a');
    expect(went).toEqual([1, 1]);
  });

  test('lets another that comes meanwhile overtake it', async () => {
    const { made, went, settle, isSettling } = scheduler({}, onlyInside);
    const first = made.run(1, pausesOnce('a'), jobOptions);
    expect([went, isSettling()]).toEqual([[1], true]);
    const second = made.run(2, once('b'), jobOptions);
    // Nothing is waited for any more; the first is alone again when the second has ended.
    expect(went).toEqual([1, 2]);
    expect(await second).toBe('b');
    settle();
    expect(await first).toBe('a');
    expect(went).toEqual([1, 2, 1]);
  });

  test('does not wait for an open transaction again; a statement that has not begun does', async () => {
    const { made, went, settle, isSettling } = scheduler();
    made.expect(3, true);
    const first = made.run(1, pausesOnce('a'), jobOptions);
    settle();
    expect(await first).toBe('a');
    expect([went, isSettling()]).toEqual([[1, 1], false]);
    const second = made.run(2, once('b'), jobOptions);
    expect(isSettling()).toBe(true);
    settle();
    expect(await second).toBe('b');
  });

  test('is asked about by what it is in', async () => {
    const moments: Moment[] = [];
    const { made, settle } = scheduler({}, (moment) => moments.push(moment) === 1);
    const both = [made.run(1, pausesOnce('a'), jobOptions), made.run(2, pausesOnce('b'), jobOptions)];
    settle();
    await Promise.all(both);
    expect([...new Set(moments)]).toEqual(['before a statement', 'inside one of several', 'inside the only statement']);
  });

  test('ends with the error of a cancel request', async () => {
    const { made } = scheduler({}, onlyInside);
    const first = made.run(1, pausesOnce('a'), jobOptions);
    made.interrupt(1, new SqlError('57014', 'cancelled'));
    await expect(first).rejects.toMatchObject({ code: '57014' });
  });
});

describe('a wait', () => {
  const lock = { blockers: [2], reason: 'a lock', free: false };
  const wait: Wait = { ...lock, isReady: () => lock.free };

  test('lets others go, and continues when it may', async () => {
    lock.free = false;
    const { made } = scheduler();
    const first = made.run(1, waitsFor(wait, 'a'), jobOptions);
    expect(made.waiting()).toEqual([{ session: 1, wait }]);
    expect(await made.run(2, once('b'), jobOptions)).toBe('b');
    lock.free = true;
    made.released();
    expect(await first).toBe('a');
  });

  test('ends with the error of a cancel request, thrown where it waits', async () => {
    lock.free = false;
    const { made } = scheduler();
    const first = made.run(1, waitsFor(wait, 'a'), jobOptions);
    made.interrupt(1, new SqlError('57014', 'cancelled'));
    await expect(first).rejects.toMatchObject({ code: '57014' });
    expect(made.waiting()).toEqual([]);
  });

  test('ends when it takes too long', async () => {
    lock.free = false;
    const { made } = scheduler();
    const first = made.run(1, waitsFor(wait, 'a'), { ...jobOptions, lockTimeoutMs: 5 });
    await expect(first).rejects.toMatchObject({ code: '55P03' });
  });
});

test('a statement that has not begun can be interrupted', async () => {
  const { made, isSettling } = scheduler();
  made.expect(2, true);
  const first = made.run(1, once('a'), jobOptions);
  expect(isSettling()).toBe(true);
  made.interrupt(1, new SqlError('57014', 'cancelled'));
  await expect(first).rejects.toMatchObject({ code: '57014' });
});

test('without a settling statements go as they come', async () => {
  const { made, went } = scheduler({ settle: null }, () => true);
  made.expect(2, true);
  expect(await made.run(1, once('a'), jobOptions)).toBe('a');
  expect(went).toEqual([1]);
});

test('a statement ends when it takes too long, all its waits together', async () => {
  const wait: Wait = { blockers: [2], reason: 'a lock', isReady: () => false };
  const { made } = scheduler();
  const options = { ...jobOptions, timeoutMs: 5, timeoutError: () => new SqlError('57014', 'too long') };
  await expect(made.run(1, waitsFor(wait, 'a'), options)).rejects.toMatchObject({ code: '57014' });
});

test('closing ends what waits, begun or not', async () => {
  const wait: Wait = { blockers: [2], reason: 'a lock', isReady: () => false };
  const { made } = scheduler();
  const begun = made.run(1, waitsFor(wait, 'a'), jobOptions);
  made.expect(3, true);
  const waiting = made.run(2, once('b'), jobOptions);
  expect([made.isBusy(1), made.isBusy(2), made.isBusy(3)]).toEqual([true, true, false]);
  made.close(() => new SqlError('57P01', 'closed'));
  await expect(begun).rejects.toMatchObject({ code: '57P01' });
  await expect(waiting).rejects.toMatchObject({ code: '57P01' });
  expect(made.isBusy(1)).toBe(false);
});
