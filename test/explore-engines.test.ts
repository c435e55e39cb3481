/** The classic mistakes and their usual fixes, on every schedule of every level of both engines: the table of docs/explore.md. */
import { readFileSync } from 'node:fs';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, test } from 'vitest';
import { type SqlConnection, type SqlEnd, sqlProgram } from '../src/program/index.ts';
import { exploreSql, parseProfile } from '../src/sql-campaign/index.ts';

type Dialect = 'postgres' | 'mysql';
type Row = Readonly<Record<string, unknown>>;
type Sql = (text: string) => Promise<readonly Row[]>;

interface Mistake {
  readonly name: string;
  readonly schema: readonly string[];
  /** Each a transaction; one that fails is rolled back and counts as `null`. */
  readonly sessions: readonly ((sql: Sql) => Promise<unknown>)[];
  readonly invariant: (sql: Sql, results: readonly unknown[]) => Promise<boolean>;
}

const counter = ['CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 0)'];
const countsCommits: Mistake['invariant'] = async (sql, results) =>
  Number((await sql('SELECT n FROM t'))[0]?.['n']) === results.filter((result) => result !== null).length;

const increment = (lock: string) => async (sql: Sql) => {
  const [row] = await sql(`SELECT n FROM t WHERE id = 1${lock}`);
  await sql(`UPDATE t SET n = ${Number(row?.['n']) + 1} WHERE id = 1`);
};
const addOne = (sql: Sql) => sql('UPDATE t SET n = n + 1 WHERE id = 1');

const goOffCall = (id: number, lock: string) => async (sql: Sql) => {
  const onCall = await sql(`SELECT id FROM t WHERE n = 1${lock}`);
  if (onCall.length > 1) await sql(`UPDATE t SET n = 0 WHERE id = ${id}`);
};
const doctors = [...counter.slice(0, 1), 'INSERT INTO t VALUES (1, 1), (2, 1)'];
const someoneIsOnCall: Mistake['invariant'] = async (sql) => (await sql('SELECT id FROM t WHERE n = 1')).length > 0;

const signUp = async (sql: Sql) => {
  if ((await sql("SELECT name FROM t WHERE name = 'ann'")).length === 0)
    await sql("INSERT INTO t (name) VALUES ('ann')");
};
const oneAnn: Mistake['invariant'] = async (sql) => (await sql('SELECT name FROM t')).length <= 1;

const takeJob = (lock: string) => async (sql: Sql) => {
  const [job] = await sql(`SELECT id FROM t WHERE n = 0 ORDER BY id LIMIT 1${lock}`);
  if (job !== undefined) await sql(`UPDATE t SET n = 1 WHERE id = ${Number(job['id'])}`);
  return job === undefined ? 'none' : Number(job['id']);
};
const jobs = [...counter.slice(0, 1), 'INSERT INTO t VALUES (1, 0), (2, 0)'];
const noJobTwice: Mistake['invariant'] = async (_sql, results) => {
  const taken = results.filter((result) => typeof result === 'number');
  return new Set(taken).size === taken.length;
};

