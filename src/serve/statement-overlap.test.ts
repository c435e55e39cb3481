/** Two statements at a time from two drivers: the database lets one come in while the other is under way, as a real server does. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { connectTo } from './connect.ts';
import { openSqlDatabase, parseProfile, type SqlDatabaseOptions } from '../database/index.ts';

type Query = (sql: string) => Promise<number>;

const ends: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Two clients of a new database; a query is answered with the number of its rows. */
async function clients(
  engine: 'postgres' | 'mysql',
  isolation: string,
  options: Partial<SqlDatabaseOptions>,
): Promise<[Query, Query]> {
  const database = await openSqlDatabase({ profile: parseProfile({ engine, isolation }), ...options });
  ends.push(() => database.close());
  const bugs: unknown[] = [];
  ends.push(() => expect(bugs).toEqual([]));
  const stream = () => connectTo(database, { onBug: (bug) => bugs.push(bug) });
  const connect = engine === 'postgres' ? () => postgresClient(stream) : () => mysqlClient(stream);
  return [await connect(), await connect()];
}

async function postgresClient(stream: () => ReturnType<typeof connectTo>): Promise<Query> {
  const client = new pg.Client({ user: 'test', stream });
  await client.connect();
  ends.push(() => client.end());
  return async (sql) => (await client.query(sql)).rowCount ?? 0;
}

async function mysqlClient(stream: () => ReturnType<typeof connectTo>): Promise<Query> {
  const client = await mysql.createConnection({ user: 'test', stream: stream() });
  ends.push(() => client.end());
  return async (sql) => {
    const [result] = await client.query(sql);
    return Array.isArray(result) ? result.length : (result as mysql.ResultSetHeader).affectedRows;
  };
}

const rounds = 10;

/** Both insert where the other has not, at a time. @returns of each round the rows inserted by both, or the first error */
async function races([a, b]: readonly [Query, Query], wrap: (query: Query, sql: string) => Promise<number>) {
  const outcomes: (number | string)[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const sql = `INSERT INTO t SELECT ${round}, 1 FROM one WHERE NOT EXISTS (SELECT 1 FROM t WHERE k = ${round})`;
    const ended = await Promise.allSettled([wrap(a, sql), wrap(b, sql)]);
    const failed = ended.find((each) => each.status === 'rejected');
    const inserted = ended.reduce((sum, each) => sum + (each.status === 'fulfilled' ? each.value : 0), 0);
    outcomes.push(failed === undefined ? inserted : codeOf(failed.reason));
  }
  return outcomes;
}

function codeOf(error: { readonly code?: string; readonly errno?: number }): string {
  return String(error.errno ?? error.code);
}

const alone = (query: Query, sql: string): Promise<number> => query(sql);

async function inTransaction(query: Query, sql: string): Promise<number> {
  await query('BEGIN');
  try {
    return await query(sql);
  } finally {
    await query('COMMIT');
  }
}

async function racesOf(
  engine: 'postgres' | 'mysql',
  isolation: string,
  wrap = alone,
  options: Partial<SqlDatabaseOptions> = {},
): Promise<readonly (number | string)[]> {
  const both = await clients(engine, isolation, { seed: 7, ...options });
  await both[0]('CREATE TABLE one (n int)');
  await both[0]('INSERT INTO one VALUES (1)');
  await both[0]('CREATE TABLE t (k int, n int)');
  return races(both, wrap);
}

describe('two INSERT ... WHERE NOT EXISTS at a time', () => {
  test.each([
    ['postgres', 'read committed', [1, 2]],
    ['postgres', 'repeatable read', [1, 2]],
    ['postgres', 'serializable', ['40001', 1]],
    ['mysql', 'read committed', [1, 2]],
    // Each has locked the gap that the other inserts into.
    ['mysql', 'repeatable read', [1, '1213']],
  ] as const)('%s, %s, with autocommit', async (engine, isolation, seen) => {
    const all = await racesOf(engine, isolation);
    expect(new Set(all)).toEqual(new Set<number | string>(seen));
    expect(await racesOf(engine, isolation), 'the same seed').toEqual(all);
    expect(await racesOf(engine, isolation, alone, { seed: 8 }), 'another seed').not.toEqual(all);
  });

  test.each([
    ['postgres', 'read committed', [1, 2]],
    ['mysql', 'repeatable read', [1, '1213']],
  ] as const)('%s, %s, in transactions', async (engine, isolation, seen) => {
    expect(new Set(await racesOf(engine, isolation, inTransaction))).toEqual(new Set<number | string>(seen));
  });

  test('one after the other where nothing stops inside', async () => {
    expect(new Set(await racesOf('postgres', 'read committed', alone, { pauses: false }))).toEqual(new Set([1]));
  });
});

test('two CREATE TABLE IF NOT EXISTS at a time: the later finds the name late, or fails on the index of the catalog', async () => {
  const [a, b] = await clients('postgres', 'read committed', { seed: 7 });
  const seen = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const sql = `CREATE TABLE IF NOT EXISTS t${round} (id int)`;
    for (const end of await Promise.allSettled([a(sql), b(sql)]))
      seen.add(end.status === 'fulfilled' ? 'made' : codeOf(end.reason));
  }
  expect(seen).toEqual(new Set(['made', '42P07', '42710', '23505']));
});

test('statements of one client stop for nothing: each takes one decision after another', async () => {
  const decided: (readonly number[])[] = [];
  const database = await openSqlDatabase({
    profile: parseProfile({ engine: 'postgres' }),
    settle: () => {
      throw new Error('a lone client waits for nothing');
    },
    onDecision: (ready) => decided.push(ready),
  });
  const stream = () => connectTo(database);
  const query = await postgresClient(stream);
  await query('CREATE TABLE t (id int)');
  await query('INSERT INTO t VALUES (1)');
  await query('SELECT * FROM t');
  expect(decided).toEqual([[1], [1], [1], [1], [1]]);
});
