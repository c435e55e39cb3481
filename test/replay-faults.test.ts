/** What goes wrong on the server while a replay runs is one clear error, and a scratch database is dropped only where moirai made it. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import type { RealServer } from '../src/replay/index.ts';
import { UserFolder } from './support/cli.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { counter, mysqlSpeech, postgresSpeech, type Send, type Speech } from './support/replayed-programs.ts';
import { localServer, replay } from './support/replaying.ts';
import { startedOrSkipped, until } from './support/server-process.ts';

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

const onPostgres: RealServer = { ...localServer, dialect: 'postgres', port: postgres?.port ?? 0, user: 'postgres' };
const onMariadb: RealServer = { ...localServer, dialect: 'mysql', port: mariadb?.port ?? 0, user: 'root' };

/** The counter with a first session that does something between its two statements. Its driver has no listener of errors. */
function counterWith(speech: Speech, between: (send: Send) => Promise<unknown>): SqlProgram {
  const program = counter(speech, '');
  const [, bob = (): void => {}] = program.sessions;
  const alice = (connection: SqlConnection): Promise<void> =>
    speech.withClient(connection, async (send) => {
      await send('BEGIN');
      await send('SELECT n FROM t WHERE id = 1');
      await between(send);
      await send('COMMIT');
    });
  return sqlProgram({ ...program, sessions: { alice, bob } });
}

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  const before = counter(postgresSpeech, '');
  const client = new pg.Pool({ host: '127.0.0.1', port: onPostgres.port, user: 'postgres', database: 'postgres' });
  // It breaks where a test kills the server.
  client.on('error', () => {});
  afterAll(() => client.end());
  const scratches = async (): Promise<string[]> =>
    (await client.query(`SELECT datname FROM pg_database WHERE datname ~ '^moirai_replay_'`)).rows.map((row) =>
      String(row.datname),
    );

  test('a transaction that is idle for longer than the server allows', async () => {
    await client.query(`ALTER ROLE postgres SET idle_in_transaction_session_timeout = '50ms'`);
    try {
      const slow = counterWith(postgresSpeech, () => sleep(1_000));
      await expect(replay(slow, onPostgres, { before })).rejects.toMatchObject({
        code: 'replay/server',
        message: expect.stringMatching(/ended the connection of session "alice": .*idle-in-transaction.* \(25P03\)$/),
      });
      expect(await scratches()).toEqual([]);
    } finally {
      await client.query('ALTER ROLE postgres RESET ALL');
    }
  });

  test('a connection that an administrator ends', async () => {
    const ended = counterWith(postgresSpeech, (send) => send('SELECT pg_terminate_backend(pg_backend_pid())'));
    await expect(replay(ended, onPostgres, { before })).rejects.toMatchObject({
      code: 'replay/server',
      message: expect.stringMatching(/ended the connection of session "alice": .* \(57P01\)$/),
    });
    expect(await scratches()).toEqual([]);
  });

  test('a replay that has lost the lock on its database ends, though its other connections live', async () => {
    const holder = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1`;
    const robbed = counterWith(postgresSpeech, async () => {
      await client.query(`SELECT pg_terminate_backend(pid) FROM (${holder}) AS holder`);
      await sleep(10_000);
    });
    await expect(replay(robbed, onPostgres, { before })).rejects.toMatchObject({ code: 'replay/server' });
    expect(await scratches()).toHaveLength(1);
    await replay(before, onPostgres);
    expect(await scratches()).toEqual([]);
  });

  test('a server that crashes: the next replay drops what is left', async () => {
    const crashed = counterWith(postgresSpeech, async (send) => {
      const [row] = await send('SELECT pg_backend_pid() AS id');
      process.kill(Number(row?.['id']), 'SIGKILL');
      await sleep(10_000);
    });
    await expect(replay(crashed, onPostgres, { before })).rejects.toMatchObject({ code: 'replay/server' });
    await until(async () => expect(await scratches()).toHaveLength(1), 10_000);
    await replay(before, onPostgres);
    expect(await scratches()).toEqual([]);
  });

  const often = process.env['MOIRAI_HEAVY'] === '1' ? 100 : 5;

  test(`${often} replays leave nothing behind: no connection, lock, database, process or file`, async () => {
    const counted = async (what: string): Promise<number> =>
      Number((await client.query(`SELECT count(*) AS n FROM ${what}`)).rows[0].n);
    const counts = async (): Promise<object> => ({
      connections: await counted(`pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`),
      locks: await counted(`pg_locks WHERE pid <> pg_backend_pid()`),
      databases: await counted('pg_database'),
      processes: readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim(),
    });
    const descriptors = (): number => readdirSync('/proc/self/fd').length;
    const temporary = new UserFolder();
    vi.stubEnv('TMPDIR', temporary.path);
    await replay(before, onPostgres);
    // A server counts a connection until its process has ended.
    await expect.poll(() => counts(), { timeout: 10_000 }).toMatchObject({ connections: 0, locks: 0 });
    const [first, open] = [await counts(), descriptors()];
    for (let i = 0; i < often; i += 1) {
      const { levels } = await replay(before, onPostgres);
      expect(levels[0]?.verdict.kind).toBe('observed');
    }
    await expect.poll(counts, { timeout: 10_000 }).toEqual(first);
    await expect.poll(descriptors).toBeLessThanOrEqual(open);
    expect(readdirSync(temporary.path)).toEqual([]);
    vi.unstubAllEnvs();
    temporary.remove();
  });

  test('a schema that the server refuses leaves nothing behind', async () => {
    const refused = { ...before, schema: [...before.schema, 'SELECT 1 / 0'] };
    await expect(replay(refused, onPostgres, { before })).rejects.toMatchObject({ code: 'program/schema' });
    expect(await scratches()).toEqual([]);
  });

  test('a database of the user that is named like a scratch stays', async () => {
    const own = 'moirai_replay_00112233445566aa00112233';
    await client.query(`CREATE DATABASE ${own}`);
    try {
      await replay(before, onPostgres);
      expect(await scratches()).toEqual([own]);
    } finally {
      await client.query(`DROP DATABASE ${own}`);
    }
  });

  test('what a killed replay of another user left behind is said', async () => {
    const left = 'moirai_replay_0123456789abcdef1d2fc4f6';
    await client.query('CREATE ROLE maker LOGIN CREATEDB');
    await client.query(`CREATE DATABASE ${left}`);
    try {
      const { leftOver, levels } = await replay(before, { ...onPostgres, user: 'maker' });
      expect([leftOver, levels[0]?.verdict.kind]).toEqual([[left], 'observed']);
      expect(await scratches()).toEqual([left]);
      expect((await replay(before, onPostgres)).leftOver).toEqual([]);
      expect(await scratches()).toEqual([]);
    } finally {
      await client.query('DROP ROLE maker');
    }
  });
});

describe.skipIf(mariadb === undefined)('MariaDB', () => {
  const before = counter(mysqlSpeech, '');
  let client: mysql.Connection;
  beforeAll(async () => {
    client = await mysql.createConnection({ host: '127.0.0.1', port: onMariadb.port, user: 'root' });
  });
  afterAll(() => client.end());
  const scratches = async (): Promise<string[]> => {
    const [rows] = await client.query({ sql: `SHOW DATABASES LIKE 'moirai\\_replay\\_%'`, rowsAsArray: true });
    return (rows as string[][]).flat();
  };

  test.each([
    ['an administrator ends', async (id: number) => void (await client.query(`KILL ${id}`))],
    ['is idle for too long', async () => await sleep(2_500)],
  ])('a connection that %s', async (_what, end) => {
    const ended = counterWith(mysqlSpeech, async (send) => {
      await send('SET SESSION wait_timeout = 1');
      const [row] = await send('SELECT CONNECTION_ID() AS id');
      await end(Number(row?.['id']));
      await sleep(1_000);
    });
    await expect(replay(ended, onMariadb, { before })).rejects.toMatchObject({
      code: 'replay/server',
      message: expect.stringMatching(/the connection of session "alice"/),
    });
    expect(await scratches()).toEqual([]);
  });

  test('a database of the user that is named like a scratch stays, and what a killed replay left is dropped', async () => {
    const own = 'moirai_replay_00112233445566aa00112233';
    const left = 'moirai_replay_0123456789abcdef1d2fc4f6';
    for (const name of [own, left]) await client.query(`CREATE DATABASE ${name}`);
    try {
      await replay(before, onMariadb);
      expect(await scratches()).toEqual([own]);
    } finally {
      await client.query(`DROP DATABASE ${own}`);
    }
  });
});
