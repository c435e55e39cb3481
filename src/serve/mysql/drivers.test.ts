/** Drivers, the MySQL conversation and the database together. */
import { createConnection as mariadbConnection } from 'mariadb';
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startConversation } from '../connect.ts';
import { converse } from '../converse.ts';
import { openSqlDatabase, type SqlDatabase } from '../../database/database.ts';
import { duplexPair } from '../duplex-pair.ts';
import { listen, type Listener } from '../listener.ts';
import { parseProfile } from '../../database/instance/profile.ts';

let database: SqlDatabase;
let start: ReturnType<typeof startConversation>;
const bugs: unknown[] = [];

beforeAll(async () => {
  database = await openSqlDatabase({ profile: parseProfile({ engine: 'mysql' }) });
  start = startConversation(database, { onBug: (error) => bugs.push(error) });
});

afterAll(() => database.close());

const options = { user: 'ann', dateStrings: true, supportBigNumbers: true, bigNumberStrings: true };

let open: Connection[] = [];

async function connect(
  more: { readonly multipleStatements?: boolean; readonly flags?: string[] } = {},
): Promise<Connection> {
  const [client, server] = duplexPair();
  converse(server, start);
  const connection = await createConnection({ ...options, ...more, stream: client });
  open.push(connection);
  return connection;
}

async function rowsOf(connection: Connection, sql: string, values?: (string | number | null)[]): Promise<unknown[]> {
  const [rows] = values === undefined ? await connection.query(sql) : await connection.execute(sql, values);
  return rows as RowDataPacket[];
}

let ann: Connection;
let bob: Connection;

beforeEach(async () => {
  [ann, bob] = await Promise.all([connect(), connect()]);
  await ann.query('DROP TABLE IF EXISTS account');
  await ann.query(
    'CREATE TABLE account (id INT PRIMARY KEY AUTO_INCREMENT, owner VARCHAR(20) NOT NULL UNIQUE, balance INT)',
  );
  await ann.query("INSERT INTO account (owner, balance) VALUES ('ann', 10), ('bob', 20)");
  return async () => {
    for (const connection of open) connection.destroy();
    open = [];
    await vi.waitUntil(() => database.sessions.length === 0);
  };
});

test('columns of every type, written and read as text and in binary', async () => {
  await ann.query(`CREATE TABLE kinds (
    tiny TINYINT(1), small SMALLINT, whole INT, wide INT UNSIGNED, large BIGINT, larger BIGINT UNSIGNED, price DECIMAL(10,2), half FLOAT, third DOUBLE,
    name VARCHAR(30), note TEXT, code CHAR(3), bytes BLOB, day DATE, moment DATETIME, exact DATETIME(6), clock TIME, data JSON, nothing INT)`);
  const values = [
    1,
    -5,
    7,
    4_294_967_295,
    '-9007199254740993',
    '18446744073709551615',
    '12.50',
    0.5,
    1 / 3,
    'Zoë 🙂',
    '',
    'ab',
    Buffer.of(0, 39, 92, 255),
    '2020-02-29',
    '2020-02-29 12:00:00',
    '2020-02-29 12:00:00.000001',
    '01:01:01',
    { a: [1] },
    null,
  ];
  const marks = values.map(() => '?').join();
  await ann.execute(`INSERT INTO kinds VALUES (${marks})`, values);
  await ann.query('INSERT INTO kinds VALUES (?)', [
    values.map((value) => (value !== null && value.constructor === Object ? JSON.stringify(value) : value)),
  ]);
  const texts = await rowsOf(ann, 'SELECT * FROM kinds');
  expect(texts.map((row) => Object.values(row as object))).toEqual([values, values]);
  expect(await rowsOf(ann, 'SELECT * FROM kinds', [])).toEqual(texts);
  await ann.query('DROP TABLE kinds');
});

test('columns tell that they are the primary key, and numbered by the server', async () => {
  await ann.query('CREATE TABLE flagged (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT)');
  const [, fields] = await ann.query('SELECT id, v, id + 1 AS next FROM flagged');
  const [notNull, primaryKey, unsigned, autoIncrement] = [1, 2, 32, 512];
  const known = notNull | primaryKey | unsigned | autoIncrement;
  // MariaDB also says of `id + 1` that it is not null.
  expect(fields.map(({ flags }) => Number(flags) & known)).toEqual([known, 0, unsigned]);
  await ann.query('DROP TABLE flagged');
});

