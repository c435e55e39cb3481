/** Bookings of rooms, looked for by condition, on real servers: no violation at serializable; below it, phantoms that make it write skew. */
import mysql2 from 'mysql2';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookMysql2, hookPg } from '../../src/capture/index.ts';
import { monotonicNanoseconds } from '../../src/cli/monotonic-clock.ts';
import { loadParser } from '../../src/sql/index.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { newTrace, type Random, type Run, type StatementWorkload, work } from './random-statements.ts';

/** MOIRAI_HEAVY=1: longer runs. */
const milliseconds = process.env['MOIRAI_HEAVY'] === '1' ? 30_000 : 1_500;
const clients = 6;

const id = (random: Random): number => 1 + random(40);
const room = (random: Random): number => 1 + random(6);
const table = 'CREATE TABLE bookings (id int PRIMARY KEY, room int NOT NULL, day int NOT NULL)';

const bookings = (begin: readonly string[]): StatementWorkload => ({
  setUp: ['DROP TABLE IF EXISTS bookings', table],
  statements: [
    [4, (r) => `SELECT count(*) FROM bookings WHERE room = ${room(r)}`],
    [4, (r) => `SELECT id, room, day FROM bookings WHERE room = ${room(r)} AND day = ${r(3)}`],
    [1, (r) => `SELECT id FROM bookings WHERE room > ${room(r)}`],
    [4, (r) => `INSERT INTO bookings (id, room, day) VALUES (${id(r)}, ${room(r)}, ${r(3)})`],
    [2, (r) => `UPDATE bookings SET room = ${room(r)} WHERE id = ${id(r)}`],
    [5, (r) => `DELETE FROM bookings WHERE id = ${id(r)}`],
  ],
  transactions: [[begin, ['COMMIT']]],
  afterError: () => 'roll back',
});

const end = (): number => monotonicNanoseconds() + milliseconds * 1e6;

async function run(all: readonly Run[], workload: StatementWorkload): Promise<void> {
  for (const sql of workload.setUp) await all[0]?.(sql);
  const until = end();
  await Promise.all(all.map((each, i) => work(each, workload, i + 1, until)));
}

const postgres = await startedOrSkipped(startPostgres);

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  beforeAll(() => loadParser());
  afterAll(() => postgres?.stop());

  test.each([
    ['serializable', 'serializable', []],
    ['repeatable read', 'repeatable read', []],
    ['repeatable read', 'serializable', ['serialization-certifier']],
  ])('%s, claimed to be %s', async (level, claim, expected) => {
    const { recording, verified } = newTrace();
    const unhook = hookPg(pg as never, recording);
    const all = Array.from({ length: clients }, () => {
      const server = { host: '127.0.0.1', port: postgres?.port ?? 0, user: 'postgres', database: 'postgres' };
      return new pg.Client(server);
    });
    for (const client of all) await client.connect();
    await run(
      all.map((client) => (sql) => client.query(sql)),
      bookings([`BEGIN ISOLATION LEVEL ${level}`]),
    );
    for (const client of all) await client.end();
    unhook();
    recording.end();
    const { counts, violations } = verified('postgres', claim);
    const mechanisms = [...new Set(violations.map(({ mechanism }) => mechanism))];
    expect({
      mechanisms,
      reasons: mechanisms.length > expected.length ? violations.map(({ reason }) => reason) : [],
    }).toEqual({
      mechanisms: expected,
      reasons: [],
    });
    expect(counts.transactions).toBeGreaterThan(20);
  });
});

const mariadb = await startedOrSkipped(startMariadb);

describe.skipIf(mariadb === undefined)('MariaDB', () => {
  beforeAll(() => loadParser());
  afterAll(() => mariadb?.stop());

  test.each([
    ['serializable', 'serializable', []],
    ['repeatable read', 'repeatable read', []],
  ])('%s, claimed to be %s', async (level, claim, expected) => {
    const { recording, verified } = newTrace();
    const unhook = hookMysql2(mysql2, recording);
    const server = { host: '127.0.0.1', port: mariadb?.port ?? 0, user: 'root', database: 'test' };
    const all = await Promise.all(Array.from({ length: clients }, () => mysql.createConnection(server)));
    for (const client of all) {
      await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
      await client.query('SET SESSION innodb_lock_wait_timeout = 1');
    }
    await run(
      all.map((client) => (sql) => client.query(sql)),
      bookings(['BEGIN']),
    );
    for (const client of all) await client.end();
    unhook();
    recording.end();
    const { counts, violations } = verified('mariadb', claim);
    expect(violations.map(({ reason }) => reason)).toEqual(expected);
    expect(counts.transactions).toBeGreaterThan(20);
  });
});
