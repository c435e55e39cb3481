import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { SqlDatabase } from '../../database/database.ts';
import { httpInterface, type HttpOptions } from './interface.ts';
import type { ProfileOptions } from '../../database/instance/profile.ts';
import { connected, openDatabase } from '../../database/sql-session.test-support.ts';

/** What the tests look into; what is not there is undefined. */
interface Json {
  readonly session?: number;
  readonly command?: string;
  readonly rowCount?: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ readonly status: number; readonly json: Json; readonly text: string }>;

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function serve(
  profile: ProfileOptions = {},
  options: HttpOptions = {},
): Promise<{ readonly ask: Ask; readonly database: SqlDatabase; readonly port: number }> {
  const database = await openDatabase(profile, { settle: null });
  const server = httpInterface(database, options);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  closings.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const ask: Ask = async (method, path, body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, json: isJson ? (JSON.parse(answer) as Json) : {}, text: answer };
  };
  return { ask, database, port };
}

test('values of MySQL are as its clients read them', async () => {
  const { ask } = await serve({ engine: 'mysql' });
  await ask('POST', '/sessions');
  const { json } = await ask('POST', '/sessions/1/sql', {
    sql: "select cast('ab' as binary) b, timestamp '2024-01-02 03:04:05' t",
  });
  expect(json).toMatchObject({ rows: [['ab', '2024-01-02 03:04:05']] });
});

test('a statement that moirai cannot do is listed once, and what the server refuses too is not', async () => {
  const { ask, database } = await serve();
  await ask('POST', '/sessions');
  for (const sql of [
    'create table t (n int)',
    'create rule r as on delete to t do instead nothing',
    'create rule r as on delete to t do instead nothing',
    'select 1 / 0',
    'selec',
  ])
    await ask('POST', '/sessions/1/sql', { sql });
  expect(database.unsupported.list.map(({ session, statement, count }) => [session, statement, count])).toEqual([
    ['1', 'create rule r as on delete to t do instead nothing', 2],
  ]);
});

