/** `moirai explore` in this process: verdicts, exit codes, the shape of --json, replay. */
import { describe, expect, test } from 'vitest';
import { program, type SessionHandle, sealToken, shapeOfKeys } from '../../src/program/index.ts';
import { runHere } from '../support/cli.ts';

const increment = (session: SessionHandle): Promise<void> =>
  session.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1));

const files = {
  'counter.ts': program({
    initial: { x: 0 },
    sessions: { a: increment, b: increment },
    invariant: ({ final }) => final['x'] === 2 || `x is ${final['x']}`,
  }),
  'stuck.ts': program({ sessions: { a: (s) => s.read('x'), b: () => new Promise(() => {}) } }),
  'polling.ts': program({
    sessions: {
      a: async (s) => {
        while ((await s.read('x')) === null);
      },
      b: (s) => s.write('x', 1),
    },
  }),
  'nothing.ts': {},
};

/** A token of the counter. */
function counterToken(choices: string): string {
  const shape = shapeOfKeys({ sessions: ['a', 'b'], initial: new Map([['x', 0]]) }, null);
  return sealToken(choices, { shape, steps: [] });
}

describe('moirai explore', () => {
  test('exits with 0 and a proof when all histories satisfy the invariant', async () => {
    expect(await runHere(['explore', 'counter.ts', '--level', 'serializable'], files)).toEqual({
      code: 0,
      out: 'all 2 histories satisfy the invariant at serializable: a proof for this program\n',
      err: '',
    });
  });

  test('exits with 1 and a counterexample that its command replays', async () => {
    const { code, out } = await runHere(['explore', 'counter.ts'], files);
    expect(code).toBe(1);
    expect(out).toMatch(/^1 of 3 histories violates the invariant at causal: x is 1\n/);
    expect(out).toContain('lost update: ');
    const command = /replay: moirai (?<words>.*)/.exec(out)?.groups?.['words'] ?? '';
    expect(command).toMatch(/^explore counter\.ts --level causal --replay a\/0:_\+b\/0:_\.[0-9a-z]{8}-[0-9a-z]{7}$/);
    const again = await runHere(command.split(' '), files);
    expect(again.code).toBe(1);
    expect(again.out).toContain(`replay: moirai ${command}`);
    expect(again.out).toMatch(/^still fails, by the recorded steps\n1 of 1 history violates/);
  });

  test('a history that is not at the level asked for is incompatible', async () => {
    const { replay } = JSON.parse((await runHere(['explore', 'counter.ts', '--json'], files)).out) as {
      replay: string;
    };
    const args = ['explore', 'counter.ts', '--level', 'serializable', '--replay', replay];
    const out = 'incompatible: the recorded history is not at serializable; test or explore it\n  again\n';
    expect(await runHere(args, files)).toEqual({ code: 2, out, err: '' });
    expect(JSON.parse((await runHere([...args, '--json'], files)).out)).toMatchObject({
      verdict: 'unknown',
      complete: false,
      stopped: 'replay',
      answer: 'incompatible',
    });
  });

  test('prints one JSON object, an array for all levels', async () => {
    const { code, out } = await runHere(['explore', 'counter.ts', '--json'], files);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      level: 'causal',
      histories: 3,
      violations: 1,
      verdict: 'violated',
      complete: true,
      replay: expect.stringMatching(/^a\/0:_\+b\/0:_\.[0-9a-z]{8}-[0-9a-z]{7}$/),
      anomaly: 'lost-update',
    });
    const all = JSON.parse((await runHere(['explore', 'counter.ts', '--level', 'all', '--json'], files)).out) as {
      verdict: string;
    }[];
    expect(all.map(({ verdict }) => verdict)).toEqual([
      'violated',
      'violated',
      'violated',
      'violated',
      'satisfied',
      'satisfied',
    ]);
  });

  test('tells the weakest level at which all is well', async () => {
    const { out } = await runHere(['explore', 'counter.ts', '--level', 'all'], files);
    expect(out).toContain('the weakest level at which all histories satisfy the invariant: snapshot-isolation');
  });

  test('says of levels that it did not reach that nothing is known', async () => {
    const interruption = new AbortController();
    interruption.abort();
    const { code, out } = await runHere(['explore', 'counter.ts', '--level', 'all'], files, {
      interruption: interruption.signal,
    });
    expect(code).toBe(2);
    expect(out).toContain('\nat no level are all histories known to satisfy the invariant\n');
    expect(out).toContain('\nunknown at causal: no history was judged\n');
  });

  test.each([
    [['explore', 'counter.ts', '--level', 'serializable', '--max-histories', '1'], 'stopped by --max-histories'],
    [['explore', 'stuck.ts', '--timeout', '0.05'], 'session "b" did not end in time; its last operation: nothing yet'],
    [['explore', 'polling.ts'], 'the program does not end on some path'],
  ])('exits with 2 when it cannot know: %s', async (args, why) => {
    const { code, out } = await runHere(args, files);
    expect(code).toBe(2);
    expect(out).toContain(why);
  });

  test.each([
    [['explore', 'nothing.ts'], 'program/shape'],
    [['explore', 'counter.ts', '--plans', 'all'], 'option/plans'],
    [['explore', 'counter.ts', '--replay', 'a/0:_'], 'replay/token'],
    [['explore', 'counter.ts', '--replay', counterToken('z/0:_')], 'replay/token'],
    [['explore', 'counter.ts', '--level', 'all', '--replay', 'a/0:_.00000000'], 'option/replay'],
    [['explore', 'counter.ts', '--level', 'strong'], 'level/unknown'],
    [['explore', 'counter.ts', '--max-histories', '0'], 'option/max-histories'],
  ])('exits with 3 and one line for %s', async (args, errorCode) => {
    const { code, out, err } = await runHere(args, files);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(/^[^\n]+\n$/);
    expect(err).toContain(`[${errorCode}]`);
  });
});

