import { expect, test } from 'vitest';
import { program } from '../program/index.ts';
import { runCampaign } from './campaign.ts';

const never = (): Promise<never> => new Promise<never>(() => {});

test('an invariant that never settles ends at the timeout, as no session', async () => {
  const stuck = program({ sessions: { a: (session) => session.write('x', 1) }, invariant: never });
  const { runs, timeout } = await runCampaign(stuck, { timeoutMs: 300 });
  expect({ runs, timeout }).toEqual({ runs: 0, timeout: { session: null, lastOperation: 'nothing' } });
});

test('a session that awaits what never comes ends at the timeout, with its last operation', async () => {
  const stuck = program({
    sessions: {
      a: (session) => session.write('x', 1),
      b: async (session) => {
        await session.read('y');
        await never();
      },
    },
  });
  const { timeout } = await runCampaign(stuck, { timeoutMs: 300 });
  expect(timeout).toEqual({ session: 'b', lastOperation: 'read of y' });
});

test('a session that reads for ever ends at the timeout', async () => {
  const endless = program({
    sessions: {
      a: async (session) => {
        while ((await session.read('x')) !== 'never');
      },
    },
  });
  const { timeout } = await runCampaign(endless, { timeoutMs: 300 });
  expect(timeout).toEqual({ session: 'a', lastOperation: 'read of x' });
});

test('those who watch are told whose turn it is, and that it is the invariant', async () => {
  const turns: string[] = [];
  const watched = program({
    sessions: { a: (session) => session.write('x', 1) },
    invariant: () => turns.push('invariant') > 0,
  });
  const onTurn = (session: number | null, lastOperation: () => string): void =>
    void turns.push(`${session}: ${lastOperation()}`);
  await runCampaign(watched, { runs: 1, onTurn });
  expect(turns.slice(0, 4)).toEqual(['0: nothing yet', '0: nothing yet', 'null: nothing', 'invariant']);
});
