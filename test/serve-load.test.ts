/**
 * Many clients, clients that die, results that are large: what a server must live through. In process, over loopback sockets. With MOIRAI_HEAVY=1
 * there are twice as many clients.
 */
import { spawnSync } from 'node:child_process';
import { connect as connectSocket, Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { serve as serveForUsers } from '../src/api/serve.ts';
import { listen, type Listener, startConversation } from '../src/serve/index.ts';
import { openSqlDatabase, parseProfile, settleWithin, type SqlDatabase } from '../src/database/index.ts';
import { build, root } from './support/cli.ts';

interface Here {
  readonly database: SqlDatabase;
  readonly listener: Listener;
  readonly open: () => Promise<Client>;
}

interface Client {
  readonly query: (sql: string) => Promise<readonly Record<string, unknown>[]>;
  readonly end: () => Promise<unknown>;
  /** As a crash of the client does it. */
  readonly kill: () => void;
}

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const clientsCount = isHeavy ? 500 : 250;
const contendersCount = isHeavy ? 200 : 100;

const engines = ['postgres', 'mysql'] as const;
const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function serve(engine: 'postgres' | 'mysql', windowMs = 2): Promise<Here> {
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const database = await openSqlDatabase({
    profile: parseProfile({ engine }),
    settle: settleWithin(windowMs),
    holdsBack: windowMs === 0 ? 'never' : 'sometimes',
  });
  const listener = await listen(startConversation(database, { onBug }), { onBug });
  closings.push(async () => {
    await listener.close();
    database.close();
    expect(bugs).toEqual([]);
  });
  return { database, listener, open: () => (engine === 'postgres' ? viaPg(listener) : viaMysql(listener)) };
}

async function viaPg({ host, port }: Listener): Promise<Client> {
  const socket = new Socket();
  const client = new pg.Client({ host, port, user: 'load', stream: () => socket });
  client.on('error', () => undefined);
  await client.connect();
  return {
    query: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    end: () => client.end(),
    kill: () => void socket.resetAndDestroy(),
  };
}

async function viaMysql({ host, port }: Listener): Promise<Client> {
  const socket = connectSocket({ host, port });
  const client = await mysql.createConnection({ user: 'load', stream: socket });
  client.on('error', () => undefined);
  return {
    query: async (sql) => (await client.query(sql))[0] as Record<string, unknown>[],
    end: () => client.end(),
    kill: () => void socket.resetAndDestroy(),
  };
}

async function seeded({ open }: Here, rows = 1): Promise<Client> {
  const client = await open();
  await client.query('create table t (id int primary key, n int not null)');
  await client.query(`insert into t values ${Array.from({ length: rows }, (_, i) => `(${i + 1}, 0)`).join(', ')}`);
  return client;
}

describe.each(engines)('%s', (engine) => {
  test(`${clientsCount} clients at once, each with a transaction`, async () => {
    const here = await serve(engine);
    const first = await seeded(here, clientsCount);
    const clients = await Promise.all(Array.from({ length: clientsCount }, here.open));
    await Promise.all(
      clients.map(async ({ query }, i) => {
        await query('begin');
        await query(`update t set n = n + 1 where id = ${i + 1}`);
        await query(`select n from t where id = ${i + 1}`);
        await query('commit');
      }),
    );
    expect(here.listener.connectionCount).toBe(clientsCount + 1);
    expect((await first.query('select id from t where n = 1')).length).toBe(clientsCount);
    await Promise.all(clients.map(({ end }) => end()));
    await expect.poll(() => here.database.sessions.length).toBe(1);
    await first.end();
  }, 60_000);

  test(`${contendersCount} clients at once on one row lose nothing`, async () => {
    const here = await serve(engine);
    const first = await seeded(here);
    const clients = await Promise.all(Array.from({ length: contendersCount }, here.open));
    await Promise.all(clients.map(({ query }) => query('update t set n = n + 1 where id = 1')));
    expect(await first.query('select n from t')).toEqual([{ n: contendersCount }]);
  }, 60_000);

  test('a client that dies within a transaction leaves nothing, and those who wait go on', async () => {
    const here = await serve(engine);
    const first = await seeded(here);
    const dying = await here.open();
    await dying.query('begin');
    await dying.query('update t set n = 100 where id = 1');
    const waiting = first.query('update t set n = n + 1 where id = 1');
    await expect.poll(() => here.database.scheduler.waiting().length).toBe(1);
    dying.kill();
    await waiting;
    expect(await first.query('select n from t')).toEqual([{ n: 1 }]);
    expect(here.database.sessions.length).toBe(1);
  });

  test('a client that dies while it waits is forgotten', async () => {
    const here = await serve(engine);
    const first = await seeded(here);
    await first.query('begin');
    await first.query('update t set n = 1 where id = 1');
    const dying = await here.open();
    dying.query('update t set n = 2 where id = 1').catch(() => undefined);
    await expect.poll(() => here.database.scheduler.waiting().length).toBe(1);
    dying.kill();
    await expect.poll(() => here.database.sessions.length).toBe(1);
    expect(here.database.scheduler.waiting()).toEqual([]);
    await first.query('commit');
    expect(await first.query('select n from t')).toEqual([{ n: 1 }]);
  });

  test('a statement is cancelled while it waits', async () => {
    const here = await serve(engine);
    const first = await seeded(here);
    await first.query('begin');
    await first.query('update t set n = 1 where id = 1');
    const other = await here.open();
    const waiting = other.query('update t set n = 2 where id = 1').catch((error: unknown) => error);
    await expect.poll(() => here.database.scheduler.waiting().length).toBe(1);
    const [session] = here.database.scheduler.waiting();
    here.database.session(session?.session ?? 0)?.cancel();
    expect(await waiting).toMatchObject(engine === 'postgres' ? { code: '57014' } : { errno: 1317 });
    expect(await other.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a session that is idle in its transaction', () => {
  test('slows others by the window for each statement, and no more', async () => {
    const windowMs = 19;
    const here = await serve('postgres', windowMs);
    const first = await seeded(here);
    await (await here.open()).query('begin');
    const timers = vi.spyOn(globalThis, 'setTimeout');
    for (let i = 0; i < 50; i += 1) await first.query(`update t set n = ${i} where id = 1`);
    const windows = timers.mock.calls.filter(([, ms]) => ms === windowMs);
    timers.mockRestore();
    expect(windows).toHaveLength(50);
  });

  test('does not slow them where there is no window', async () => {
    const here = await serve('postgres', 0);
    const first = await seeded(here);
    await (await here.open()).query('begin');
    const timers = vi.spyOn(globalThis, 'setTimeout');
    for (let i = 0; i < 10; i += 1) await first.query(`update t set n = ${i} where id = 1`);
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
  });
});

/** A process of its own, so that its memory is nobody else's. */
function measured(script: string): Record<string, number> {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const file = join(root, 'test/support/serve-memory.ts');
  const args = ['--expose-gc', '--max-old-space-size=400', '--import', loader, file];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...args, script], { encoding: 'utf8', cwd: root });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, number>;
}

describe('memory', () => {
  beforeAll(build, 120_000);

  test.each(engines)(
    'a million rows of %s are delivered, and their memory comes back',
    (engine) => {
      const { rows = 0, beforeMb = 0, afterMb = 0 } = measured(`million ${engine}`);
      expect(rows).toBe(1_000_000);
      expect(afterMb - beforeMb).toBeLessThan(40);
    },
    120_000,
  );

  test('a client that does not read keeps its rows waiting, not those of others', () => {
    const { others = 0, peakMb = 0, beforeMb = 0 } = measured('stalled postgres');
    expect(others).toBe(100);
    expect(peakMb - beforeMb).toBeLessThan(300);
  }, 120_000);

  test('rows without end are an error, and the server lives on', () => {
    expect(measured('endless postgres')).toMatchObject({ isRefused: 1, isAlive: 1 });
  }, 120_000);
});

test('`serve` of the package asks for the password, keeps the history, names what it cannot do and frees its port', async () => {
  const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
  const unsupported: string[] = [];
  const served = await serveForUsers({
    profile,
    schema: ['CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 5)'],
    password: 'secret',
    onUnsupported: ({ statement }) => unsupported.push(statement),
  });
  const connect = async (password: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: served.url.replace('@', `:${password}@`) });
    await client.connect();
    return client;
  };
  await expect(connect('wrong')).rejects.toMatchObject({ code: '28P01' });
  const client = await connect('secret');
  expect((await client.query('SELECT n FROM t')).rows).toEqual([{ n: 5 }]);
  await expect(client.query('LISTEN news; NOTIFY news')).rejects.toMatchObject({ code: '0A000' });
  expect(served.database.unsupported().length).toBe(unsupported.length);
  expect(unsupported.length).toBeGreaterThan(0);
  await client.end();
  const { transactions } = served.database.history();
  expect(transactions.map(({ operations }) => operations.map(({ kind }) => kind))).toContainEqual(['read']);
  await expect(serveForUsers({ profile, port: served.port })).rejects.toMatchObject({ code: 'serve/address' });
  await served.close();
  const again = await serveForUsers({ profile, port: served.port });
  expect(again.port).toBe(served.port);
  await again.close();
  await expect(serveForUsers({ profile, schema: 'CREATE TABEL t ()' })).rejects.toMatchObject({
    code: 'database/schema',
  });
});
