/** The clients of these programs: each session opens one, and closes it. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { SqlConnection } from 'moirai';

/** Where a session connects, and the invariant. */
export type Connection = Pick<SqlConnection, 'connect'>;

export async function onPostgres<T>({ connect }: Connection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function onMysql<T>({ connect }: Connection, work: (client: mysql.Connection) => Promise<T>): Promise<T> {
  const client = await mysql.createConnection({ user: 'app', stream: connect() });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Commits what `work` did, or rolls it back where it throws. */
export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

export async function inMysqlTransaction<T>(client: mysql.Connection, work: () => Promise<T>): Promise<T> {
  await client.beginTransaction();
  try {
    const result = await work();
    await client.commit();
    return result;
  } catch (error) {
    await client.rollback();
    throw error;
  }
}
