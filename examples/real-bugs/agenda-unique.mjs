/** Agenda on PostgreSQL: two requests schedule the same unique job. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

/** @param library the library and its store of jobs, of one version */
export function scheduleUnique({ Agenda, PostgresBackend }) {
  const schedule = async ({ connect }) => {
    const pool = new pg.Pool({ user: 'app', stream: connect, max: 1 });
    const backend = new PostgresBackend({ pool, ensureSchema: false, disableNotifications: true });
    try {
      const agenda = new Agenda({ backend });
      await agenda.ready;
      await agenda.create('invoice', { order: 1 }).unique({ 'data.order': 1 }).save();
    } finally {
      await pool.end();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: `
      CREATE TABLE agenda_jobs (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name varchar(255) NOT NULL, priority int NOT NULL DEFAULT 0,
        next_run_at timestamptz, type varchar(10) NOT NULL DEFAULT 'normal', locked_at timestamptz, last_finished_at timestamptz,
        failed_at timestamptz, fail_count int, fail_reason text, repeat_timezone varchar(100), last_run_at timestamptz,
        repeat_interval varchar(255), data jsonb DEFAULT '{}', repeat_at varchar(255), disabled boolean DEFAULT false, progress real,
        fork boolean DEFAULT false, last_modified_by varchar(255), debounce_started_at timestamptz, start_date timestamptz,
        end_date timestamptz, skip_days jsonb, created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now())`,
    sessions: { alice: schedule, bob: schedule },
    invariant: async ({ connect }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const { rows } = await client.query('SELECT count(*)::int AS n FROM agenda_jobs');
      await client.end();
      return rows[0].n === 1 || `there are ${rows[0].n} of a unique job`;
    },
  });
}
