/** What a MySQL client hears about where it is, and of columns that are MySQL's own. */
import { createConnection, type Connection, type ConnectionOptions, type RowDataPacket } from 'mysql2/promise';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectTo } from '../connect.ts';
import { openSqlDatabase, type SqlDatabase } from '../../database/database.ts';
import { parseProfile } from '../../database/instance/profile.ts';
import { connected, openDatabase } from '../../database/sql-session.test-support.ts';

let database: SqlDatabase;
let open: Connection[] = [];
const bugs: unknown[] = [];

beforeEach(async () => {
  database = await openSqlDatabase({ profile: parseProfile({ engine: 'mysql' }) });
});

afterEach(() => {
  for (const connection of open) connection.destroy();
  open = [];
  database.close();
  if (bugs.length > 0) throw new AggregateError(bugs.splice(0), 'bugs of ours');
});

async function client(more: ConnectionOptions = {}): Promise<Connection> {
  const stream = connectTo(database, { onBug: (error) => void bugs.push(error) });
  const connection = await createConnection({ user: 'ann', ...more, stream } as ConnectionOptions);
  open.push(connection);
  return connection;
}

async function rows(connection: Connection, sql: string): Promise<unknown[]> {
  const [answer] = await connection.query<RowDataPacket[]>({ sql, rowsAsArray: true });
  return answer;
}

test('the database is the one that the client named, and USE changes it', async () => {
  const shop = await client({ database: 'shop' });
  expect(await rows(shop, 'SELECT DATABASE(), SCHEMA()')).toEqual([['shop', 'shop']]);
  expect(await rows(await client(), 'SELECT DATABASE()')).toEqual([['test']]);
  await shop.query('CREATE DATABASE other');
  await shop.query('CREATE TABLE here (id INT)');
  await shop.query('USE other');
  await shop.query('CREATE TABLE there (id INT)');
  expect(await rows(shop, 'SELECT DATABASE()')).toEqual([['other']]);
  expect(await rows(shop, 'SHOW TABLES')).toEqual([['there']]);
  await shop.changeUser({ database: 'shop' });
  expect(await rows(shop, 'SELECT DATABASE()')).toEqual([['shop']]);
  expect(await rows(shop, 'SHOW TABLES')).toEqual([['here']]);
});

test('a database that was created is where a client that names it works', async () => {
  await (await client()).query('CREATE DATABASE other');
  const other = await client({ database: 'other' });
  await other.query('CREATE TABLE there (id INT)');
  expect(await rows(await client({ database: 'other' }), 'SHOW TABLES')).toEqual([['there']]);
  expect(await rows(await client(), 'SHOW TABLES')).toEqual([]);
});

