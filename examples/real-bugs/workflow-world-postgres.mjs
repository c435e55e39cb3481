/** Vercel's Workflow on PostgreSQL: two workers read the events of a running workflow, and write the next one. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

const tables = `
  CREATE SCHEMA workflow;
  CREATE TABLE workflow.workflow_runs (id varchar PRIMARY KEY, output jsonb, output_cbor bytea, deployment_id varchar NOT NULL, status text NOT NULL,
    name varchar NOT NULL, spec_version varchar, execution_context jsonb, execution_context_cbor bytea, input jsonb, input_cbor bytea, error text,
    error_cbor bytea, created_at timestamp NOT NULL DEFAULT now(), updated_at timestamp NOT NULL DEFAULT now(), completed_at timestamp,
    started_at timestamp, expired_at timestamp);
  CREATE TABLE workflow.workflow_steps (run_id varchar NOT NULL, step_id varchar PRIMARY KEY, step_name varchar NOT NULL, status text NOT NULL,
    input jsonb, input_cbor bytea, output jsonb, output_cbor bytea, error text, error_cbor bytea, attempt int NOT NULL, started_at timestamp,
    completed_at timestamp, created_at timestamp NOT NULL DEFAULT now(), updated_at timestamp NOT NULL DEFAULT now(), retry_after timestamp,
    spec_version int);
  CREATE TABLE workflow.workflow_hooks (run_id varchar NOT NULL, hook_id varchar PRIMARY KEY, token varchar NOT NULL, owner_id varchar NOT NULL,
    project_id varchar NOT NULL, environment varchar NOT NULL, created_at timestamp NOT NULL DEFAULT now(), metadata jsonb, metadata_cbor bytea,
    spec_version int, is_webhook boolean DEFAULT true);
  CREATE TABLE workflow.workflow_events (id varchar PRIMARY KEY, type varchar NOT NULL, correlation_id varchar,
    created_at timestamp NOT NULL DEFAULT now(), run_id varchar NOT NULL, payload jsonb, payload_cbor bytea, spec_version int);
  CREATE INDEX ON workflow.workflow_events (run_id);
  CREATE INDEX ON workflow.workflow_hooks (token);
  CREATE INDEX ON workflow.workflow_steps (run_id);`;

/** Since 4.1.5. */
export const uniqueEvents = `
  CREATE UNIQUE INDEX workflow_events_entity_creation_unique ON workflow.workflow_events (run_id, correlation_id, type)
    WHERE type IN ('step_created', 'hook_created', 'wait_created');`;

/**
 * @param library the store of events and its client, of one version: the whole of the library also listens to notifications
 * @param indexes what its migrations add to the tables
 * @param runs the workflows that run
 * @param event what each session writes, by its name, to the events of the run
 * @param invariant a query that gives one number, which is to be 1
 */
export function writeEvents({ library, indexes = '', runs, event, invariant }) {
  const write = async ({ name, connect }) => {
    const pool = new pg.Pool({ user: 'app', stream: connect, max: 1 });
    const events = library.createEventsStorage(library.createClient(pool));
    const { runId, ...data } = event(name);
    try {
      const { data: before } = await events.list({ runId });
      const isNew = before.every(({ correlationId }) => correlationId !== data.correlationId);
      if (isNew) await events.create(runId, data);
    } catch (error) {
      // The library's runtime continues: another worker has written the event.
      if (error.name !== 'EntityConflictError') throw error;
    } finally {
      await pool.end();
    }
  };
  const rows = runs.map((id) => `('${id}', 'deployment', 'running', 'order', '2')`).join();
  return sqlProgram({
    dialect: 'postgres',
    schema: `${tables}${indexes}
      INSERT INTO workflow.workflow_runs (id, deployment_id, status, name, spec_version) VALUES ${rows}`,
    sessions: { alice: write, bob: write },
    invariant: async ({ connect }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const {
        rows: [row],
      } = await client.query(invariant);
      await client.end();
      return row.count === 1 || `there are ${row.count}`;
    },
  });
}
