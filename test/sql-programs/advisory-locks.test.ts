/** Locks that programs take by a key: what `explore` and `test` see of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type pg from 'pg';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../../src/program/index.ts';
import { type Dialect, onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql, type ExploreSqlResult } from '../../src/explore/sql/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { runSqlCampaign } from '../../src/campaign/sql/index.ts';
import { programOf, type Sessions } from '../../src/sql-program/random-sql-programs.test-support.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const schema = 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0)';

async function countUp(client: pg.Client): Promise<void> {
  const n = Number((await client.query('SELECT n FROM t WHERE id = 1')).rows[0].n);
  await client.query(`UPDATE t SET n = ${n + 1} WHERE id = 1`);
}

function counting(...sessions: readonly ((client: pg.Client) => Promise<unknown>)[]): SqlProgram {
  return sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: Object.fromEntries(
      sessions.map((run, i) => [`s${i}`, (connection: SqlConnection) => onPostgres(connection, run)]),
    ),
    invariant: (end) =>
      onPostgres(end, async (client) => {
        const { n } = (await client.query('SELECT n FROM t WHERE id = 1')).rows[0] as { n: number };
        return n === sessions.length || `counted ${n}`;
      }),
  });
}

function explored(program: SqlProgram, engine: Dialect = 'postgres'): Promise<ExploreSqlResult> {
  return exploreSql(program, { profile: parseProfile({ engine }) });
}

describe('a counter that is read and then written', () => {
  const locked = (lock: string, unlock: string) => async (client: pg.Client) => {
    await client.query(lock);
    await countUp(client);
    await client.query(unlock);
  };
  const inTransaction = (lock: string) => async (client: pg.Client) => {
    await client.query('BEGIN');
    await client.query(lock);
    await countUp(client);
    await client.query('COMMIT');
  };

  test.each([
    ['a lock of the session', locked('SELECT pg_advisory_lock(7)', 'SELECT pg_advisory_unlock(7)')],
    ['a lock of the transaction', inTransaction(`SELECT pg_advisory_xact_lock(hashtext('counter'))`)],
    [
      'a lock that it tries until it has it',
      async (client: pg.Client) => {
        while ((await client.query('SELECT pg_try_advisory_lock(7) AS got')).rows[0].got !== true);
        await countUp(client);
        await client.query('SELECT pg_advisory_unlock(7)');
      },
    ],
  ])('is proven right with %s', async (name, run) => {
    const program = counting(run, run);
    if (name.includes('tries')) {
      // Somebody may try for ever, so there is no end of schedules.
      const { failures } = await runSqlCampaign(program, {
        profile: parseProfile({ engine: 'postgres' }),
        runs: 30,
      }).then(({ failure }) => ({ failures: failure }));
      expect(failures).toBeNull();
      return;
    }
    const found = await explored(program);
    expect(found.failures.map(({ message }) => message)).toEqual([]);
    expect(found).toMatchObject({ complete: true, outcomes: 2 });
  });

  test('loses a step when the keys differ, or when one only shares', async () => {
    const keys = counting(
      inTransaction('SELECT pg_advisory_xact_lock(1)'),
      inTransaction('SELECT pg_advisory_xact_lock(2)'),
    );
    expect((await explored(keys)).violations).toBeGreaterThan(0);
    const shared = inTransaction('SELECT pg_advisory_xact_lock_shared(1)');
    expect((await explored(counting(shared, shared))).violations).toBeGreaterThan(0);
  });

  test('loses a step when the lock of the transaction ends with its own statement', async () => {
    const run = locked('SELECT pg_advisory_xact_lock(7)', 'SELECT 1');
    expect((await explored(counting(run, run))).violations).toBeGreaterThan(0);
  });
});

describe('random programs show the same with the reduction', () => {
  const statements: Record<Dialect, readonly string[]> = {
    postgres: [
      'SELECT pg_advisory_lock(1)',
      'SELECT pg_advisory_xact_lock(2)',
      'SELECT pg_advisory_xact_lock_shared(1)',
      'SELECT pg_try_advisory_lock(1) AS n',
      'SELECT pg_try_advisory_xact_lock_shared(2) AS n',
      'SELECT pg_advisory_unlock(1) AS n',
      'SELECT id, pg_advisory_xact_lock(id) FROM t ORDER BY id',
      'UPDATE t SET n = n + 1 WHERE id = 1',
      'UPDATE t SET n = n * 2 WHERE pg_try_advisory_xact_lock(id)',
    ],
    mysql: [
      `SELECT GET_LOCK('a', 10) AS n`,
      `SELECT GET_LOCK('b', 5) AS n`,
      `SELECT GET_LOCK('a', 0) AS n`,
      `SELECT RELEASE_LOCK('a') AS n`,
      `SELECT IS_FREE_LOCK('b') AS n`,
      'UPDATE t SET n = n + 1 WHERE id = 1',
      'UPDATE t SET n = n * 2 WHERE id = 1',
    ],
  };
  const block = (dialect: Dialect): fc.Arbitrary<Sessions[number]> =>
    fc
      .tuple(fc.array(fc.constantFrom(...statements[dialect]), { minLength: 1, maxLength: 2 }), fc.boolean())
      .map(([list, isTransaction]) =>
        (isTransaction ? ['BEGIN', ...list, 'COMMIT'] : list).map((sql) => ({ kind: 'sql' as const, sql })),
      );
  const seen = async (dialect: Dialect, sessions: Sessions, reduces: boolean, schedulesMax: number) => {
    const outcomes = new Set<string>();
    const { schedules, complete } = await exploreSql(programOf(dialect, sessions, { schema }), {
      profile: parseProfile({ engine: dialect }),
      reduces,
      schedulesMax,
      onSeen: (found) => found.outcomes.forEach((outcome) => outcomes.add(outcome)),
    });
    return complete ? { outcomes: [...outcomes].toSorted(), schedules } : null;
  };

  test.each(['postgres', 'mysql'] as const)('%s', { timeout: 6_000_000 }, async (dialect) => {
    let all = 0;
    let reduced = 0;
    const pair = fc.tuple(block(dialect), block(dialect));
    const sessions = isHeavy ? fc.oneof(pair, fc.tuple(block(dialect), block(dialect), block(dialect))) : pair;
    await fc.assert(
      fc.asyncProperty(sessions, async (drawn) => {
        const whole = await seen(dialect, drawn, false, isHeavy ? 300 : 30);
        fc.pre(whole !== null);
        const few = await seen(dialect, drawn, true, Infinity);
        expect(few?.outcomes).toEqual(whole?.outcomes);
        all += whole?.schedules ?? 0;
        reduced += few?.schedules ?? 0;
      }),
      { numRuns: isHeavy ? 300 : 8 },
    );
    expect(reduced).toBeLessThan(all);
  });
});

test('a limit of GET_LOCK expires where nothing else can go on, without waiting for it, and is assumed not to otherwise', async () => {
  const results: unknown[] = [];
  const program = sqlProgram({
    dialect: 'mysql',
    schema,
    sessions: Object.fromEntries(
      ['a', 'b'].map((name) => [
        name,
        (connection: SqlConnection) =>
          onMysql(connection, async (client) => {
            await client.query('BEGIN');
            // One waits for the row that the other has written, which waits for the lock.
            const steps = [`SELECT GET_LOCK('job', 3600) AS got`, 'UPDATE t SET n = n + 1 WHERE id = 1'];
            for (const sql of name === 'a' ? steps : steps.toReversed()) {
              const [rows] = await client.query(sql);
              if (Array.isArray(rows)) results.push((rows[0] as unknown as { got: number }).got);
            }
            await client.query('COMMIT');
          }),
      ]),
    ),
  });
  const found = await explored(program, 'mysql');
  expect(found).toMatchObject({ complete: true });
  expect(new Set(results)).toEqual(new Set([1, 0]));
  expect(found.evidence.assumed.join()).toContain(
    'no GET_LOCK waits as long as its limit while other statements can go on',
  );
});

test('sleeps take no real time, and others may come in between', async () => {
  const orders = new Set<unknown>();
  const program = sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: {
      sleeper: (connection: SqlConnection) =>
        onPostgres(connection, async (client) =>
          orders.add((await client.query('SELECT pg_sleep(3600), (SELECT n FROM t WHERE id = 1) AS n')).rows[0].n),
        ),
      writer: (connection: SqlConnection) => onPostgres(connection, countUp),
    },
  });
  expect(await explored(program)).toMatchObject({ complete: true });
  expect(orders).toEqual(new Set([0, 1]));
});

test('a session that ends with a lock that another waits for is the fault of the program', async () => {
  const connections: pg.Client[] = [];
  const program = sqlProgram({
    dialect: 'postgres',
    schema,
    sessions: {
      keeper: async ({ connect }: SqlConnection) => {
        const { default: driver } = await import('pg');
        const client = new driver.Client({ user: 'app', stream: connect });
        connections.push(client);
        await client.connect();
        await client.query('SELECT pg_advisory_lock(1)');
      },
      waiter: (connection: SqlConnection) =>
        onPostgres(connection, (client) => client.query('SELECT pg_advisory_lock(1)')),
    },
  });
  await expect(explored(program)).rejects.toThrow(/session "keeper" ended \(returned\) .* advisory lock 1/);
});
