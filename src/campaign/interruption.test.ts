import { expect, test } from 'vitest';
import { type Program, program } from '../program/index.ts';
import type { CampaignOptions, CampaignResult } from './campaign-options.ts';
import { runCampaign } from './campaign.ts';

/** Two increments, of which one is lost at causal in some runs. */
const counter = program({
  initial: { n: 0 },
  sessions: {
    a: (session) => session.transaction(async (t) => t.write('n', (await t.read('n')) + 1)),
    b: (session) => session.transaction(async (t) => t.write('n', (await t.read('n')) + 1)),
  },
  invariant: ({ final }) => final['n'] === 2 || 'an increment is lost',
});

/** Aborts where the invariant is asked for the `run`th time: the run that is under way is the last. */
async function interruptedAt(run: number, options: CampaignOptions = {}): Promise<CampaignResult> {
  const interruption = new AbortController();
  let judged = 0;
  const interrupting: Program = {
    ...counter,
    invariant: (end) => {
      if ((judged += 1) === run) interruption.abort();
      return counter.invariant(end);
    },
  };
  return runCampaign(interrupting, { runs: 100_000, signal: interruption.signal, ...options });
}

test.each([1, 2, 50, 501])('an interruption in run %i keeps what was found', async (run) => {
  const whole = await runCampaign(counter, { runs: run - 1 || 1 });
  const result = await interruptedAt(run);
  expect(result.stopped).toBe('interrupted');
  expect(result.timeout).toBeNull();
  expect(result.runs).toBeLessThanOrEqual(run);
  expect(result.failure === null).toBe(result.violations === 0);
  if (run > 50) expect(result.failure?.message).toBe(whole.failure?.message);
});

test('a run that never ends is given up, and the failure that was found before is reported', async () => {
  const interruption = new AbortController();
  let runs = 0;
  const stuck = program({
    sessions: {
      a: async (session) => {
        await session.write('x', 1);
        if ((runs += 1) > 10) {
          interruption.abort();
          await new Promise(() => {});
        }
      },
    },
    invariant: () => 'always',
  });
  const result = await runCampaign(stuck, { signal: interruption.signal });
  expect(result).toMatchObject({ stopped: 'interrupted', timeout: null });
  expect(result.failure).toMatchObject({ message: 'always' });
});

test('so does a session that reads for ever', async () => {
  const interruption = new AbortController();
  const endless = program({
    sessions: {
      a: async (session) => {
        for (let i = 0; (await session.read('x')) !== 'never'; i += 1) if (i === 100) interruption.abort();
      },
    },
  });
  const result = await runCampaign(endless, { signal: interruption.signal });
  expect(result).toMatchObject({ stopped: 'interrupted', timeout: null, runs: 0, failure: null });
});

test('an invariant that never settles is given up', async () => {
  const interruption = new AbortController();
  const stuck = program({
    sessions: { a: (session) => session.write('x', 1) },
    invariant: () => {
      interruption.abort();
      return new Promise<never>(() => {});
    },
  });
  expect(await runCampaign(stuck, { signal: interruption.signal })).toMatchObject({ stopped: 'interrupted', runs: 0 });
});

test('the time of the whole campaign is a limit of its own', async () => {
  const result = await runCampaign(counter, { runs: 100_000_000, timeMaxMs: 300 });
  expect(result.stopped).toBe('time');
  expect(result.runs).toBeGreaterThan(0);
  expect(result.failure?.message).toBe('an increment is lost');
});

test('the result so far is there at any moment, with the first failing run', async () => {
  let soFar: () => CampaignResult = () => {
    throw new Error('not begun');
  };
  const seen: CampaignResult[] = [];
  const result = await runCampaign(counter, {
    runs: 5_000,
    onStart: (tell) => (soFar = tell),
    onTurn: () => void (seen.length < 2_000 && seen.push(soFar())),
  });
  expect(seen[0]).toMatchObject({ runs: 0, violations: 0, failure: null, stopped: null });
  const last = seen.at(-1);
  expect(last?.violations).toBeGreaterThan(0);
  expect(last?.failure?.message).toBe('an increment is lost');
  expect(result.stopped).toBeNull();
});
