/** Failing runs that the mock database predicts, replayed on real servers: what the server allows is observed, what it does not is prevented or waits. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { serveDatabase } from '../src/serve/index.ts';
import { openSqlDatabase, parseProfile } from '../src/database/index.ts';
import type { RealServer, ReplayedOn } from '../src/replay/index.ts';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import { faultInReport } from '../src/report/index.ts';
import { runHere } from './support/cli.ts';
import { KeptInMemory } from './support/kept-in-memory.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { counter, lastWriter, mysqlSpeech, onCall, postgresSpeech, readSkew } from './support/replayed-programs.ts';
import { localServer, replay } from './support/replaying.ts';
import { startedOrSkipped } from './support/server-process.ts';

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
});

const onPostgres: RealServer = { ...localServer, dialect: 'postgres', port: postgres?.port ?? 0, user: 'postgres' };
const onMariadb: RealServer = { ...localServer, dialect: 'mysql', port: mariadb?.port ?? 0, user: 'root' };

/** Each level with its verdict; the code of the error that prevents it. */
function verdicts({ levels }: ReplayedOn): unknown[] {
  return levels.map(({ isolation, verdict }) =>
    verdict.kind === 'prevented' ? [isolation, verdict.kind, verdict.code] : [isolation, verdict.kind],
  );
}

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  test('a lost update is observed at read committed, and prevented above', async () => {
    const replayed = await replay(counter(postgresSpeech, ''), onPostgres, { isolation: 'all' });
    expect(verdicts(replayed)).toEqual([
      ['read committed', 'observed'],
      ['repeatable read', 'prevented', '40001'],
      ['serializable', 'prevented', '40001'],
    ]);
    const [level] = replayed.levels;
    expect(level?.statements.filter(({ sql }) => sql.startsWith('SELECT'))).toEqual([
      ...['alice', 'bob'].map((session) => expect.objectContaining({ session, predicted: '(0)', server: '(0)' })),
      expect.objectContaining({ session: 'invariant', predicted: '(1)', server: '(1)' }),
    ]);
    expect(level?.verdict).toEqual({ kind: 'observed', message: 'n is 1' });
  });

  test('the same every time', async () => {
    const { levels } = await replay(counter(postgresSpeech, ''), onPostgres, { repeat: 10 });
    expect(levels[0]?.counts).toEqual({ observed: 10, prevented: 0, infeasible: 0, diverged: 0 });
  });

  test('FOR UPDATE makes the order of the lost update infeasible', async () => {
    const before = counter(postgresSpeech, '');
    const { levels } = await replay(counter(postgresSpeech, ' FOR UPDATE'), onPostgres, { before });
    const sql = 'SELECT n FROM t WHERE id = 1 FOR UPDATE';
    expect(levels[0]?.verdict).toMatchObject({ kind: 'infeasible', sql, lock: 'a row of t' });
    expect(levels[0]?.statements.at(-1)).toMatchObject({ session: 'invariant', predicted: '(1)', server: '(2)' });
  });

  test('a write skew is observed at repeatable read and prevented at serializable', async () => {
    const replayed = await replay(onCall(postgresSpeech), onPostgres, { isolation: 'repeatable read' });
    expect([verdicts(replayed), replayed.prediction.isolation]).toEqual([
      [['repeatable read', 'observed']],
      'repeatable read',
    ]);
    const stricter = await replay(onCall(postgresSpeech), onPostgres, { isolation: 'serializable' });
    expect([verdicts(stricter), stricter.prediction.isolation]).toEqual([
      [['serializable', 'prevented', '40001']],
      'repeatable read',
    ]);
  });

  test('a snapshot prevents a read skew without an error', async () => {
    const { levels } = await replay(readSkew(postgresSpeech), onPostgres, { isolation: 'all' });
    expect(levels.map(({ verdict }) => verdict.kind)).toEqual(['observed', 'prevented', 'prevented']);
    expect(levels[1]?.verdict).toMatchObject({ session: 'reader', code: null, message: 'was answered (1), not (0)' });
  });

  test('also where a column has the time of each run', async () => {
    const schema = [
      'CREATE TABLE t (id int PRIMARY KEY, n int, at timestamptz DEFAULT clock_timestamp(), on_day timestamp)',
      `INSERT INTO t (id, n, on_day) VALUES (1, 0, '2020-01-02 03:04:05'), (2, 1, clock_timestamp())`,
    ];
    const timed = { ...readSkew(postgresSpeech), schema };
    const { levels } = await replay(timed, onPostgres, { isolation: 'all' });
    expect(levels.map(({ verdict }) => verdict.kind)).toEqual(['observed', 'prevented', 'prevented']);
  });

  test('what also ends so one session after another is not observed, whatever the connections are', async () => {
    const { levels } = await replay(lastWriter(postgresSpeech, 'pg_backend_pid()'), onPostgres);
    const reason = 'so it ends where the sessions run one after another, too: n is 1';
    expect(levels[0]?.verdict).toEqual({ kind: 'diverged', reason });
  });

  test('an error of the server that a session passes over is not what was predicted', async () => {
    const { levels } = await replay(
      counter(postgresSpeech, '', () => {}),
      onPostgres,
      { isolation: 'all' },
    );
    expect(levels.map(({ verdict: { kind } }) => kind)).toEqual(['observed', 'diverged', 'diverged']);
    expect(levels[1]?.verdict).toMatchObject({ reason: expect.stringContaining('got 40001') as string });
  });

  test('a change that the server does not understand prevents nothing', async () => {
    const before = counter(postgresSpeech, '');
    const [alice = never] = before.sessions;
    const misspelt = (connection: SqlConnection): Promise<void> =>
      postgresSpeech
        .withClient(connection, async (send) => {
          await send('BEGIN');
          await send('SELECT n FROM t WHERE id = 1 FOR UPDAET');
        })
        .catch(() => {});
    const changed = sqlProgram({ ...before, sessions: { alice, bob: misspelt }, invariant: () => true });
    const { levels } = await replay(changed, onPostgres, { before });
    expect(levels[0]?.verdict).toMatchObject({
      kind: 'diverged',
      reason: expect.stringMatching(/^so it fails where the sessions run one after another, too: .*42601/) as string,
    });
  });

  test('a server that accepts connections and says nothing is an error', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const replayed = replay(counter(postgresSpeech, ''), { ...onPostgres, port });
      replayed.catch(() => {});
      await once(silent, 'connection');
      vi.advanceTimersByTime(10_000);
      await expect(replayed).rejects.toMatchObject({ code: 'replay/server' });
    } finally {
      vi.useRealTimers();
      silent.close();
    }
  });

  test('a program that does not end is not called correct', async () => {
    const { dialect, schema, sessions, invariant } = counter(postgresSpeech, ' FOR UPDATE');
    const [alice] = sessions;
    const hanging = sqlProgram({
      dialect,
      schema,
      sessions: { alice: alice ?? never, bob: () => never() },
      invariant,
    });
    await expect(replay(hanging, onPostgres, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'replay/unknown' });
  });

  test('a token names the run and the level', async () => {
    const { prediction } = await replay(onCall(postgresSpeech), onPostgres, { isolation: 'repeatable read' });
    const replayed = await replay(onCall(postgresSpeech), onPostgres, { token: prediction.token });
    expect(verdicts(replayed)).toEqual([['repeatable read', 'observed']]);
  });

  test('nothing is left behind, and what dead replays left is dropped', async () => {
    const client = await postgresClient();
    try {
      const dead = 'moirai_replay_0123456789abcdef1d2fc4f6';
      const live = 'moirai_replay_fedcba98765432109115b595';
      const others = ['moirai_replay_mine', live];
      for (const name of [dead, ...others]) await client.query(`CREATE DATABASE ${name}`);
      await client.query(`SELECT pg_advisory_lock(hashtextextended('${live}', 0))`);
      await replay(counter(postgresSpeech, ''), onPostgres, { repeat: 3 });
      const before = await count(client, 'pg_database');
      await interrupted(
        counter(postgresSpeech, ''),
        onPostgres,
        async () => (await count(client, 'pg_database')) > before,
      );
      const names = 'SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1';
      expect((await client.query(names)).rows.map((row) => row.datname)).toEqual([
        live,
        'moirai_replay_mine',
        'postgres',
      ]);
      await expect.poll(() => count(client, `pg_stat_activity WHERE backend_type = 'client backend'`)).toBe(1);
      expect(await count(client, `pg_locks WHERE locktype = 'advisory'`)).toBe(1);
      for (const name of others) await client.query(`DROP DATABASE ${name}`);
    } finally {
      await client.end();
    }
  });

  test('a server that goes away in the middle is one error, and the next replay drops what is left', async () => {
    const client = await postgresClient();
    try {
      const databases = (): Promise<number> => count(client, `pg_database WHERE datname ~ '^moirai_replay_'`);
      const replayed = replay(counter(postgresSpeech, ''), onPostgres, { repeat: 1_000 });
      replayed.catch(() => {});
      await expect.poll(databases).toBe(1);
      const others = `backend_type = 'client backend' AND pid <> pg_backend_pid()`;
      await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
      await expect(replayed).rejects.toMatchObject({ code: 'replay/server' });
      await expect.poll(() => count(client, `pg_stat_activity WHERE ${others}`)).toBe(0);
      expect(await databases()).toBe(1);
      await replay(counter(postgresSpeech, ''), onPostgres);
      expect(await databases()).toBe(0);
    } finally {
      await client.end();
    }
  });

  test('a user that may not make databases is told how', async () => {
    const client = await postgresClient();
    await client.query('CREATE ROLE weak LOGIN');
    const failed = replay(counter(postgresSpeech, ''), { ...onPostgres, user: 'weak' });
    await expect(failed).rejects.toMatchObject({ code: 'replay/create', message: expect.stringContaining('CREATEDB') });
    await client.query('DROP ROLE weak');
    await client.end();
  });

  test.each([
    ['no server', { port: 1 }, 'replay/server'],
    ['no such user', { user: 'nobody' }, 'replay/login'],
    ['no such database', { database: 'nowhere' }, 'replay/server'],
    ['a program for another server', { dialect: 'mysql' as const }, 'replay/dialect'],
  ])('%s', async (_name, other, code) => {
    await expect(replay(counter(postgresSpeech, ''), { ...onPostgres, ...other })).rejects.toMatchObject({ code });
  });

  test('a schema that the server refuses', async () => {
    const program = {
      ...counter(postgresSpeech, ''),
      schema: ['CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 0)', 'SELECT 1 / 0'],
    };
    const before = counter(postgresSpeech, '');
    await expect(replay(program, onPostgres, { before })).rejects.toMatchObject({ code: 'program/schema' });
  });
});

