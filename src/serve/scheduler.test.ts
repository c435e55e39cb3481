import { describe, expect, test } from 'vitest';
import { SqlError, type Wait, type Waiting } from '../sql/index.ts';
import { Scheduler, type SchedulerOptions } from './scheduler.ts';

const jobOptions = { lockTimeoutMs: Infinity, lockTimeoutError: () => new SqlError('55P03', 'too long') };

/** A scheduler whose settling the test ends by hand, and that notes who went. */
function scheduler(changes: Partial<SchedulerOptions> = {}) {
  const went: number[] = [];
  const settling: (() => void)[] = [];
  const made = new Scheduler({
    nextSession: (ready) => {
      const next = ready.at(-1) as number;
      went.push(next);
      return next;
    },
    settle: (callback) => {
      settling.push(callback);
      return () => void settling.splice(settling.indexOf(callback), 1);
    },
    holdsBack: () => false,
    ...changes,
  });
  const settle = (): void => settling.shift()?.();
  return { made, went, settle, isSettling: () => settling.length > 0 };
}

function* once<T>(result: T): Waiting<T> {
  yield* [];
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
    const { made, went, settle } = scheduler({ holdsBack: () => (draws += 1) > 0 });
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

describe('a wait', () => {
  const lock = { blockers: [2], reason: 'a lock', free: false };
  const wait: Wait = { ...lock, isReady: () => lock.free };

  test('lets others go, and goes on when it may', async () => {
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
  const { made, went } = scheduler({ settle: null, holdsBack: () => true });
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
