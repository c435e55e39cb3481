/** Campaigns: counts, the reduced failing run, replay, determinism. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import bankTransfer from '../examples/bank-transfer.ts';
import retryLoop from '../examples/retry-loop.ts';
import shoppingCart from '../examples/shopping-cart.ts';
import {
  decodePath,
  encodePath,
  type Program,
  program,
  type SessionHandle,
  type TransactionHandle,
} from '../src/program/index.ts';
import { runAtEveryLevel, runCampaign, testProgram, weakestPassingLevel } from '../src/campaign/index.ts';
import { explore, exploreShared, exploreThread } from '../src/explore/index.ts';
import { check, satisfies } from '../src/isolation/index.ts';

test('the same seed gives the same result, another seed another', async () => {
  const [a, b, c] = await Promise.all([1, 1, 2].map((seed) => runCampaign(shoppingCart, { seed, runs: 200 })));
  expect(a).toEqual(b);
  expect(a?.violations).not.toBe(c?.violations);
});

describe('a failing run', () => {
  test('is reduced to the fewest reads that do not see the newest write', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { failure } = await runCampaign(shoppingCart, { seed, runs: 100 });
      expect(failure?.olderReads).toBeLessThanOrEqual(2);
      expect(failure?.olderReads).toBeGreaterThan(0);
    }
  });

  test('comes with a history at its level, a commit order, and the anomaly that a serializable store forbids', async () => {
    const { failure } = await runCampaign(bankTransfer, { level: 'snapshot-isolation' });
    if (failure === null || failure.anomaly === null) throw new Error('it fails');
    expect(failure.message).toBe('the accounts hold -20 together');
    expect(satisfies(failure.history, failure.commitOrder, 'snapshot-isolation')).toBe(true);
    expect(check(failure.history, 'serializable').kind).toBe('violated');
    expect(failure.anomaly).toMatchObject({ level: 'serializable', verdict: { anomaly: 'write-skew' } });
  });

  test('is replayed by its token, at the level it failed at', async () => {
    const { failure } = await runCampaign(shoppingCart, { runs: 100 });
    const again = await runCampaign(shoppingCart, { replay: failure?.replay ?? '' });
    expect(again).toMatchObject({ runs: 1, violations: 1 });
    expect(again.failure).toEqual(failure);
  });

  test('without any anomaly is the fault of the program', async () => {
    const tested = program({ sessions: { a: (s) => s.write('x', 1) }, invariant: ({ final }) => final['x'] === 2 });
    const { failure } = await runCampaign(tested, { runs: 5, level: 'read-committed' });
    expect(failure).toMatchObject({ message: 'the invariant does not hold', olderReads: 0, anomaly: null });
    expect(await weakestPassingLevel(tested, 'read-committed', { runs: 5 })).toBe(null);
  });
});

test('levels: the table and the weakest level that passes', async () => {
  const table = await runAtEveryLevel(bankTransfer, { runs: 100 });
  expect(table.map(({ level, violations }) => [level, violations > 0])).toEqual([
    ['read-committed', true],
    ['read-atomic', true],
    ['causal', true],
    ['prefix', true],
    ['snapshot-isolation', true],
    ['serializable', false],
  ]);
  expect(await weakestPassingLevel(bankTransfer, 'read-committed', { runs: 100 })).toBe('serializable');
  expect(await weakestPassingLevel(shoppingCart, 'causal', { runs: 300 })).toBe('snapshot-isolation');
});

describe('counters', () => {
  test('sometimes counts runs, and tells of what never happened', async () => {
    const { marks, runs } = await runCampaign(
      program({
        initial: { x: 0 },
        sessions: { a: (s) => s.write('x', 1), b: (s) => s.read<number>('x') },
        invariant: ({ results, sometimes }) => {
          sometimes('b saw the write', results.b === 1);
          sometimes('b saw a two', results.b === 2);
          return true;
        },
      }),
      { runs: 300 },
    );
    expect(runs).toBe(300);
    expect(marks.get('b saw the write')).toBeGreaterThan(30);
    expect(marks.get('b saw a two')).toBe(0);
  });

  test('distinct states are the distinct vectors of values read', async () => {
    const tested = program({
      initial: { x: 0, y: 0 },
      sessions: {
        a: (s) => s.write('x', 1),
        b: (s) => s.write('y', 1),
        c: async (s) => [await s.read('x'), await s.read('y')],
      },
    });
    expect((await runCampaign(tested, { runs: 500 })).distinctStates).toBe(4);
  });
});

test('a retry loop passes where failures are injected, and only where the level lets it', async () => {
  const passing = await runCampaign(retryLoop, { level: 'snapshot-isolation', abortRate: 0.3, runs: 300 });
  expect(passing.violations).toBe(0);
  expect(passing.marks.get('a transaction was run again')).toBeGreaterThan(200);
  expect((await runCampaign(retryLoop, { level: 'causal', abortRate: 0.3, runs: 300 })).violations).toBeGreaterThan(0);
});

test('a failure that needs an injected abort is replayed with it', async () => {
  const tested = program({
    sessions: {
      a: async (s) => {
        let sent = 0;
        await s.transaction(async (t) => {
          sent += 1;
          await t.write('x', 1);
        });
        return sent;
      },
    },
    invariant: ({ results }) => results.a === 1 || 'the letter was sent twice',
  });
  const { failure } = await runCampaign(tested, { abortRate: 0.1, runs: 300 });
  expect(failure?.message).toBe('the letter was sent twice');
  expect((await runCampaign(tested, { abortRate: 0.1, replay: failure?.replay ?? '' })).violations).toBe(1);
  expect((await runCampaign(tested, { runs: 300 })).violations).toBe(0);
});

describe('nondeterminism is found and named', () => {
  let counter = 0;
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['Math.random', () => Math.random() < 0.5, /Math\.random in session "a"/],
    ['Date.now', () => performance.now() > 0 && Date.now() > Date.UTC(2030, 0, 1), /Date\.now in session "a"/],
    ['new Date()', () => performance.now() > 0 && new Date().getDay(), /new Date\(\) in session "a"/],
    ['crypto.randomUUID', () => crypto.randomUUID() < '8', /crypto\.randomUUID in session "a"/],
    ['shared module state', () => (counter += 1), /outlives a run/],
  ];
  test.each(cases)('%s', async (_name, value, message) => {
    const tested = program({
      sessions: { a: (s) => s.transaction((t) => t.write('x', value())), b: (s) => s.read('x') },
    });
    await expect(runCampaign(tested, { runs: 3 })).rejects.toMatchObject({ code: 'program/nondeterministic' });
    await expect(runCampaign(tested, { runs: 3 })).rejects.toThrow(message);
  });

  test('a promise that outlives a run, where another session awaits it', async () => {
    let first: Promise<number> | null = null;
    const body = async (s: SessionHandle) => s.write('n', await (first ??= s.read<number>('x')));
    const tested = program({ initial: { x: 1 }, sessions: { a: body, b: body } });
    await expect(runCampaign(tested, { runs: 3 })).rejects.toThrow(
      'runs after the first agree: something outlives a run',
    );
  });

  test('the globals are as before', () => {
    expect(new Date(0).getTime()).toBe(0);
    expect(Math.random.toString()).toContain('[native code]');
    expect(Date.toString()).toContain('[native code]');
  });
});

describe('a session that throws', () => {
  test('always: is bad input', async () => {
    const tested = program({ sessions: { a: () => Promise.reject(new TypeError('x is not a function')) } });
    await expect(runCampaign(tested)).rejects.toMatchObject({
      code: 'program/session-threw',
      message: 'session "a" threw outside a transaction: TypeError: x is not a function',
    });
  });

  test('only because of weak reads: is a finding', async () => {
    const tested = program({
      sessions: {
        a: (s) =>
          s.transaction(async (t) => {
            await t.write('pointer', 'record');
            await t.write('record', { value: 1 });
          }),
        b: async (s) => {
          const pointer = await s.read<string | null>('pointer');
          return pointer === null ? 0 : (await s.read<{ value: number }>(pointer)).value;
        },
      },
    });
    const { failure } = await runCampaign(tested, { level: 'read-committed', runs: 200 });
    expect(failure?.message).toMatch(/^session "b" failed: TypeError/);
    expect((await runCampaign(tested, { level: 'causal', runs: 200 })).violations).toBe(0);
  });
});

declare const expectedX: number;

function raise(message: string): never {
  throw new Error(message);
}

describe('an invariant that throws an error of its own code', () => {
  type Invariant = (end: { readonly final: any }) => boolean | Promise<boolean>; // oxlint-disable-line no-explicit-any
  const increment = (s: SessionHandle) => s.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1));
  const tested = (invariant: Invariant) =>
    program({ initial: { x: 0 }, sessions: { a: increment, b: increment }, invariant });
  const ways: readonly ((it: ReturnType<typeof tested>) => Promise<unknown>)[] = [
    (it) => runCampaign(it, { runs: 50 }),
    (it) => testProgram(it, { runs: 50 }),
    (it) => explore(it),
    (it) => explore(it, { failsFast: true }),
    (it) => exploreShared(it, {}, [exploreThread(it, {})]),
  ];
  const thrownBy = (outcome: Promise<unknown>): Promise<unknown> => outcome.catch((thrown: unknown) => thrown);

  test.each<[string, Invariant, RegExp]>([
    ['a part of nothing', ({ final }) => final.y.left === 2, /: TypeError: Cannot read properties of undefined/],
    ['a name that there is not', ({ final }) => final.x === expectedX, /: ReferenceError: expectedX is not defined$/],
    ['awaited', async ({ final }) => (await Promise.resolve(final)).y.left === 2, /: TypeError: Cannot read/],
  ])('in every run is bad input: %s', async (_what, invariant, message) => {
    for (const run of ways) {
      const error = await thrownBy(run(tested(invariant)));
      expect(error).toMatchObject({
        code: 'program/invariant-threw',
        message: expect.stringMatching(
          /^the invariant throws also when the sessions run one after another: /,
        ) as string,
        cause: expect.any(Error) as unknown,
      });
      expect((error as Error).message).toMatch(message);
    }
  });

  test.each<[string, Invariant]>([
    ['only after an interleaving', ({ final }) => (final.x === 2 ? final : final.y).x === 2],
    ['of an assertion library', ({ final }) => (expect(final.x).toBe(3), true)],
    ['of the user', ({ final }) => (final.x === 3 ? true : raise('the sum is wrong'))],
  ])('is a violation: %s', async (_what, invariant) => {
    for (const run of ways) {
      const result = await thrownBy(run(tested(invariant)));
      expect(result).toSatisfy(
        (it: { violations?: number; name?: string }) => (it.violations ?? 0) > 0 || it.name === 'AssertionError',
      );
    }
  });

  test('in one order of the sessions alone is a violation', async () => {
    const last = (name: string) => (s: SessionHandle) => s.write('last', name);
    const ordered = program({
      sessions: { a: last('a'), b: last('b') },
      invariant: ({ final }) => (final['last'] === 'a' ? true : (final['nothing'] as { x: boolean }).x),
    });
    expect((await runCampaign(ordered, { runs: 20 })).violations).toBeGreaterThan(0);
    expect((await explore(ordered)).violations).toBe(1);
  });
});

describe('a promise that is rejected and that nothing awaits', () => {
  const later = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
  const checked = (examine: () => Promise<void>) =>
    program({
      sessions: { a: (s) => s.read('x'), b: (s) => s.write('x', 1) },
      invariant: () => (void examine(), true),
    });
  const fault = { code: 'program/uncaught', message: 'a promise was rejected and nothing awaits it: Error: lost' };

  test.each<[string, () => Promise<void>]>([
    ['at once', () => Promise.reject(new Error('lost'))],
    ['after a timer', async () => later(1).then(() => raise('lost'))],
  ])('is bad input: %s', async (_when, examine) => {
    await expect(runCampaign(checked(examine), { runs: 1 })).rejects.toMatchObject(fault);
    await expect(testProgram(checked(examine), { runs: 1 })).rejects.toMatchObject(fault);
  });

  test('is bad input also where the invariant is broken', async () => {
    const tested = program({
      sessions: { a: (s) => s.read('x'), b: (s) => s.write('x', 1) },
      invariant: () => (void Promise.reject(new Error('lost')), false),
    });
    await expect(runCampaign(tested, { runs: 1 })).rejects.toMatchObject(fault);
  });

  test('what stays open is named', async () => {
    const { evidence } = await runCampaign(
      checked(async () => later(3_600_000)),
      { runs: 1 },
    );
    expect(evidence.assumed).toContainEqual(expect.stringContaining('a timer, a file'));
  });
});

describe('a session that is called after it has returned is at fault', () => {
  type Late = (call: () => Promise<unknown>) => void;
  const moments: readonly (readonly [string, Late])[] = [
    ['nextTick', (call) => process.nextTick(() => void call().catch(() => {}))],
    ['setImmediate', (call) => setImmediate(() => void call())],
    ['a timer', (call) => setTimeout(() => void call(), 1)],
    ['a file', (call) => void readFile(new URL(import.meta.url)).then(call)],
  ];
  const add = (s: SessionHandle) =>
    s.transaction(async (t) => (await t.write('n', (await t.read<number>('n')) + 1), t));
  const lateIn = (late: Late, call: (s: SessionHandle, t: TransactionHandle) => Promise<unknown>, holds = true) =>
    program({
      initial: { n: 0 },
      sessions: {
        a: async (s) => {
          const t = await add(s);
          late(() => call(s, t));
        },
        b: async (s) => void (await add(s)),
      },
      invariant: ({ final }) => final['n'] > 0 && holds,
    });
  const ways: readonly ((tested: Program) => Promise<unknown>)[] = [
    (tested) => runCampaign(tested, { runs: 2, level: 'serializable' }),
    (tested) => testProgram(tested, { runs: 2 }),
    (tested) => explore(tested),
    (tested) => exploreThread(tested, {})({ waiting: [{ prefix: [], mass: 1 }], timeMs: 1_000 }),
  ];

  test.each(moments)('%s', async (_name, late) => {
    const fault = { code: 'program/transaction-open', message: called('write("n")') };
    for (const way of ways) await expect(way(lateIn(late, (s) => s.write('n', 0)))).rejects.toMatchObject(fault);
  });

  test.each(moments)('also where the invariant does not hold without it: %s', async (_name, late) => {
    const fault = { code: 'program/transaction-open', message: called('transaction()') };
    const tested = lateIn(late, (s) => s.transaction((t) => t.write('n', 0)), false);
    for (const way of [...ways, (each: Program) => explore(each, { failsFast: true })]) {
      await expect(way(tested)).rejects.toMatchObject(fault);
      // What is open when runs begin counts as the host's.
      await expect.poll(() => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('FSReq'))).toEqual([]);
    }
  });

  test.each(moments)('and a transaction that is used after its end: %s', async (_name, late) => {
    for (const way of ways)
      await expect(way(lateIn(late, (_s, t) => t.write('n', 0)))).rejects.toMatchObject({
        code: 'store/transaction-ended',
      });
  });

  function called(call: string): string {
    return `session "a" called ${call} after it had returned: is an await missing?`;
  }
});

test('those who watch see that it is the invariant which runs, where it does', async () => {
  let last: number | null = 0;
  const seen = new Set<number | null>();
  const tested = program({
    initial: { x: 0 },
    sessions: { a: (s) => s.read('x'), b: (s) => s.write('x', 1) },
    invariant: ({ final }) => (seen.add(last), final['x'] === 1),
  });
  const onTurn = (session: number | null): void => void (last = session);
  await explore(tested, { onTurn });
  await runCampaign(tested, { runs: 3, onTurn });
  expect([...seen]).toEqual([null]);
});

test('a run that does not end is a timeout with the session and its last operation', async () => {
  const tested = program({
    sessions: { a: (s) => s.transaction((t) => t.read('x').then(() => new Promise(() => {}))) },
  });
  expect((await runCampaign(tested, { timeoutMs: 40 })).timeout).toEqual({ session: 'a', lastOperation: 'read of x' });
});

test.each([
  ['runs', { runs: 0 }, 'option/runs'],
  ['seed', { seed: 1.5 }, 'option/seed'],
  ['abort rate', { abortRate: 1 }, 'option/abort-rate'],
  ['level', { level: 'si' as 'causal' }, 'level/unknown'],
  ['token', { replay: 'x' }, 'replay/token'],
])('a bad %s is bad input', async (_name, options, code) => {
  await expect(runCampaign(shoppingCart, options)).rejects.toMatchObject({ code });
});

test('tokens carry every path', () => {
  for (const path of [[], [0, 0], [1, 0, 2], [61, 62, 63, 1_000_000, 0, 5]]) {
    const trimmed = path.slice(0, path.findLastIndex((position) => position !== 0) + 1);
    expect(decodePath(encodePath(path))).toEqual(trimmed);
  }
});
