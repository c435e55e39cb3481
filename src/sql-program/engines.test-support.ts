/** The engines that SQL programs of tests run on: every level, and a driver on a connection of a session. */
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { SqlConnection } from '../program/index.ts';
import { engineLevels } from '../database/index.ts';

export type Dialect = 'postgres' | 'mysql';

export const everyEngineLevel = (['postgres', 'mysql'] as const).flatMap((dialect) =>
  engineLevels[dialect].map((isolation) => [dialect, isolation] as const),
);

type Connection = Pick<SqlConnection, 'connect'>;

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
