/** The drivers that applications use, against a real database: over a pair of streams and over a socket. */
import { connect } from 'node:net';
import pg from 'pg';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectTo, startConversation } from '../connect.ts';
import { converse } from '../converse.ts';
import { openSqlDatabase, type SqlDatabase } from '../../database/database.ts';
import { duplexPair } from '../duplex-pair.ts';
import { listen, type Listener } from '../listener.ts';
import { countingBytes } from './client.test-support.ts';
import { postgresConversations, type PostgresOptions } from './conversation.ts';
import { parseProfile } from '../../database/instance/profile.ts';

const bugs: unknown[] = [];
const onBug = (error: unknown): void => void bugs.push(error);
const ends: (() => Promise<unknown>)[] = [];
let database: SqlDatabase;

beforeEach(async () => {
  database = await openSqlDatabase({ profile: parseProfile({ engine: 'postgres' }) });
  const client = await pgClient();
  await client.query('create table t (id int primary key, label text); insert into t values (1, $$one$$), (2, null)');
});

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  database.close();
  if (bugs.length > 0) throw new AggregateError(bugs.splice(0), 'bugs of ours');
});

async function pgClient(config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ user: 'ann', stream: () => connectTo(database, { onBug }), ...config });
  await client.connect();
  ends.push(() => client.end());
  return client;
}

function manyRows(count: number): string {
  return `select n, 'row ' || n as label from generate_series(1, ${count}) as n`;
}

/** The client's end of a connection with a password. */
function guarded(passwordMethod: NonNullable<PostgresOptions['passwordMethod']>) {
  const [client, server] = duplexPair();
  converse(
    server,
    postgresConversations({ server: database, randomBytes: countingBytes, onBug, password: 'sécret', passwordMethod }),
  );
  return client;
}

describe('sessions that end each other', () => {
  const ended = (client: pg.Client) => new Promise<unknown>((resolve) => client.on('error', resolve));
  const pid = (client: pg.Client) => (client as unknown as { readonly processID: number }).processID;

  test('an idle one gets the error, and its locks are released', async () => {
    const [ann, bob] = [await pgClient(), await pgClient()];
    await bob.query('begin; update t set label = null');
    const end = ended(bob);
    const waiting = ann.query("update t set label = 'ann' where id = 2");
    const { rows } = await (await pgClient()).query('select pg_terminate_backend($1) as ended', [pid(bob)]);
    expect(rows).toEqual([{ ended: true }]);
    expect(await end).toMatchObject({ severity: 'FATAL', code: '57P01' });
    expect((await waiting).rowCount).toBe(1);
  });

  test('one that waits fails with 57P01, or stays connected where only its statement is cancelled', async () => {
    const [ann, bob] = [await pgClient(), await pgClient()];
    await ann.query('begin; update t set label = null');
    const cancelled = bob.query('delete from t').catch((error: unknown) => error);
    await ann.query('select pg_cancel_backend($1)', [pid(bob)]);
    expect(await cancelled).toMatchObject({ severity: 'ERROR', code: '57014' });
    bob.on('error', () => undefined);
    const over = new Promise((resolve) => bob.once('end', resolve));
    const terminated = bob.query('delete from t').catch((error: unknown) => error);
    await ann.query('select pg_terminate_backend($1, 0)', [pid(bob)]);
    expect(await terminated).toMatchObject({ severity: 'FATAL', code: '57P01' });
    await over;
  });

  test('one that there is not is a warning', async () => {
    const client = await pgClient();
    const notices: unknown[] = [];
    client.on('notice', ({ code, message }) => notices.push(`${code} ${message}`));
    const { rows } = await client.query('select pg_cancel_backend(77) as a');
    expect(rows).toEqual([{ a: false }]);
    expect(notices).toEqual(['01000 PID 77 is not a PostgreSQL server process']);
  });
});