describe.skipIf(mariadb === undefined)('MariaDB', () => {
  test('a lost update is observed below serializable, where a deadlock prevents it', async () => {
    expect(verdicts(await replay(counter(mysqlSpeech, ''), onMariadb, { isolation: 'all' }))).toEqual([
      ['read uncommitted', 'observed'],
      ['read committed', 'observed'],
      ['repeatable read', 'observed'],
      ['serializable', 'prevented', '1213'],
    ]);
  });

  test('FOR UPDATE makes the order of the lost update infeasible', async () => {
    const before = counter(mysqlSpeech, '');
    const { levels } = await replay(counter(mysqlSpeech, ' FOR UPDATE'), onMariadb, { before });
    expect(levels[0]?.verdict).toMatchObject({ kind: 'infeasible', lock: 'a row of t' });
    expect(levels[0]?.statements.at(-1)).toMatchObject({ session: 'invariant', predicted: '(1)', server: '(2)' });
  });

  test('a write skew is observed at repeatable read', async () => {
    expect(verdicts(await replay(onCall(mysqlSpeech), onMariadb))).toEqual([['repeatable read', 'observed']]);
  });

  test('a server that does not commit by itself', async () => {
    const client = await mysql.createConnection({ host: '127.0.0.1', port: onMariadb.port, user: 'root' });
    try {
      await client.query('SET GLOBAL autocommit = 0');
      expect(verdicts(await replay(counter(mysqlSpeech, ''), onMariadb))).toEqual([['repeatable read', 'observed']]);
    } finally {
      await client.query('SET GLOBAL autocommit = 1');
      await client.end();
    }
  });

  test('nothing is left behind; a wrong password and a missing right are errors', async () => {
    const client = await mysql.createConnection({ host: '127.0.0.1', port: onMariadb.port, user: 'root' });
    try {
      await client.query('CREATE DATABASE moirai_replay_0123456789abcdef1d2fc4f6');
      await client.query(`CREATE USER weak IDENTIFIED BY 'right'`);
      const weak = { ...onMariadb, user: 'weak', password: 'right' };
      await expect(replay(counter(mysqlSpeech, ''), weak)).rejects.toMatchObject({ code: 'replay/create' });
      const wrong = { ...weak, password: 'wrong' };
      await expect(replay(counter(mysqlSpeech, ''), wrong)).rejects.toMatchObject({ code: 'replay/login' });
      await replay(counter(mysqlSpeech, ''), onMariadb);
      const databases = async (): Promise<string[]> => {
        const [rows] = await client.query({ sql: 'SHOW DATABASES', rowsAsArray: true });
        return (rows as string[][]).flat();
      };
      await interrupted(counter(mysqlSpeech, ''), onMariadb, async () => (await databases()).length > 5);
      expect(await databases()).toEqual(['information_schema', 'mysql', 'performance_schema', 'sys', 'test']);
      const connections = async (): Promise<number> => {
        const [rows] = await client.query('SHOW PROCESSLIST');
        return (rows as unknown[]).length;
      };
      await expect.poll(connections).toBe(1);
    } finally {
      await client.query('DROP USER IF EXISTS weak');
      await client.end();
    }
  });
});

