import { expect, test } from 'vitest';
import { program } from '../program/index.ts';
import { testProgram } from './test-program.ts';

const increments = program({
  initial: { n: 0 },
  sessions: {
    a: (session) => session.transaction(async (t) => t.write('n', (await t.read<number>('n')) + 1)),
    b: (session) => session.transaction(async (t) => t.write('n', (await t.read<number>('n')) + 1)),
  },
  invariant: ({ final }) => final['n'] === 2 || 'an increment is lost',
});

test('a campaign of a test ends soon after the first failing run, and throws it', async () => {
  const thrown: unknown = await testProgram(increments, { runs: 1_000_000_000 }).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ name: 'AssertionError', result: { stopped: 'violation' } });
  const { runs, firstFailingRun } = (thrown as { result: { runs: number; firstFailingRun: number } }).result;
  expect(runs).toBeLessThanOrEqual(2 * firstFailingRun);
  expect((thrown as Error).message).toContain('an increment is lost');
});

test('fewer runs than were asked for are no pass', async () => {
  const options = { level: 'serializable', runs: 1_000_000_000, timeBudgetMs: 200 } as const;
  await expect(testProgram(increments, options)).rejects.toThrow(
    /^only [\d,]+ of 1,000,000,000 runs were made in 0\.2 s \(0 failed\): raise the timeout of the test and timeBudgetMs/,
  );
});

test('what failed within the budget is thrown, with as much of an explanation as there is time for', async () => {
  const rare = program({
    initial: { n: 0 },
    sessions: { a: (session) => session.write('n', 1) },
    invariant: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 'it is late';
    },
  });
  await expect(testProgram(rare, { timeBudgetMs: 1_000 })).rejects.toThrow(/it is late/);
});
