/** What a report says of a failing run: no more than its history shows, and of a uniqueness check that met a row no less. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { type SqlConnection, sqlProgram } from '../../program/index.ts';
import { parseProfile } from '../../database/index.ts';
import { onPostgres } from '../../sql-program/engines.test-support.ts';
import { exploreSql } from './explore-sql.ts';
import { formatSqlExploration } from './explore-sql-text.ts';

type Work = (client: pg.Client) => Promise<unknown>;

/** In a transaction, which a refusal of the database rolls back. */
function attempt(work: Work) {
  return (connection: SqlConnection): Promise<unknown> =>
    onPostgres(connection, async (client) => {
      try {
        await client.query('begin');
        await work(client);
        await client.query('commit');
      } catch {
        await client.query('rollback');
      }
    });
}

/** Alice reads what bob overwrites, and takes the name that he gives up: no serial order lets her do both. */
const name = sqlProgram({
  dialect: 'postgres',
  schema: `create table t (id int primary key, n int); insert into t values (1, 10);
    create table u (id int primary key, name text unique); insert into u values (1, 'a');
    create table seen (n int)`,
  sessions: {
    alice: attempt(async (client) => {
      const { rows } = await client.query<{ n: number }>('select n from t where id = 1');
      await client.query("insert into u values (2, 'a')");
      await client.query(`insert into seen values (${rows[0]?.n})`);
    }),
    bob: attempt(async (client) => {
      await client.query('update t set n = 20 where id = 1');
      await client.query('update u set name = null where id = 1');
    }),
  },
  invariant: (end) =>
    onPostgres(end, async (client) => {
      const { rows } = await client.query('select * from seen where n = 10');
      return rows.length === 0 || 'alice has the name and read 10';
    }),
});

test('uniqueness checks are not in the history, so nothing is said of levels and of the serial order', async () => {
  const profile = parseProfile({ engine: 'postgres', isolation: 'serializable' });
  const result = await exploreSql(name, { profile });
  const text = formatSqlExploration(result).replaceAll(/\s+/g, ' ');
  expect(text).toContain(
    'The rows that were read and written are serializable: they equal alice/0, bob/0, one after the other. ' +
      'Uniqueness and foreign-key checks are not in the history.',
  );
  expect(text).not.toContain('no isolation level prevents');
  expect(text).not.toContain('in that serial order too');
});

test('two that make the same table at a time are the cause of the error, which is of the catalog', async () => {
  const create = (connection: SqlConnection): Promise<unknown> =>
    onPostgres(connection, (client) => client.query('create table if not exists kept (id int)'));
  const made = sqlProgram({ dialect: 'postgres', schema: 'select 1', sessions: { alice: create, bob: create } });
  const result = await exploreSql(made, { profile: parseProfile({ engine: 'postgres' }) });
  const found = 'Cause: two sessions make the same name at a time: bob looked for it before the other had committed it';
  const { failures } = result;
  const causes = failures.map((failure) =>
    formatSqlExploration({ ...result, failures: [failure] }, { width: Infinity }),
  );
  for (const error of [
    '23505 duplicate key value violates unique constraint "pg_type_typname_nsp_index"',
    '42P07 relation "kept" already exists',
    '42710 type "kept" already exists',
  ])
    expect(causes).toContainEqual(expect.stringContaining(`${found} (${error}).`));
});

test('two that each insert nothing because of the row of the other are a cycle', async () => {
  const claims = (...tables: readonly string[]) => {
    const work: Work = async (client) => {
      const rows: (number | null)[] = [];
      for (const table of tables)
        rows.push((await client.query(`insert into ${table} values (1) on conflict do nothing`)).rowCount);
      return rows.join();
    };
    return (connection: SqlConnection): Promise<unknown> => onPostgres(connection, work);
  };
  const program = sqlProgram({
    dialect: 'postgres',
    schema: 'create table a (id int primary key); create table b (id int primary key)',
    sessions: { alice: claims('a', 'b'), bob: claims('b', 'a') },
    invariant: ({ results }) => results['alice'] !== '1,0' || results['bob'] !== '1,0' || 'each has one of two',
  });
  const result = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
  const report = formatSqlExploration(result, { width: 1_000 });
  expect(report).toContain('Cause: circular information flow between sessions: alice saw what bob wrote to b/1');
});
