/** A statement that moirai cannot do makes a run one that shows nothing about the engine, whatever the program does with the error. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { conclude, type Evidence, gapText, noEvidence } from '../../src/evidence/index.ts';
import { SessionTally, type SqlConnection, type SqlProgram, sqlProgram } from '../../src/program/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../../src/explore/sql/explore-sql.ts';
import { conclusionOf } from '../../src/sql-program/run-evidence.ts';
import { runSqlCampaign } from '../../src/campaign/sql/sql-campaign.ts';

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
  place: expect.stringContaining('unsupported.test.ts:19'),
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

test.each([
  ['SELECT state FROM pg_stat_activity', 'the table pg_stat_activity'],
  ['SELECT pg_cancel_backend(1)', 'pg_cancel_backend'],
  ['SELECT pg_terminate_backend(pg_backend_pid())', 'pg_terminate_backend'],
])('%s, which the timing of other sessions decides, is refused in runs', async (statement, name) => {
  const { unsupported } = await runSqlCampaign(locking(statement, rollback), { profile, runs: 2 });
  expect(unsupported[0]).toMatchObject({
    statement,
    reason: `${name} in a program that is tested is not supported by moirai (0A000)`,
  });
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

const caught = (): null => null;

/** Why nothing is known of a program whose session a does `work`, by both commands; b adds a row. */
async function gapsOf(
  work: (query: (sql: string, values?: readonly unknown[]) => Promise<unknown>) => Promise<unknown>,
  { definition = 'INSERT INTO t VALUES (2)' } = {},
): Promise<string[]> {
  const program = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int PRIMARY KEY); INSERT INTO t VALUES (1)',
    sessions: {
      a: (c) => onPostgres(c, (client) => work((sql, values) => client.query(sql, [...(values ?? [])]))),
      b: (c) => onPostgres(c, (client) => client.query(definition).catch(caught)),
    },
    invariant: () => true,
  });
  const explored = gapTexts((await exploreSql(program, { profile })).evidence);
  expect(gapTexts((await runSqlCampaign(program, { profile, runs: 6 })).evidence)).toEqual(explored);
  return explored;
}

function gapTexts(evidence: Evidence): string[] {
  const conclusion = conclude(evidence);
  return conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : [conclusion.kind];
}

const rolledBack = (session: string, code: string, statement: string): string =>
  `session "${session}": its transaction was rolled back by error ${code} in every run: ${statement}`;

test.each<[string, readonly string[], readonly string[]]>([
  [
    'a duplicate key',
    ['BEGIN', 'INSERT INTO t VALUES (1)', 'COMMIT'],
    [rolledBack('a', '23505', 'INSERT INTO t VALUES (1)')],
  ],
  ['without BEGIN', ["UPDATE t SET n = 'NaN'"], [rolledBack('a', '22P02', "UPDATE t SET n = 'NaN'")]],
  [
    'a parameter that cannot be read',
    ['BEGIN', 'UPDATE t SET n = $1', 'COMMIT'],
    [rolledBack('a', '22P02', 'UPDATE t SET n = $1')],
  ],
  ['only where b came first', ['BEGIN', 'INSERT INTO t VALUES (2)', 'COMMIT'], []],
  [
    'in a savepoint',
    ['BEGIN', 'SAVEPOINT s', 'INSERT INTO t VALUES (1)', 'ROLLBACK TO s', 'INSERT INTO l VALUES (1)', 'COMMIT'],
    [],
  ],
])('a transaction that an error rolls back in every run is named: %s', async (_, statements, named) => {
  const session = async (client: pg.Client): Promise<void> => {
    for (const sql of statements) await client.query(sql, sql.includes('$1') ? ['NaN'] : []).catch(caught);
    await client.query('INSERT INTO l VALUES (0)');
  };
  const program = sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int PRIMARY KEY); INSERT INTO t VALUES (1); CREATE TABLE l (m int)',
    sessions: {
      a: (c) => onPostgres(c, session),
      b: (c) => onPostgres(c, (client) => client.query('INSERT INTO t VALUES (2)').catch(caught)),
    },
    invariant: () => true,
  });
  const conclusion = conclude((await exploreSql(program, { profile })).evidence);
  const blind = 'the invariant looks at neither the final state nor what sessions return';
  expect(conclusion).toEqual({ kind: 'satisfied', assumed: [blind, ...named] });
});

const always = 'session "a" sent what fails in every run: ';

test.each([
  ['SELECT m FROM t', '42703 column "m" does not exist'],
  ['SELECT n FROM u', '42P01 relation "u" does not exist'],
  ['SELECT lowr(n::text) FROM t', '42883 function lowr(text) does not exist'],
  ['SELECT FROM WHERE', '42601 syntax error at or near "WHERE"'],
])('a statement that is wrong by itself is named, whatever comes after it: %s', async (statement, failure) => {
  const found = await gapsOf(async (query) => {
    await query(statement).catch(caught);
    await query('SELECT count(*) FROM t');
  });
  expect(found).toEqual([`${always}${statement}: ${failure}`]);
});

