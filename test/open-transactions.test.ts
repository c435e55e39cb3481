import { describe, expect, test } from 'vitest';
import { explore } from '../src/explore/index.ts';
import { program, type SessionHandle, type TransactionHandle } from '../src/program/index.ts';
import { testProgram, runCampaign } from '../src/campaign/index.ts';

type Session = (s: SessionHandle) => unknown;

/** A session beside one that reads. */
async function expectRefused(a: Session, refused: object): Promise<void> {
  const tested = program({ initial: { x: 0 }, sessions: { a, b: (s) => s.read('x') } });
  await expect(runCampaign(tested, { runs: 10 })).rejects.toMatchObject(refused);
  await expect(explore(tested)).rejects.toMatchObject(refused);
  await expect(explore(tested, { level: 'serializable', reruns: true })).rejects.toMatchObject(refused);
}

const awaitMissing = expect.stringMatching(/session "a".*is an await missing\?/) as unknown;

describe('the handle of a transaction that has ended is refused in every store', () => {
  const cases: readonly (readonly [string, Session])[] = [
    [
      'kept by the session',
      async (s) => {
        let kept: TransactionHandle | null = null;
        await s.transaction(async (t) => {
          kept = t;
          await t.read('x');
        });
        await (kept as TransactionHandle | null)?.write('x', 1);
      },
    ],
    [
      'a write after a read that is not awaited',
      (s) => s.transaction((t) => void t.read('x').then((x) => t.write('x', x + 1))),
    ],
    ['a write that is not awaited', (s) => s.transaction((t) => void t.write('x', 1))],
    ['a read that is not awaited', (s) => s.transaction(async (t) => (await t.write('x', 1), void t.read('x')))],
    [
      'a long chain that is not awaited',
      async (s) => {
        let chain: Promise<unknown> = Promise.resolve();
        await s.transaction((t) => {
          for (let i = 0; i < 20; i += 1) chain = chain.then(() => null);
          chain = chain.then(() => t.write('x', 1));
        });
        await chain;
      },
    ],
  ];
  test.each(cases)('%s', (_name, a) => expectRefused(a, { code: 'store/transaction-ended', message: awaitMissing }));
});

describe('a session that returns with a transaction under way is refused', () => {
  const cases: readonly (readonly [string, Session])[] = [
    ['a transaction', async (s) => void s.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1))],
    ['one after another', async (s) => (await s.read('x'), void s.transaction((t) => t.write('x', 1)))],
    ['a write', async (s) => void s.write('x', 1)],
    ['a write, no async function', (s) => void s.write('x', 1)],
  ];
  test.each(cases)('%s', (_name, a) => expectRefused(a, { code: 'program/transaction-open', message: awaitMissing }));
});

test('operations and transactions that are awaited together are fine', async () => {
  const tested = program({
    initial: { x: 0, y: 0 },
    sessions: {
      a: (s) => Promise.all([s.write('x', 1), s.transaction((t) => Promise.all([t.read('x'), t.read('y')]))]),
      b: (s) => s.transaction((t) => t.write('y', 1)),
    },
  });
  await expect(testProgram(tested, { runs: 50 })).resolves.toMatchObject({ violations: 0 });
  expect(await explore(tested)).toMatchObject({ violations: 0, complete: true });
});

test('results have the order of the sessions, whichever ended first', async () => {
  const tested = program({
    sessions: { first: async (s) => (await s.write('x', 1), 1), second: async (s) => (await s.write('x', 2), 2) },
    invariant: ({ results }) =>
      Object.keys(results).join() === 'first,second' && Object.values(results).join() === '1,2',
  });
  expect(await explore(tested)).toMatchObject({ violations: 0, complete: true });
  expect(await explore(tested, { level: 'serializable' })).toMatchObject({ violations: 0, complete: true });
  expect(await runCampaign(tested, { runs: 50 })).toMatchObject({ violations: 0 });
});
