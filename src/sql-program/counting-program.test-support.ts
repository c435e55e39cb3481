/** Sessions that add one to a counter, each so many times, by what they read before: at read committed some of it is lost. */
import type pg from 'pg';
import { type SqlProgram, sqlProgram } from '../program/index.ts';
import { onPostgres } from './engines.test-support.ts';

export function countingProgram(timesOf: Readonly<Record<string, number>>): SqlProgram {
  const all = Object.values(timesOf).reduce((sum, times) => sum + times, 0);
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
    sessions: Object.fromEntries(
      Object.entries(timesOf).map(([name, times]) => [name, (c) => onPostgres(c, (client) => count(client, times))]),
    ),
    invariant: (end) =>
      onPostgres(end, async (client) => {
        const counted = await counterOf(client);
        end.sometimes('all were counted', counted === all);
        return counted === all || `${all} were counted as ${counted}`;
      }),
  });
}

async function count(client: pg.Client, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await client.query('BEGIN');
    await client.query(`UPDATE t SET n = ${(await counterOf(client)) + 1}`);
    await client.query('COMMIT');
  }
}

async function counterOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>('SELECT n FROM t');
  return rows[0]?.n ?? 0;
}