test('MySQL: so it is, with the errors of that engine', async () => {
  const program = sqlProgram({
    dialect: 'mysql',
    schema: 'CREATE TABLE t (n INT PRIMARY KEY); INSERT INTO t VALUES (1)',
    sessions: {
      a: (c) =>
        onMysql(c, async (client) => {
          for (const sql of ['SELECT m FROM t', 'SELECT n FROM u', 'SELECT f(n) FROM t', 'SELECT n FROM t'])
            await client.query(sql).catch(caught);
        }),
      b: (c) => onMysql(c, (client) => client.query('UPDATE t SET n = 2')),
    },
    invariant: () => true,
  });
  const { evidence } = await exploreSql(program, { profile: parseProfile({ engine: 'mysql' }) });
  expect(gapTexts(evidence)).toEqual([
    expect.stringMatching(/^session "a" sent what fails in every run: SELECT m FROM t: /),
    expect.stringMatching(/^session "a" sent what fails in every run: SELECT n FROM u: /),
    expect.stringMatching(/^session "a" sent what fails in every run: SELECT f\(n\) FROM t: /),
  ]);
});

test.each([
  ['another session creates the table: it succeeds in some schedule', 'SELECT n FROM u', 'CREATE TABLE u (n int)'],
  ['which of the two comes first decides', 'CREATE TABLE u (n int)', 'CREATE TABLE u (n int)'],
  ['a constraint that refuses it in every run is what the program looks for', 'INSERT INTO t VALUES (1)', undefined],
])('one that timing or data refuses is not: %s', async (_, statement, definition) => {
  const work = async (query: (sql: string) => Promise<unknown>): Promise<void> => {
    await query(statement).catch(caught);
    await query('SELECT count(*) FROM t');
  };
  expect(await gapsOf(work, definition === undefined ? {} : { definition })).toEqual(['satisfied']);
});

test('a session that asks for a table and creates it where it is missing is fine', async () => {
  const found = await gapsOf(async (query) => {
    await query('SELECT v FROM migrations').catch(() => query('CREATE TABLE migrations (v int)'));
  });
  expect(found).toEqual(['satisfied']);
});

const nothing = 'session "a" found and changed no row in any run: ';

test.each<[string, readonly unknown[], string]>([
  ['SELECT n FROM t WHERE n = 7', [], 'SELECT n FROM t WHERE n = 7'],
  ['UPDATE t SET n = 8 WHERE n = $1', [7], 'UPDATE t SET n = 8 WHERE n = $1 [7]'],
  ['INSERT INTO t SELECT n FROM t WHERE n = 7', [], 'INSERT INTO t SELECT n FROM t WHERE n = 7'],
])('a session that finds no row is named: %s', async (statement, values, text) => {
  const found = await gapsOf(async (query) => {
    await query('SELECT 1');
    await query('BEGIN');
    await query(statement, values);
    await query('COMMIT');
  });
  expect(found).toEqual([nothing + text]);
});

test.each([
  'SELECT n FROM t WHERE n = 2',
  'SELECT count(*) FROM t WHERE n = 7',
  'SELECT EXISTS (SELECT 1 FROM t WHERE n = 7)',
  'INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING',
  'SELECT pg_advisory_xact_lock(7)',
  'LOCK TABLE t IN SHARE MODE',
  'CREATE TABLE u AS SELECT n FROM t WHERE n = 7',
])('one that finds a row in some schedule, or does something else, is not: %s', async (statement) => {
  const found = await gapsOf(async (query) => {
    await query('BEGIN');
    await query('SELECT n FROM t WHERE n = 9');
    await query(statement);
    await query('COMMIT');
  });
  expect(found).toEqual(['satisfied']);
});

test('threads and checkpoints carry what every run has shown', async () => {
  const tally = new SessionTally(['a']);
  const run = { operations: 1, overlapped: true, failure: null, loss: null };
  const failing = { statement: 'SELECT m FROM t WHERE n = 1', hasSucceeded: false, failure: '42703', rows: null };
  tally.add([{ ...run, answers: { statements: [failing], foundNone: 'x', hasFound: false } }]);
  const parts = new SessionTally(['a']);
  parts.merge(structuredClone(tally.sessions()));
  expect(gapTexts({ ...noEvidence, sessions: parts.sessions() })).toEqual([
    `${nothing}x`,
    `${always}${failing.statement}: 42703`,
  ]);
  const other = { statement: 'SELECT m FROM t WHERE n = 2', hasSucceeded: true, failure: null, rows: null };
  parts.add([{ ...run, answers: { statements: [other], foundNone: null, hasFound: true } }]);
  expect(gapTexts({ ...noEvidence, sessions: parts.sessions() })).toEqual(['satisfied']);
});
