import { describe, expect, test } from 'vitest';
import { program, type SessionHandle } from '../program/index.ts';
import { runCampaign } from './campaign.ts';
import { formatFailure, formatLevels, formatResult, formatTimeout } from './failure-text.ts';
import { runAtEveryLevel } from './levels.ts';
import { testProgram } from './test-program.ts';

const increment = (session: SessionHandle): Promise<void> =>
  session.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1));

const counter = program({
  initial: { x: 0 },
  sessions: { a: increment, b: increment },
  invariant: ({ final }) => final['x'] === 2 || `x is ${final['x']}`,
});

const fine = program({
  sessions: { a: (session) => session.write('x', 1), b: (session) => session.read('x') },
  invariant: ({ results, sometimes }) => {
    sometimes('b saw the write', results.b === 1);
    sometimes('pigs flew', false);
    return results.b !== 2;
  },
});

const wrong = program({ sessions: { a: (session) => session.write('x', 1) }, invariant: () => 'x should be 2' });

test('a violation: the run, the anomaly, the way out, the replay', async () => {
  const result = await runCampaign(counter, { runs: 100 });
  const text = formatFailure(result, {
    weakestPassing: 'snapshot-isolation',
    runsAtOtherLevels: 100,
    command: 'COMMAND',
  });
  const [first = '', ...rest] = text.split('\n');
  expect(first).toMatch(/^violated in \d+ of 100 runs at causal: x is 1$/);
  expect(rest.join('\n')).toBe(`seed 1; first in run 1; the smallest that was found:

a                                 b
================================  ========================
                                  b/0 committed ----------
                                  read x = 0  from initial
                                  write x = 1
a/0 committed ------------------
read x = 0  from initial (older)
write x = 1

1 read did not see the newest write (older)

lost update: two transactions write a key that one of them read before the other
  wrote it: one of the updates is lost
.-> b/0 reads x = 0, which a/0 overwrites (rw)
'-- a/0 reads x = 0, which b/0 overwrites (rw)

the weakest level at which the program passes all 100 runs: snapshot-isolation

replay: COMMAND`);
});

describe('what would help is told', () => {
  test('a serializable run is the fault of the program', async () => {
    const text = formatFailure(await runCampaign(wrong, { runs: 3 }), { weakestPassing: null });
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'this run is serializable: no isolation level prevents it, the fault is in the program',
    );
    expect(text).toContain('every read saw the newest write');
    expect(text).not.toContain('null');
  });

  test('where the program fails at every level, in other runs', async () => {
    const text = formatFailure(await runCampaign(counter, { runs: 3 }), { weakestPassing: null });
    expect(text.replaceAll(/\n */g, ' ')).toContain('forbid this run, but the program fails in others at every level');
  });

  test('nothing about levels that nobody tried', async () => {
    const text = formatFailure(await runCampaign(counter, { runs: 3 }));
    expect(text).toContain('snapshot-isolation and the levels above forbid this run');
    expect(text).not.toContain('weakest');
  });
});

test('a green campaign says what it reached and warns of what it did not', async () => {
  expect(formatResult(await runCampaign(fine, { runs: 1_000 }))).toMatch(
    new RegExp(String.raw`^passed 1,000 runs at causal: the invariant held in every run
seed 1; 2 distinct states
sometimes "b saw the write"  in \d+ runs
warning: sometimes "pigs flew" held in no run; what it stands for was not tested$`),
  );
});

test('a campaign whose runs are all alike is suspicious', async () => {
  const alone = program({ sessions: { a: (session) => session.write('x', 1) } });
  expect(formatResult(await runCampaign(alone, { runs: 5 }))).toContain('warning: every run read the same values');
  expect(formatResult(await runCampaign(alone, { runs: 1 }))).not.toContain('warning');
});

test('a table of the levels', async () => {
  expect(formatLevels(await runAtEveryLevel(counter, { runs: 100, seed: 7 })).split('\n')).toEqual([
    'level               runs  violated  distinct states  first failing run',
    expect.stringMatching(/^read-committed {7}100 {8}\d\d {16}\d {18}\d/),
    expect.stringMatching(/^read-atomic/),
    expect.stringMatching(/^causal/),
    expect.stringMatching(/^prefix/),
    expect.stringMatching(/^snapshot-isolation {3}100 {9}0 {16}2 {18}-$/),
    expect.stringMatching(/^serializable/),
    'seed 7',
  ]);
});

test('a timeout names the session and its last operation, or the invariant', () => {
  expect(formatTimeout({ session: 'a', lastOperation: 'read of x' }, 10_000)).toBe(
    'session "a" did not end within 10 s; its last operation: read of x',
  );
  expect(formatTimeout({ session: null, lastOperation: 'nothing' }, 500)).toBe(
    'the invariant did not end within 0.5 s',
  );
});

describe('testProgram', () => {
  test('gives the result of a program that passes', async () => {
    expect(await testProgram(counter, { level: 'serializable', runs: 50 })).toMatchObject({ runs: 50, violations: 0 });
  });

  test('throws what a test runner takes for a failed assertion', async () => {
    await expect(testProgram(counter, { runs: 50 })).rejects.toMatchObject({
      name: 'AssertionError',
      code: 'ERR_ASSERTION',
      message: expect.stringMatching(
        /^violated in \d+ of \d+ runs? at causal: x is 1\n[^]*passes all 50 runs: snapshot-isolation/,
      ),
      result: { violations: expect.any(Number) },
    });
  });

  test('its replay does the same run again', async () => {
    const { replay = '' } = (await runCampaign(counter, { runs: 50 })).failure ?? {};
    const replayed = testProgram(counter, { replay });
    await expect(replayed).rejects.toThrow(`violated in 1 of 1 run at causal: x is 1`);
    await expect(replayed).rejects.toThrow(`replay: testProgram(..., { level: 'causal', replay: '${replay}' })`);
  });

  test('a plain definition will do', async () => {
    await expect(testProgram({ sessions: { a: (session) => session.read('x') } }, { runs: 1 })).resolves.toBeDefined();
  });

  test('throws when a session does not end', async () => {
    const stuck = program({
      sessions: {
        a: async (session) => {
          await session.read('x');
          await new Promise(() => {});
        },
      },
    });
    await expect(testProgram(stuck, { timeoutMs: 30 })).rejects.toThrow(
      'session "a" did not end within 0.03 s; its last operation: read of x',
    );
  });

  test('bad input stays bad input', async () => {
    await expect(testProgram(counter, { runs: 0 })).rejects.toMatchObject({ name: 'InputError', code: 'option/runs' });
  });
});
