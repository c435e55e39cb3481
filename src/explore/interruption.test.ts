import { expect, test } from 'vitest';
import { type Program, program, type SessionHandle } from '../program/index.ts';
import { explore } from './explore.ts';
import { exploreShared, exploreThread } from './sharing.ts';
import type { ExploreOptions } from './explore-options.ts';
import type { ExploreResult } from './explore-result.ts';
import type { ExploreJob, ExplorePart } from './explore-part.ts';

/** Five increments; with one lost in many histories. */
const increment = (session: SessionHandle): Promise<unknown> =>
  session.transaction(async (t) => t.write('n', (await t.read<number>('n')) + 1));
const twice = async (session: SessionHandle): Promise<void> => {
  await increment(session);
  await increment(session);
};
const counter = program({
  initial: { n: 0 },
  sessions: { a: twice, b: twice, c: increment },
  invariant: ({ final }) => final['n'] === 5 || 'an increment is lost',
});

/** Aborts where the invariant is asked for the `nth` time. */
function interruptedAt(nth: number, options: ExploreOptions = {}): Promise<ExploreResult> {
  const interruption = new AbortController();
  let judged = 0;
  const interrupting: Program = {
    ...counter,
    invariant: (end) => {
      if ((judged += 1) === nth) interruption.abort();
      return counter.invariant(end);
    },
  };
  return explore(interrupting, { signal: interruption.signal, ...options });
}

test('an interruption keeps what was found', async () => {
  const whole = await explore(counter);
  expect(whole.histories).toBeGreaterThan(200);
  for (const nth of [1, 2, 77, 200]) {
    const result = await interruptedAt(nth);
    expect(result).toMatchObject({ stopped: 'interrupted', complete: false });
    expect(result.histories).toBeGreaterThan(0);
    expect(result.histories).toBeLessThan(whole.histories);
    expect(result.counterexample === null).toBe(result.violations === 0);
    if (nth > 1) expect(result.counterexample?.message).toBe('an increment is lost');
  }
});

test.each([
  ['a session that never ends', async () => new Promise<never>(() => {}), () => true],
  ['an invariant that never ends', async () => {}, () => new Promise<never>(() => {})],
])('%s is given up', async (_name, hang, judge) => {
  const interruption = new AbortController();
  const stuck = program({
    sessions: {
      a: async (session) => {
        await session.write('x', 1);
        setTimeout(() => interruption.abort(), 5);
        await hang();
      },
    },
    invariant: judge,
  });
  const result = await explore(stuck, { signal: interruption.signal, samplesFirst: 1_000 });
  expect(result).toMatchObject({ stopped: 'interrupted', histories: 0, complete: false });
});

test('an invariant that does not end in time is named', async () => {
  const stuck = program({
    sessions: { a: (session) => session.write('x', 1) },
    invariant: () => new Promise<never>(() => {}),
  });
  expect(await explore(stuck, { timeoutMs: 20 })).toMatchObject({ stopped: { session: null }, complete: false });
});

test('a run that does not end leaves the counterexamples of those before it', async () => {
  let isStuck = false;
  const sometimesStuck: Program = {
    ...counter,
    invariant: (end) => {
      if (isStuck) return new Promise<never>(() => {});
      isStuck = end.final['n'] === 3;
      return counter.invariant(end);
    },
  };
  const result = await explore(sometimesStuck, { timeoutMs: 1_000 });
  expect(result.stopped).toMatchObject({ session: null });
  expect(result.counterexample?.message).toBe('an increment is lost');
});

test('threads that do not come back are not waited for, and what they had is still to be done', async () => {
  const interruption = new AbortController();
  const work = exploreThread(counter, {});
  let jobs = 0;
  const thread = async (job: ExploreJob): Promise<ExplorePart> => {
    if ((jobs += 1) === 3) {
      interruption.abort();
      await new Promise(() => {});
    }
    return work({ ...job, timeMs: 0 });
  };
  const result = await exploreShared(counter, { signal: interruption.signal }, [thread]);
  expect(result).toMatchObject({ stopped: 'interrupted', complete: false });
  expect(result.histories).toBeGreaterThan(0);
  expect(result.counterexample?.message).toBe('an increment is lost');
});

test('the result so far is there within a run', async () => {
  let soFar: () => ExploreResult = () => {
    throw new Error('not begun');
  };
  let last: ExploreResult | null = null;
  let judged = 0;
  const watching: Program = {
    ...counter,
    invariant: (end) => {
      if ((judged += 1) === 100) last = soFar();
      return counter.invariant(end);
    },
  };
  await explore(watching, { onStart: (tell) => (soFar = tell) });
  expect(last).toMatchObject({ complete: false, counterexample: { message: 'an increment is lost' } });
});
