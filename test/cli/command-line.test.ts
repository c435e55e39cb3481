/** Commands in this process: what they print, their exit codes, the shapes of --json. */
import { describe, expect, test } from 'vitest';
import { program, type SessionHandle } from '../../src/program/index.ts';
import { runHere } from '../support/cli.ts';

const increment = (session: SessionHandle): Promise<void> =>
  session.transaction(async (t) => t.write('x', (await t.read<number>('x')) + 1));

const counter = program({
  initial: { x: 0 },
  sessions: { a: increment, b: increment },
  invariant: ({ final, sometimes }) => {
    sometimes('both counted', final['x'] === 2);
    return final['x'] === 2 || `x is ${final['x']}`;
  },
});
const green = program({ sessions: { a: (session) => session.write('x', 1), b: (session) => session.read('x') } });
const stuck = program({
  sessions: {
    quick: (session) => session.read('x'),
    slow: async (session) => {
      await session.read('y');
      await new Promise(() => {});
    },
  },
});
const files = {
  'counter.ts': counter,
  "it's a counter.ts": counter,
  'green.ts': green,
  'stuck.ts': stuck,
  'lost-update.history': 'r x _, w x 1\nr x _, w x 2',
  'serial.jsonl':
    '{"session":"a","operations":[["w","x",1]],"id":"first","start":1,"end":2}\n{"session":"b","operations":[["r","x",1]],"start":3,"end":4}\n',
  'truncated.jsonl': '{"session":"a","operations":[["w","x",1]]}\n{"session":"a","operations":[["r","x"',
  'empty.history': '# nothing\n',
  'latin.history': new Uint8Array([0xff, 0x20, 0x78]),
};

