/** A job queue, with postgres.js: two workers look for the first job that is ready, and both take it. */
import postgres from 'postgres';
import { sqlProgram } from 'moirai';
import { type Connection, onPostgres } from './clients.ts';

async function takeJob({ connect }: Connection, worker: string): Promise<string | null> {
  const options = { user: 'app', max: 1, fetch_types: false, socket: connect };
  const sql = postgres(options);
  try {
    return await sql.begin(async (t) => {
      const [job] = await t`SELECT * FROM jobs WHERE state = 'ready' ORDER BY run_at LIMIT 1`;
      if (job === undefined) return null;
      await t`UPDATE jobs SET state = 'running', worker = ${worker} WHERE id = ${job['id']}`;
      return job['id'];
    });
  } finally {
    await sql.end();
  }
}

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE jobs (
      id uuid PRIMARY KEY, queue text NOT NULL, kind text NOT NULL, payload text NOT NULL, state text NOT NULL, worker text,
      attempts int NOT NULL, priority int NOT NULL, run_at date NOT NULL, error text
    );
    INSERT INTO jobs VALUES
      ('a3d2c0de-5b1e-4b89-b6a8-27b6d1f9c001', 'mail', 'welcome', '{}', 'ready', NULL, 0, 1, '2026-01-01', NULL),
      ('a3d2c0de-5b1e-4b89-b6a8-27b6d1f9c002', 'mail', 'receipt', '{}', 'ready', NULL, 0, 1, '2026-01-02', NULL);
  `,
  sessions: {
    worker1: (connection) => takeJob(connection, 'one'),
    worker2: (connection) => takeJob(connection, 'two'),
  },
  invariant: async (end) => {
    const running = await onPostgres(end, (client) => client.query("SELECT id FROM jobs WHERE state = 'running'"));
    const { worker1, worker2 } = end.results;
    return (worker1 !== worker2 && running.rows.length > 0) || `both workers run job ${worker1}`;
  },
});
