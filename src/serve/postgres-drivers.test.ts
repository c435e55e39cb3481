/** The drivers that applications use, over a pair of streams and over a socket. */
import { connect } from 'node:net';
import pg from 'pg';
import postgres from 'postgres';
import { afterEach, describe, expect, test } from 'vitest';
import { converse } from './converse.ts';
import { duplexPair } from './duplex-pair.ts';
import { listen, type Listener } from './listener.ts';
import { countingBytes } from './postgres-client.test-support.ts';
import { postgresConversations, type PostgresOptions } from './postgres-conversation.ts';
import { TinyServer } from './postgres-server.test-support.ts';

const bugs: unknown[] = [];
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  if (bugs.length > 0) throw new AggregateError(bugs.splice(0), 'bugs of ours');
});

function starting(server: TinyServer, options: Partial<PostgresOptions> = {}) {
  const onBug = (error: unknown): void => void bugs.push(error);
  return postgresConversations({ server, randomBytes: countingBytes, onBug, ...options });
}

function clientEnd(start: ReturnType<typeof starting>) {
  const [client, server] = duplexPair();
  converse(server, start);
  return client;
}

async function pgClient(start: ReturnType<typeof starting>, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ user: 'ann', ...config, stream: () => clientEnd(start) });
  await client.connect();
  ends.push(() => client.end());
  return client;
}

