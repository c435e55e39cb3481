import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { workloadNames, workloadOf } from '../../src/capture/index.ts';
import { runHere } from '../support/cli.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { linesOf } from './shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'moirai-workload-'));
const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);

afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const servers = [
  {
    engine: 'postgres',
    isolation: 'serializable',
    url: `postgres://postgres@127.0.0.1:${postgres?.port}/postgres`,
    isThere: postgres !== undefined,
  },
  {
    engine: 'mysql',
    isolation: 'repeatable read',
    url: `mysql://root@127.0.0.1:${mariadb?.port}/test`,
    isThere: mariadb !== undefined,
  },
];

describe.each(servers)('on $engine', ({ engine, isolation, url, isThere }) => {
  test.skipIf(!isThere).each(workloadNames)('%s is recorded, and its trace is at its level', async (name) => {
    const trace = join(folder, `${engine}-${name}.trace.jsonl`);
    const options = [
      '--url',
      url,
      '--clients',
      '4',
      '--seconds',
      '0.2',
      '--isolation',
      isolation,
      '--trace',
      trace,
      '--scale',
      name === 'absent-rows' ? '0.1' : '1', // MariaDB takes its time to make a table
      '--json',
    ];
    const ran = await runHere(['workload', name, ...options]);
    expect([ran.err, ran.code]).toEqual(['', 0]);
    const { committed } = JSON.parse(ran.out) as { committed: number };
    const lines = linesOf(readFileSync(trace, 'utf8'));
    const commits = lines.filter(({ op }) => op === 'commit').length;
    expect(committed).toBeGreaterThan(0);
    expect(commits).toBeGreaterThanOrEqual(committed);
    // Reading the tables and setting the level are transactions, too.
    expect(commits).toBeLessThan(committed + workloadOf(name, 0).tables.length + 12);
    const opaque = lines.filter((line) => line.opaque !== undefined).length;
    if (name !== 'tpcc') expect(opaque).toBe(0);
    const verified = await runHere(
      ['verify', trace, '--engine', engine, '--isolation', isolation, '--json'],
      {},
      { openInput: (path) => createReadStream(path) },
    );
    expect([verified.err, verified.code, verified.out.slice(0, 1_500)]).toEqual(['', 0, expect.any(String)]);
  });
});

test.each<[string, string[], string]>([
  ['a workload that is not there', ['nothing', '--url', 'postgres://localhost/x'], 'option/workload'],
  ['a URL of something else', ['tpcc', '--url', 'http://localhost/x'], 'option/url'],
  ['no time', ['tpcc', '--url', 'postgres://127.0.0.1:1/x', '--seconds', '0'], 'option/seconds'],
  ['tables of no size', ['tpcc', '--url', 'postgres://127.0.0.1:1/x', '--scale', '0'], 'option/scale'],
  ['no server', ['tpcc', '--url', 'postgres://127.0.0.1:1/x'], 'workload/connect'],
  [
    'a level that SQL lacks',
    ['tpcc', '--url', 'postgres://127.0.0.1:1/x', '--isolation', 'causal'],
    'option/isolation',
  ],
])('%s', async (_name, args, code) => {
  const { code: exit, err } = await runHere(['workload', ...args]);
  expect([exit, err]).toEqual([3, expect.stringContaining(`[${code}]`)]);
});

test.skipIf(postgres === undefined)('a server that goes away while clients are at work', async () => {
  const url = `postgres://postgres@127.0.0.1:${postgres?.port}/postgres`;
  const running = runHere(['workload', 'list-append', '--url', url, '--clients', '4', '--seconds', '60']);
  const admin = new pg.Client(url);
  await admin.connect();
  const others = 'FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()';
  const started = `SELECT count(*)::int AS clients ${others} AND query LIKE 'UPDATE%'`;
  while ((await admin.query(started)).rows[0].clients === 0) await setTimeout(20);
  await admin.query(`SELECT pg_terminate_backend(pid) ${others}`);
  await admin.end();
  const { code, err } = await running;
  expect([code, err]).toEqual([3, expect.stringContaining('[workload/server]')]);
});

test.skipIf(postgres === undefined)('an interruption ends it with the counts so far and a whole trace', async () => {
  const url = `postgres://postgres@127.0.0.1:${postgres?.port}/postgres`;
  const trace = join(folder, 'interrupted.trace.jsonl');
  const interruption = new AbortController();
  const options = ['--url', url, '--clients', '2', '--seconds', '600', '--trace', trace, '--json'];
  const running = runHere(['workload', 'list-append', ...options], {}, { interruption: interruption.signal });
  const admin = new pg.Client(url);
  await admin.connect();
  const started = `SELECT count(*)::int AS clients FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE 'UPDATE%'`;
  while ((await admin.query(started)).rows[0].clients === 0) await setTimeout(20);
  await admin.end();
  interruption.abort();
  const { code, out, err } = await running;
  expect([code, err, JSON.parse(out)]).toMatchObject([2, '', { stopped: 'interrupted', seconds: 600 }]);
  expect(readdirSync(folder).filter((name) => name.includes('lock'))).toEqual([]);
  expect(readFileSync(trace, 'utf8')).toMatch(/\n\{"moirai":"mark","time":null,"crc32":"[0-9a-f]{8}"\}\n$/);
});

test.skipIf(postgres === undefined)('an interruption while tables are made ends it at once', async () => {
  const url = `postgres://postgres@127.0.0.1:${postgres?.port}/postgres`;
  const interruption = new AbortController();
  const running = runHere(['workload', 'tpcc', '--url', url], {}, { interruption: interruption.signal });
  interruption.abort();
  expect(await running).toEqual({ code: 2, out: '', err: 'interrupted\n' });
});

test.skipIf(postgres === undefined)('a server that does not let us make tables', async () => {
  const admin = new pg.Client(`postgres://postgres@127.0.0.1:${postgres?.port}/postgres`);
  await admin.connect();
  await admin.query('CREATE ROLE reader LOGIN');
  const url = `postgres://reader@127.0.0.1:${postgres?.port}/postgres`;
  const { code, err } = await runHere(['workload', 'list-append', '--url', url]);
  await admin.query('DROP ROLE reader');
  await admin.end();
  expect([code, err]).toEqual([3, expect.stringContaining('[workload/server]')]);
});
