/** What can come in the middle of a statement on a real server: seen on PostgreSQL 15 and MariaDB 10.11, and explored. */
import type { ResultSetHeader } from 'mysql2';
import { expect, test } from 'vitest';
import { type SqlConnection, sqlProgram } from '../../src/program/index.ts';
import { type Dialect, onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';
import { exploreSql } from '../../src/explore/sql/index.ts';
import type { LoggedStatement } from '../../src/sql-program/index.ts';
import { parseProfile } from '../../src/database/index.ts';
import { runSqlCampaign } from '../../src/campaign/sql/index.ts';

const [first, second] = ['UPDATE t SET n = 0 WHERE id = 1', 'UPDATE t SET n = 0 WHERE id = 2'];
const others = '(SELECT c FROM (SELECT count(*) AS c FROM t WHERE n = 1) AS others) > 1';
const skipping = 'SELECT id FROM t WHERE n = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED';
const copying = 'INSERT INTO t SELECT 3, 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM t WHERE n = 1 AND id = 3)';
const refusing = 'SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT';

/** One of two sessions fails with one of these codes. */
function failing(...codes: readonly string[]): string[] {
  return codes.flatMap((code) => [`-; ${code}`, `${code}; -`]);
}

test.each([
  {
    name: 'two statements with autocommit do not see each other',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [[`${first} AND ${others}`], [`${second} AND ${others}`]],
    seen: ['1; 1', '1; 0', '0; 1'],
  },
  {
    name: 'a snapshot is taken while a statement with autocommit is under way',
    engine: 'postgres',
    isolation: 'repeatable read',
    sessions: [[first], ['BEGIN', 'UPDATE t SET n = 5', 'COMMIT']],
    seen: ['1; - 2 -', '1; - 40001 -', '40001; - 2 -'],
  },
  {
    name: 'a row that would have been skipped is found to have changed',
    engine: 'postgres',
    isolation: 'repeatable read',
    sessions: [
      ['BEGIN', first, 'COMMIT'],
      ['BEGIN', skipping, 'COMMIT'],
    ],
    seen: ['- 1 -; - {"id":1} -', '- 1 -; - {"id":2} -', '- 1 -; - 40001 -'],
  },
  {
    name: 'a row that would have been refused is found to have changed',
    engine: 'postgres',
    isolation: 'repeatable read',
    sessions: [
      ['BEGIN', first, 'COMMIT'],
      ['BEGIN', refusing, 'COMMIT'],
    ],
    seen: ['- 1 -; - {"id":1} -', '- 1 -; - 55P03 -', '- 1 -; - 40001 -'],
  },
  {
    name: 'a statement fails because of what was committed after its snapshot',
    engine: 'postgres',
    isolation: 'serializable',
    sessions: [
      ['BEGIN', `${first} AND ${others}`, 'COMMIT'],
      ['BEGIN', `${second} AND ${others}`, 'COMMIT'],
    ],
    seen: [
      '- 1 -; - 0 -',
      '- 0 -; - 1 -',
      '- 1 -; - 1 40001',
      '- 1 40001; - 1 -',
      '- 1 -; - 40001 -',
      '- 40001 -; - 1 -',
    ],
  },
  {
    name: 'two statements do not see what the other is about to write',
    engine: 'mysql',
    isolation: 'read uncommitted',
    sessions: [
      ['BEGIN', `${first} AND ${others}`, 'COMMIT'],
      ['BEGIN', `${second} AND ${others}`, 'COMMIT'],
    ],
    seen: ['- 1 -; - 0 -', '- 0 -; - 1 -', '- 1 -; - 1 -'],
  },
  {
    name: 'two statements that lock what they read wait for each other',
    engine: 'mysql',
    isolation: 'repeatable read',
    sessions: [
      ['BEGIN', `${first} AND ${others}`, 'COMMIT'],
      ['BEGIN', `${second} AND ${others}`, 'COMMIT'],
    ],
    // The second scans the row of the first before its own: it has locked less, unless it has locked the ends of pages, too.
    seen: ['- 1 -; - 0 -', '- 0 -; - 1 -', '- 1 -; - 40001 -', '- 40001 -; - 1 -'],
  },
  {
    name: 'two statements share what both then write',
    engine: 'mysql',
    isolation: 'repeatable read',
    sessions: [[copying], [copying]],
    seen: ['1; 0', '0; 1', '1; 40001', '40001; 1'],
  },
  {
    name: 'two definitions of one name overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE TABLE IF NOT EXISTS u (id int)'], ['CREATE TABLE IF NOT EXISTS u (id int)']],
    seen: ['-; -', ...failing('23505', '42P07', '42710')],
  },
  {
    name: 'two definitions of one table with a sequence overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE TABLE IF NOT EXISTS u (id serial)'], ['CREATE TABLE IF NOT EXISTS u (id serial)']],
    seen: ['-; -', ...failing('23505', '42P07', '42710')],
  },
  {
    name: 'the table is made in a transaction, and may come to nothing',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['BEGIN', 'CREATE TABLE u (id int)', 'ROLLBACK'], ['CREATE TABLE IF NOT EXISTS u (id int)']],
    seen: ['- - -; -', '- 42P07 -; -', '- 23505 -; -', '- 42710 -; -'],
  },
  {
    name: 'two views of one name overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE OR REPLACE VIEW u AS SELECT 1 AS one'], ['CREATE OR REPLACE VIEW u AS SELECT 1 AS one']],
    seen: ['-; -', ...failing('23505', '42P07', '42710')],
  },
  {
    name: 'two indexes of one name overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE INDEX i ON t (n)'], ['CREATE INDEX i ON t (n)']],
    seen: failing('42P07', '23505'),
  },
  {
    name: 'two indexes of one name overlap, each where there is none',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE INDEX IF NOT EXISTS i ON t (n)'], ['CREATE INDEX IF NOT EXISTS i ON t (n)']],
    seen: ['-; -', ...failing('23505')],
  },
  {
    name: 'two sequences of one name overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE SEQUENCE IF NOT EXISTS u'], ['CREATE SEQUENCE IF NOT EXISTS u']],
    seen: ['-; -', ...failing('23505', '42P07')],
  },
  {
    name: 'two schemas of one name overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [['CREATE SCHEMA IF NOT EXISTS u'], ['CREATE SCHEMA IF NOT EXISTS u']],
    seen: ['-; -', ...failing('23505')],
  },
  {
    name: 'two types of one name overlap',
    engine: 'postgres',
    isolation: 'read committed',
    sessions: [["CREATE TYPE u AS ENUM ('a')"], ["CREATE TYPE u AS ENUM ('a')"]],
    seen: failing('23505', '42710'),
  },
] as const)('$engine at $isolation: $name', async ({ engine, isolation, sessions, seen }) => {
  const told = new Set<string>();
  const program = sqlProgram({
    dialect: engine,
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1), (2, 1)',
    sessions: Object.fromEntries(
      sessions.map((statements, i) => [`s${i}`, (c: SqlConnection) => answers(engine, c, statements)]),
    ),
    invariant: ({ results }) => {
      const text = `${String(results['s0'])}; ${String(results['s1'])}`;
      told.add(text);
      return !/40001|55P03|23505|42P07|42710/.test(text);
    },
  });
  const profile = parseProfile({ engine, isolation });
  const { complete, failures } = await exploreSql(program, { profile });
  expect(complete).toBe(true);
  expect([...told].toSorted()).toEqual([...new Set<string>(seen)].toSorted());
  // `moirai test` stops in the same places, and nobody is told that it was a wait.
  for (const { replay, statements } of failures) {
    const again = await runSqlCampaign(program, { profile, replay });
    expect(again.failure?.statements).toEqual(statements);
    expect(statements.map((statement: LoggedStatement) => statement.waitedFor)).not.toContain('');
  }
});

/** Each statement's rows, number of changed rows, or error. */
async function answers(dialect: Dialect, connection: SqlConnection, statements: readonly string[]): Promise<string> {
  const told: string[] = [];
  if (dialect === 'postgres')
    await onPostgres(connection, async (client) => {
      for (const sql of statements) {
        const answer = await client.query(sql).catch((error: { readonly code?: string }) => error.code);
        told.push(typeof answer !== 'object' ? String(answer) : shown(answer.rows, answer.rowCount));
      }
    });
  else
    await onMysql(connection, async (client) => {
      for (const sql of statements) {
        const answer = await client.query(sql).catch((error: { readonly sqlState?: string }) => error.sqlState);
        if (!Array.isArray(answer)) told.push(String(answer));
        else told.push(/^(UPDATE|INSERT)/.test(sql) ? shown([], (answer[0] as ResultSetHeader).affectedRows) : '-');
      }
    });
  return told.join(' ');
}

function shown(rows: readonly unknown[], changed: number | null): string {
  return rows.length > 0 ? JSON.stringify(rows[0]) : String(changed ?? '-');
}
