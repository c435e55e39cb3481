/** Time limits of SQL clients and SQL's clock in runs that must not depend on the machine: no limit expires, and the verdict says so. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { exploreSql } from '../src/explore/sql/index.ts';
import { runSqlCampaign } from '../src/campaign/sql/index.ts';

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

test('the clock of SQL advances with every look and is the same in a replay: a failure that depends on it fails again', async () => {
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

describe('timers of a program that never fire', () => {
  const hour = 3_600_000;
  const late = (): Promise<never> => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), hour));
  const programOf = (session: (client: pg.Client) => Promise<unknown>, config: pg.ClientConfig = {}): SqlProgram => {
    const run = async ({ connect }: SqlConnection): Promise<void> => {
      const client = new pg.Client({ user: 'app', stream: connect, ...config });
      await client.connect();
      await session(client);
      await client.end();
    };
    return sqlProgram({ dialect: 'postgres', schema, sessions: { a: run, b: run }, invariant: () => true });
  };
  const assumedOf = async (program: SqlProgram): Promise<readonly string[]> => {
    const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'postgres' }) });
    return evidence.assumed.filter((clause) => clause.endsWith('never fires while the sessions run'));
  };
  const query = (client: pg.Client): Promise<unknown> => client.query('SELECT id FROM t');
  const inSession = (name: string): unknown =>
    expect.stringMatching(
      new RegExp(`^the setTimeout at .*sql-time-limits.test.ts:[0-9]+ in session "${name}" never fires`),
    );

  test('a timeout beside a statement, left armed', async () => {
    const assumed = await assumedOf(programOf((client) => Promise.race([query(client), late()])));
    expect(assumed).toEqual([inSession('a'), inSession('b')]);
  });

  test('a short one, while others work for longer', async () => {
    const work = (ms: number): void => {
      for (const end = performance.now() + ms; performance.now() < end; );
    };
    const raced = async (client: pg.Client): Promise<void> => {
      let timer: NodeJS.Timeout | undefined;
      const soon = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('soon')), 20)));
      const answered = query(client);
      setImmediate(() => work(30));
      await Promise.race([answered, soon]);
      clearTimeout(timer);
    };
    expect(await assumedOf(programOf(raced))).toEqual([inSession('a'), inSession('b')]);
  });

  test('one that is cleared', async () => {
    const program = programOf(async (client) => {
      const timer = setTimeout(() => void client.end(), hour);
      await query(client);
      clearTimeout(timer);
    });
    expect(await assumedOf(program)).toEqual([inSession('a'), inSession('b')]);
  });

  test("the driver's, which the program asks for", async () => {
    const assumed = await assumedOf(programOf(query, { query_timeout: hour }));
    expect(assumed).toEqual(
      ['a', 'b'].map((name) => `the timeout of pg in session "${name}" never fires while the sessions run`),
    );
  });

  test('not one that fires, and none of a pool that waits for connections to be idle', async () => {
    const waits = async (client: pg.Client): Promise<void> => {
      await query(client);
      await new Promise((resolve) => setTimeout(resolve, 1));
    };
    expect(await assumedOf(programOf(waits))).toEqual([]);
    const pooled = async ({ connect }: SqlConnection): Promise<void> => {
      const pool = new pg.Pool({ user: 'app', stream: connect });
      await pool.query('SELECT id FROM t');
      await pool.end();
    };
    expect(await assumedOf({ ...programOf(query), sessions: [pooled, pooled] })).toEqual([]);
  });
});