describe.skipIf(postgres === undefined)('moirai replay --on', () => {
  const files = { 'counter.ts': counter(postgresSpeech, ''), 'fixed.ts': counter(postgresSpeech, ' FOR UPDATE') };
  const url = `postgres://postgres@127.0.0.1:${onPostgres.port}`;

  test('says what was observed, side by side: exit code 1', async () => {
    const { code, out, err } = await runHere(['replay', 'counter.ts', '--on', url], files);
    expect([code, err]).toEqual([1, '']);
    expect(out).toMatch(
      /^predicted on PostgreSQL, read committed: n is 1\n\nobserved on PostgreSQL \d+\.\d+, read committed: n is 1/,
    );
    expect(out).toMatch(/^invariant {2}SELECT n FROM t WHERE id = 1 +\(1\) +\(1\)$/m);
  });

  test('of a change, as JSON: exit code 0', async () => {
    const args = ['replay', 'fixed.ts', '--before', 'counter.ts', '--on', url, '--repeat', '2', '--json'];
    const { code, out } = await runHere(args, files);
    const levels = [
      expect.objectContaining({ verdict: 'infeasible', counts: expect.objectContaining({ infeasible: 2 }) }),
    ];
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ file: 'fixed.ts', levels })]);
    const { report } = JSON.parse(out) as { readonly report: unknown };
    expect(faultInReport(report)).toBe(null);
    expect(report).toMatchObject({
      verdict: { kind: 'satisfied' },
      runs: [{ sessions: ['alice', 'bob', 'invariant'] }],
    });
  });

  test('a kept failure names its program and its run', async () => {
    const kept = new KeptInMemory();
    await runHere(['explore', 'counter.ts'], files, { failures: kept });
    const { code, out } = await runHere(['replay', kept.only, '--on', url], { ...files, ...kept.inputs() });
    expect([code, out]).toEqual([1, expect.stringContaining('observed on PostgreSQL')]);
  });

  test.each([
    [['counter.ts', '--isolation', 'all'], 'option/isolation'],
    [['counter.ts', '--on', 'http://127.0.0.1'], 'option/url'],
    [['counter.ts', '--on', `${url}?sslmode=require`], 'option/on'],
    [['counter.ts', '--on', url, '--isolation', 'snapshot'], 'option/isolation'],
    [['fixed.ts', '--on', url], 'replay/nothing'],
    [['fixed.ts', '--on', url, '--before', 'doctors.ts'], 'replay/before'],
    [['keys.ts', '--on', url], 'program/sql'],
  ])('refuses %j', async (args, code) => {
    const keys = { initial: { x: 0 }, sessions: { a: () => undefined }, invariant: () => true };
    const ended = await runHere(['replay', ...args], { ...files, 'doctors.ts': onCall(mysqlSpeech), 'keys.ts': keys });
    expect([ended.code, ended.err]).toEqual([3, expect.stringContaining(`[${code}]`)]);
  });
});

