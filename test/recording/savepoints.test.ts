/** Transactions with savepoints on real servers, many at once, recorded and verified with the claim that is right: no violation. */
import mysql2 from 'mysql2';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookMysql2, hookPg } from '../../src/capture/index.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { seededRandom } from '../../src/verify/verify.test-support.ts';
import { startInnodbServers, stopServers } from '../support/innodb-servers.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { newTrace, type Random, type RecordedTrace, type Run } from './random-statements.ts';

/** MOIRAI_HEAVY=1: longer runs. */
const milliseconds = process.env['MOIRAI_HEAVY'] === '1' ? 30_000 : 500;
const clients = 6;
const transactionsMin = 10;

/** What one client does until the time is over, and some transactions are. What fails is rolled back, to a savepoint where there is one. */
async function work(run: Run, seed: number, begin: string, until: number): Promise<void> {
  const random = seededRandom(seed);
  let value = seed * 1_000_000;
  for (let done = 0; done < transactionsMin || monotonicNanoseconds() < until; done += 1) {
    let savepoints: string[] = [];
    await run(begin);
    for (let step = 2 + random(6); step > 0; step -= 1) {
      value += 1;
      const { sql, after } = nextStep(random, savepoints, value);
      try {
        await run(sql);
        savepoints = after;
      } catch {
        const savepoint = savepoints.at(-1);
        const isBack = savepoint !== undefined && (await succeeds(run, `ROLLBACK TO SAVEPOINT ${savepoint}`));
        if (!isBack) break;
      }
    }
    await succeeds(run, random(5) === 0 ? 'ROLLBACK' : 'COMMIT');
  }
}

function nextStep(
  random: Random,
  savepoints: readonly string[],
  value: number,
): { readonly sql: string; readonly after: string[] } {
  const id = 1 + random(4);
  const other = 1 + random(4);
  const at = random(Math.max(1, savepoints.length));
  const known = savepoints[at];
  const after = [...savepoints];
  switch (random(known === undefined ? 7 : 10)) {
    case 0:
    case 1:
      return { sql: `SELECT id, v FROM t WHERE id IN (${id}, ${other})`, after };
    case 2:
      return { sql: `SELECT id, v FROM t WHERE id = ${random(2) === 0 ? id : 4 + id} FOR UPDATE`, after };
    case 3:
    case 4:
      return { sql: `UPDATE t SET v = ${value} WHERE id = ${id}`, after };
    case 5:
      return random(2) === 0
        ? { sql: `DELETE FROM t WHERE id = ${4 + id}`, after }
        : { sql: `INSERT INTO t (id, v) VALUES (${4 + id}, ${value})`, after };
    case 6: {
      const name = `s${savepoints.length}`;
      return { sql: `SAVEPOINT ${name}`, after: [...savepoints, name] };
    }
    case 7:
      return { sql: `RELEASE SAVEPOINT ${known}`, after: savepoints.slice(0, at) };
    default:
      return { sql: `ROLLBACK TO SAVEPOINT ${known}`, after: savepoints.slice(0, at + 1) };
  }
}

async function succeeds(run: Run, sql: string): Promise<boolean> {
  try {
    await run(sql);
    return true;
  } catch {
    return false;
  }
}

function expectRight({ text, verified }: RecordedTrace, engine: string, level: string): void {
  for (const op of ['savepoint', 'rollback-to', 'release']) expect(text()).toContain(`"op":"${op}"`);
  const { counts, violations } = verified(engine, level);
  expect(violations.map(({ reason, smallest }) => [reason, smallest])).toEqual([]);
  expect(counts.transactions).toBeGreaterThan(20);
  expect(counts.skipped).toBe(0);
}

/** By somebody who is not recorded: what a definition leaves of a table is not known. */
const setUp = [
  'DROP TABLE IF EXISTS t',
  'CREATE TABLE t (id int PRIMARY KEY, v int)',
  'INSERT INTO t (id, v) VALUES (1, 0), (2, 0), (3, 0), (4, 0)',
];
const until = (): number => monotonicNanoseconds() + milliseconds * 1e6;

const postgres = await startedOrSkipped(startPostgres);

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  beforeAll(() => loadParser());
  afterAll(() => postgres?.stop());

  test.each(['read committed', 'repeatable read', 'serializable'])('%s', async (level) => {
    const server = { host: '127.0.0.1', port: postgres?.port ?? 0, user: 'postgres', database: 'postgres' };
    const first = new pg.Client(server);
    await first.connect();
    for (const sql of setUp) await first.query(sql);
    await first.end();
    const trace = newTrace();
    const { recording } = trace;
    const unhook = hookPg(pg as never, recording);
    const all = await Promise.all(
      Array.from({ length: clients }, async () => {
        const client = new pg.Client(server);
        await client.connect();
        await client.query(`SET deadlock_timeout = '10ms'`);
        return client;
      }),
    );
    const end = until();
    await Promise.all(
      all.map((client, i) => work((sql) => client.query(sql), i + 1, `BEGIN ISOLATION LEVEL ${level}`, end)),
    );
    for (const client of all) await client.end();
    unhook();
    recording.end();
    expectRight(trace, 'postgres', level);
  });
});

const servers = await startInnodbServers();

afterAll(() => stopServers(servers));

describe.each(servers)('$name', ({ engine, server }) => {
  beforeAll(() => loadParser());

  test.skipIf(server === undefined).each(['read uncommitted', 'read committed', 'repeatable read', 'serializable'])(
    '%s',
    async (level) => {
      const place = { host: '127.0.0.1', port: server?.port ?? 0, user: 'root', database: 'test' };
      const first = await mysql.createConnection(place);
      for (const sql of setUp) await first.query(sql);
      await first.end();
      const trace = newTrace();
      const { recording } = trace;
      const unhook = hookMysql2(mysql2, recording);
      const all = await Promise.all(
        Array.from({ length: clients }, async () => {
          const client = await mysql.createConnection(place);
          await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
          await client.query('SET SESSION innodb_lock_wait_timeout = 1');
          return client;
        }),
      );
      const end = until();
      await Promise.all(all.map((client, i) => work((sql) => client.query(sql), i + 1, 'BEGIN', end)));
      for (const client of all) await client.end();
      unhook();
      recording.end();
      expectRight(trace, engine, level);
    },
  );
});