describe('moirai test', () => {
  test('exits with 0 when no run fails', async () => {
    const { code, out, err } = await runHere(['test', 'green.ts'], files);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const scope = 'the program has no invariant: only errors of its sessions were looked for';
    expect(out).toBe(`passed 1,000 runs at causal: no run failed\n${scope}\nseed 1; 2 distinct states\n`);
  });

  test('exits with 1 when a run fails, and says at which level it would not', async () => {
    const { code, out, err } = await runHere(['test', 'counter.ts', '--runs', '50'], files);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toMatch(/^violated in \d+ of 50 runs at causal: x is 1\nseed 1; /);
    expect(out).toContain('the weakest level at which the program passes all 50 runs: snapshot-isolation');
  });

  test('exits with 2 when a session does not end, naming it and its last operation', async () => {
    expect(await runHere(['test', 'stuck.ts', '--timeout', '0.05'], files)).toEqual({
      code: 2,
      out: '',
      err: 'session "slow" did not end within 0.05 s; its last operation: read of y\n',
    });
  });

  test.concurrent('exits with 2 when the module does not load in time', async () => {
    const loadProgram = (): Promise<never> => new Promise<never>(() => {});
    const args = ['test', 'late.ts', '--timeout', '5'];
    const [text, json] = await Promise.all([
      runHere(args, files, { loadProgram }),
      runHere([...args, '--json'], files, { loadProgram }),
    ]);
    expect(text).toEqual({ code: 2, out: '', err: 'late.ts: the module did not load within 5 s\n' });
    const gaps = ['the module did not load within 5 s'];
    expect({ code: json.code, json: JSON.parse(json.out) as unknown }).toEqual({
      code: 2,
      json: { file: 'late.ts', verdict: 'unknown', gaps, assumed: [] },
    });
  });

  test.concurrent.each(['protocol', 'analyze'])('so does %s', async (command) => {
    const loadDefault = (): Promise<never> => new Promise<never>(() => {});
    const { code, out, err } = await runHere([command, 'late.ts', '--json'], files, { loadDefault });
    expect({ code, err }).toEqual({ code: 2, err: 'late.ts: the module did not load within 5 s\n' });
    const gaps = ['the module did not load within 5 s'];
    expect(JSON.parse(out)).toEqual({ file: 'late.ts', verdict: 'unknown', gaps, assumed: [] });
  });

  test('protocol is interrupted before its module is loaded: 2', async () => {
    const interruption = new AbortController();
    const changes = { interruption: interruption.signal, loadDefault: () => new Promise<never>(() => {}) };
    const running = runHere(['protocol', 'late.ts'], files, changes);
    interruption.abort();
    const err = 'late.ts: interrupted before the module was loaded\n';
    expect(await running).toEqual({ code: 2, out: '', err });
  });

  test('exits with 4 when moirai itself fails, with the stack only on request', async () => {
    const loadProgram = (): Promise<never> => Promise.reject(new TypeError('a bug'));
    const { code, err } = await runHere(['test', 'x.ts'], files, { loadProgram });
    expect({ code, err }).toEqual({
      code: 4,
      err: 'moirai failed, which is a bug in it: TypeError: a bug; --debug for the stack\n',
    });
    const debugged = await runHere(['test', 'x.ts', '--debug'], files, { loadProgram });
    expect(debugged.err).toMatch(/^moirai failed[^\n]*\nTypeError: a bug\n +at /);
  });

  test('the replay command does exactly that run, whatever the file is called', async () => {
    const first = await runHere(
      [
        'test',
        "it's a counter.ts",
        '--abort-rate',
        '0.25',
        '--conflicts',
        'retry',
        '--timeout',
        '5',
        '--strategy',
        'older',
      ],
      files,
    );
    const command = /^replay: (?<command>.*)$/m.exec(first.out)?.groups?.['command'] ?? '';
    expect(command).toMatch(
      /^moirai test 'it'\\''s a counter\.ts' --level causal --conflicts retry --abort-rate 0\.25 --timeout 5 --replay 2\.\w*\.\w{8}-\w{7}$/,
    );
    const words = command.replace(String.raw`'it'\''s a counter.ts'`, 'FILE').split(' ').slice(1);
    const again = await runHere(
      words.map((word) => (word === 'FILE' ? "it's a counter.ts" : word)),
      files,
    );
    expect(again.code).toBe(1);
    expect(again.out).toMatch(/^still fails, by the recorded steps\nviolated in 1 of 1 run at causal: x is 1\n/);
    expect(sessionsOf(again.out)).toBe(sessionsOf(first.out));
    expect(again.out).toContain(`replay: ${command}\n`);
  });

  test('started by npx, it says so in the replay command', async () => {
    const { out } = await runHere(['test', 'counter.ts'], files, { env: { npm_command: 'exec' } });
    expect(out).toMatch(/^replay: npx moirai test counter\.ts --level causal --replay /m);
  });

  test('the same seed prints the same, another seed another', async () => {
    const run = async (seed: string): Promise<string> =>
      (await runHere(['test', 'counter.ts', '--seed', seed], files)).out;
    expect(await run('7')).toBe(await run('7'));
    expect(await run('7')).toContain('seed 7;');
    expect(await run('-8')).not.toBe(await run('7'));
  });

  test('--json prints one object, with these fields', async () => {
    const { code, out, err } = await runHere(['test', 'counter.ts', '--runs', '50', '--json'], files);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(out)).toEqual({
      level: 'causal',
      runs: 50,
      violations: expect.any(Number),
      distinctStates: expect.any(Number),
      seed: 1,
      replay: expect.stringMatching(/^2\./),
      anomaly: 'lost-update',
      message: 'x is 1',
      firstFailingRun: 1,
      olderReads: 1,
      forbiddenBy: 'snapshot-isolation',
      cycle: [
        { from: 'b/0', to: 'a/0', relation: 'rw', key: 'x' },
        { from: 'a/0', to: 'b/0', relation: 'rw', key: 'x' },
      ],
      weakestPassing: 'snapshot-isolation',
      verdict: 'violated',
      gaps: [],
      assumed: [],
      answer: null,
      answerText: null,
      command: expect.stringMatching(/^moirai test counter\.ts --level causal --replay 2\./),
      marks: { 'both counted': expect.any(Number) },
      timeout: null,
      stopped: null,
      report: expect.objectContaining({ heading: 'moirai test counter.ts' }),
      history: [
        { moirai: 'history', version: 1, transactions: 2, initial: { x: 0 }, sessions: ['a', 'b'] },
        {
          session: 'b',
          operations: [
            ['r', 'x', 0, null],
            ['w', 'x', 1],
          ],
        },
        {
          session: 'a',
          operations: [
            ['r', 'x', 0, null],
            ['w', 'x', 1],
          ],
        },
      ],
    });
  });

  test('--json of a program that passes has nulls where there is nothing', async () => {
    const { code, out } = await runHere(['test', 'green.ts', '--json'], files);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      violations: 0,
      replay: null,
      anomaly: null,
      message: null,
      command: null,
      history: null,
    });
  });

  test('--json of a timeout is an object too; the line is on standard error', async () => {
    const { code, out, err } = await runHere(['test', 'stuck.ts', '--timeout', '0.05', '--json'], files);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ runs: 0, timeout: { session: 'slow', lastOperation: 'read of y' } });
    expect(err).toBe('session "slow" did not end within 0.05 s; its last operation: read of y\n');
  });

  test('--level all is a table, and an array under --json', async () => {
    const { code, out } = await runHere(['test', 'counter.ts', '--level', 'all', '--runs', '50', '--seed', '3'], files);
    expect(code).toBe(1);
    expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual(
      'level,read-committed,read-atomic,causal,prefix,snapshot-isolation,serializable,seed,,to,'.split(','),
    );
    expect(out).toContain('to see a failing run: moirai test counter.ts --level prefix --runs 50 --seed 3\n');
    const json = await runHere(['test', 'counter.ts', '--level', 'all', '--runs', '50', '--json'], files);
    expect(json.code).toBe(1);
    expect((JSON.parse(json.out) as { violations: number }[]).map(({ violations }) => violations > 0)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect((await runHere(['test', 'green.ts', '--level', 'all'], files)).code).toBe(0);
  });

  test('colour is for terminals, and what is printed is the same', async () => {
    const plain = (await runHere(['test', 'counter.ts'], files)).out;
    const coloured = (await runHere(['test', 'counter.ts'], files, { columns: 80 })).out;
    // eslint-disable-next-line no-control-regex
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
    expect(coloured).not.toBe(plain);
    const off = [
      runHere(['test', 'counter.ts', '--no-color'], files, { columns: 80 }),
      runHere(['test', 'counter.ts'], files, { columns: 80, env: { NO_COLOR: '1' } }),
    ];
    expect((await Promise.all(off)).map(({ out }) => out)).toEqual([plain, plain]);
    expect((await runHere(['test', 'counter.ts'], files, { env: { FORCE_COLOR: '1' } })).out).toBe(coloured);
  });
});

