/** Which statements' ways to rows a verdict depends on. */
import { describe, expect, test } from 'vitest';
import { assumedClauses } from './assumed-accesses.ts';
import type { SqlDatabase } from './database.ts';
import { connected, openDatabase } from './sql-session.test-support.ts';

async function afterStatements(engine: string, isolation: string, statements: readonly string[]): Promise<SqlDatabase> {
  const database = await openDatabase({ engine, isolation });
  const client = connected(database);
  await client.run('create table t (id int primary key, owner int, n int)');
  await client.run('create index t_owner on t (owner)');
  await client.run('create table u (id int primary key, tid int)');
  database.start();
  for (const sql of statements) await client.run(sql);
  return database;
}

describe('a choice between an index and the table matters', () => {
  test.each([
    ['postgres', 'serializable', 'select n from t where id = 1', 'by index t_pkey'],
    ['postgres', 'serializable', 'update t set n = 1 where owner = 1', 'by index t_owner'],
    ['mysql', 'repeatable read', 'select n from t where owner = 1 for update', 'by index t_owner'],
    ['mysql', 'read committed', 'delete from t where owner = 1', 'by index t_owner'],
    ['mysql', 'serializable', 'select n from t where owner > 1', 'by index t_owner'],
  ])('%s, %s: %s', async (engine, isolation, statement, taken) => {
    const { assumed } = await afterStatements(engine, isolation, [statement]);
    expect(assumed.list).toMatchObject([{ table: 't', statement, taken, way: 0, ways: 2 }]);
  });
});

describe('no choice, or one that makes no difference', () => {
  test.each([
    ['postgres', 'repeatable read', 'update t set n = 1 where owner = 1'],
    ['postgres', 'serializable', 'select n from t where n = 1'],
    ['mysql', 'repeatable read', 'select n from t where owner = 1'],
    ['mysql', 'repeatable read', 'update t set n = 1 where id = 1'],
    ['mysql', 'repeatable read', 'update t set n = 1 where n = 1'],
  ])('%s, %s: %s', async (engine, isolation, statement) => {
    expect((await afterStatements(engine, isolation, [statement])).assumed.list).toEqual([]);
  });
});

describe('a join of InnoDB that locks: with which table it begins, and whether it looks the other up or reads it whole', () => {
  const order = { table: 'u', taken: 'before t', way: 0, ways: 2 };
  const byKey = { table: 't', taken: 'by index PRIMARY', way: 0, ways: 2 };
  test.each([
    ['serializable', 'select t.n from t join u on u.tid = t.id', [order, byKey]],
    ['read committed', 'update t join u on u.tid = t.id set t.n = 1', [order, byKey]],
    ['serializable', 'select t.n from u left join t on t.id = u.tid', []],
    ['repeatable read', 'select t.n from t join u on u.tid = t.id', []],
    ['serializable', 'select t.n from t join u on t.id = 1 and u.id = 2', []],
  ])('%s: %s', async (isolation, statement, expected) => {
    const { assumed } = await afterStatements('mysql', isolation, [statement]);
    expect(assumed.list).toEqual(expected.map((each) => ({ ...each, statement })));
  });
});

test('a statement that was sent twice is one; a clause names the table and the way', async () => {
  const sql = 'select n from t where owner = 1';
  const { assumed } = await afterStatements('postgres', 'serializable', [sql, sql, 'delete from t where owner = 2']);
  expect(assumed.list.map(({ statement }) => statement)).toEqual([sql, 'delete from t where owner = 2']);
  expect(assumedClauses(assumed.list)).toEqual(['the server reads t by index t_owner, and in no other way']);
});
