/** A statement that moirai cannot do makes a run one that shows nothing about the engine, whatever the program does with the error. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../program/index.ts';
import { parseProfile } from '../serve/index.ts';
import { onPostgres } from './engines.test-support.ts';
import { exploreSql } from './explore-sql.ts';
import { conclusionOf } from './run-evidence.ts';
import { runSqlCampaign } from './sql-campaign.ts';

const profile = parseProfile({ engine: 'postgres' });

/** Two sessions that lock a table by a statement and add one to a counter, each ending as `rescued` says when the statement is refused. */
function locking(statement: string, rescued: (client: pg.Client) => Promise<unknown>): SqlProgram {
  const count = async (client: pg.Client): Promise<void> => {
    await client.query('BEGIN');
    try {
      await client.query(statement);
    } catch {
      await rescued(client);
      return;
    }
    await client.query('COMMIT');
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: { a: (c) => onPostgres(c, count), b: (c) => onPostgres(c, count) },
    invariant: () => false,
  });
}

const lock = 'CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING';
const entry = {
  statement: lock,
  reason: 'CREATE RULE is not supported by moirai (0A000)',
  place: null,
};
const rollback = (client: pg.Client): Promise<unknown> => client.query('ROLLBACK');

describe('a refused statement that the program catches', () => {
  test('is listed once by test, with the number of runs, and none is a violation', async () => {
    const result = await runSqlCampaign(locking(lock, rollback), { profile, runs: 10 });
    expect(result.unsupported).toEqual([
      { session: 'a', ...entry, count: 10 },
      { session: 'b', ...entry, count: 10 },
    ]);
    expect(result.violations).toBe(0);
  });

  test('is listed once by explore', async () => {
    const result = await exploreSql(locking(lock, rollback), { profile });
    expect(result.unsupported).toEqual(['a', 'b'].map((session) => ({ session, ...entry, count: result.schedules })));
    expect(result.violations).toBe(0);
  });
});

test('a statement with parameters is refused at Parse, and listed', async () => {
  const program = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int)',
    sessions: {
      a: (c) =>
        onPostgres(c, (client) =>
          client.query('SELECT count(*) FROM t WHERE n = $1 GROUP BY CUBE (n)', [1]).catch(() => 0),
        ),
    },
    invariant: () => true,
  });
  const { unsupported } = await exploreSql(program, { profile });
  expect(unsupported.map(({ session, count }) => [session, count])).toEqual([['a', 1]]);
});

test('what PostgreSQL refuses too is a violation, and nothing is listed', async () => {
  const result = await exploreSql(locking('SELEC 1', rollback), { profile });
  expect(result.unsupported).toEqual([]);
  expect(result.violations).toBe(result.schedules);
});

test('a zone that a client connects with, as pgjdbc does, leaves test and explore without a verdict', async () => {
  const program = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: Object.fromEntries(
      ['a', 'b'].map((name) => [
        name,
        async ({ connect }: SqlConnection) => {
          const client = new pg.Client({ user: 'app', stream: connect, options: '-c TimeZone=Europe/Berlin' });
          await client.connect();
          await client.query('UPDATE t SET n = n + 1');
          await client.end();
        },
      ]),
    ),
    invariant: () => true,
  });
  const tested = await runSqlCampaign(program, { profile, runs: 3 });
  expect(tested.unsupported).toEqual(
    ['a', 'b'].map((session) => ({
      session,
      statement: "TimeZone = 'Europe/Berlin' at connection",
      reason: 'TimeZone = Europe/Berlin is not supported by moirai (0A000)',
      place: null,
      count: 3,
    })),
  );
  expect(conclusionOf(tested).kind).toBe('unknown');
  expect(conclusionOf(await exploreSql(program, { profile })).kind).toBe('unknown');
});
