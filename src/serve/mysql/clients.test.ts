/** The drivers that applications use, over sockets and within the process. */
import { createConnection as mariadbConnection } from 'mariadb';
import { createConnection, createPool, type Connection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResultColumn } from '../../sql/index.ts';
import type { SqlType, SqlValue } from '../../sql/model/index.ts';
import { types } from '../../sql/model/type.ts';
import { parseNumeric } from '../../sql/model/numeric.ts';
import { converse } from '../converse.ts';
import { duplexPair } from '../duplex-pair.ts';
import { listen, type Listener } from '../listener.ts';
import { mysqlConversations } from './conversation.ts';
import { type Script, ScriptedServer, selected, statementResult } from '../scripted-server.test-support.ts';

function column(name: string, type: SqlType, modifier = -1): ResultColumn {
  return { name, type, modifier, tableNumber: 0, columnNumber: 0, tableName: 't', isNullable: true };
}

const mood: SqlType = { name: 'enum', oid: 20_000, labels: ['sad', 'glad'] };
const noon = 1_582_977_600_000_000n; // 2020-02-29 12:00:00

/** Name, type, modifier, the value here, and what a JavaScript client makes of it. */
const cells: readonly (readonly [string, SqlType, number, SqlValue, unknown])[] = [
  ['yes', types.bool, -1, true, 1],
  ['small', types.int2, -1, -32_768, -32_768],
  ['whole', types.int4, -1, -5, -5],
  ['large', types.int8, -1, -9_007_199_254_740_993n, '-9007199254740993'],
  ['larger', types.uint8, -1, 2n ** 64n - 1n, '18446744073709551615'],
  ['price', types.numeric, ((10 << 16) | 2) + 4, parseNumeric('12.50') ?? null, '12.50'],
  ['half', types.float4, -1, 0.5, 0.5],
  ['third', types.float8, -1, 1 / 3, 1 / 3],
  ['name', types.varchar, 44, 'Zoë 🙂', 'Zoë 🙂'],
  ['empty', types.text, -1, '', ''],
  ['note', types.text, -1, 'x'.repeat(70_000), 'x'.repeat(70_000)],
  ['code', types.bpchar, 6, 'ab', 'ab'],
  ['bytes', types.bytea, -1, Uint8Array.of(0, 39, 92, 255), Buffer.of(0, 39, 92, 255)],
  ['day', types.date, -1, 18_321, '2020-02-29'],
  ['moment', types.timestamp, 0, noon, '2020-02-29 12:00:00'],
  ['instant', types.timestamptz, 3, noon + 120_000n, '2020-02-29 12:00:00.120'],
  ['clock', types.time, 0, 3_661_000_000n, '01:01:01'],
  ['data', types.json, -1, '{"a":[1,null]}', { a: [1, null] }],
  ['mood', mood, -1, 'glad', 'glad'],
  ['nothing', types.int4, -1, null, null],
];
const columns = cells.map(([name, type, modifier]) => column(name, type, modifier));
const expected = Object.fromEntries(cells.map(([name, , , , value]) => [name, value]));

const parameterTypes = [types.int4, types.int8, types.float8, types.varchar, types.bytea, types.timestamp, types.json];
const echoed = parameterTypes.map((type, i) => column(`p${i}`, type));
const many = Array.from({ length: 5000 }, (_, i) => [i, 'x'.repeat(100)]);
const manyColumns = [column('i', types.int4), column('t', types.text)];
const script: Script = {
  'select all': { columns, run: () => selected(columns, [cells.map(([, , , value]) => value)]) },
  echo: { columns: echoed, parameterTypes, run: (parameters) => selected(echoed, [parameters]) },
  many: { columns: manyColumns, run: () => selected(manyColumns, many) },
  insert: { run: () => statementResult('INSERT', { rowCount: 1, foundRows: 1, insertId: 7n }) },
  update: { run: () => statementResult('UPDATE', { rowCount: 1, foundRows: 2 }) },
  wait: { run: () => new Promise(() => undefined) },
};

let server: ScriptedServer;
let listener: Listener;
const bugs: unknown[] = [];
let start: ReturnType<typeof mysqlConversations>;

beforeAll(async () => {
  server = new ScriptedServer(script);
  const randomBytes = (count: number) => Uint8Array.from({ length: count }, (_, i) => i * 37);
  start = mysqlConversations({ server, randomBytes, password: 'secret', onBug: (error) => bugs.push(error) });
  listener = await listen(start);
});

afterAll(() => listener.close());

const options = {
  user: 'ann',
  password: 'secret',
  database: 'test',
  dateStrings: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
};

function inProcess(): Promise<Connection> {
  const [client, serverEnd] = duplexPair();
  converse(serverEnd, start);
  return createConnection({ ...options, stream: client });
}

