/** SQL programs are controlled: sessions that await something other than the database are waited for, and work left open is refused. */
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../src/program/index.ts';
import { onPostgres } from '../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../src/explore/sql/index.ts';
import { parseProfile } from '../src/database/index.ts';
import { runSqlCampaign } from '../src/campaign/sql/index.ts';

const profile = parseProfile({ engine: 'postgres' });

/** Two withdrawals that look before they take, with something else between or before their statements. */
function withdrawals(around: {
  readonly before?: () => Promise<unknown>;
  readonly between?: () => Promise<unknown>;
  readonly through?: (work: () => Promise<void>) => Promise<void>;
}): SqlProgram {
  const { before = async () => {}, between = async () => {}, through = (work) => work() } = around;
  const withdraw = (amount: number) => (c: SqlConnection) =>
    through(async () => {
      await before();
      await onPostgres(c, async (client) => {
        const { rows } = await client.query<{ n: number }>('SELECT n FROM t');
        const n = rows[0]?.n ?? 0;
        await between();
        if (n < amount) return;
        await client.query('UPDATE t SET n = $1', [n - amount]);
        taken += amount;
      });
    });
  let taken = 0;
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (100)',
    sessions: { alice: withdraw(70), bob: withdraw(50) },
    invariant: (end) =>
      onPostgres(end, async (client) => {
        const { rows } = await client.query<{ n: number }>('SELECT n FROM t');
        const sum = taken + (rows[0]?.n ?? 0);
        taken = 0;
        return sum === 100 || `${sum} of 100`;
      }),
  });
}

/** Through an HTTP request to a server in this process. */
async function hop(work: () => Promise<void>): Promise<void> {
  const server = createServer((_, response) => void work().then(() => response.end('ok'))).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).text();
  server.close();
}

const elsewhere = {
  'nothing else': {},
  'an HTTP hop': { through: hop },
  'a file before the first statement': { before: () => readFile('package.json') },
  'a timer between two statements': { between: () => sleep(2) },
};

describe.each(Object.entries(elsewhere))('with %s', (_name, around) => {
  test('every schedule is seen, and each run is one of them', async () => {
    const all = await exploreSql(withdrawals(around), { profile });
    expect(all).toMatchObject({ schedules: 6, violations: 4, complete: true });
    const { distinctSchedules, violations } = await runSqlCampaign(withdrawals(around), { profile, runs: 30 });
    expect(distinctSchedules).toBeGreaterThan(4);
    expect(violations).toBeGreaterThan(0);
  });
});

test('a session that waits for a result of another is not waited for long', async () => {
  const began = performance.now();
  let resolve = (): void => {};
  let first = new Promise<void>(() => {});
  const tested = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: {
      early: (c) => {
        first = new Promise((done) => (resolve = done));
        return onPostgres(c, (client) => client.query('UPDATE t SET n = 1')).then(() => resolve());
      },
      late: async (c) => {
        await first;
        await onPostgres(c, (client) => client.query('UPDATE t SET n = 2'));
      },
    },
  });
  const { runs, timeout } = await runSqlCampaign(tested, { profile, runs: 20 });
  expect({ runs, timeout }).toEqual({ runs: 20, timeout: null });
  // A second for each run, where each is waited for.
  expect(performance.now() - began).toBeLessThan(15_000);
});

describe('work left open', () => {
  const client = async ({ connect }: SqlConnection): Promise<pg.Client> => {
    const made = new pg.Client({ user: 'app', stream: connect });
    await made.connect();
    return made;
  };
  const of = (a: (c: SqlConnection) => unknown, after: () => Promise<unknown> = async () => {}): SqlProgram =>
    sqlProgram({
      dialect: 'postgres',
      schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
      sessions: { a, b: (c) => onPostgres(c, (each) => each.query('UPDATE t SET n = n + 1')).then(after) },
    });

  test.each([
    [
      'a statement under way',
      async (c: SqlConnection) => void (await client(c)).query('UPDATE t SET n = 5').catch(() => {}),
      'program/statement-under-way',
      'session "a" returned with a statement under way: is an await missing? UPDATE t SET n = 5',
    ],
    [
      'a transaction open',
      async (c: SqlConnection) => {
        const made = await client(c);
        await made.query('BEGIN');
        await made.query('UPDATE t SET n = 5');
      },
      'program/transaction-open',
      'session "a" returned with a transaction open: is an await or a COMMIT missing? Its last statement: UPDATE t SET n = 5',
    ],
    [
      'a statement after it returned',
      async (c: SqlConnection) => {
        const made = await client(c);
        await made.query('SELECT 2');
        void sleep(20)
          .then(() => made.query('UPDATE t SET n = 6'))
          .catch(() => {});
      },
      'program/statement-under-way',
      'session "a" sent a statement after it had returned: is an await missing? UPDATE t SET n = 6',
    ],
    [
      'a transaction that another session waits for, after an error',
      async (c: SqlConnection) => {
        const made = await client(c);
        await made.query('BEGIN');
        await made.query('UPDATE t SET n = 5');
        throw new Error('out of stock');
      },
      'program/transaction-open',
      'session "a" ended (Error: out of stock) with its transaction open, and session "b" waits for it',
    ],
  ])('%s is refused by test and explore', async (_name, a, code, message) => {
    const refused = { code, message: expect.stringContaining(message) as unknown };
    await expect(
      runSqlCampaign(
        of(a, () => sleep(80)),
        { profile },
      ),
    ).rejects.toMatchObject(refused);
    await expect(
      exploreSql(
        of(a, () => sleep(80)),
        { profile },
      ),
    ).rejects.toMatchObject(refused);
  });

  test('a pool that keeps its idle connection is fine', async () => {
    const tested = of(async ({ connect }) => {
      const pool = new pg.Pool({ user: 'app', stream: connect, idleTimeoutMillis: 20 });
      await pool.query('UPDATE t SET n = n + 1');
    });
    expect(await exploreSql(tested, { profile })).toMatchObject({ complete: true, violations: 0 });
  });
});
