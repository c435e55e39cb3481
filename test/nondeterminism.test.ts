import { describe, expect, test } from 'vitest';
import { explore, program, type SessionHandle } from '../src/index.ts';
import { estimateHistories, exploreShared, exploreThread } from '../src/explore/index.ts';
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
    ['a random value that is written', (s) => s.write('x', Math.random())],
    ['one that is returned', async (s) => ((await s.read<number>('x')) === 0 ? Math.random() < 0.1 : null)],
    ['one that is drawn after a rare read', async (s) => (await s.read('x')) === 1 && s.write('y', Math.random())],
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