describe.each([
  ['over a socket', () => createConnection({ ...options, host: listener.host, port: listener.port })],
  ['in process', inProcess],
])('mysql2 %s', (_name, connect) => {
  test('reads every type, as text and in binary', async () => {
    const connection = await connect();
    expect((await connection.query('select all'))[0]).toEqual([expected]);
    expect((await connection.execute('select all'))[0]).toEqual([expected]);
    await connection.end();
  });

  test('sends every type', async () => {
    const connection = await connect();
    const values = [7, '-9007199254740993', 0.1, 'Zoë', Buffer.of(0, 255), '2020-02-29 12:00:00', { a: 1 }];
    const [rows] = await connection.execute('echo', values);
    expect(Object.values((rows as Record<string, unknown>[])[0] ?? {})).toEqual([
      7,
      '-9007199254740993',
      0.1,
      'Zoë',
      Buffer.of(0, 255),
      '2020-02-29 12:00:00',
      { a: 1 },
    ]);
    const [nulls] = await connection.execute(
      'echo',
      values.map(() => null),
    );
    expect(Object.values((nulls as Record<string, unknown>[])[0] ?? {})).toEqual(values.map(() => null));
    await connection.end();
  });

  test('reads many rows', async () => {
    const connection = await connect();
    const [rows] = await connection.query({ sql: 'many', rowsAsArray: true });
    expect(rows).toEqual(many);
    await connection.end();
  });

  test('hears of counts, numbers and errors', async () => {
    const connection = await connect();
    expect((await connection.query('insert'))[0]).toMatchObject({ affectedRows: 1, insertId: 7 });
    expect((await connection.query('update'))[0]).toMatchObject({ affectedRows: 2, changedRows: 1 });
    await expect(connection.query('nonsense')).rejects.toMatchObject({
      code: 'ER_PARSE_ERROR',
      errno: 1064,
      sqlState: '42000',
    });
    await connection.ping();
    await connection.changeUser({ user: 'bob', password: 'secret' });
    expect(server.connects.at(-1)?.user).toBe('bob');
    await connection.end();
  });
});

test('mysql2 with the wrong password', async () => {
  const wrong = createConnection({ ...options, password: 'x', host: listener.host, port: listener.port });
  await expect(wrong).rejects.toMatchObject({ code: 'ER_ACCESS_DENIED_ERROR', errno: 1045 });
});

test('several results', async () => {
  const connection = await createConnection({
    ...options,
    host: listener.host,
    port: listener.port,
    multipleStatements: true,
  });
  const [results] = await connection.query('insert; select all; update');
  expect(results).toMatchObject([{ insertId: 7 }, [expected], { changedRows: 1 }]);
  await connection.end();
});

test('KILL QUERY from another connection, by the number that the client was told', async () => {
  const pool = createPool({ ...options, host: listener.host, port: listener.port });
  const connection = await pool.getConnection();
  const waiting = connection.query('wait').catch((error: unknown) => error);
  await pool.query(`KILL QUERY ${connection.threadId}`);
  expect(await waiting).toMatchObject({ errno: 1317, sqlState: '70100' });
  connection.release();
  await pool.end();
});

test('the session of a client that is gone is closed', async () => {
  const connection = await inProcess();
  const { id = 0 } = server.connects.at(-1) ?? {};
  expect(server.session(id)).toBeDefined();
  connection.destroy();
  await expect.poll(() => server.session(id)).toBeUndefined();
});

describe('mariadb', () => {
  const connect = () =>
    mariadbConnection({
      user: 'ann',
      password: 'secret',
      database: 'test',
      dateStrings: true,
      host: listener.host,
      port: listener.port,
    });
  const inMariadb = { ...expected, large: -9_007_199_254_740_993n, larger: 2n ** 64n - 1n };

  test('reads every type, as text and in binary', async () => {
    const connection = await connect();
    expect([...(await connection.query<unknown[]>('select all'))]).toEqual([inMariadb]);
    expect([...(await connection.execute<unknown[]>('select all'))]).toEqual([inMariadb]);
    await connection.end();
  });

  test('sends texts as UTF-8, and resets its connection', async () => {
    const connection = await connect();
    const [row] = await connection.execute<Record<string, unknown>[]>('echo', [
      1,
      2n,
      0.5,
      'Zoë',
      Buffer.of(255),
      null,
      null,
    ]);
    expect(Object.values(row ?? {})).toEqual([1, 2n, 0.5, 'Zoë', Buffer.of(255), null, null]);
    await connection.reset();
    await connection.ping();
    await expect(connection.query('nonsense')).rejects.toMatchObject({ errno: 1064, sqlState: '42000' });
    await connection.end();
  });
});

test('none of this was answered with an internal error', () => expect(bugs).toEqual([]));
