/** Time limits of SQL clients and SQL's clock in runs that must not depend on the machine: no limit expires, and the verdict says so. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { type SqlConnection, sqlProgram } from '../src/program/index.ts';
import { parseProfile } from '../src/serve/index.ts';
import { exploreSql, runSqlCampaign } from '../src/sql-campaign/index.ts';

const schema = 'create table t (id int primary key, n int); insert into t values (1, 0)';
const profile = parseProfile({});

async function withClient<T>({ connect }: SqlConnection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  const result = await work(client);
  await client.end();
  return result;
}

const add = (client: pg.Client): Promise<unknown> => client.query('update t set n = n + 1 where id = 1');

const impatient = sqlProgram({
  dialect: 'postgres',
  schema,
  sessions: {
    holder: (connection) =>
      withClient(connection, async (client) => {
        await client.query('begin');
        await add(client);
        await new Promise((resolve) => setTimeout(resolve, 30));
        await client.query('commit');
      }),
    waiter: (connection) =>
      withClient(connection, async (client) => {
        await client.query("set lock_timeout = '5ms'");
        await add(client).catch(() => {});
      }),
  },
  invariant: (connection) =>
    withClient(connection, async (client) => (await client.query('select n from t')).rows[0].n === 2),
});

test('a lock timeout never expires by the clock of the machine, and green says that it is assumed', async () => {
  const tested = await runSqlCampaign(impatient, { profile, runs: 10 });
  expect(tested.violations).toBe(0);
  expect(tested.evidence.assumed).toContain('no statement takes as long as lock_timeout = 5ms');
  const explored = await exploreSql(impatient, { profile });
  expect(explored.violations).toBe(0);
  expect(explored.evidence.assumed).toContain('no statement takes as long as lock_timeout = 5ms');
});

test('a proof over random() says that it gave what one seed draws', async () => {
  const lucky = sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: {
      a: (connection) =>
        withClient(connection, (client) =>
          client.query('update t set n = case when random() < 0.001 then 100 else 1 end where id = 1'),
        ),
      b: (connection) => withClient(connection, (client) => client.query('select n from t')),
    },
    invariant: (connection) =>
      withClient(connection, async (client) => (await client.query('select n from t')).rows[0].n < 100),
  });
  const { evidence } = await exploreSql(lucky, { profile });
  expect(evidence.assumed).toContain("SQL's random() gives what the seed draws");
});

test('the clock of SQL goes on with every look and is the same in a replay: a failure that depends on it fails again', async () => {
  const byTime = sqlProgram({
    dialect: 'postgres',
    schema: 'create table feed (id serial, at timestamptz default now())',
    sessions: Object.fromEntries(
      ['a', 'b'].map((name) => [
        name,
        (connection: SqlConnection) =>
          withClient(connection, async (client) => {
            await client.query('begin');
            await client.query('select 1');
            await client.query('insert into feed default values');
            await client.query('commit');
          }),
      ]),
    ),
    invariant: (connection) =>
      withClient(connection, async (client) => {
        const ids = async (order: string): Promise<string> =>
          (await client.query(`select id from feed order by ${order}`)).rows.map(({ id }) => id).join();
        return (await ids('at')) === (await ids('id')) || 'the order of time is not that of ids';
      }),
  });
  const result = await runSqlCampaign(byTime, { profile, runs: 50 });
  expect(result.violations).toBeGreaterThan(0);
  expect(result.failure?.message).toBe('the order of time is not that of ids');
});