describe('a session', () => {
  test('runs SQL with parameters', async () => {
    const { ask } = await serve();
    expect((await ask('POST', '/sessions')).json).toEqual({ session: 1 });
    const sql = 'select $1::int as n, $2::text as t, $3::jsonb as j, $4::bigint as big, null as nothing';
    const parameters = [7, 'seven', { a: [1] }, '9007199254740993'];
    expect((await ask('POST', '/sessions/1/sql', { sql, parameters })).json).toEqual({
      command: 'SELECT',
      rowCount: 1,
      columns: ['n', 't', 'j', 'big', 'nothing'],
      rows: [[7, 'seven', { a: [1] }, '9007199254740993', null]],
    });
    expect((await ask('POST', '/sessions/1/sql', { sql: 'create table t (id int primary key)' })).json).toEqual({
      command: 'CREATE TABLE',
      rowCount: 0,
    });
    expect((await ask('POST', '/sessions/1/sql', { sql: 'insert into t values (1), (2)' })).json.rowCount).toBe(2);
  });

  test.each(['postgres', 'mysql'])('has transactions in %s', async (engine) => {
    const { ask } = await serve({ engine });
    await ask('POST', '/sessions');
    await ask('POST', '/sessions');
    const at = async (session: number, method: string, path: string, body?: unknown): Promise<Json> =>
      (await ask(method, `/sessions/${session}${path}`, body)).json;
    expect(await at(1, 'GET', '/keys/cart')).toEqual({ key: 'cart', value: null });
    expect((await at(1, 'POST', '/begin', { isolation: 'serializable' })).command).toBe('BEGIN');
    expect(await at(1, 'PUT', '/keys/cart/of%20ann', ['lamp'])).toEqual({ key: 'cart/of ann', value: ['lamp'] });
    await at(1, 'POST', '/rollback');
    expect((await at(1, 'GET', '/keys/cart/of%20ann')).value).toBeNull();
    await at(1, 'POST', '/begin');
    await at(1, 'PUT', '/keys/cart/of%20ann', ['lamp']);
    await at(1, 'PUT', '/keys/cart/of%20ann', ['lamp', { n: 2 }]);
    expect((await at(1, 'POST', '/commit')).command).toBe('COMMIT');
    expect((await at(2, 'GET', '/keys/cart/of%20ann')).value).toEqual(['lamp', { n: 2 }]);
  });

  test('rolls back when it is deleted, and is gone', async () => {
    const { ask, database } = await serve();
    await ask('POST', '/sessions');
    await ask('POST', '/sessions/1/begin');
    await ask('PUT', '/sessions/1/keys/a', 1);
    expect((await ask('DELETE', '/sessions/1')).status).toBe(200);
    expect(await connected(database).rows('select * from moirai_keys')).toEqual([]);
    expect((await ask('POST', '/sessions/1/begin')).status).toBe(404);
  });

  test('does one thing at a time', async () => {
    const { ask, database } = await serve();
    const holder = connected(database);
    await holder.run('create table t (id int primary key)');
    await holder.run('insert into t values (1)');
    await holder.run('begin');
    await holder.run('update t set id = 1');
    await ask('POST', '/sessions');
    const first = ask('POST', '/sessions/2/sql', { sql: 'update t set id = 2' });
    await expect
      .poll(async () => (await ask('POST', '/sessions/2/sql', { sql: 'select 1' })).json.error?.code)
      .toBe('http/busy');
    await holder.run('commit');
    expect((await first).json).toEqual({ command: 'UPDATE', rowCount: 1 });
  });

  test('that waits ends when it is deleted', async () => {
    const { ask, database } = await serve();
    const holder = connected(database);
    await holder.run('create table t (id int primary key)');
    await holder.run('insert into t values (1)');
    await holder.run('begin');
    await holder.run('update t set id = 1');
    await ask('POST', '/sessions');
    const first = ask('POST', '/sessions/2/sql', { sql: 'update t set id = 2' });
    await expect.poll(() => database.scheduler.isBusy(2)).toBe(true);
    await ask('DELETE', '/sessions/2');
    expect((await first).json.error?.code).toBe('57P01');
  });

  test('fails its transaction by what cannot be read', async () => {
    const { ask } = await serve();
    await ask('POST', '/sessions');
    await ask('POST', '/sessions/1/begin');
    expect((await ask('POST', '/sessions/1/sql', { sql: 'selec 1' })).json.error).toMatchObject({ code: '42601' });
    expect((await ask('POST', '/sessions/1/sql', { sql: 'select 1' })).json.error?.code).toBe('25P02');
    expect((await ask('POST', '/sessions/1/commit')).json.command).toBe('ROLLBACK');
  });
});

