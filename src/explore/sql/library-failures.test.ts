/**
 * Failures of npm libraries, each by the statements that the library sends: what the report names as their cause. Two callers run at once, as two
 * instances of a service do when they start. `test/real-bugs.test.ts` has the libraries themselves.
 */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../../program/index.ts';
import { parseProfile } from '../../database/index.ts';
import { onPostgres } from '../../sql-program/engines.test-support.ts';
import { exploreSql } from './explore-sql.ts';
import { formatSqlExploration } from './explore-sql-text.ts';

type Work = (client: pg.Client) => Promise<unknown>;

const knexTables = `
  create table knex_migrations (id serial primary key, name varchar(255), batch integer, migration_time timestamptz);
  create table knex_migrations_lock (index serial primary key, is_locked integer)`;

function program(schema: string, work: Work, invariant: SqlProgram['invariant']): SqlProgram {
  const session = (connection: SqlConnection): Promise<unknown> => onPostgres(connection, work);
  return sqlProgram({ dialect: 'postgres', schema, sessions: { alice: session, bob: session }, invariant });
}

const oneLockRow: SqlProgram['invariant'] = (end) =>
  onPostgres(end, async (client) => {
    const { rows } = await client.query('select * from knex_migrations_lock');
    return rows.length === 1 || `${rows.length} lock rows`;
  });

/** `migrate.list()` when the lock table is empty. */
function ensureLockRow(insert: string): Work {
  return async (client) => {
    await client.query('select * from information_schema.tables where table_name = $1', ['knex_migrations_lock']);
    const { rows } = await client.query('select * from "public"."knex_migrations_lock"');
    if (rows.length === 0) await client.query(insert);
    await client.query('select "name" from "public"."knex_migrations" order by "id" asc');
  };
}

const knex09511 = program(
  knexTables,
  ensureLockRow('insert into "public"."knex_migrations_lock" ("is_locked") values (0)'),
  oneLockRow,
);

const knex09512 = program(
  knexTables,
  ensureLockRow(
    'insert into "public"."knex_migrations_lock" ("is_locked") select 0 where not exists (select * from "public"."knex_migrations_lock")',
  ),
  oneLockRow,
);

/** `Model.findCreateFind` in a transaction: PostgreSQL has failed the transaction when it looks again. */
const sequelize670 = program(
  'create table users (id serial primary key, name varchar(255) unique)',
  async (client) => {
    const find = `SELECT "id", "name" FROM "users" AS "User" WHERE "User"."name" = 'ann'`;
    await client.query('START TRANSACTION');
    const { rows } = await client.query(find);
    try {
      if (rows.length === 0) await client.query(`INSERT INTO "users" ("id", "name") VALUES (DEFAULT, $1)`, ['ann']);
    } catch {
      await client.query(find);
    }
    await client.query('COMMIT');
  },
  () => true,
);

/** The runner with `noLock: true`, in an empty database. */
const nodePgMigrate5100 = program(
  '',
  async (client) => {
    const { rows } = await client.query(
      `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name = 'pgmigrations'`,
    );
    if (rows.length === 0)
      await client.query('CREATE TABLE "public"."pgmigrations" (id SERIAL PRIMARY KEY, name text)');
    await client.query('SELECT name FROM "public"."pgmigrations" ORDER BY id');
  },
  () => true,
);

/** pg-boss asks a function for its table. */
const pgBoss322 = program(
  'create schema pgboss',
  async (client) => {
    const { rows } = await client.query(`SELECT to_regclass('pgboss.version') as name`);
    if (rows[0].name === null) await client.query('CREATE TABLE pgboss.version (version text primary key)');
  },
  () => true,
);

const between = 'No isolation level forbids it: each looked in one transaction and acted in another.';

test.each<[string, SqlProgram, string]>([
  [
    'Knex 0.95.11, migrate.list()',
    knex09511,
    `Cause: write skew between sessions: each saw no row in knex_migrations_lock, each inserted one. ${between}`,
  ],
  [
    'Knex 0.95.12, migrate.list()',
    knex09512,
    'Cause: write skew: each saw no row in knex_migrations_lock, each inserted one. The level serializable forbids it.',
  ],
  [
    'Sequelize 6.7.0, findCreateFind',
    sequelize670,
    "Cause: phantom: bob saw no row in users where name = 'ann', alice inserted one, and bob then found it: 23505",
  ],
  [
    'node-pg-migrate 5.10.0, the table of migrations',
    nodePgMigrate5100,
    "Cause: phantom between sessions: bob saw no row in tables where table_schema = 'public' and " +
      "table_name = 'pgmigrations', alice created one, and bob then found it (bob: 23505",
  ],
  [
    'pg-boss 3.2.2, start()',
    pgBoss322,
    "Cause: phantom between sessions: bob saw no row in pg_class where oid = to_regclass('pgboss.version'), alice created one, and bob then found it",
  ],
])('%s', { timeout: 300_000 }, async (_name, each, cause) => {
  const result = await exploreSql(each, { profile: parseProfile({ engine: 'postgres' }) });
  expect(result.complete).toBe(true);
  expect(result.failures.length).toBeGreaterThan(0);
  const text = formatSqlExploration(result).replaceAll(/\s+/g, ' ');
  expect(text).toContain(cause);
  for (const { anomaly } of result.failures) expect(anomaly).not.toBeNull();
});