test('the tables of a database are found by the name that the client calls it', async () => {
  const shop = await client({ database: 'shop' });
  await shop.query('CREATE TABLE t (id INT PRIMARY KEY, flag BOOLEAN DEFAULT TRUE, name VARCHAR(5), at DATETIME(3))');
  const [tables, fields] = await shop.query(
    'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  expect(tables).toEqual([{ TABLE_NAME: 't' }]);
  expect(fields.map(({ name }) => name)).toEqual(['TABLE_NAME']);
  const [, named] = await shop.query('SHOW TABLES');
  expect(named.map(({ name }) => name)).toEqual(['Tables_in_shop']);
  expect(await rows(shop, 'DESCRIBE t')).toEqual([
    ['id', 'int', 'NO', 'PRI', null, ''],
    ['flag', 'tinyint(1)', 'YES', '', '1', ''],
    ['name', 'varchar(5)', 'YES', '', null, ''],
    ['at', 'datetime(3)', 'YES', '', null, ''],
  ]);
});

test.each(['query', 'execute'] as const)('TINYINT reaches the client as what it is, by %s', async (way) => {
  const connection = await client();
  await connection.query('CREATE TABLE t (flag BOOLEAN, small TINYINT, byte TINYINT UNSIGNED, other SMALLINT)');
  await connection.query('INSERT INTO t VALUES (TRUE, -128, 255, 7)');
  const sql = 'SELECT * FROM t';
  const [answer, fields] = await (way === 'query' ? connection.query(sql) : connection.execute(sql));
  expect(answer).toEqual([{ flag: 1, small: -128, byte: 255, other: 7 }]);
  expect(fields.map(({ columnType, columnLength }) => [columnType, columnLength])).toEqual([
    [1, 1],
    [1, 4],
    [1, 3],
    [2, 6],
  ]);
});

test('max_allowed_packet is what the conversation takes', async () => {
  const connection = await client();
  expect(await rows(connection, 'SELECT @@max_allowed_packet')).toEqual([[16 * 1024 * 1024]]);
});

test('the number that the handshake tells is the number of the session', async () => {
  for (let i = 0; i < 3; i++) {
    const connection = await client();
    expect(await rows(connection, 'SELECT CONNECTION_ID()')).toEqual([[connection.threadId]]);
    expect(database.session(connection.threadId)).toBeDefined();
  }
});

test('an index that ALTER TABLE adds without a name gets one that is free', async () => {
  const connection = await client();
  await connection.query('CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(5) UNIQUE, other INT)');
  await connection.query('ALTER TABLE t CHANGE name name VARCHAR(9) NOT NULL UNIQUE');
  await connection.query('ALTER TABLE t ADD UNIQUE (name, other), ADD INDEX (other)');
  const names = await rows(connection, 'SELECT DISTINCT index_name FROM information_schema.statistics ORDER BY 1');
  expect(names).toEqual([['name'], ['name_2'], ['name_3'], ['other'], ['PRIMARY']]);
});

test('without foreign_key_checks nothing is looked up and nothing cascades', async () => {
  const own = await openDatabase({ engine: 'mysql' });
  const checked = connected(own);
  await checked.run('create table p (id int primary key)');
  await checked.run('create table c (p int, foreign key (p) references p (id) on delete cascade)');
  await checked.run('insert into p values (1)');
  await checked.run('insert into c values (1)');
  await checked.run('set foreign_key_checks = 0');
  await checked.run('insert into c values (7)');
  await checked.run('delete from p');
  expect(await checked.rows('select p from c order by p')).toEqual([[1], [7]]);
  await checked.run('set foreign_key_checks = 1');
  expect(await checked.outcome('insert into c values (8)')).toBe('23503');
});

test('MariaDB 11.6 has innodb_snapshot_isolation on; a session may turn it off, and DEFAULT is on', async () => {
  database.close();
  database = await openSqlDatabase({ profile: parseProfile({ engine: 'mariadb-11.6' }) });
  const connection = await client();
  const asked =
    'SELECT @@innodb_snapshot_isolation, @@session.innodb_snapshot_isolation, @@global.innodb_snapshot_isolation';
  expect(await rows(connection, asked)).toEqual([[1, 1, 1]]);
  expect(await rows(connection, "SHOW VARIABLES LIKE 'innodb_snapshot%'")).toEqual([
    ['innodb_snapshot_isolation', 'ON'],
  ]);
  await connection.query('SET innodb_snapshot_isolation = OFF');
  expect(await rows(connection, asked)).toEqual([[0, 0, 1]]);
  await connection.query('SET innodb_snapshot_isolation = DEFAULT');
  expect(await rows(connection, asked)).toEqual([[1, 1, 1]]);
});

test('WITH before an UPDATE or DELETE that has an order and a limit is known to its conditions', async () => {
  const shop = await client();
  await shop.query('CREATE TABLE t (id INT PRIMARY KEY, v INT)');
  await shop.query('INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)');
  const chosen = 'WITH c AS (SELECT id FROM t WHERE id > 1)';
  await shop.query(`${chosen} UPDATE t SET v = 1 WHERE id IN (SELECT id FROM c) ORDER BY id LIMIT 1`);
  expect(await rows(shop, 'SELECT * FROM t')).toEqual([
    [1, 0],
    [2, 1],
    [3, 0],
  ]);
  await shop.query(`${chosen} DELETE FROM t WHERE id IN (SELECT id FROM c) ORDER BY id DESC LIMIT 1`);
  expect(await rows(shop, 'SELECT id FROM t')).toEqual([[1], [2]]);
});
