import { describe, expect, test } from 'vitest';
import type { SqlProgram } from '../../src/program/index.ts';
import { countingProgram } from '../../src/sql-program/counting-program.test-support.ts';
import {
  exploreSql,
  exploreSqlPart,
  exploreSqlShared,
  type ExploreSqlResult,
  type SqlThread,
} from '../../src/explore/sql/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { runSqlCampaign } from '../../src/campaign/sql/index.ts';

const profile = parseProfile({ engine: 'postgres' });
const counting = countingProgram({ a: 1, b: 1 });
const message = '2 were counted as 1';

/** The program, and what is aborted where its invariant is asked for the `nth` time, which then `hangs` or not. */
function interruptedAt(nth: number, { hangs }: { readonly hangs: boolean }, of: SqlProgram = counting) {
  const interruption = new AbortController();
  let judged = 0;
  const program: SqlProgram = {
    ...of,
    invariant: async (end) => {
      if ((judged += 1) === nth) {
        interruption.abort();
        if (hangs) await new Promise(() => {});
      }
      return of.invariant(end);
    },
  };
  return { program, signal: interruption.signal };
}

describe.each([{ hangs: false }, { hangs: true }])('an interruption, where the run then %o', (how) => {
  test('a campaign keeps what was found', async () => {
    const { program, signal } = interruptedAt(30, how);
    const result = await runSqlCampaign(program, { profile, signal, runs: 1_000 });
    expect(result).toMatchObject({ stopped: 'interrupted', timeout: null, failure: { message } });
    expect(result.runs).toBeLessThan(30);
    expect(result.failure?.statements.length).toBeGreaterThan(0);
  });

  test('a campaign that found nothing says so', async () => {
    const { program, signal } = interruptedAt(1, how, countingProgram({ a: 1 }));
    const result = await runSqlCampaign(program, { profile, signal });
    expect(result).toMatchObject({ stopped: 'interrupted', timeout: null, violations: 0, failure: null });
  });

  test('an exploration keeps what was found', async () => {
    const { program, signal } = interruptedAt(5, how);
    const result = await exploreSql(program, { profile, signal });
    expect(result).toMatchObject({ stopped: 'interrupted', complete: false, failures: [{ message }] });
    expect(result.failures[0]?.statements.length).toBeGreaterThan(0);
  });
});

test('threads that do not come back are not waited for', async () => {
  const interruption = new AbortController();
  const thread: SqlThread = () => {
    interruption.abort();
    return new Promise(() => {});
  };
  const options = { profile, schedulesAlone: 5, signal: interruption.signal };
  const result = await exploreSqlShared(counting, options, [thread, thread]);
  expect(result).toMatchObject({ stopped: 'interrupted', complete: false, failures: [{ message }] });
});

test('threads that hear of it give back what they found', async () => {
  const larger = countingProgram({ a: 2, b: 2 });
  const interrupted = interruptedAt(10, { hangs: false }, larger);
  const thread: SqlThread = (job, onProgress) =>
    exploreSqlPart(interrupted.program, { profile }, job, onProgress, interrupted.signal);
  const options = { profile, schedulesAlone: 3, signal: interrupted.signal };
  const result = await exploreSqlShared(larger, options, [thread]);
  expect(result).toMatchObject({ stopped: 'interrupted', complete: false });
  expect(result.violations).toBeGreaterThan(0);
});

test('the time is over for test as for explore', async () => {
  const larger = countingProgram({ a: 3, b: 3 });
  expect(await runSqlCampaign(larger, { profile, runs: 100_000, timeMaxMs: 200 })).toMatchObject({ stopped: 'time' });
  expect(await exploreSql(larger, { profile, timeMaxMs: 200 })).toMatchObject({ stopped: 'time', complete: false });
});

test('the result so far is there within a run, and is never a proof', async () => {
  let soFar: () => ExploreSqlResult = () => {
    throw new Error('not begun');
  };
  const seen: ExploreSqlResult[] = [];
  const result = await exploreSql(counting, {
    profile,
    onStart: (tell) => (soFar = tell),
    onRun: () => void seen.push(soFar()),
  });
  expect(result.complete).toBe(true);
  expect(seen.map(({ complete }) => complete)).not.toContain(true);
  expect(seen.at(-1)?.failures[0]).toMatchObject({ message });
});

test('an estimate is made where it is not over after so long', async () => {
  const { estimate, schedules } = await exploreSql(counting, { profile, reduces: false, estimateAfterMs: 0 });
  expect(estimate?.probes).toBeGreaterThan(0);
  expect(schedules).toBeGreaterThan(1);
  expect(estimate?.schedules).toBeGreaterThan(1);
  expect((await exploreSql(counting, { profile })).estimate).toBeNull();
});
