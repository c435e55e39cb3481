/** Signals at the built command line: the verdict so far with what was found, as text and as JSON; the second ends the process at once. */
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, build, root, runBuilt, runProcess, type SpawnOptions, UserFolder } from '../support/cli.ts';

const builtMain = join(root, 'dist/cli/main.js');

const folder = new UserFolder();
const cwd = folder.path;

beforeAll(async () => {
  folder.write(programs);
  await build();
}, 120_000);
afterAll(() => folder.remove());

/** Says `go` on standard error when so many runs were judged: that is when a test sends the signal. */
const judged = (count: number): string => `
let judged = 0;
const go = () => { if ((judged += 1) === ${count}) console.error('go'); };
const increment = (s) => s.transaction(async (t) => t.write('n', (await t.read('n')) + 1));
const four = async (s) => { for (let i = 0; i < 4; i += 1) await increment(s); };`;

const pgUrl = import.meta.resolve('pg');

/** Three sessions that each increment twice, in transactions of two statements. */
const sqlCounter = (count: number, holds: string): string => `
import pg from '${pgUrl}';
import { sqlProgram } from 'moirai';
${judged(count)}
async function connected({ connect }) {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  return client;
}
async function twice(connection) {
  const client = await connected(connection);
  for (let i = 0; i < 2; i += 1) {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT n FROM counter');
    await client.query('UPDATE counter SET n = $1', [rows[0].n + 1]);
    await client.query('COMMIT');
  }
  await client.end();
}
export default sqlProgram({
  dialect: 'postgres',
  schema: 'CREATE TABLE counter (id int PRIMARY KEY, n int); INSERT INTO counter VALUES (1, 0);',
  sessions: { a: twice, b: twice, c: twice },
  invariant: async (connection) => {
    const client = await connected(connection);
    const { rows: [{ n }] } = await client.query('SELECT n FROM counter');
    await client.end();
    go();
    return ${holds};
  },
});`;

const programs = {
  'lost.mjs': `import { program } from 'moirai';${judged(100)}
export default program({ initial: { n: 0 }, sessions: { a: four, b: four, c: four },
  invariant: ({ final }) => { go(); return final.n === 12 || 'an increment is lost'; } });`,
  'holds.mjs': `import { program } from 'moirai';${judged(100)}
export default program({ initial: { n: 0 }, sessions: { a: four, b: four, c: four },
  invariant: () => { go(); return true; } });`,
  // Interrupts its own process, so that a busy machine does not hear of it too late: there are few histories. The sleep makes the thread due to listen.
  'five.mjs': `import { program } from 'moirai';${judged(100)}
const two = async (s) => { await increment(s); await increment(s); };
const interrupt = () => {
  process.kill(process.pid, 'SIGINT');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
};
export default program({ initial: { n: 0 }, sessions: { a: two, b: two, c: increment },
  invariant: ({ final }) => {
    go();
    if (judged === 100 && process.argv.includes('--checkpoint')) interrupt();
    return final.n === 5 || 'an increment is lost'; } });`,
  // From its hundredth run on it never gives the thread back.
  'stuck.mjs': `import { program } from 'moirai';${judged(100)}
export default program({ initial: { n: 0 }, sessions: { a: four, b: four },
  invariant: ({ final }) => { go(); while (judged >= 100); return final.n === 8 || 'an increment is lost'; } });`,
  // Fails three times at once, so that a busy machine does not make it late before; then it never gives the thread back, and sleeps.
  'late.mjs': `import { program } from 'moirai';${judged(1)}
const cell = new Int32Array(new SharedArrayBuffer(4));
export default program({ initial: { n: 0 }, sessions: { a: four, b: four },
  invariant: () => { go(); while (judged > 3) Atomics.wait(cell, 0, 0, 20); return 'always'; } });`,
  // Ten million states.
  'counters.mjs': `import { namedSet, processes, protocol, range } from 'moirai/protocol';
let checked = 0;
export default protocol({ name: 'counters', parameters: { bug: 0 }, define: ({ bug }) => {
  const counter = processes(namedSet('c', 7), { start: 'RUN', variables: { n: range(0, 9) },
    steps: { RUN: { do: (self) => { self.n = (self.n + 1) % 10; } } } });
  return { processes: [counter], invariants: { 'is counted': () => {
    if ((checked += 1) === 1000) console.error('go');
    while (bug === 1 && checked > 1000);
    return true; } } };
} });`,
  'lost-sql.mjs': sqlCounter(20, "n === 6 || 'an increment is lost'"),
  'holds-sql.mjs': sqlCounter(20, 'n <= 6'),
  'stuck-sql.mjs': sqlCounter(20, "(() => { while (judged >= 20); return n === 6 || 'an increment is lost'; })()"),
  'load.mjs': `console.error('go'); await new Promise(() => {}); export default 1;`,
};

