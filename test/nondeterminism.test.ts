import { describe, expect, test } from 'vitest';
import { explore, estimateHistories, exploreShared, exploreThread } from '../src/explore/index.ts';
import { program, type SessionHandle } from '../src/program/index.ts';
import { runCampaign } from '../src/campaign/index.ts';
import { seeded } from '../src/base/index.ts';

const coin = program({
  initial: { x: 0 },
  sessions: {
    a: async (s) => {
      if (Math.random() < 0.5) await s.write('x', 1);
    },
    b: (s) => s.read('x'),
  },
  invariant: ({ final }) => final['x'] === 0 || 'written',
});

const refused = {
  code: 'program/nondeterministic',
  message: expect.stringContaining('it called Math.random in session "a"') as unknown,
};

test('a coin is found in 16 of 16 explorations and campaigns, also with one run', async () => {
  for (let i = 0; i < 16; i += 1) {
    await expect(explore(coin)).rejects.toMatchObject(refused);
    await expect(runCampaign(coin, { runs: 1 })).rejects.toMatchObject(refused);
  }
});

describe('explore refuses', () => {
  const cases: readonly (readonly [string, (s: SessionHandle) => unknown])[] = [
    ['a random value of few that is written', (s) => s.write('x', Math.random() < 0.5 ? 'heads' : 'tails')],
    ['one that is returned', async (s) => ((await s.read<number>('x')) === 0 ? Math.random() < 0.1 : null)],
    ['a key that is drawn', (s) => s.write(`x${Math.floor(Math.random() * 1_000)}`, 1)],
    [
      'one that is drawn after a rare read',
      async (s) => (await s.read('x')) === 1 && Math.random() < 0.5 && s.write('y', 1),
    ],
  ];
  test.each(cases)('%s', async (_name, a) => {
    const tested = program({ initial: { x: 0 }, sessions: { a, b: (s) => s.write('x', 1) } });
    await expect(explore(tested)).rejects.toMatchObject(refused);
    await expect(exploreShared(tested, {}, [exploreThread(tested, {})])).rejects.toMatchObject(refused);
    await expect(estimateHistories(tested, { chooser: seeded(1) })).rejects.toMatchObject(refused);
  });

  test('what only the invariant draws', async () => {
    const tested = program({ sessions: { a: (s) => s.write('x', 1) }, invariant: () => Math.random() < 0.5 });
    await expect(explore(tested)).rejects.toThrow('it called Math.random in the invariant');
    await expect(runCampaign(tested)).rejects.toThrow('it called Math.random in the invariant');
  });
});

const order = program({
  initial: { orders: 0 },
  sessions: {
    a: async (s) => {
      const id = crypto.randomUUID();
      await s.write(`order:${id}`, { at: new Date().toISOString(), price: Math.random() });
      await s.write('orders', 1);
      return { id, at: Date.now() };
    },
    b: (s) => s.read('orders'),
  },
  invariant: ({ results, final }) => final[`order:${results.a.id}`] !== null,
});

test('values that are stored and returned are the same in every run, and the verdict names their sources', async () => {
  const assumed = ['crypto.randomUUID', 'new Date()', 'Math.random', 'Date.now'].map(
    (source) => `with other values of ${source} in session "a" the program would do the same`,
  );
  const [found, shared] = [await explore(order), await exploreShared(order, {}, [exploreThread(order, {})])];
  expect(found).toMatchObject({ histories: 2, violations: 0, complete: true });
  expect([...found.evidence.assumed].toSorted()).toEqual(assumed.toSorted());
  expect([...shared.evidence.assumed].toSorted()).toEqual(assumed.toSorted());
  const campaign = await runCampaign(order, { runs: 20 });
  expect(campaign).toMatchObject({ runs: 20, violations: 0 });
  expect([...campaign.evidence.assumed].toSorted()).toEqual(assumed.toSorted());
});

test('a failure that stores such values is replayed', async () => {
  const failing = program({
    sessions: { a: (s) => s.write('id', crypto.randomUUID()), b: (s) => s.read<string | null>('id') },
    invariant: ({ results, final }) => results.b === final['id'] || `b read ${results.b}, and not ${final['id']}`,
  });
  const found = await explore(failing);
  const [first] = found.counterexamples;
  expect(first?.message).toMatch(/^b read null, and not [0-9a-f-]{36}$/);
  const again = await explore(failing, { replay: first?.replay ?? '' });
  expect(again.counterexample?.message).toBe(first?.message);
  const campaign = await runCampaign(failing, { runs: 20 });
  const replayed = await runCampaign(failing, { replay: campaign.failure?.replay ?? '' });
  expect(replayed).toMatchObject({ violations: 1, replayed: { kind: 'same-steps' } });
  expect(replayed.failure?.message).toBe(campaign.failure?.message);
});

test('a program that notes the time where nothing depends on it is explored', async () => {
  const log: unknown[] = [];
  const tested = program({
    initial: { x: 0 },
    sessions: {
      a: async (s) => log.push([new Date(), await s.read('x')]) > 0,
      b: async (s) => log.push([Date.now(), await s.write('x', 1)]) > 0,
    },
  });
  expect(await explore(tested)).toMatchObject({ histories: 2, violations: 0, complete: true });
  expect(await runCampaign(tested, { runs: 20 })).toMatchObject({ runs: 20, violations: 0 });
});