describe('pg', () => {
  test('a statement with a name keeps its columns', async () => {
    const client = await pgClient();
    const named = { name: 'all', text: 'select * from t where id = $1', values: [1] };
    expect((await client.query(named)).rows).toEqual([{ id: 1, label: 'one' }]);
    await client.query('alter table t add column w int');
    await expect(client.query(named)).rejects.toMatchObject({ code: '0A000' });
    const unnamed = { text: named.text, values: [1] };
    expect((await client.query(unnamed)).rows).toEqual([{ id: 1, label: 'one', w: null }]);
  });

  test('simple and extended queries, with names and without', async () => {
    const client = await pgClient();
    expect((await client.query('select * from t order by id')).rows).toEqual([
      { id: 1, label: 'one' },
      { id: 2, label: null },
    ]);
    const text = 'select $1::int4 as a, $2::text as b, $3::bool as c, $4::int8 as d, $5::timestamptz as e';
    const at = new Date('2024-02-29T12:34:56.789Z');
    for (const name of [undefined, 'named', 'named']) {
      const values = [7, 'é', true, '9007199254740993', at];
      const { rows, rowCount } = await client.query({ text, values, ...(name === undefined ? {} : { name }) });
      expect(rows).toEqual([{ a: 7, b: 'é', c: true, d: '9007199254740993', e: at }]);
      expect(rowCount).toBe(1);
    }
    expect((await client.query('insert into t values ($1, $2)', [3, 'three'])).rowCount).toBe(1);
    expect(await client.query('')).toMatchObject({ rows: [] });
  });

  test('many clients at once are answered in order', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => pgClient()));
    const answers = await Promise.all(clients.map((client, i) => client.query('select $1::int4 as n', [i])));
    expect(answers.map(({ rows }) => (rows[0] as { n: number }).n)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  test('errors reach the caller with their fields; the connection lives on', async () => {
    const client = await pgClient();
    await expect(client.query("insert into t values (1, 'again')")).rejects.toMatchObject({
      code: '23505',
      severity: 'ERROR',
      table: 't',
      constraint: 't_pkey',
      detail: 'Key (id)=(1) already exists.',
    });
    await expect(client.query('select $1::int4', ['x'])).rejects.toMatchObject({ code: '22P02' });
    await client.query('begin');
    await expect(client.query('select * fron t')).rejects.toMatchObject({ code: '42601', position: '10' });
    await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' });
    await client.query('rollback');
    expect((await client.query('select count(*)::int4 as n from t')).rows).toEqual([{ n: 2 }]);
  });

  test('a value that cannot be read fails the open transaction too', async () => {
    const client = await pgClient();
    await client.query('begin');
    await expect(client.query('select $1::int4', ['x'])).rejects.toMatchObject({ code: '22P02' });
    await expect(client.query('select 1')).rejects.toMatchObject({ code: '25P02' });
    expect(await client.query('commit')).toMatchObject({ command: 'ROLLBACK' });
  });

  test('the statements of one query are one transaction', async () => {
    const client = await pgClient();
    const count = async () => ((await client.query('select count(*)::int4 as n from t')).rows[0] as { n: number }).n;
    await expect(client.query('insert into t values (5); select nothing from t')).rejects.toMatchObject({
      code: '42703',
    });
    await expect(client.query('insert into t values (5); insert into t values (5)')).rejects.toMatchObject({
      code: '23505',
    });
    expect(await count()).toBe(2);
    await client.query('insert into t values (5); insert into t values (6)');
    expect(await count()).toBe(4);
  });

  test('a pool, 20,000 rows for each of 8 queries', async () => {
    const pool = new pg.Pool({ user: 'ann', max: 4, stream: () => connectTo(database, { onBug }) });
    const counts = await Promise.all(
      Array.from({ length: 8 }, async () => (await pool.query(manyRows(20_000))).rows.length),
    );
    expect(counts).toEqual(Array.from({ length: 8 }, () => 20_000));
    await pool.end();
  });

  test('a session ends with its client, and its transaction with it', async () => {
    const client = new pg.Client({ user: 'ann', stream: () => connectTo(database, { onBug }) });
    await client.connect();
    await client.query('begin; update t set label = $$mine$$ where id = 1');
    const before = database.sessions.length;
    await client.end();
    const other = await pgClient();
    await other.query("update t set label = 'other' where id = 1");
    expect(database.sessions).toHaveLength(before);
  });

  test.each(['scram-sha-256', 'md5', 'cleartext'] as const)('a password by %s', async (passwordMethod) => {
    const stream = () => guarded(passwordMethod);
    const client = await pgClient({ stream, password: 'sécret' });
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    const wrong = new pg.Client({ user: 'ann', password: 'guess', stream });
    await expect(wrong.connect()).rejects.toMatchObject({ code: '28P01' });
  });

  // pg reads binary results as text, so that only bytes below 128 survive.
  test('binary results', async () => {
    const client = await pgClient();
    const query = { text: 'select $1::int4 as n, $2::text as s', values: [7, 'x'], binary: true };
    expect((await client.query(query)).rows).toEqual([{ n: 7, s: 'x' }]);
  });

  test('what is not supported is said', async () => {
    const client = await pgClient();
    await expect(client.query('copy t from stdin')).rejects.toMatchObject({ code: '0A000' });
  });
});