/** Sends the signals, each so long after the one before; the first when the program says `go`. */
function signalled(args: readonly string[], signals: Signals): Promise<Ended> {
  return signalledProcess([builtMain, ...args], signals);
}

type Signals = readonly (readonly [NodeJS.Signals, number])[];

function signalledProcess(args: readonly string[], signals: Signals, options: SpawnOptions = {}): Promise<Ended> {
  let err = '';
  let isSent = false;
  return runProcess(process.execPath, args, {
    ...options,
    cwd,
    onOutput: (kill, text) => {
      err += text;
      if (isSent || !err.includes('go')) return;
      isSent = true;
      let afterMs = 0;
      for (const [signal, ms] of signals) setTimeout(() => kill(signal), (afterMs += ms));
    },
  });
}

const once = [['SIGINT', 50]] as const;
const endless = ['--runs', '100000000', '--timeout', '600'];

describe.each([
  ['test', endless],
  ['explore', ['--timeout', '600', '--rerun']],
] as const)('%s', (command, options) => {
  test.concurrent('has the counterexample that was found: exit code 1', async () => {
    const { code, out } = await signalled([command, 'lost.mjs', ...options], once);
    expect(code).toBe(1);
    expect(out).toMatch(/^violated in .*\(interrupted\)|^[\d,]+ of [\d,]+ histories violate .*\(interrupted\)/);
    expect(out).toContain('an increment is lost');
    expect(out).toMatch(/\nreplay: moirai /);
  });

  test.concurrent('what found nothing is unknown: exit code 2', async () => {
    const { code, out } = await signalled([command, 'holds.mjs', ...options, '--json'], once);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ stopped: 'interrupted', verdict: 'unknown' });
  });

  // One that does, and never ends, is given up within the process: `interruption.test.ts` beside each tool.
  test.concurrent('a run that does not give the thread back is given up', async () => {
    const { code, out } = await signalled([command, 'stuck.mjs', ...options, '--json'], once);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      stopped: 'interrupted',
      message: 'an increment is lost',
      replay: expect.any(String),
    });
  });

  test.concurrent('so is a module that does not load', async () => {
    const { code, out, err } = await signalled([command, 'load.mjs'], once);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('load.mjs: interrupted before the module was loaded');
  });

  test.concurrent('a run that is late, after others that failed: what they showed, and who was late', async () => {
    const { code, out, err } = await runBuilt([command, 'late.mjs', ...options, '--timeout', '2'], { cwd });
    expect(code).toBe(1);
    expect(out).toContain('always');
    expect(out + err).toMatch(/did not end (?:within 2 s|in time)/);
  });
});

describe('explore with a checkpoint', () => {
  const counts = (text: string): object => {
    const { histories, violations, runs, verdict, complete, stopped, anomaly, message, counterexamples, marks } =
      JSON.parse(text) as Record<string, unknown>;
    return { histories, violations, runs, verdict, complete, stopped, anomaly, message, counterexamples, marks };
  };

  test('continues after Ctrl-C, on one thread and on two, to what it finds without', async () => {
    const whole = await runBuilt(['explore', 'five.mjs', '--json'], { cwd });
    expect(JSON.parse(whole.out)).toMatchObject({ complete: true, verdict: 'violated' });
    const write = ['--checkpoint', 'five.checkpoint', '--json'];
    const { code, out } = await runBuilt(['explore', 'five.mjs', '--rerun', ...write], { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ stopped: 'interrupted', complete: false });
    const resume = ['explore', 'five.mjs', '--rerun', '--resume', 'five.checkpoint', '--json'];
    for (const jobs of ['1', '2']) {
      const resumed = await runBuilt([...resume, '--jobs', jobs], { cwd });
      expect(counts(resumed.out)).toEqual(counts(whole.out));
      expect(resumed.code).toBe(1);
    }
  });

  test('and after a run that never gave the thread back', async () => {
    const stuck = ['explore', 'stuck.mjs', '--checkpoint', 'stuck.checkpoint', '--json'];
    const { out } = await signalled([...stuck, '--timeout', '600'], once);
    const { histories } = JSON.parse(out) as { histories: number };
    const resume = ['explore', 'stuck.mjs', '--resume', 'stuck.checkpoint', '--json', '--max-histories'];
    const resumed = await runBuilt([...resume, String(histories + 20)], { cwd });
    expect(JSON.parse(resumed.out)).toMatchObject({ stopped: 'histories', histories: histories + 20 });
  });
});

