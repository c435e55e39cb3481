/** A SQL program of a hundred schedules, in a file that threads can load: three that count. */
import pg from 'pg';
import { type SqlConnection, sqlProgram } from '../../src/program/index.ts';

async function count({ connect }: SqlConnection, times: number): Promise<void> {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  for (let i = 0; i < times; i += 1) {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT n FROM t');
    await client.query(`UPDATE t SET n = ${Number(rows[0].n) + 1}`);
    await client.query('COMMIT');
  }
  await client.end();
}

// Programs are default exports.
// oxlint-disable-next-line import/no-default-export
export default sqlProgram({
  dialect: 'postgres',
  schema: 'CREATE TABLE t (n int); INSERT INTO t VALUES (0)',
  sessions: { a: (c) => count(c, 1), b: (c) => count(c, 1), c: (c) => count(c, 1) },
  invariant: async ({ connect }) => {
    const client = new pg.Client({ user: 'app', stream: connect });
    await client.connect();
    const { rows } = await client.query('SELECT n FROM t');
    await client.end();
    return rows[0].n === 3 || `3 were counted as ${rows[0].n}`;
  },
});