describe('what cannot be served', () => {
  test.each([
    ['GET', '/', undefined, 404, 'http/path'],
    ['GET', '//', undefined, 404, 'http/path'],
    ['GET', '/%zz', undefined, 400, 'http/path'],
    ['GET', '/sessions', undefined, 405, 'http/method'],
    ['POST', '/sessions/7/sql', {}, 404, 'http/session'],
    ['POST', '/sessions/x/sql', {}, 404, 'http/session'],
    ['GET', '/sessions/1', undefined, 404, 'http/path'],
    ['POST', '/sessions/1/nothing', undefined, 404, 'http/path'],
    ['POST', '/sessions/1/sql/more', undefined, 404, 'http/path'],
    ['GET', '/sessions/1/sql', undefined, 405, 'http/method'],
    ['GET', '/sessions/1/keys', undefined, 404, 'http/path'],
    ['DELETE', '/sessions/1/keys/a', undefined, 405, 'http/method'],
    ['POST', '/sessions/1/sql', undefined, 400, 'http/body'],
    ['POST', '/sessions/1/sql', '{"sql":', 400, 'http/body'],
    ['POST', '/sessions/1/sql', { sql: 7 }, 400, 'http/body'],
    ['POST', '/sessions/1/sql', { sql: 'select $1::int', parameters: 7 }, 400, '08P01'],
    ['POST', '/sessions/1/sql', { sql: 'select $1::int', parameters: [] }, 400, '08P01'],
    ['POST', '/sessions/1/sql', { sql: 'select $1::int', parameters: ['x'] }, 400, '22P02'],
    ['POST', '/sessions/1/sql', { sql: 'select nothing' }, 400, '42703'],
    ['POST', '/sessions/1/begin', { isolation: 7 }, 400, 'http/body'],
    ['POST', '/sessions/1/begin', { isolation: 'x; drop table t' }, 400, 'http/body'],
    ['POST', '/sessions/1/begin', { isolation: 'chaos' }, 400, '42601'],
    ['POST', '/admin/nothing', undefined, 400, '42601'],
    ['GET', '/admin/reset', undefined, 405, 'http/method'],
    ['POST', '/admin/history', undefined, 405, 'http/method'],
    ['POST', '/admin/strong/reads/on', undefined, 400, 'http/path'],
    ['POST', '/admin/level/chaos', undefined, 400, 'option/isolation'],
  ])('%s %s %j is %d %s', async (method, path, body, status, code) => {
    const { ask } = await serve();
    await ask('POST', '/sessions');
    const answer = await ask(method, path, body);
    expect([answer.status, answer.json.error?.code]).toEqual([status, code]);
    expect(answer.json.error?.message.length).toBeGreaterThan(5);
  });

  test('a body of more than a mebibyte', async () => {
    const { ask } = await serve();
    await ask('POST', '/sessions');
    const answer = await ask('POST', '/sessions/1/sql', { sql: 'x'.repeat(1 << 20) });
    expect([answer.status, answer.json.error?.code]).toEqual([413, 'http/body']);
  });

  test('more sessions than allowed', async () => {
    const { ask } = await serve({}, { sessionsMax: 2 });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await ask('POST', '/sessions')).status);
    expect(statuses).toEqual([200, 200, 503]);
    await ask('DELETE', '/sessions/1');
    expect((await ask('POST', '/sessions')).status).toBe(200);
  });

  test('a serialization failure is to be run again', async () => {
    const { ask } = await serve({ isolation: 'repeatable read' });
    await ask('POST', '/sessions');
    await ask('POST', '/sessions');
    await ask('PUT', '/sessions/1/keys/a', 0);
    for (const session of [1, 2]) {
      await ask('POST', `/sessions/${session}/begin`);
      await ask('GET', `/sessions/${session}/keys/a`);
    }
    await ask('PUT', '/sessions/1/keys/a', 1);
    await ask('POST', '/sessions/1/commit');
    const answer = await ask('PUT', '/sessions/2/keys/a', 2);
    expect([answer.status, answer.json.error?.code]).toEqual([409, '40001']);
  });
});

describe('a password', () => {
  test.each([
    [undefined, 401],
    ['Bearer wrong', 401],
    ['secret', 401],
    ['Bearer secret', 200],
  ])('%s is %d', async (authorization, status) => {
    const { ask } = await serve({}, { password: 'secret' });
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    expect((await ask('POST', '/sessions', undefined, headers)).status).toBe(status);
    expect((await ask('GET', '/admin/history', undefined, headers)).status).toBe(status);
  });
});

