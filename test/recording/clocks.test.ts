/** Recorders whose machines have other times: two processes with a clock that is moved, one that all follow, and their traces together. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveClock } from '../../src/capture/index.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { build, root, runBuilt, runHere } from '../support/cli.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { freePort, startedOrSkipped } from '../support/server-process.ts';

const server = await startedOrSkipped(startPostgres);
const folder = mkdtempSync(join(tmpdir(), 'moirai-clocks-'));

beforeAll(build, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Recorder {
  readonly port: number;
  readonly said: () => string;
  /** Its monotonic clock advances by half a minute, as it does where that time passes. */
  readonly passTime: () => void;
  readonly end: () => Promise<string>;
}

/** A process whose monotonic clock is `seconds` ahead, and runs faster by `rate`. */
async function recorder(name: string, seconds: number, rate: number, ...options: string[]): Promise<Recorder> {
  const port = await freePort();
  const shift = join(folder, `${name}.mjs`);
  writeFileSync(
    shift,
    `const real = process.hrtime; const from = real();
    let passed = 0; process.on('SIGUSR2', () => { passed += 30e9; });
    process.hrtime = () => {
      const [s, n] = real(from); const past = (s * 1e9 + n) * ${1 + rate};
      const all = from[0] * 1e9 + from[1] + ${seconds}e9 + past + passed;
      return [Math.floor(all / 1e9), Math.round(all % 1e9)];
    };`,
  );
  const address = ['--listen', String(port), '--upstream', `postgres://127.0.0.1:${server?.port}`];
  const args = ['--import', shift, join(root, 'dist/cli/main.js'), 'record', ...address, '--out', `${name}.jsonl`];
  const child: ChildProcess = spawn(process.execPath, [...args, ...options], { cwd: folder });
  let err = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(err)));
  await expect.poll(() => err).toContain('clients connect to');
  return {
    port,
    said: () => err,
    passTime: () => void child.kill('SIGUSR2'),
    end: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

async function connected(port: number): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await client.connect();
  return client;
}

/** The one writes through its recorder, the other reads through its own, and the other way round. */
async function takeTurns(ports: readonly number[]): Promise<void> {
  const clients = await Promise.all(ports.map(connected));
  await clients[0]?.query('DROP TABLE IF EXISTS turns');
  await clients[0]?.query('CREATE TABLE turns (id int PRIMARY KEY, n int)');
  await clients[0]?.query('INSERT INTO turns VALUES (1, 0)');
  for (let i = 1; i <= 100; i += 1) {
    await clients[i % 2]?.query('UPDATE turns SET n = $1 WHERE id = 1', [i]);
    await clients[(i + 1) % 2]?.query('SELECT n FROM turns WHERE id = 1');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const client of clients) await client.end();
}

const claim = ['--engine', 'postgres', '--isolation', 'read committed', '--json'];

interface Found {
  readonly verdict: string;
  readonly operations: number;
  readonly deduced: number;
  readonly cut: number | null;
}

async function verifiedTogether(names: readonly string[]): Promise<Found> {
  const { out } = await runBuilt(['verify', ...names.map((name) => join(folder, `${name}.jsonl`)), ...claim]);
  return JSON.parse(out) as Found;
}