test('the time of all runs is a limit of its own', async () => {
  const { code, out } = await runBuilt(['test', 'lost.mjs', ...endless, '--max-time', '1'], { cwd });
  expect(code).toBe(1);
  expect(out).toMatch(/^violated in .*\(stopped by --max-time\): an increment is lost/);
});

test('every level: those that were reached, in the table and as JSON', async () => {
  const all = ['test', 'lost.mjs', '--level', 'all', ...endless];
  const { code, out } = await signalled(all, once);
  expect(code).toBe(1);
  expect(out).toMatch(/^level [^]*\ninterrupted\n/);
});

describe.each([
  ['test', ['--runs', '100000', '--timeout', '600']],
  ['explore', ['--timeout', '600']],
] as const)('%s of a SQL program', (command, options) => {
  test('has what was found', async () => {
    const { code, out, err } = await signalled([command, 'lost-sql.mjs', ...options], once);
    expect({ code, out, err }).toMatchObject({ code: 1, out: expect.stringContaining('an increment is lost') });
    expect(out).toContain('interrupted');
    expect(out).toMatch(/\nreplay: moirai /);
  });

  test('as JSON, where a run does not give the thread back', async () => {
    const { code, out } = await signalled([command, 'stuck-sql.mjs', ...options, '--json'], once);
    expect(code).toBe(1);
    expect(out).toContain('an increment is lost');
    expect(JSON.parse(out)).toMatchObject({ stopped: 'interrupted' });
  });
});

test('explore of a SQL program continues from its checkpoint after Ctrl-C', async () => {
  const explore = ['explore', 'holds-sql.mjs', '--json', '--timeout', '600'];
  const { code, out } = await signalled([...explore, '--checkpoint', 'sql.checkpoint'], once);
  expect(code).toBe(2);
  const { stopped, verdict, schedules } = JSON.parse(out) as Record<string, unknown>;
  expect({ stopped, verdict }).toEqual({ stopped: 'interrupted', verdict: 'unknown' });
  const resumed = await runBuilt([...explore, '--resume', 'sql.checkpoint', '--max-histories', '1'], { cwd });
  expect(JSON.parse(resumed.out)).toMatchObject({ stopped: 'histories', schedules });
});

describe('protocol', () => {
  const search = ['protocol', 'counters.mjs', '--no-symmetry'];

  test('says how far it came, and writes the checkpoint from which it continues', async () => {
    const { code, out } = await signalled([...search, '--checkpoint', 'search.checkpoint', '--json'], once);
    expect(code).toBe(2);
    const { states, verdict, reason } = JSON.parse(out) as Record<string, unknown>;
    expect({ verdict, reason }).toEqual({ verdict: 'unknown', reason: 'interrupted' });
    const limit = ['--states-max', String(Number(states) + 10_000), '--json'];
    const resumed = await runBuilt([...search, '--resume', 'search.checkpoint', ...limit], { cwd });
    expect(JSON.parse(resumed.out)).toMatchObject({ reason: 'states-limit' });
  });

  test('threads, random behaviours, and a step that does not end', async () => {
    for (const options of [
      ['--jobs', '2'],
      ['--simulate', '100000000'],
    ]) {
      const { code, out } = await signalled([...search, ...options, '--json'], once);
      expect({ options, code }).toEqual({ options, code: 2 });
      expect(JSON.parse(out)).toMatchObject({ verdict: 'unknown', reason: 'interrupted', complete: false });
    }
    const text = await signalled([...search, '--bug', '1'], once);
    expect(text).toMatchObject({
      code: 2,
      out: expect.stringMatching(/^counters: at least [\d,]+ distinct[^]*\nunknown: interrupted\n/),
    });
  });
});