const mistakes: readonly Mistake[] = [
  { name: 'lost update', schema: counter, sessions: [increment(''), increment('')], invariant: countsCommits },
  {
    name: 'lost update, FOR UPDATE',
    schema: counter,
    sessions: [increment(' FOR UPDATE'), increment(' FOR UPDATE')],
    invariant: countsCommits,
  },
  { name: 'lost update, atomic UPDATE', schema: counter, sessions: [addOne, addOne], invariant: countsCommits },
  {
    name: 'write skew',
    schema: doctors,
    sessions: [goOffCall(1, ''), goOffCall(2, '')],
    invariant: someoneIsOnCall,
  },
  {
    name: 'write skew, FOR UPDATE',
    schema: doctors,
    sessions: [goOffCall(1, ' FOR UPDATE'), goOffCall(2, ' FOR UPDATE')],
    invariant: someoneIsOnCall,
  },
  {
    name: 'read skew',
    schema: [...counter.slice(0, 1), 'INSERT INTO t VALUES (1, 50), (2, 50)'],
    sessions: [
      async (sql) => {
        const [a] = await sql('SELECT n FROM t WHERE id = 1');
        const [b] = await sql('SELECT n FROM t WHERE id = 2');
        return Number(a?.['n']) + Number(b?.['n']);
      },
      async (sql) => {
        await sql('UPDATE t SET n = n - 10 WHERE id = 1');
        await sql('UPDATE t SET n = n + 10 WHERE id = 2');
      },
    ],
    invariant: async (_sql, [sum]) => sum === null || sum === 100,
  },
  {
    name: 'check, then insert',
    schema: ['CREATE TABLE t (name varchar(9))'],
    sessions: [signUp, signUp],
    invariant: oneAnn,
  },
  {
    name: 'check, then insert, unique key',
    schema: ['CREATE TABLE t (name varchar(9) UNIQUE)'],
    sessions: [signUp, signUp],
    invariant: oneAnn,
  },
  { name: 'job queue', schema: jobs, sessions: [takeJob(''), takeJob('')], invariant: noJobTwice },
  {
    name: 'job queue, SKIP LOCKED',
    schema: jobs,
    sessions: [takeJob(' FOR UPDATE SKIP LOCKED'), takeJob(' FOR UPDATE SKIP LOCKED')],
    invariant: noJobTwice,
  },
];

const databases = [
  ['postgres', 'read committed'],
  ['postgres', 'repeatable read'],
  ['postgres', 'serializable'],
  ['mysql', 'read uncommitted'],
  ['mysql', 'read committed'],
  ['mysql', 'repeatable read'],
  ['mysql', 'serializable'],
] as const;

test('the table of mistakes and fixes', { timeout: 300_000 }, async () => {
  const lines = [
    `| | ${databases.map(([engine, isolation]) => `${engine === 'postgres' ? 'PostgreSQL' : 'InnoDB'} ${isolation}`).join(' | ')} |`,
    `| --- |${' --- |'.repeat(databases.length)}`,
  ];
  for (const mistake of mistakes) {
    const cells: string[] = [];
    for (const [engine, isolation] of databases) {
      const profile = parseProfile({ engine, isolation });
      const { schedules, violations, complete } = await exploreSql(programOf(mistake, engine), { profile });
      expect(complete).toBe(true);
      cells.push(violations === 0 ? `holds (${schedules})` : `**fails** (${violations} of ${schedules})`);
    }
    lines.push(`| ${mistake.name} | ${cells.join(' | ')} |`);
  }
  const documented = readFileSync(new URL('../docs/explore.md', import.meta.url), 'utf8');
  expect(documented.split('\n').filter((line) => line.startsWith('| '))).toEqual(lines);
});

function programOf({ schema, sessions, invariant }: Mistake, dialect: Dialect) {
  const names = sessions.map((_, i) => `s${i}`);
  return sqlProgram({
    dialect,
    schema,
    sessions: Object.fromEntries(
      sessions.map((body, i) => [
        names[i] as string,
        (c: SqlConnection) => connected(dialect, c, (sql) => transaction(sql, body)),
      ]),
    ),
    invariant: (end: SqlEnd) =>
      connected(dialect, end, (sql) =>
        invariant(
          sql,
          names.map((name) => end.results[name]),
        ),
      ),
  });
}

async function transaction(sql: Sql, body: (sql: Sql) => Promise<unknown>): Promise<unknown> {
  try {
    await sql('BEGIN');
    const result = (await body(sql)) ?? 'done';
    await sql('COMMIT');
    return result;
  } catch {
    await sql('ROLLBACK');
    return null;
  }
}

async function connected<T>(dialect: Dialect, { connect }: SqlConnection, work: (sql: Sql) => Promise<T>): Promise<T> {
  if (dialect === 'postgres') {
    const client = new pg.Client({ user: 'app', stream: connect });
    await client.connect();
    const result = await work(async (text) => (await client.query<Row>(text)).rows);
    await client.end();
    return result;
  }
  const client = await mysql.createConnection({ user: 'app', stream: connect() });
  const result = await work(async (text) => (await client.query(text))[0] as unknown as readonly Row[]);
  await client.end();
  return result;
}
