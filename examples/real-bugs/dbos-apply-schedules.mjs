/** DBOS: two processes start and declare the same schedule. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

const schedule = { scheduleName: 'nightly', workflowName: 'clean', schedule: '0 3 * * *' };

/** @param DBOSClient the library's client, of one version */
export function applySchedules(DBOSClient) {
  const apply = async ({ connect }) => {
    const pool = new pg.Pool({ user: 'app', stream: connect, max: 1 });
    const client = await DBOSClient.create({
      systemDatabaseUrl: 'postgres://app@localhost/app',
      systemDatabasePool: pool,
    });
    try {
      await client.applySchedules([schedule]);
    } finally {
      await client.destroy();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: `
      CREATE SCHEMA dbos;
      CREATE TABLE dbos.workflow_schedules (schedule_id text PRIMARY KEY, schedule_name text NOT NULL UNIQUE, workflow_name text NOT NULL,
        workflow_class_name text, schedule text NOT NULL, status text NOT NULL DEFAULT 'ACTIVE', context text NOT NULL, last_fired_at text,
        automatic_backfill boolean NOT NULL DEFAULT false, cron_timezone text, queue_name text)`,
    sessions: { alice: apply, bob: apply },
  });
}