test('threads: what they gave back', async () => {
  const { code, out } = await signalled(['explore', 'lost.mjs', '--jobs', '2', '--rerun', '--json'], once);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ stopped: 'interrupted', message: 'an increment is lost' });
});

/** Code under the watchdog that never gives the thread back, and is heard of only when the user has waited for 0.75 s. */
const busy = (endingOf: string): string => `
import { listenForInterruption } from './interruption/interruption.ts';
import { startWatchdog } from './interruption/watchdog.ts';
listenForInterruption();
const watch = startWatchdog(Infinity, () => (${endingOf}));
await watch.ready;
console.error('go');
for (;;) watch.beat();`;

/** Builds it, with the watchdog's worker beside it. @returns its path */
async function builtBusy(name: string, endingOf: string): Promise<string> {
  const cli = join(root, 'src/cli');
  const outdir = join(cwd, name);
  const common = { outdir, bundle: true, packages: 'external', format: 'esm', platform: 'node' } as const;
  await bundle({ ...common, stdin: { contents: busy(endingOf), resolveDir: cli, sourcefile: 'main.ts' } });
  await bundle({ ...common, outbase: cli, entryPoints: [join(cli, 'interruption/watchdog-worker.ts')] });
  folder.write({ [`${name}/package.json`]: '{ "type": "module" }' });
  return join(outdir, 'stdin.js');
}

describe('a second request', () => {
  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends at once what has not answered the first: %s', async (signal, code) => {
    const answers = await builtBusy('answers', `{ out: 'the answer', err: '', code: 2 }`);
    const first = await signalledProcess([answers], once);
    expect(first).toMatchObject({ code: 2, out: 'the answer' });
    // The first is answered, or the process killed, only seconds after the second.
    const both = [
      ['SIGINT', 0],
      [signal, 500],
    ] as const;
    expect(await signalledProcess([await builtBusy('silent', 'null')], both)).toMatchObject({
      code,
      signal: null,
      out: '',
      err: 'go\n',
    });
  });

  test('is heard while the first is answered for too long', async () => {
    const slow = await builtBusy('slow', `(() => { process.stderr.write('answering'); for (;;); })()`);
    let secondMs = Infinity;
    const ended = await runProcess(process.execPath, [slow], {
      onOutput: (kill, text) => {
        if (text.includes('go')) kill('SIGINT');
        if (!text.includes('answering')) return;
        secondMs = performance.now();
        setTimeout(() => kill('SIGINT'), 250);
      },
    });
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL', out: '' });
    expect(performance.now() - secondMs).toBeLessThan(4_500);
  });

  /** After each signal its clock is a second ahead: two at once are two requests. A command that reads standard input says `go` when it listens. */
  const ahead = `
let ms = 0, listens = false;
const now = performance.now.bind(performance), { on } = process;
performance.now = () => now() + ms;
process.on = (name, listener) => {
  if (name === 'SIGINT' && !listens) {
    listens = true;
    for (const signal of ['SIGINT', 'SIGTERM']) on.call(process, signal, () => (ms += 1_000));
    if (process.argv.includes('-')) setImmediate(() => console.error('go'));
  }
  return on.call(process, name, listener);
};`;
  const atOnce = [
    ['SIGINT', 0],
    ['SIGTERM', 0],
  ] as const;

  test.each([
    [['test', 'holds.mjs', ...endless]],
    [['explore', 'holds.mjs']],
    [['check', '-']],
    [['verify', '-', '--engine', 'postgres', '--isolation', 'serializable']],
    [['protocol', 'counters.mjs']],
  ])('ends %j at once, and it prints nothing', async (args) => {
    folder.write({ 'ahead.mjs': ahead });
    const preload = ['--import', new URL('ahead.mjs', `file://${cwd}/`).href];
    const { code, out, err } = await signalledProcess([...preload, builtMain, ...args], atOnce, { endsInput: false });
    expect({ out, err: err.replaceAll(/^(?:go|.*, .*)\n/gm, '') }).toEqual({ out: '', err: '' });
    // Of two signals at once either may come first.
    expect([130, 143]).toContain(code);
  });
});