describe('postgres.js', () => {
  type Options = postgres.Options<Record<string, postgres.PostgresType>>;

  function sqlClient(options: Options = {}, stream: () => unknown = () => connectTo(database, { onBug })) {
    const given = { user: 'ann', max: 1, ...options, socket: stream };
    const sql = postgres(given as Options);
    ends.push(() => sql.end());
    return sql;
  }

  test('statements, parameters, several at once', async () => {
    const sql = sqlClient({ fetch_types: false });
    expect([...(await sql`select * from t order by id`)]).toEqual([
      { id: 1, label: 'one' },
      { id: 2, label: null },
    ]);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => sql`select ${i}::int4 as n, ${'x'} as s`));
    expect(answers.map(([row]) => row?.['n'] as number)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test('a statement whose columns have changed is prepared anew', async () => {
    const sql = sqlClient({ fetch_types: false });
    const labels = () => sql`select label from t where id = ${1}`;
    expect([...(await labels())]).toEqual([{ label: 'one' }]);
    await sql`alter table t alter column label type int using id`;
    expect([...(await labels())]).toEqual([{ label: 1 }]);
  });

  test('transactions', async () => {
    const sql = sqlClient({ fetch_types: false });
    const count = await sql.begin(async (transaction) => (await transaction`insert into t values (3), (4)`).count);
    expect(count).toBe(2);
    const failing = sql.begin(async (transaction) => {
      await transaction`delete from t`;
      await transaction`insert into t values (7), (7)`;
    });
    await expect(failing).rejects.toMatchObject({ code: '23505', constraint_name: 't_pkey' });
    expect([...(await sql`select id from t order by id`)]).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]);
  });

  test('an error at Parse comes before Sync: the client waits for it', async () => {
    const sql = sqlClient({ fetch_types: false });
    await expect(sql`select nope from t where id = ${1}`).rejects.toMatchObject({ code: '42703' });
    await expect(sql`select * from nothing where id = ${1}`).rejects.toMatchObject({ code: '42P01' });
    await expect(sql`selec ${1}`).rejects.toMatchObject({ code: '42601' });
    expect([...(await sql`select ${1}::int4 as n`)]).toEqual([{ n: 1 }]);
  });

  test('a cursor takes the rows in parts', async () => {
    const sql = sqlClient({ fetch_types: false });
    const sizes: number[] = [];
    await sql.unsafe(manyRows(25)).cursor(10, (rows) => void sizes.push(rows.length));
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('a password', async () => {
    const sql = sqlClient({ fetch_types: false, password: 'sécret' }, () => guarded('scram-sha-256'));
    expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
  });
});

describe('over a socket', () => {
  async function listening(): Promise<Listener> {
    const listener = await listen(startConversation(database, { onBug }), { onBug, connectionsMax: 3 });
    ends.push(() => listener.close());
    return listener;
  }

  async function socketClient({ host, port }: Listener): Promise<pg.Client> {
    const client = new pg.Client({ host, port, user: 'ann' });
    client.on('error', () => undefined);
    await client.connect();
    ends.push(() => client.end());
    return client;
  }

  test('pg and postgres.js, with ssl preferred', async () => {
    const listener = await listening();
    const client = await socketClient(listener);
    expect((await client.query(manyRows(30_000))).rows).toHaveLength(30_000);
    const { host, port } = listener;
    const sql = postgres({ host, port, user: 'ann', max: 1, ssl: 'prefer', fetch_types: false });
    ends.push(() => sql.end());
    expect(await sql`select id from t`).toHaveLength(2);
  });

  test('a statement that waits for a lock is cancelled from another connection', async () => {
    const listener = await listening();
    const client = await socketClient(listener);
    await client.query('begin; update t set label = $$mine$$ where id = 1');
    const { host, port } = listener;
    const sql = postgres({ host, port, user: 'ann', max: 1, fetch_types: false });
    ends.push(() => sql.end());
    const query = sql`update t set label = 'other' where id = 1`;
    const ended = query.catch((error: unknown) => error);
    await expect.poll(() => database.scheduler.waiting().some(({ wait }) => wait !== null)).toBe(true);
    query.cancel();
    expect(await ended).toMatchObject({ code: '57014' });
    expect([...(await sql`select label from t where id = 1`)]).toEqual([{ label: 'one' }]);
  });

  test('one connection too many', async () => {
    const listener = await listening();
    for (let i = 0; i < 3; i++) await socketClient(listener);
    await expect(socketClient(listener)).rejects.toMatchObject({ code: '53300' });
  });

  test('a client that breaks off lets its locks go', async () => {
    const listener = await listening();
    const [first, second] = [await socketClient(listener), await socketClient(listener)];
    await first.query('begin; update t set label = $$mine$$ where id = 1');
    const waiting = second.query("update t set label = 'other' where id = 1");
    (first as unknown as { connection: { stream: { resetAndDestroy(): void } } }).connection.stream.resetAndDestroy();
    expect((await waiting).rowCount).toBe(1);
  });

  test.each([
    ['something that is no PostgreSQL client', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a client that ends the connection before it began', 'X\0\0\0\u0004'],
  ])('%s hears nothing', async (_name, sent) => {
    const { host, port } = await listening();
    const socket = connect(port, host);
    socket.write(sent);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).toBe('');
  });
});
