/** What a transaction has done is undone in an order in which it can be: rows, then the DDL that looks at rows. */
import { describe, expect, test } from 'vitest';
import { connected, openDatabase, type TestSession } from '../sql-session.test-support.ts';

describe.each([
  { engine: 'postgres' },
  { dialect: 'postgres', level: 'read-committed' },
  { dialect: 'postgres', level: 'serializable' },
])('%o: an index that is dropped before a duplicate is inserted is there again', (profile) => {
  async function opened(): Promise<TestSession> {
    const database = await openDatabase(profile, { settle: null });
    const session = connected(database);
    for (const sql of ['create table t (id int primary key, k int)', 'create unique index t_k on t (k)'])
      await session.run(sql);
    await session.run('insert into t values (1, 10)');
    database.start();
    return session;
  }

  test.each([
    [['begin', 'drop index t_k', 'insert into t values (2, 10)', 'rollback']],
    [['begin', 'savepoint s', 'drop index t_k', 'insert into t values (2, 10)', 'rollback to s', 'commit']],
  ])('%j', async (statements) => {
    const session = await opened();
    for (const sql of statements) expect(await session.outcome(sql)).toMatch(/^[A-Z]/);
    expect(await session.rows('select id from t')).toEqual([[1]]);
    expect(await session.outcome('insert into t values (3, 10)')).toBe('23505');
  });
});