describe('a password', () => {
  test.each(['postgres', 'mysql'] as const)('of %s is what the server asks for', async (engine) => {
    const database = await openSqlDatabase({ profile: parseProfile({ engine }) });
    const served = await serveDatabase(database, { port: 0, password: 'right' });
    const server = { ...localServer, dialect: engine, port: served.port, user: 'test' };
    const speech = { postgres: postgresSpeech, mysql: mysqlSpeech }[engine];
    try {
      const wrong = replay(counter(speech, ''), { ...server, password: 'wrong' });
      await expect(wrong).rejects.toMatchObject({ code: 'replay/login' });
      // It lets the user in, and then does not know what a real server does.
      const right = replay(counter(speech, ''), { ...server, password: 'right' });
      await expect(right).rejects.not.toMatchObject({ code: 'replay/login' });
    } finally {
      await served.close();
    }
  });
});

async function postgresClient(): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port: onPostgres.port, user: 'postgres', database: 'postgres' });
  await client.connect();
  return client;
}

async function count(client: pg.Client, what: string): Promise<number> {
  return Number((await client.query(`SELECT count(*) AS n FROM ${what}`)).rows[0].n);
}

/** A replay that is interrupted as soon as its database is there. */
async function interrupted(program: SqlProgram, server: RealServer, isThere: () => Promise<boolean>): Promise<void> {
  const end = new AbortController();
  const replayed = replay(program, server, { repeat: 1_000, signal: end.signal });
  replayed.catch(() => {});
  await expect.poll(isThere, { timeout: 10_000 }).toBe(true);
  end.abort();
  await expect(replayed).rejects.toMatchObject({ code: 'replay/interrupted' });
}

function never(): Promise<void> {
  return new Promise(() => {});
}