describe('pg', () => {
  test('simple and extended queries, by names and without', async () => {
    const client = await pgClient(starting(new TinyServer()));
    expect((await client.query('rows 2')).rows).toEqual([
      { n: 0, label: 'row 0' },
      { n: 1, label: 'row 1' },
    ]);
    const text = 'echo int4 text bool';
    for (const name of [undefined, 'named', 'named']) {
      const { rows, rowCount } = await client.query({
        text,
        values: [7, 'é', true],
        ...(name === undefined ? {} : { name }),
      });
      expect(rows).toEqual([{ p1: 7, p2: 'é', p3: true }]);
      expect(rowCount).toBe(1);
    }
    expect((await client.query('insert 3')).rowCount).toBe(3);
    expect(await client.query('')).toMatchObject({ rows: [] });
  });

  test('many queries at once are answered in order', async () => {
    const client = await pgClient(starting(new TinyServer()));
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => client.query('echo int4', [i])));
    expect(answers.map(({ rows }) => (rows[0] as { p1: number }).p1)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  test('errors reach the caller with their fields; the connection lives on', async () => {
    const client = await pgClient(starting(new TinyServer()));
    const known = {
      code: '23505',
      message: 'twice',
      detail: 'a detail',
      table: 't',
      constraint: 't_pkey',
      severity: 'ERROR',
    };
    await expect(client.query('fail 23505 twice')).rejects.toMatchObject(known);
    await expect(client.query('echo int4', ['x'])).rejects.toMatchObject({ code: '22P02' });
    await expect(client.query('begin')).resolves.toMatchObject({ command: 'BEGIN' });
    await expect(client.query('nonsense')).rejects.toMatchObject({ code: '42601', position: '1' });
    await expect(client.query('insert 1')).rejects.toMatchObject({ code: '25P02' });
    await expect(client.query('rollback')).resolves.toMatchObject({ command: 'ROLLBACK' });
  });

  test('a pool of clients, 20,000 rows each', async () => {
    const start = starting(new TinyServer());
    const pool = new pg.Pool({ user: 'ann', max: 4, stream: () => clientEnd(start) });
    const counts = await Promise.all(
      Array.from({ length: 8 }, async () => (await pool.query('rows 20000')).rows.length),
    );
    expect(counts).toEqual(Array.from({ length: 8 }, () => 20_000));
    await pool.end();
  });

  test('sessions end with their clients', async () => {
    const server = new TinyServer();
    const client = new pg.Client({ user: 'ann', stream: () => clientEnd(starting(server)) });
    await client.connect();
    expect(server.sessions.size).toBe(1);
    await client.end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.sessions.size).toBe(0);
  });

  test.each(['scram-sha-256', 'md5', 'cleartext'] as const)('a password by %s', async (passwordMethod) => {
    const start = starting(new TinyServer(), { password: 'sécret', passwordMethod });
    const client = await pgClient(start, { password: 'sécret' });
    expect((await client.query('insert 1')).rowCount).toBe(1);
    const wrong = new pg.Client({ user: 'ann', password: 'guess', stream: () => clientEnd(start) });
    await expect(wrong.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  // pg reads binary results as text, so that only bytes below 128 survive.
  test('binary results', async () => {
    const client = await pgClient(starting(new TinyServer()));
    const { rows } = await client.query({ text: 'echo int4 text', values: [7, 'x'], binary: true } as pg.QueryConfig);
    expect(rows).toEqual([{ p1: 7, p2: 'x' }]);
  });
});

describe('postgres.js', () => {
  function sqlClient(
    start: ReturnType<typeof starting>,
    options: postgres.Options<Record<string, postgres.PostgresType>> = {},
  ) {
    const socket = () => clientEnd(start);
    const sql = postgres({ user: 'ann', max: 1, fetch_types: false, ...options, socket } as never);
    ends.push(() => sql.end());
    return sql;
  }

  test('statements, parameters, several at once', async () => {
    const sql = sqlClient(starting(new TinyServer()));
    expect([...(await sql.unsafe('rows 2'))]).toEqual([
      { n: 0, label: 'row 0' },
      { n: 1, label: 'row 1' },
    ]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => sql.unsafe('echo int4 text', [i, 'x'], { prepare: true })),
    );
    expect(answers.map(([row]) => row?.['p1'] as number)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test('transactions', async () => {
    const server = new TinyServer();
    const sql = sqlClient(starting(server));
    const inserted = await sql.begin(async (transaction) => (await transaction.unsafe('insert 2')).count);
    expect(inserted).toBe(2);
    await expect(sql.begin((transaction) => transaction.unsafe('fail 40001 again'))).rejects.toMatchObject({
      code: '40001',
    });
    expect(server.sessions.get(1)?.ran).toEqual([
      'begin',
      'insert 2',
      'commit',
      'begin',
      'fail 40001 again',
      'rollback',
    ]);
  });

  test('a cursor takes the rows in parts', async () => {
    const sql = sqlClient(starting(new TinyServer()));
    const sizes: number[] = [];
    await sql.unsafe('rows 25').cursor(10, (rows) => void sizes.push(rows.length));
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('a password', async () => {
    const sql = sqlClient(starting(new TinyServer(), { password: 'secret' }), { password: 'secret' });
    expect((await sql.unsafe('insert 1')).count).toBe(1);
  });
});

describe('over a socket', () => {
  async function listening(server: TinyServer, options: Partial<PostgresOptions> = {}): Promise<Listener> {
    const listener = await listen(starting(server, options), {
      onBug: (error) => void bugs.push(error),
      connectionsMax: 3,
    });
    ends.push(() => listener.close());
    return listener;
  }

  test('pg and postgres.js, with ssl preferred', async () => {
    const { host, port } = await listening(new TinyServer());
    const client = new pg.Client({ host, port, user: 'ann' });
    await client.connect();
    ends.push(() => client.end());
    expect((await client.query('rows 30000')).rows).toHaveLength(30_000);
    const sql = postgres({ host, port, user: 'ann', max: 1, fetch_types: false, ssl: 'prefer' });
    ends.push(() => sql.end());
    expect(await sql.unsafe('rows 3')).toHaveLength(3);
  });

  test('a cancel request', async () => {
    const { host, port } = await listening(new TinyServer());
    const sql = postgres({ host, port, user: 'ann', max: 1, fetch_types: false });
    ends.push(() => sql.end());
    await sql.unsafe('insert 1');
    const query = sql.unsafe('wait');
    setTimeout(() => query.cancel(), 20);
    await expect(query).rejects.toMatchObject({ code: '57014' });
  });

  test('one connection too many', async () => {
    const { host, port } = await listening(new TinyServer());
    for (let i = 0; i < 3; i++) {
      const client = new pg.Client({ host, port, user: 'ann' });
      await client.connect();
      ends.push(() => client.end());
    }
    await expect(new pg.Client({ host, port, user: 'ann' }).connect()).rejects.toMatchObject({ code: '53300' });
  });

  test('a client that breaks off takes its session with it', async () => {
    const server = new TinyServer();
    const { host, port } = await listening(server);
    const client = new pg.Client({ host, port, user: 'ann' });
    client.on('error', () => undefined);
    await client.connect();
    void client.query('wait').catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    (client as unknown as { connection: { stream: { resetAndDestroy(): void } } }).connection.stream.resetAndDestroy();
    for (let turn = 0; server.sessions.size > 0 && turn < 1000; turn++)
      await new Promise((resolve) => setTimeout(resolve, 1));
    expect(server.sessions.size).toBe(0);
  });

  test('something that is no PostgreSQL client', async () => {
    const { host, port } = await listening(new TinyServer());
    const socket = connect(port, host);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).toContain('startupBytesMax');
  });
});