test('a text that is no JSON', async () => {
  await ann.query('CREATE TABLE documents (j JSON)');
  await expect(ann.query(`INSERT INTO documents VALUES ('{bad')`)).rejects.toMatchObject({ errno: 3140 });
  await expect(ann.query(`SELECT JSON_EXTRACT('{bad', '$.a')`)).rejects.toMatchObject({ errno: 3141 });
  await ann.query('DROP TABLE documents');
});

describe('statements', () => {
  test('tell what they changed', async () => {
    const [insert] = await ann.execute<ResultSetHeader>("INSERT INTO account (owner) VALUES ('cat')");
    expect(insert).toMatchObject({ affectedRows: 1, insertId: 3 });
    const [update] = await ann.query<ResultSetHeader>('UPDATE account SET balance = 10 WHERE balance >= 10');
    const info = 'Rows matched: 2  Changed: 1  Warnings: 0';
    expect(update).toMatchObject({ affectedRows: 2, changedRows: 1, info });
    const changes = await connect({ flags: ['-FOUND_ROWS'] });
    const [again] = await changes.query<ResultSetHeader>('UPDATE account SET balance = 10 WHERE balance >= 10');
    expect(again).toMatchObject({ affectedRows: 0, changedRows: 0 });
  });

  test.each([
    [
      "INSERT INTO account (owner) VALUES ('ann')",
      'ER_DUP_ENTRY',
      1062,
      '23000',
      "Duplicate entry 'ann' for key 'account.owner'",
    ],
    ['INSERT INTO account (owner) VALUES (NULL)', 'ER_BAD_NULL_ERROR', 1048, '23000', "Column 'owner' cannot be null"],
    ['SELECT * FROM missing', 'ER_NO_SUCH_TABLE', 1146, '42S02', "Table 'test.missing' doesn't exist"],
    ['SELECT missing FROM account', 'ER_BAD_FIELD_ERROR', 1054, '42S22', "Unknown column 'missing' in 'field list'"],
    ['CREATE TABLE account (id INT)', 'ER_TABLE_EXISTS_ERROR', 1050, '42S01', "Table 'account' already exists"],
  ])('%s', async (sql, code, errno, sqlState, sqlMessage) => {
    await expect(ann.query(sql)).rejects.toMatchObject({ code, errno, sqlState, sqlMessage });
    await expect(ann.execute(sql)).rejects.toMatchObject({ code, errno, sqlState, sqlMessage });
    await ann.ping();
  });

  test('are prepared once, and see a table that was made anew', async () => {
    const statement = await ann.prepare('SELECT balance FROM account WHERE owner = ?');
    expect((await statement.execute(['bob']))[0]).toEqual([{ balance: 20 }]);
    await ann.query('ALTER TABLE account ADD COLUMN note TEXT');
    expect((await statement.execute(['ann']))[0]).toEqual([{ balance: 10 }]);
    await statement.close();
  });

  test('compare with what the client sent, not with what fits', async () => {
    expect(await rowsOf(ann, 'SELECT id FROM account WHERE id = ?', [1])).toEqual([{ id: 1 }]);
    expect(await rowsOf(ann, 'SELECT id FROM account WHERE id = ?', [1.5])).toEqual([]);
    expect(await rowsOf(ann, 'SELECT id FROM account WHERE id = ?', ['2'])).toEqual([{ id: 2 }]);
    expect(await rowsOf(ann, 'SELECT id FROM account WHERE id = ?', [5_000_000_000])).toEqual([]);
    expect(await rowsOf(ann, 'SELECT ? AS number', [7])).toEqual([{ number: 7 }]);
    expect(await rowsOf(ann, 'SELECT id FROM account ORDER BY id LIMIT ?', [1])).toEqual([{ id: 1 }]);
  });

  test('come several at a time', async () => {
    const connection = await connect({ multipleStatements: true });
    const [results] = await connection.query("DO 1; SELECT id FROM account WHERE owner = 'ann'; SELECT 2 AS two");
    expect(results).toMatchObject([{ affectedRows: 0 }, [{ id: 1 }], [{ two: 2 }]]);
  });
});

