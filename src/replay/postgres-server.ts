import { type ProgramClient, PostgresClient } from '../sql-program/index.ts';
import { PostgresTap } from './postgres-tap.ts';
import { scratchPattern, type ServerRules, type Wait } from './server.ts';

/** Advisory locks of bigint keys, as `pg_locks` shows them. Manual, "pg_locks": `objsubid` is 1, the key is in two halves. */
const heldKeys = `SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1`;

/** What a connection waits for: of a row only a transaction is known, and the table by the lock on the row that comes before it. */
const waitsQuery = `
SELECT p.pid, array_to_string(pg_blocking_pids(p.pid), ',') AS holders,
  (SELECT l.locktype FROM pg_locks l WHERE l.pid = p.pid AND NOT l.granted LIMIT 1) AS locktype,
  (SELECT min(l.relation::regclass::text) FROM pg_locks l
    WHERE l.pid = p.pid AND l.relation IS NOT NULL AND (l.locktype = 'tuple' OR NOT l.granted)) AS "table"
FROM unnest($1::int[]) AS p(pid)
WHERE cardinality(pg_blocking_pids(p.pid)) > 0`;

/** Of a database of its own; to drop one and make another waits for a checkpoint. */
const dropSchemas = `
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', name);
  END LOOP;
END $$`;

export const postgresServer: ServerRules = {
  title: 'PostgreSQL',
  tap: PostgresTap,
  client: (stream) => PostgresClient.connect(stream),
  anyDatabase: 'postgres',
  version: `SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1) AS name`,
  hold: (scratch) => `SELECT pg_advisory_lock(hashtextextended('${scratch}', 0))`,
  leftOver: `
SELECT datname AS name FROM pg_database
WHERE datname ~ '${scratchPattern}' AND hashtextextended(datname, 0) NOT IN (${heldKeys})`,
  create: (database) => `CREATE DATABASE ${database}`,
  empty: () => [dropSchemas, 'CREATE SCHEMA public'],
  endConnection: (id) => `SELECT pg_terminate_backend(${id})`,
  drop: (database) => `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`,
  tables: `
SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
  waits: waitsOf,
  holders: null,
  wrongLogin: new Set(['28P01', '28000']),
  noRight: new Set(['42501']),
  grant: (user) => `ALTER ROLE "${user}" CREATEDB`,
};

async function waitsOf(client: ProgramClient, ids: readonly number[]): Promise<ReadonlyMap<number, Wait>> {
  const { rows } = await client.query(waitsQuery, [ids]);
  return new Map(
    rows.map(({ pid, holders, locktype, table }) => [
      Number(pid),
      { lock: lockText(String(locktype), table === null ? null : String(table)), holders: numbersIn(String(holders)) },
    ]),
  );
}

function lockText(locktype: string, table: string | null): string {
  const of = table === null ? '' : ` of ${table}`;
  if (locktype === 'transactionid' || locktype === 'tuple') return `a row${of}`;
  return locktype === 'relation' ? `the table${table === null ? '' : ` ${table}`}` : `a lock (${locktype})${of}`;
}

function numbersIn(text: string): number[] {
  return text === '' ? [] : text.split(',').map(Number);
}