describe('what is shown besides', () => {
  test('an estimate, and nothing is explored', async () => {
    const asked = ['explore', 'counter.ts', '--level', 'snapshot-isolation', '--estimate'];
    const { code, out, err } = await runHere(asked, files);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(out).toMatch(
      /^snapshot-isolation: about 2 histories to expect in about [\d.]+ runs \(\+- [\d.]+ runs; 100 random probes\)\nunknown: only an estimate was asked for\n$/,
    );
    const json = JSON.parse((await runHere([...asked, '--json'], files)).out) as object;
    expect(json).toMatchObject({ level: 'snapshot-isolation', verdict: 'unknown', estimate: { probes: 100 } });
    expect(json).not.toHaveProperty('histories');
    const all = await runHere(['explore', 'counter.ts', '--level', 'all', '--estimate', '--json'], files);
    expect(JSON.parse(all.out)).toHaveLength(6);
    for (const other of ['--fail-fast', '--dot', '--checkpoint=c'])
      expect((await runHere([...asked, other], files)).err).toContain('option/estimate');
  });

  test('counterexamples as graphs', async () => {
    const { code, out } = await runHere(['explore', 'counter.ts', '--dot'], files);
    expect(code).toBe(1);
    expect(out).toMatch(/^digraph "counter\.ts: lost-update at causal: x is 1" \{\n/);
    expect(out).toContain('t0 -> t1 [label="rw x"];');
    expect((await runHere(['explore', 'counter.ts', '--mermaid'], files)).out).toContain('t0 -->|"rw x"| t1');
  });

  test('the same histories from a weaker base, in more runs', async () => {
    for (const base of ['any', 'read-committed', 'read-atomic', 'causal']) {
      const { out } = await runHere(
        ['explore', 'counter.ts', '--level', 'serializable', '--base', base, '--rerun', '--json'],
        files,
      );
      expect(JSON.parse(out)).toMatchObject({ histories: 2, runs: 3, verdict: 'satisfied' });
    }
  });

  test('the smallest prefix that fails, with a token that replays it', async () => {
    const throwing = program({
      initial: { x: 0 },
      sessions: {
        a: async (s) => {
          for (let i = 0; i < 3; i += 1) await increment(s);
        },
        b: async (s) => {
          for (let i = 0; i < 3; i += 1) if ((await s.read<number>('x')) === 2) throw new Error('two');
        },
      },
    });
    const args = ['explore', 'throwing.ts', '--fail-fast'];
    const { code, out } = await runHere(args, { 'throwing.ts': throwing });
    expect(code).toBe(1);
    expect(out).toMatch(
      /^a history of 3 transactions violates the invariant at causal, and none of fewer does: session "b" failed: Error: two\n/,
    );
    const command = /replay: moirai (?<words>.*)/.exec(out)?.groups?.['words'] ?? '';
    const again = await runHere(command.split(' '), { 'throwing.ts': throwing });
    expect(again.out).toMatch(
      /^still fails, by the recorded steps\na history of 3 transactions violates the invariant at causal \(one history was replayed\)/,
    );
    expect(again.code).toBe(1);
    expect(JSON.parse((await runHere([...args, '--json'], { 'throwing.ts': throwing })).out)).toMatchObject({
      prefix: 3,
    });
  });

  test('nothing after the first violation', async () => {
    const { code, out } = await runHere(['explore', 'counter.ts', '--fail-fast'], files);
    expect(code).toBe(1);
    expect(out).toMatch(
      /^1 of \d (history|histories) violates the invariant at causal \(the first violation ends it\): x is 1\n/,
    );
  });

  test.each([
    [['--jobs', '0'], 'option/jobs'],
    [['--jobs', '2', '--replay', 'a/0:_.00000000'], 'option/jobs'],
    [['--dot', '--json'], 'option/drawing'],
    [['--max-steps', '0'], 'option/max-steps'],
    [['--base', 'prefix'], 'option/usage'],
    [['--engine', 'postgres'], 'option/engine'],
  ])('%j is refused', async (options, code) => {
    const { code: exit, err } = await runHere(['explore', 'counter.ts', ...options], files);
    expect(exit).toBe(3);
    expect(err).toContain(`[${code}]`);
  });
});