describe('moirai check', () => {
  test('names the strongest level and shows the evidence', async () => {
    const { code, out } = await runHere(['check', 'lost-update.history'], files);
    expect(code).toBe(0);
    expect(out).toBe(`lost-update.history: 2 transactions, 4 operations
read-uncommitted     satisfied
read-committed       satisfied
read-atomic          satisfied
causal               satisfied
prefix               satisfied
snapshot-isolation   violated
serializable         violated
strict-serializable  violated
strongest level: prefix
assumed: the file has no end mark: it is whole

0                            1
===========================  ===========================
0/0 committed -------------
read x = null  from initial
write x = 1
                             1/0 committed -------------
                             read x = null  from initial
                             write x = 2

lost update: two transactions write a key that one of them read before the other
  wrote it: one of the updates is lost
.-> 0/0 reads x = null, which 1/0 overwrites (rw)
'-- 1/0 reads x = null, which 0/0 overwrites (rw)
`);
  });

  test.each([
    ['satisfied', 'lost-update.history', 'prefix', 0],
    ['violated', 'lost-update.history', 'snapshot-isolation', 1],
    ['unknown', '-', 'strict-serializable', 2],
    ['satisfied with times', 'serial.jsonl', 'strict-serializable', 0],
  ])('a level that is asked for and %s', async (_name, file, level, code) => {
    expect((await runHere(['check', file, '--level', level], { ...files, '-': 'w x 1' })).code).toBe(code);
  });

  test('one file of several that violates is enough', async () => {
    const { code, out } = await runHere(
      ['check', 'serial.jsonl', 'lost-update.history', '--level', 'serializable'],
      files,
    );
    expect(code).toBe(1);
    expect(out).toContain('serial.jsonl: 2 transactions, 2 operations\n');
    expect(out).toContain('\n\nlost-update.history: ');
  });

  test('--json prints the shape of the design', async () => {
    const { out } = await runHere(['check', 'lost-update.history', '--json'], files);
    expect(JSON.parse(out)).toEqual({
      report: expect.objectContaining({ heading: 'moirai check lost-update.history' }),
      file: 'lost-update.history',
      transactions: 2,
      operations: 4,
      levels: {
        'read-uncommitted': 'satisfied',
        'read-committed': 'satisfied',
        'read-atomic': 'satisfied',
        causal: 'satisfied',
        prefix: 'satisfied',
        'snapshot-isolation': 'violated',
        serializable: 'violated',
        'strict-serializable': 'violated',
      },
      strongest: 'prefix',
      unknown: {},
      violations: [
        {
          level: 'snapshot-isolation',
          anomaly: 'lost-update',
          transactions: ['0/0', '1/0'],
          cycle: [
            { from: '0/0', to: '1/0', relation: 'rw', key: 'x' },
            { from: '1/0', to: '0/0', relation: 'rw', key: 'x' },
          ],
        },
      ],
      assumed: ['the file has no end mark: it is whole'],
    });
    const several = await runHere(['check', 'lost-update.history', 'serial.jsonl', '--json'], files);
    expect((JSON.parse(several.out) as { strongest: string }[]).map(({ strongest }) => strongest)).toEqual([
      'prefix',
      'strict-serializable',
    ]);
  });

  test('JSON of repeated values has the cycle that the text shows, and the writers that it assumes', async () => {
    const repeated = 'w x 1 | w x 1 | r y _, w x 2\nr x 1, w y 2';
    const { out } = await runHere(['check', '-', '--json'], { '-': repeated });
    expect((JSON.parse(out) as { violations: unknown }).violations).toEqual([
      {
        level: 'serializable',
        anomaly: 'write-skew',
        transactions: ['0/2', '1/0'],
        cycle: [
          { from: '0/2', to: '1/0', relation: 'rw', key: 'y' },
          { from: '1/0', to: '0/2', relation: 'rw', key: 'x' },
        ],
        choices: 2,
        writers: [{ transaction: '1/0', operation: 0, key: 'x', value: 1, writer: '0/1' }],
      },
    ]);
    const { out: text } = await runHere(['check', '-'], { '-': repeated });
    expect(text).toContain('each choice of writers is ruled out');
    expect(text).toMatch(
      /0\/2 reads y = null, which 1\/0 overwrites \(rw\)\n.*1\/0 reads x = 1, which 0\/2 overwrites/,
    );
  });

  test('of a long history only the transactions of the evidence are shown', async () => {
    const long = `r x _, w x 1\nr x _, w x 2\n${Array.from({ length: 20 }, (_, i) => `w y ${i}`).join(' | ')}`;
    const { out } = await runHere(['check', '-'], { '-': long });
    expect(out).toContain('22 transactions');
    expect(out).not.toContain('write y');
  });
});

