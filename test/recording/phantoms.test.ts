/** Bookings of rooms, looked for by condition, on real servers: no violation at serializable; below it, phantoms that make it write skew. */
import mysql2 from 'mysql2';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookMysql2, hookPg } from '../../src/capture/index.ts';
import { loadParser } from '../../src/sql/index.ts';
import { startInnodbServers, stopServers } from '../support/innodb-servers.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { expectRight, type Random, recordClients, type StatementWorkload } from './random-statements.ts';

const milliseconds = 700;
const id = (random: Random): number => 1 + random(40);
const room = (random: Random): number => 1 + random(6);

const bookings: StatementWorkload = {
  setUp: [
    'DROP TABLE IF EXISTS bookings',
    'CREATE TABLE bookings (id int PRIMARY KEY, room int NOT NULL, day int NOT NULL)',
  ],
  statements: [
    [4, (r) => `SELECT count(*) FROM bookings WHERE room = ${room(r)}`],
    [4, (r) => `SELECT id, room, day FROM bookings WHERE room = ${room(r)} AND day = ${r(3)}`],
    [1, (r) => `SELECT id FROM bookings WHERE room > ${room(r)}`],
    [4, (r) => `INSERT INTO bookings (id, room, day) VALUES (${id(r)}, ${room(r)}, ${r(3)})`],
    [2, (r) => `UPDATE bookings SET room = ${room(r)} WHERE id = ${id(r)}`],
    [5, (r) => `DELETE FROM bookings WHERE id = ${id(r)}`],
  ],
  transactions: [[['BEGIN'], ['COMMIT']]],
  afterError: () => 'roll back',
};

const postgres = await startedOrSkipped(startPostgres);

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  beforeAll(() => loadParser());
  afterAll(() => postgres?.stop());

  const recorded = (level: string) =>
    recordClients(
      bookings,
      async () => {
        const server = { host: '127.0.0.1', port: postgres?.port ?? 0, user: 'postgres', database: 'postgres' };
        const client = new pg.Client(server);
        await client.connect();
        await client.query(`SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL ${level}`);
        return { run: (sql: string) => client.query(sql), end: () => client.end() };
      },
      (recording) => hookPg(pg as never, recording),
      milliseconds,
    );

  test('serializable', async () => expectRight(await recorded('serializable'), 'postgres', 'serializable'));

  test('repeatable read, and it is not serializable', async () => {
    const trace = await recorded('repeatable read');
    expectRight(trace, 'postgres', 'repeatable read');
    const { violations } = trace.verified('postgres', 'serializable');
    expect(violations.map(({ mechanism }) => mechanism)).toContain('serialization-certifier');
  });
});

const servers = await startInnodbServers();

afterAll(() => stopServers(servers));

describe.each(servers)('$name', ({ engine, server }) => {
  beforeAll(() => loadParser());

  test.skipIf(server === undefined).each(['serializable', 'repeatable read'])('%s', async (level) => {
    const connect = async () => {
      const place = { host: '127.0.0.1', port: server?.port ?? 0, user: 'root', database: 'test' };
      const client = await mysql.createConnection(place);
      await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`);
      await client.query('SET SESSION innodb_lock_wait_timeout = 1');
      return { run: (sql: string) => client.query(sql), end: () => client.end() };
    };
    const trace = await recordClients(bookings, connect, (recording) => hookMysql2(mysql2, recording), milliseconds);
    expectRight(trace, engine, level);
  });
});