describe.skipIf(server === undefined)('two recorders', () => {
  test('with clocks seconds apart that follow one: nothing is found, much is deduced', async () => {
    const clock = await serveClock('127.0.0.1', 0, monotonicNanoseconds);
    const source = ['--clock-source', `127.0.0.1:${clock.port}`];
    const recorders = [
      await recorder('ahead', 5, 0.00005, ...source),
      await recorder('behind', -3, -0.00005, ...source),
    ];
    await takeTurns(recorders.map(({ port }) => port));
    for (const { end } of recorders) expect(await end()).not.toContain('says nothing');
    clock.close();
    const found = await verifiedTogether(['ahead', 'behind']);
    expect(found).toMatchObject({ verdict: 'satisfied', cut: null });
    expect(found.operations).toBeGreaterThan(400);
    expect(found.deduced).toBeGreaterThan(100);
  });

  test('that follow none: what comes first is not what was first', async () => {
    const recorders = [await recorder('far', 5, 0), await recorder('near', 0, 0)];
    await takeTurns(recorders.map(({ port }) => port));
    for (const { end } of recorders) await end();
    expect((await verifiedTogether(['far', 'near'])).verdict).toBe('violated');
  });

  test('of which one loses the clock: the trace says so', async () => {
    const clock = await serveClock('127.0.0.1', 0, monotonicNanoseconds);
    const { port, said, passTime, end } = await recorder('lost', 1, 0, '--clock-source', `127.0.0.1:${clock.port}`);
    clock.close();
    const client = await connected(port);
    passTime();
    while (!said().includes('says nothing')) {
      await client.query('SELECT 1 FROM pg_class LIMIT 1');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await client.query('CREATE TABLE IF NOT EXISTS lost (id int PRIMARY KEY)');
    await client.query('SELECT id FROM lost WHERE id = 1');
    await client.end();
    expect(await end()).toContain('the clock that is followed says nothing');
    const { code, err } = await runBuilt(['verify', join(folder, 'lost.jsonl'), ...claim]);
    expect([code, err]).toEqual([3, expect.stringContaining('[trace/clock]')]);
    const [, error = ''] = /give --clock-error (\d+)/.exec(err) ?? [];
    expect((await runBuilt(['verify', join(folder, 'lost.jsonl'), ...claim, '--clock-error', error])).code).toBe(0);
  });
});

const lineOf = (session: string, value: number, op: 'read' | 'write', start: number): string =>
  ['op', 'commit']
    .map((part) => {
      const head = `{"session":"${session}","transaction":"${session}/${start}"`;
      const rows = part === 'op' ? `"op":"${op}","${op}s":[["x",${value}]]` : '"op":"commit"';
      return `${head},${rows},"start":${start},"end":${start + 1}}\n`;
    })
    .join('');

test('traces of several files: sessions of one name are two, what comes later in another file is waited for', async () => {
  const header = '{"moirai":"trace","version":1,"marks":true}\n';
  const end = '{"moirai":"mark","time":null}\n';
  const files = {
    'a.jsonl': `${header}${lineOf('s', 1, 'write', 1)}${lineOf('s', 2, 'write', 9)}${end}`,
    'b.jsonl': `${header}${lineOf('s', 1, 'read', 4)}${lineOf('s', 2, 'read', 12)}${end}`,
    'stale.jsonl': `${header}${lineOf('s', 1, 'read', 12)}${end}`,
    'cut.jsonl': `${header}${lineOf('s', 2, 'read', 12)}{"moirai":"mark","time":13}\n{"ses`,
    'other.jsonl': `${header}{"op":"commit","session":"s","transaction":"t","start":1,"end":2}\n`,
  };
  const verified = (...names: string[]): Promise<{ code: number | null; out: string; err: string }> =>
    runHere(['verify', ...names, ...claim], files);
  const found = await verified('a.jsonl', 'b.jsonl');
  expect([found.code, JSON.parse(found.out)]).toMatchObject([0, { operations: 8, transactions: 4, cut: null }]);
  expect((await verified('a.jsonl', 'stale.jsonl')).code).toBe(1);
  const cut = await verified('a.jsonl', 'cut.jsonl');
  expect([cut.code, JSON.parse(cut.out)]).toMatchObject([2, { operations: 6, verdict: 'unknown' }]);
  expect((JSON.parse(cut.out) as Found).cut).not.toBeNull();
  expect((await verified('a.jsonl', 'other.jsonl')).err).toContain('[trace/merge]');
});

test.each([
  ['nothing', 'clock/source'],
  ['127.0.0.1:1', 'clock/source'],
])('a clock at %s', async (source, code) => {
  const ran = await runHere([
    'record',
    '--upstream',
    'postgres://127.0.0.1:1',
    '--out',
    join(folder, 'x'),
    '--clock-source',
    source,
  ]);
  expect([ran.code, ran.err]).toEqual([3, expect.stringContaining(`[${code}]`)]);
});