describe('bad input is one line on standard error and exit code 3', () => {
  test.each([
    [
      'a level that does not exist',
      ['test', 'green.ts', '--level', 'cusal'],
      /^unknown isolation level "cusal" \(did you mean causal\?\); levels: .* \[level\/unknown\]$/,
    ],
    ['a level by its initials', ['test', 'green.ts', '--level', 'SI'], /did you mean snapshot-isolation\?/],
    [
      'no runs',
      ['test', 'green.ts', '--runs', '0'],
      /^--runs should be a whole number of at least 1, not "0" \[option\/runs\]$/,
    ],
    ['runs that are no number', ['test', 'green.ts', '--runs', '1e3'], /\[option\/runs\]$/],
    [
      'a seed that is no number',
      ['test', 'green.ts', '--seed', 'x'],
      /^--seed should be a whole number, not "x" \[option\/seed\]$/,
    ],
    ['an abort rate of more than all', ['test', 'green.ts', '--abort-rate', '2'], /\[option\/abort-rate\]$/],
    ['an abort rate of all', ['test', 'green.ts', '--abort-rate', '1'], /\[option\/abort-rate\]$/],
    ['no time for all runs', ['test', 'green.ts', '--max-time', '0'], /^--max-time .* \[option\/max-time\]$/],
    ['no time', ['test', 'green.ts', '--timeout', '0'], /\[option\/timeout\]$/],
    [
      'a strategy that does not exist',
      ['test', 'green.ts', '--strategy', 'newest'],
      /one of uniform, older, .* \[option\/strategy\]$/,
    ],
    ['a conflict mode that does not exist', ['test', 'green.ts', '--conflicts', 'ignore'], /\[option\/conflicts\]$/],
    ['a token that is none', ['test', 'green.ts', '--replay', '!'], /\[replay\/token\]$/],
    [
      'a token of an older version',
      ['test', 'green.ts', '--replay', '1.101.abcd1234'],
      /version of tokens \[replay\/token\]$/,
    ],
    [
      'a replay at all levels',
      ['test', 'green.ts', '--replay', '2..00000000', '--level', 'all'],
      /\[option\/replay\]$/,
    ],
    [
      'an unknown option, with a suggestion',
      ['test', 'green.ts', '--rusn', '3'],
      /^unknown option '--rusn' \(Did you mean --runs\?\) \[option\/usage\]$/,
    ],
    [
      'an unknown command, with a suggestion',
      ['tset', 'x'],
      /^unknown command 'tset' \(Did you mean test\?\) \[option\/usage\]$/,
    ],
    ['a missing argument', ['test'], /missing required argument 'file' \[option\/usage\]$/],
    ['too many arguments', ['test', 'a', 'b'], /\[option\/usage\]$/],
    ['a history that is not there', ['check', 'nowhere'], /^nowhere: there is no such file \[history\/missing-file\]$/],
    ['a history without transactions', ['check', 'empty.history'], /^empty\.history: .* \[history\/empty\]$/],
    ['bytes that are no text', ['check', 'latin.history'], /^latin\.history: .* \[history\/encoding\]$/],
    ['a level to check that does not exist', ['check', 'serial.jsonl', '--level', 'x'], /\[level\/unknown\]$/],
  ])('%s', async (_name, args, line) => {
    const { code, out, err } = await runHere(args, files);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err.endsWith('\n')).toBe(true);
    expect(err.trimEnd()).toMatch(line);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  test('an error of the program keeps its place in one line', async () => {
    const nan = program({ sessions: { a: async (session) => [await session.write('x', Number.NaN)] } });
    const { code, err } = await runHere(['test', 'nan.ts'], { 'nan.ts': nan });
    expect(code).toBe(3);
    expect(err).toMatch(
      /^test\/cli\/command-line\.test\.ts:\d+:\d+: write of x: NaN is not a value that JSON can carry \[history\/value\]\n$/,
    );
  });
});

test('help goes to standard output and is no error', async () => {
  for (const args of [[], ['--help'], ['test', '--help'], ['check', '-h'], ['help', 'demo'], ['help'], ['-h']]) {
    const { code, out, err } = await runHere(args, files);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Usage: moirai/);
  }
});

