/** Sessions are functions of what they read: those that are not are found out, and those that are may be spared. */
import { describe, expect, test } from 'vitest';
import { seeded } from '../src/base/index.ts';
import { runCampaign } from '../src/campaign/index.ts';
import { estimateHistories, explore, exploreShared } from '../src/explore/index.ts';
import { program, SerializationFailure, type SessionHandle, type TransactionHandle } from '../src/program/index.ts';
import { historiesByDefinition } from './support/brute-force.ts';
import { listed } from './support/explored.ts';

describe('sessions that are not functions of what they read', () => {
  const increments = (s: SessionHandle) => s.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1));

  test('a value that is written from outside is named with its session', async () => {
    let runs = 0;
    const tested = program({
      initial: { x: 0 },
      sessions: {
        a: (s) => s.write('x', (runs += 1)),
        b: (s) => s.read('x'),
        c: (s) => s.read('x'),
      },
    });
    await expect(explore(tested)).rejects.toThrow('operation 1 of a/0 was write of x = 1, then write of x = 2');
  });

  test('also where the first runs agree', async () => {
    let runs = 0;
    const tested = program({
      initial: { x: 0 },
      sessions: { a: (s) => s.write('x', (runs += 1) > 2 ? 2 : 1), b: (s) => s.read('x'), c: (s) => s.read('x') },
    });
    await expect(explore(tested)).rejects.toThrow(
      'on the same values, session "a" first writes x = 1, then writes x = 2',
    );
  });

  test('also where a variable tells the order of transactions that no history tells', async () => {
    let isDone = false;
    const tested = program({
      initial: { x: 0, y: 0 },
      sessions: {
        a: async (s) => {
          await s.read('x');
          if (isDone) await s.write('x', -1);
        },
        b: async (s) => {
          isDone = false;
          await s.write('y', 1);
          isDone = true;
          await s.write('y', 2);
        },
      },
      invariant: ({ final }) => final['x'] === 0,
    });
    await expect(explore(tested)).rejects.toThrow(
      'on the same values, session "a" first returns, then begins a transaction',
    );
  });

  test('a session that awaits something outside is named', async () => {
    for (const outside of [
      () => new Promise((resolve) => setTimeout(resolve, 1)),
      () => new Promise((resolve) => setImmediate(resolve)),
    ]) {
      const tested = program({
        sessions: {
          a: (s) => s.write('x', 1),
          b: async (s) => {
            await s.read('x');
            await outside();
            await s.read('x');
          },
        },
      });
      await expect(explore(tested)).rejects.toMatchObject({ code: 'program/outside-await' });
      await expect(explore(tested)).rejects.toThrow('session "b" awaits something that is not the store\'s');
      const waits = new Promise<void>(() => {});
      const other = program({ sessions: { a: () => waits, b: (s) => s.read('x') } });
      expect(await explore(other, { timeoutMs: 20 })).toMatchObject({ complete: false, stopped: { session: 'a' } });
    }
  });

  test('one whose transactions may fail is refused: what it does then is in no history', async () => {
    const pays = (n: number) => async (s: SessionHandle) => {
      await s
        .transaction(async (t) => t.write('left', (await t.read<number>('left')) - n))
        .catch((error: unknown) => expect(error).toBeInstanceOf(SerializationFailure));
      return n;
    };
    const tested = program({
      conflicts: 'abort',
      initial: { left: 100 },
      sessions: { a: pays(70), b: pays(30) },
      invariant: ({ final, results }) => final['left'] === 100 - results.a - results.b,
    });
    const level = 'snapshot-isolation';
    expect((await runCampaign(tested, { level, runs: 100 })).violations).toBeGreaterThan(0);
    const refused = { code: 'explore/conflicts', message: expect.stringContaining('moirai test takes it') as string };
    await expect(explore(tested, { level })).rejects.toMatchObject(refused);
    await expect(estimateHistories(tested, { level, chooser: seeded(1) })).rejects.toMatchObject(refused);
    const threads = [() => Promise.reject(new Error('no job is given out'))];
    await expect(exploreShared(tested, { level }, threads)).rejects.toMatchObject(refused);
  });

  test('a timer that outlives the exploration is named, and one that does not is waited for', async () => {
    const timers: NodeJS.Timeout[] = [];
    const leaving = (ms: number) =>
      program({
        sessions: { a: (s) => s.write('x', 1), b: (s) => s.read('x') },
        invariant: ({ final }) => {
          timers.push(setTimeout(() => {}, ms));
          return final['x'] === 1;
        },
      });
    const openOf = async (ms: number): Promise<readonly string[]> =>
      (await explore(leaving(ms))).evidence.assumed.filter((clause) => clause.includes('leaves open'));
    expect(await openOf(1)).toEqual([]);
    expect(await openOf(600_000)).toEqual([
      'what the program leaves open for more than 500 ms (a timer, a file) changes nothing',
    ]);
    for (const timer of timers) clearTimeout(timer);
  });

  test('awaiting what is already there is no matter, nor are operations at once', async () => {
    const tested = program({
      initial: { x: 0, y: 0 },
      sessions: {
        a: async (s) => {
          await Promise.resolve();
          await s.transaction((t) => Promise.all([t.read('x'), t.write('y', 1)]));
          await Promise.all([s.read('x'), s.write('x', 2)]);
        },
        b: increments,
      },
    });
    const found = await listed(tested, 'causal', { samplesFirst: 0 });
    expect(found.toSorted()).toEqual([...(await historiesByDefinition(tested, 'causal'))].toSorted());
  });

  test('an invariant that looks at variables of sessions is seen through: in the first runs all then run, later it is refused', async () => {
    let seen: unknown[] = [];
    const tested = program({
      initial: { x: 0 },
      sessions: Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name, i) => [
          name,
          async (s: SessionHandle) => void (seen[i] = (await increments(s), await s.read('x'))),
        ]),
      ),
      invariant: ({ final }) => final['x'] === null || new Set(seen).size > 1 || `all saw ${String(seen[0])}`,
    });
    const rerun = await explore(tested, { reruns: true });
    seen = [];
    const { histories, violations } = await explore(tested);
    expect({ histories, violations }).toEqual({ histories: rerun.histories, violations: rerun.violations });
    expect(rerun.violations).toBeGreaterThan(0);
    await expect(explore(tested, { samplesFirst: 0 })).rejects.toMatchObject({ code: 'program/outside-state' });
  });

  test('where the invariant takes nothing every session runs: what it looks at must be what sessions left elsewhere', async () => {
    const seen: unknown[] = [];
    const looks = async (s: SessionHandle, i: number): Promise<void> => {
      const reads = async (t: TransactionHandle) => {
        if (i < 2) await t.write(`k${i}`, 1);
        return [await t.read('k0'), await t.read('k1')].join('');
      };
      seen[i] = await s.transaction(reads);
    };
    const tested = program({
      initial: { k0: 0, k1: 0 },
      sessions: { a: (s) => looks(s, 0), b: (s) => looks(s, 1), c: (s) => looks(s, 2) },
      invariant: () => seen.slice(0, 2).join() !== '10,01' || 'neither saw the other',
    });
    const { histories, violations } = await explore(tested, { samplesFirst: 0 });
    expect({ histories, violations }).toEqual({ histories: 10, violations: 4 });
  });

  test('results are the same whether sessions ran or not, also after an invariant has changed them, and of any kind', async () => {
    for (const result of [() => new Map([['x', 1]]), () => ({ list: [1, 2] }), () => undefined, () => 1n]) {
      const told: string[] = [];
      const tested = program({
        initial: { x: 0 },
        sessions: { a: async (s) => (await increments(s), result()), b: increments, c: increments },
        invariant: ({ results }) => {
          told.push(`${typeof results.a} ${results.a instanceof Map} ${Object.entries(results.a ?? {}).join()}`);
          if (typeof results.a === 'object' && 'list' in results.a) results.a.list.push(3);
          return true;
        },
      });
      await explore(tested, { samplesFirst: 0 });
      expect(told.length).toBe(16 + 1); // the first run is repeated
      expect(new Set(told).size).toBe(1);
    }
  });
});
