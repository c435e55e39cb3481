/** A green verdict names the index by which a server is assumed to read, where another way would lock or remember other rows. */
import { expect, test } from 'vitest';
import { type SqlProgram, sqlProgram } from '../program/index.ts';
import { parseProfile } from '../serve/index.ts';
import { onMysql, onPostgres } from './engines.test-support.ts';
import { exploreSql } from './explore-sql.ts';
import { runSqlCampaign } from './sql-campaign.ts';

const schema =
  'CREATE TABLE accounts (id int PRIMARY KEY, owner int, n int); CREATE INDEX accounts_owner ON accounts (owner); INSERT INTO accounts VALUES (1, 7, 0)';

const read = 'SELECT n FROM accounts WHERE id = 1';
const onKey: SqlProgram = sqlProgram({
  dialect: 'postgres',
  schema,
  sessions: {
    a: (c) => onPostgres(c, (client) => client.query(read)),
    b: (c) => onPostgres(c, (client) => client.query(read)),
  },
  invariant: () => true,
});

test.each([
  ['read committed', []],
  ['serializable', ['the server reads accounts by index accounts_pkey, and in no other way']],
])('PostgreSQL, %s', async (isolation, assumed) => {
  const profile = parseProfile({ engine: 'postgres', isolation });
  const explored = await exploreSql(onKey, { profile });
  expect(explored.evidence.assumed).toEqual(assumed);
  expect((await runSqlCampaign(onKey, { profile, runs: 5 })).evidence.assumed).toEqual(assumed);
  expect(explored.accesses.map(({ statement }) => statement)).toEqual(assumed.length === 0 ? [] : [read]);
});

test('InnoDB: what is locked by a secondary index, not what the invariant reads', async () => {
  const program = sqlProgram({
    dialect: 'mysql',
    schema,
    sessions: {
      a: (c) => onMysql(c, (client) => client.query('UPDATE accounts SET n = 1 WHERE owner = 7')),
      b: (c) => onMysql(c, (client) => client.query('UPDATE accounts SET n = 2 WHERE id = 1')),
    },
    invariant: (end) =>
      onMysql(end, async (client) => {
        await client.query('SELECT n FROM accounts WHERE owner > 1 FOR UPDATE');
        return true;
      }),
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'mysql' }) });
  expect(evidence.assumed).toEqual(['the server reads accounts by index accounts_owner, and in no other way']);
});