describe('transactions', () => {
  test('are seen when they are committed', async () => {
    await ann.beginTransaction();
    await ann.query("UPDATE account SET balance = 0 WHERE owner = 'ann'");
    expect(await rowsOf(bob, 'SELECT balance FROM account WHERE id = 1')).toEqual([{ balance: 10 }]);
    await ann.commit();
    expect(await rowsOf(bob, 'SELECT balance FROM account WHERE id = 1')).toEqual([{ balance: 0 }]);
  });

  test('of a client that is gone are rolled back, and the waiting session continues', async () => {
    await ann.beginTransaction();
    await ann.query('UPDATE account SET balance = 0 WHERE id = 1');
    const waiting = bob.query<ResultSetHeader>('UPDATE account SET balance = balance + 1 WHERE id = 1');
    ann.destroy();
    expect((await waiting)[0].affectedRows).toBe(1);
    expect(await rowsOf(bob, 'SELECT balance FROM account WHERE id = 1')).toEqual([{ balance: 11 }]);
  });

  test('that wait for each other: one is told', async () => {
    await Promise.all([ann.beginTransaction(), bob.beginTransaction()]);
    await ann.query('UPDATE account SET balance = 1 WHERE id = 1');
    await bob.query('UPDATE account SET balance = 2 WHERE id = 2');
    const results = await Promise.allSettled([
      ann.query('UPDATE account SET balance = 1 WHERE id = 2'),
      bob.query('UPDATE account SET balance = 2 WHERE id = 1'),
    ]);
    const [failure, ...more] = results.filter((result) => result.status === 'rejected');
    expect(more).toEqual([]);
    expect(failure?.reason).toMatchObject({ code: 'ER_LOCK_DEADLOCK', errno: 1213, sqlState: '40001' });
  });

  test('end a wait by KILL QUERY, or do not wait at all', async () => {
    await ann.beginTransaction();
    await ann.query('SELECT * FROM account WHERE id = 1 FOR UPDATE');
    expect(await rowsOf(bob, 'SELECT CONNECTION_ID() AS id')).toEqual([{ id: String(bob.threadId) }]);
    const nowait = bob.query('SELECT * FROM account WHERE id = 1 FOR UPDATE NOWAIT');
    await expect(nowait).rejects.toMatchObject({ errno: 3572, sqlState: 'HY000' });
    const waiting = bob.query('UPDATE account SET balance = 0 WHERE id = 1').catch((error: unknown) => error);
    await ann.query(`KILL QUERY ${bob.threadId}`);
    expect(await waiting).toMatchObject({ errno: 1317, sqlState: '70100' });
    await ann.commit();
    expect(await rowsOf(bob, 'SELECT balance FROM account WHERE id = 1')).toEqual([{ balance: 10 }]);
  });
});

test('a parameter of bytes that are no text keeps them', async () => {
  const bytes = Buffer.from('80900102ff', 'hex');
  const [rows] = await ann.execute('SELECT HEX(?) AS a, HEX(CONCAT(?)) AS b', [bytes, bytes]);
  expect(rows).toEqual([{ a: '80900102FF', b: '80900102FF' }]);
});

test('UNIX_TIMESTAMP of a parameter has microseconds', async () => {
  const [rows] = await ann.execute('SELECT UNIX_TIMESTAMP(?) AS a', ['2020-01-01 00:00:00.25']);
  expect(rows).toEqual([{ a: '1577836800.250000' }]);
  expect(await rowsOf(ann, "SELECT UNIX_TIMESTAMP('2020-01-01') AS a")).toEqual([{ a: '1577836800' }]);
});

test('KILL is one of several statements, and what is said of users commits', async () => {
  const several = await connect({ multipleStatements: true });
  await several.query('START TRANSACTION; UPDATE account SET balance = 0; CREATE USER IF NOT EXISTS zoe');
  await several.query("GRANT ALL ON *.* TO 'zoe'@'%'; ROLLBACK");
  expect(await rowsOf(ann, 'SELECT DISTINCT balance FROM account')).toEqual([{ balance: 0 }]);
  const [[killed]] = (await several.query(`KILL ${bob.threadId}; SELECT 1 AS n`)) as unknown as [[unknown, unknown]];
  expect(killed).toMatchObject({ affectedRows: 0 });
  await expect(bob.query('SELECT 1')).rejects.toBeInstanceOf(Error);
});

describe('mariadb over a socket', () => {
  let listener: Listener;
  beforeAll(async () => {
    listener = await listen(start);
    return () => listener.close();
  });

  test('text and prepared statements', async () => {
    const connection = await mariadbConnection({ user: 'ann', host: listener.host, port: listener.port });
    expect([...(await connection.query<unknown[]>('SELECT id, owner FROM account'))]).toEqual([
      { id: 1, owner: 'ann' },
      { id: 2, owner: 'bob' },
    ]);
    expect(await connection.execute('INSERT INTO account (owner) VALUES (?)', ['Zoë'])).toMatchObject({
      affectedRows: 1,
      insertId: 3n,
    });
    expect([...(await connection.execute<unknown[]>('SELECT owner FROM account WHERE id = ?', [3]))]).toEqual([
      { owner: 'Zoë' },
    ]);
    await connection.beginTransaction();
    await connection.reset();
    await connection.end();
  });
});

test('none of this was answered with an internal error', () => expect(bugs).toEqual([]));