test.each([
  ['test', 'Usage: moirai test '],
  ['serve', 'Usage: moirai serve '],
])('help %s is the help of that command', async (command, usage) => {
  const { out } = await runHere(['help', command], files);
  expect(out.startsWith(usage)).toBe(true);
  expect(out).toBe((await runHere([command, '-h'], files)).out);
});

test('help of a command that does not exist names the one that is meant', async () => {
  const { code, out, err } = await runHere(['help', 'chek'], files);
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toBe('unknown command "chek": did you mean "check"? [option/usage]\n');
});

test('-v is the version', async () => {
  const long = await runHere(['--version'], files);
  expect(long).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(await runHere(['-v'], files)).toEqual(long);
});

test.each([
  ['serializeable', 'serializable'],
  ['snapshot', 'snapshot-isolation'],
  ['read-commited', 'read-committed'],
  ['casual', 'causal'],
])('the level %s: did you mean %s?', async (typed, meant) => {
  const { code, err } = await runHere(['test', 'green.ts', '--level', typed], files);
  expect(code).toBe(3);
  expect(err).toContain(`unknown isolation level "${typed}" (did you mean ${meant}?); levels: `);
});

describe('moirai doctor', () => {
  test('names what is installed and, of what is not, what it is for', async () => {
    const { code, out } = await runHere(['doctor'], files, { git: async () => null });
    expect(code).toBe(0);
    expect(out).toMatch(/^moirai \d+\.\d+\.\d+, Node\.js \d+\.\d+\.\d+, \w+ \w+, \d+ processors\n/);
    expect(out).toMatch(/^found {3}pg 8\.\d+\.\d+ +for workload /m);
    expect(out).toMatch(/^missing git +for analyze --changed; to have it: install git$/m);
  });

  test('--json: one object', async () => {
    const { out } = await runHere(['doctor', '--json'], files, { git: async () => 'git version 2.39.5\n' });
    const { node, packages } = JSON.parse(out) as { node: string; packages: { name: string; version: string }[] };
    expect(node).toBe(process.versions.node);
    expect(packages).toContainEqual({ name: 'git', version: '2.39.5', for: 'analyze --changed' });
  });
});

function sessionsOf(text: string): string {
  return text.split('\n\n')[1] ?? '';
}
