/**
 * The classic mistakes of transactions and their usual fixes, as programs for both dialects: for the explorer, and for a real server with its
 * own timing. What a session was told by each of its statements is noted by the session itself, so that both can be compared.
 */
import type mysql from 'mysql2/promise';
import type pg from 'pg';
import type { IsolationName } from '../../src/sql/index.ts';
import { type SqlConnection, type SqlEnd, type SqlProgram, sqlProgram } from '../../src/program/index.ts';
import { type Dialect, onMysql, onPostgres } from '../../src/sql-program/engines.test-support.ts';

export type Row = Readonly<Record<string, unknown>>;
/** A statement on the connection of one session. */
export type Sql = (text: string) => Promise<readonly Row[]>;

export interface Mistake {
  readonly name: string;
  /** The first statement creates table `t`, the others fill it. */
  readonly schema: readonly string[];
  /** Each a transaction; one that fails for good is rolled back and counts as `null`. */
  readonly sessions: readonly ((sql: Sql) => Promise<unknown>)[];
  /** Begins again when the engine says so, or when a key is taken: once. */
  readonly retries?: boolean;
  readonly invariant: (sql: Sql, results: readonly unknown[]) => Promise<boolean>;
  /** The weakest level of PostgreSQL and of InnoDB at which nothing goes wrong, by what their manuals promise. */
  readonly holdsFrom: readonly [postgres: IsolationName, innodb: IsolationName];
}

const numbers = 'CREATE TABLE t (id int PRIMARY KEY, n int)';

const counter = [numbers, 'INSERT INTO t VALUES (1, 0)'];
const countsCommits: Mistake['invariant'] = async (sql, results) =>
  Number((await sql('SELECT n FROM t'))[0]?.['n']) === results.filter((result) => result !== null).length;
const increment = (lock: string) => async (sql: Sql) => {
  const [row] = await sql(`SELECT n FROM t WHERE id = 1${lock}`);
  await sql(`UPDATE t SET n = ${Number(row?.['n']) + 1} WHERE id = 1`);
};
const addOne = (sql: Sql) => sql('UPDATE t SET n = n + 1 WHERE id = 1').then(() => undefined);

const doctors = [numbers, 'INSERT INTO t VALUES (1, 1), (2, 1)'];
const someoneIsOnCall: Mistake['invariant'] = async (sql) => (await sql('SELECT id FROM t WHERE n = 1')).length > 0;
const goOffCall = (id: number, lock: string) => async (sql: Sql) => {
  const onCall = await sql(`SELECT id FROM t WHERE n = 1${lock}`);
  if (onCall.length > 1) await sql(`UPDATE t SET n = 0 WHERE id = ${id}`);
};
/** The condition is part of the UPDATE: MySQL wants the subquery to be a derived table. */
const goOffCallAtOnce = (id: number) => (sql: Sql) =>
  sql(
    `UPDATE t SET n = 0 WHERE id = ${id} AND (SELECT c FROM (SELECT count(*) AS c FROM t WHERE n = 1) AS others) > 1`,
  ).then(() => undefined);

const pair = [numbers, 'INSERT INTO t VALUES (1, 50), (2, 50)'];
const sumIsWhole: Mistake['invariant'] = async (_sql, [sum]) => sum === null || sum === 100;
const add = (lock: string) => async (sql: Sql) => {
  const [a] = await sql(`SELECT n FROM t WHERE id = 1${lock}`);
  const [b] = await sql(`SELECT n FROM t WHERE id = 2${lock}`);
  return Number(a?.['n']) + Number(b?.['n']);
};
const addAtOnce = async (sql: Sql) => Number((await sql('SELECT sum(n) AS n FROM t'))[0]?.['n']);
const move = (from: number, to: number) => async (sql: Sql) => {
  await sql(`UPDATE t SET n = n - 10 WHERE id = ${from}`);
  await sql(`UPDATE t SET n = n + 10 WHERE id = ${to}`);
};
const nothingIsLost: Mistake['invariant'] = async (sql) =>
  Number((await sql('SELECT sum(n) AS n FROM t'))[0]?.['n']) === 100;

const names = (key: string) => [`CREATE TABLE t (name varchar(9)${key})`];
const oneAnn: Mistake['invariant'] = async (sql) => (await sql('SELECT name FROM t')).length <= 1;
const signUp = (lock: string) => async (sql: Sql) => {
  if ((await sql(`SELECT name FROM t WHERE name = 'ann'${lock}`)).length === 0)
    await sql("INSERT INTO t (name) VALUES ('ann')");
};

