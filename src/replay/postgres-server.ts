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

const isOwn = `nspname !~ '^pg_' AND nspname <> 'information_schema'`;
const schemaParts = `
WITH own AS (SELECT c.oid, relname::text AS name, relkind FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE ${isOwn}),
  owned AS (SELECT objid AS sequence, refobjid AS "table" FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i'))
SELECT 'table' AS kind, name AS a, '' AS b FROM own WHERE relkind IN ('r', 'p')
UNION ALL SELECT 'link', a.name, b.name FROM pg_constraint JOIN own a ON a.oid = conrelid JOIN own b ON b.oid = confrelid
UNION ALL SELECT 'link', a.name, b.name FROM pg_inherits JOIN own a ON a.oid = inhrelid JOIN own b ON b.oid = inhparent
UNION ALL SELECT 'hidden', name, '' FROM own WHERE relkind IN ('v', 'm', 'f')
UNION ALL SELECT 'hidden', name, '' FROM own WHERE relkind = 'S' AND oid NOT IN (SELECT sequence FROM owned)
UNION ALL SELECT 'hidden', 'default', '' FROM pg_depend d JOIN pg_attrdef f ON f.oid = d.objid JOIN owned ON sequence = d.refobjid
  WHERE d.classid = 'pg_attrdef'::regclass AND "table" <> f.adrelid
UNION ALL SELECT 'hidden', proname::text, '' FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace WHERE ${isOwn}
UNION ALL SELECT 'hidden', tgname::text, '' FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'hidden', polname::text, '' FROM pg_policy
UNION ALL SELECT 'hidden', rulename::text, '' FROM pg_rewrite JOIN own ON own.oid = ev_class`;

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
  schemaParts,
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