test('the admin commands', async () => {
  const { ask, database } = await serve({ level: 'causal' });
  await ask('POST', '/sessions');
  await ask('PUT', '/sessions/1/keys/a', 1);
  for (const path of ['/admin/start', '/admin/seed/7', '/admin/level/read-committed'])
    expect(await ask('POST', path)).toMatchObject({ status: 200, json: {} });
  await ask('PUT', '/sessions/1/keys/a', 2);
  const history = await ask('GET', '/admin/history');
  expect(history.text.split('\n').map((line) => line.includes('moirai_keys/a'))).toContain(true);
  expect((await ask('GET', '/admin/choices')).text).toMatch(/^\{"moirai":"choices","version":3\}\n\{"schedule":\[1/);
  expect((await ask('POST', '/admin/reset')).status).toBe(200);
  expect(database.history().transactions).toEqual([]);
  expect((await ask('GET', '/sessions/1/keys/a')).json.value).toBeNull();
});

describe('a page of another site gets nothing', () => {
  /** As a browser sends it, with its headers. @returns status and code of the error */
  async function sent(options: HttpOptions, headers: Record<string, string>, body?: string): Promise<string> {
    const { port, database } = await serve({}, options);
    const asked = request({ port, host: '127.0.0.1', method: 'POST', path: '/sessions', headers });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [AsyncIterable<Uint8Array> & { statusCode: number }];
    const pieces: Uint8Array[] = [];
    for await (const piece of response) pieces.push(piece);
    const { error } = JSON.parse(Buffer.concat(pieces).toString()) as Json;
    expect(database.sessions.length).toBe(response.statusCode === 200 ? 1 : 0);
    return [response.statusCode, error?.code ?? 'ok'].join(' ');
  }

  const password = 'secret';
  const authorization = 'Bearer secret';
  test.each<[string, string, HttpOptions, Record<string, string>, string?]>([
    ['200 ok', 'the address', {}, { host: '127.0.0.1:8080' }],
    ['200 ok', 'another address of it', {}, { host: '[::1]:8080' }],
    ['200 ok', 'localhost', {}, { host: 'localhost:8080' }],
    ['200 ok', 'its own name', { host: 'db.test' }, { host: 'DB.test:8080' }],
    ['403 http/host', 'a name that points here', {}, { host: 'evil.example' }],
    ['403 http/host', 'one that only begins so', { host: 'db.test' }, { host: 'db.test.evil.example' }],
    ['403 http/host', 'one in which an address is a user', {}, { host: '127.0.0.1@evil.example' }],
    ['200 ok', 'a name, with the password', { password }, { host: 'db.test', authorization }],
    ['200 ok', 'its own page', {}, { host: 'localhost:8080', origin: 'http://localhost:8080' }],
    ['403 http/origin', 'another page', {}, { host: 'localhost:8080', origin: 'http://evil.example' }],
    ['403 http/origin', 'a page on another port', {}, { host: 'localhost:8080', origin: 'http://localhost:3000' }],
    ['403 http/origin', 'a page without an origin', {}, { host: 'localhost:8080', origin: 'null' }],
    ['415 http/content-type', 'what a form may send', {}, { 'content-type': 'text/plain' }, '{}'],
    ['415 http/content-type', 'what curl -d sends', {}, { 'content-type': 'application/x-www-form-urlencoded' }, '{}'],
    ['415 http/content-type', 'no type', {}, {}, '{}'],
    ['200 ok', 'JSON with its encoding', {}, { 'content-type': 'application/json; charset=utf-8' }, '{}'],
  ])('%s: %s', async (expected, _name, options, headers, body) => {
    expect(await sent(options, headers, body)).toBe(expected);
  });
});

describe('clients that vanish', () => {
  test('a session that is idle ends, and its locks with it', async () => {
    const { ask } = await serve({}, { idleMs: 3_000 });
    const session = async (): Promise<string> => `/sessions/${(await ask('POST', '/sessions')).json.session}`;
    const [idle, other] = [await session(), await session()];
    await ask('POST', `${other}/sql`, { sql: 'create table t (id int primary key)' });
    await ask('POST', `${idle}/begin`);
    await ask('POST', `${idle}/sql`, { sql: 'insert into t values (1)' });
    expect((await ask('POST', `${other}/sql`, { sql: 'insert into t values (1)' })).json).toMatchObject({
      rowCount: 1,
    });
    const { status, json } = await ask('POST', `${idle}/commit`);
    expect([status, json.error?.code]).toEqual([404, 'http/session']);
  });

  test('a session that waits for an answer is not idle', async () => {
    const { ask } = await serve({ engine: 'mysql' }, { idleMs: 1_000 });
    await ask('POST', '/sessions');
    const { json } = await ask('POST', '/sessions/1/sql', { sql: 'select sleep(1.5) as slept' });
    expect(json).toMatchObject({ rows: [['0']] });
  });

  test('a connection that sends no request is cut off', async () => {
    const { port, ask } = await serve({}, { loginMs: 100 });
    const silent = connect(port, '127.0.0.1');
    await once(silent.resume(), 'close');
    expect((await ask('POST', '/sessions')).status).toBe(200);
  });
});