const jobs = [numbers, 'INSERT INTO t VALUES (1, 0), (2, 0)'];
const noJobTwice: Mistake['invariant'] = async (_sql, results) => {
  const taken = results.filter((result) => typeof result === 'number');
  return new Set(taken).size === taken.length;
};
const takeJob = (lock: string) => async (sql: Sql) => {
  const [job] = await sql(`SELECT id FROM t WHERE n = 0 ORDER BY id LIMIT 1${lock}`);
  if (job !== undefined) await sql(`UPDATE t SET n = 1 WHERE id = ${Number(job['id'])}`);
  return job === undefined ? 'none' : Number(job['id']);
};

/** The same transaction in two sessions. */
const twice = <T>(body: T): readonly T[] => [body, body];
const forUpdate = ' FOR UPDATE';
const offCall = (lock: string) => [goOffCall(1, lock), goOffCall(2, lock)];

const everywhere: Mistake['holdsFrom'] = ['read committed', 'read uncommitted'];

/** A mistake, its fixes, and the mistake by sessions that begin again. */
function withFixes(
  mistake: Mistake,
  fixes: Readonly<Record<string, Pick<Mistake, 'sessions' | 'holdsFrom'>>>,
): readonly Mistake[] {
  const fixed = Object.entries(fixes).map(([fix, each]) => ({ ...mistake, ...each, name: `${mistake.name}, ${fix}` }));
  return [mistake, ...fixed, { ...mistake, name: `${mistake.name}, retry`, retries: true }];
}

const checkThenInsert: Mistake = {
  name: 'check, then insert',
  schema: names(''),
  sessions: twice(signUp('')),
  invariant: oneAnn,
  holdsFrom: ['serializable', 'serializable'],
};

export const mistakes: readonly Mistake[] = [
  ...withFixes(
    {
      name: 'lost update',
      schema: counter,
      sessions: twice(increment('')),
      invariant: countsCommits,
      holdsFrom: ['repeatable read', 'serializable'],
    },
    {
      'FOR UPDATE': { sessions: twice(increment(forUpdate)), holdsFrom: everywhere },
      'atomic UPDATE': { sessions: twice(addOne), holdsFrom: everywhere },
    },
  ),
  ...withFixes(
    {
      name: 'write skew',
      schema: doctors,
      sessions: offCall(''),
      invariant: someoneIsOnCall,
      holdsFrom: ['serializable', 'serializable'],
    },
    {
      'FOR UPDATE': { sessions: offCall(forUpdate), holdsFrom: everywhere },
      'atomic UPDATE': {
        sessions: [goOffCallAtOnce(1), goOffCallAtOnce(2)],
        holdsFrom: ['serializable', 'repeatable read'],
      },
    },
  ),
  ...withFixes(
    {
      name: 'read skew',
      schema: pair,
      sessions: [add(''), move(1, 2)],
      invariant: sumIsWhole,
      holdsFrom: ['repeatable read', 'repeatable read'],
    },
    {
      'FOR UPDATE': { sessions: [add(forUpdate), move(1, 2)], holdsFrom: everywhere },
      'one SELECT': { sessions: [addAtOnce, move(1, 2)], holdsFrom: ['read committed', 'read committed'] },
    },
  ),
  ...withFixes(checkThenInsert, {
    'FOR UPDATE': { sessions: twice(signUp(forUpdate)), holdsFrom: ['serializable', 'repeatable read'] },
  }),
  ...withFixes(
    { ...checkThenInsert, name: 'check, then insert, unique key', schema: names(' UNIQUE'), holdsFrom: everywhere },
    {},
  ),
  ...withFixes(
    {
      name: 'job queue',
      schema: jobs,
      sessions: twice(takeJob('')),
      invariant: noJobTwice,
      holdsFrom: ['repeatable read', 'serializable'],
    },
    {
      'FOR UPDATE': { sessions: twice(takeJob(forUpdate)), holdsFrom: everywhere },
      'SKIP LOCKED': { sessions: twice(takeJob(' FOR UPDATE SKIP LOCKED')), holdsFrom: everywhere },
    },
  ),
  ...withFixes(
    {
      name: 'moves both ways',
      schema: pair,
      sessions: [move(1, 2), move(2, 1)],
      invariant: nothingIsLost,
      holdsFrom: everywhere,
    },
    {},
  ),
];

/** What a session came to. */
export interface SessionEnd {
  /** For each statement: its text, and the rows, the number of changed rows, or the error that it was answered with. */
  readonly told: readonly string[];
  /** What the transaction returned; `null` when it failed for good. */
  readonly result: unknown;
}

