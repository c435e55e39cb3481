/** Programs of two sessions that a replay on a real server forces into their failing order, in the words of each server's own driver. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../../src/program/index.ts';

/** Sends a statement; its rows. */
export type Send = (sql: string, parameters?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

type WithClient = (connection: SqlConnection, use: (send: Send) => Promise<void>) => Promise<void>;

const withPg: WithClient = async ({ connect }, use) => {
  const client = new pg.Client({ user: 'test', stream: connect });
  await client.connect();
  try {
    await use(async (sql, parameters = []) => (await client.query(sql, [...parameters])).rows);
  } finally {
    await client.end();
  }
};

/** Prepared statements, whose rows are binary. */
const withMysql: WithClient = async ({ connect }, use) => {
  const client = await mysql.createConnection({ user: 'test', stream: connect() });
  try {
    await use(async (sql, parameters) => {
      const [rows] =
        parameters === undefined ? await client.query(sql) : await client.execute(sql, [...parameters] as string[]);
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    });
  } finally {
    await client.end();
  }
};

/** What a program is written with for each server. */
export interface Speech {
  readonly dialect: SqlProgram['dialect'];
  readonly withClient: WithClient;
  /** Of the first parameter. */
  readonly parameter: string;
}

export const postgresSpeech: Speech = { dialect: 'postgres', withClient: withPg, parameter: '$1' };
export const mysqlSpeech: Speech = { dialect: 'mysql', withClient: withMysql, parameter: '?' };

/** Two sessions read a counter and write one more. @param locking of the read */
export function counter(
  { dialect, withClient, parameter }: Speech,
  locking: '' | ' FOR UPDATE',
  onError: (error: unknown) => void = (error) => {
    throw error;
  },
): SqlProgram {
  const add = (connection: SqlConnection): Promise<void> =>
    withClient(connection, async (send) => {
      await send('BEGIN');
      const [row] = await send(`SELECT n FROM t WHERE id = 1${locking}`);
      await send(`UPDATE t SET n = ${parameter} WHERE id = 1`, [Number(row?.['n']) + 1]);
      await send('COMMIT');
    }).catch(onError);
  return sqlProgram({
    dialect,
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)',
    sessions: { alice: add, bob: add },
    invariant: async (end) => {
      let n: unknown = null;
      await withClient(end, async (send) => void (n = (await send('SELECT n FROM t WHERE id = 1'))[0]?.['n']));
      return Number(n) === 2 || `n is ${String(n)}`;
    },
  });
}

/** Each session writes its own number, and reads which connection it has: the last one wins in every order. */
export function lastWriter({ dialect, withClient }: Speech, connectionId: string): SqlProgram {
  const write =
    (value: number) =>
    (connection: SqlConnection): Promise<void> =>
      withClient(connection, async (send) => {
        await send('BEGIN');
        await send(`SELECT ${connectionId}`);
        await send(`UPDATE t SET n = ${value} WHERE id = 1`);
        await send('COMMIT');
      });
  return sqlProgram({
    dialect,
    schema: 'CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)',
    sessions: { alice: write(1), bob: write(2) },
    invariant: async (end) => {
      let n: unknown = null;
      await withClient(end, async (send) => void (n = (await send('SELECT n FROM t WHERE id = 1'))[0]?.['n']));
      return Number(n) === 2 || `n is ${String(n)}`;
    },
  });
}

/** Two doctors on call; each leaves where the other stays. */
export function onCall({ dialect, withClient }: Speech): SqlProgram {
  const leave =
    (id: number) =>
    (connection: SqlConnection): Promise<void> =>
      withClient(connection, async (send) => {
        await send('BEGIN');
        const [row] = await send('SELECT count(*) AS n FROM doctors WHERE oncall = 1');
        if (Number(row?.['n']) > 1) await send(`UPDATE doctors SET oncall = 0 WHERE id = ${id}`);
        await send('COMMIT');
      });
  return sqlProgram({
    dialect,
    schema: ['CREATE TABLE doctors (id int PRIMARY KEY, oncall int)', 'INSERT INTO doctors VALUES (1, 1), (2, 1)'],
    sessions: { alice: leave(1), bob: leave(2) },
    invariant: async (end) => {
      let n: unknown = null;
      const sql = 'SELECT count(*) AS n FROM doctors WHERE oncall = 1';
      await withClient(end, async (send) => void (n = (await send(sql))[0]?.['n']));
      return Number(n) > 0 || 'no doctor is on call';
    },
  });
}

/** One session reads two rows; the other moves one from the first to the second between them. */
export function readSkew({ dialect, withClient }: Speech): SqlProgram {
  return sqlProgram({
    dialect,
    schema: ['CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 0), (2, 1)'],
    sessions: {
      reader: async (connection) => {
        let sum = 0;
        await withClient(connection, async (send) => {
          await send('BEGIN');
          for (const id of [1, 2]) sum += Number((await send(`SELECT n FROM t WHERE id = ${id}`))[0]?.['n']);
          await send('COMMIT');
        });
        return sum;
      },
      writer: (connection) =>
        withClient(connection, async (send) => {
          await send('BEGIN');
          await send('UPDATE t SET n = 1 WHERE id = 1');
          await send('UPDATE t SET n = 0 WHERE id = 2');
          await send('COMMIT');
        }),
    },
    invariant: async (end) => {
      const { reader } = end.results;
      await withClient(end, async (send) => void (await send('SELECT n FROM t WHERE id = 1')));
      return reader === 1 || `the reader saw ${String(reader)}`;
    },
  });
}