/** Runs the transaction of a session on its connection. */
export async function runSession(mistake: Mistake, session: number, statement: Statement): Promise<SessionEnd> {
  const body = mistake.sessions[session] as Mistake['sessions'][number];
  const told: string[] = [];
  const sql: Sql = async (text) => {
    const { rows, changed, error } = await statement(text);
    told.push(JSON.stringify([text, error === null ? (rows ?? changed) : `${error.code} ${error.message}`]));
    if (error !== null) throw new StatementError(error.code);
    return rows ?? [];
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sql('BEGIN');
      const result = (await body(sql)) ?? 'done';
      await sql('COMMIT');
      return { told, result };
    } catch (error) {
      await sql('ROLLBACK');
      const isFinal = mistake.retries !== true || attempt === attemptsMax;
      if (!(error instanceof StatementError)) throw error;
      if (isFinal || !worthRetrying.has(error.code)) return { told, result: null };
    }
  }
}

async function holds(mistake: Mistake, sql: Sql, ends: readonly SessionEnd[]): Promise<boolean> {
  return await mistake.invariant(
    sql,
    ends.map(({ result }) => result),
  );
}

/** What a run came to, as a text that is equal where all that anybody was told is equal. */
export async function outcomeOf(mistake: Mistake, sql: Sql, ends: readonly SessionEnd[]): Promise<string> {
  const verdict = (await holds(mistake, sql, ends)) ? 'holds' : 'fails';
  const rows = await sql('SELECT * FROM t ORDER BY 1');
  return JSON.stringify({ verdict, ends, rows }, null, 1);
}

const attemptsMax = 2;

/** The mark of runs in which a transaction that tries again did not get through. */
export const gaveUp = 'gave up';

/** Serialization failures, deadlocks, and keys that somebody else has taken meanwhile. */
const worthRetrying: ReadonlySet<string> = new Set(['40001', '40P01', '23505', '1213', '1062']);

class StatementError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** What a statement was answered with: never throws for an error of the database. */
export type Statement = (text: string) => Promise<{
  /** `null` where the statement returns none. */
  readonly rows: readonly Row[] | null;
  readonly changed: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}>;

export const postgresStatement =
  (client: pg.Client): Statement =>
  async (text) => {
    try {
      const { rows, rowCount, fields } = await client.query<Row>(text);
      return { rows: fields.length === 0 ? null : rows, changed: rowCount ?? 0, error: null };
    } catch (error) {
      const { code, message } = error as pg.DatabaseError;
      if (code === undefined) throw error;
      return { rows: null, changed: 0, error: { code, message } };
    }
  };

/** Errors without their texts: MariaDB and MySQL put them differently. */
export const mysqlStatement =
  (client: mysql.Connection): Statement =>
  async (text) => {
    try {
      const [result] = await client.query(text);
      if (Array.isArray(result)) return { rows: result as Row[], changed: 0, error: null };
      return { rows: null, changed: result.affectedRows, error: null };
    } catch (error) {
      const { errno } = error as { readonly errno?: number };
      if (errno === undefined) throw error;
      return { rows: null, changed: 0, error: { code: String(errno), message: '' } };
    }
  };

/** The program for the explorer. @param onOutcome called for each run with what it came to, before it is known whether the run counts */
export function programOf(mistake: Mistake, dialect: Dialect, onOutcome?: (outcome: string) => void): SqlProgram {
  const sessionNames = mistake.sessions.map((_, i) => `s${i}`);
  return sqlProgram({
    dialect,
    schema: mistake.schema,
    sessions: Object.fromEntries(
      sessionNames.map((name, i) => [
        name,
        (c: SqlConnection) => connected(dialect, c, (statement) => runSession(mistake, i, statement)),
      ]),
    ),
    invariant: (end: SqlEnd) =>
      connected(dialect, end, async (statement) => {
        const ends = sessionNames.map((name) => end.results[name] as SessionEnd);
        const sql = rowsOf(statement);
        onOutcome?.(await outcomeOf(mistake, sql, ends));
        if (mistake.retries === true && ends.some(({ result }) => result === null)) end.sometimes(gaveUp);
        return holds(mistake, sql, ends);
      }),
  });
}

/** For statements that must not fail. */
export function rowsOf(statement: Statement): Sql {
  return async (text) => {
    const { rows, error } = await statement(text);
    if (error !== null) throw new Error(`${text}: ${error.code} ${error.message}`);
    return rows ?? [];
  };
}

function connected<T>(
  dialect: Dialect,
  connection: SqlConnection,
  work: (statement: Statement) => Promise<T>,
): Promise<T> {
  return dialect === 'postgres'
    ? onPostgres(connection, (client) => work(postgresStatement(client)))
    : onMysql(connection, (client) => work(mysqlStatement(client)));
}
