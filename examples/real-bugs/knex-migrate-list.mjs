/** Knex: two processes ask for the list of migrations at the same time; each makes the lock table's row where it is missing. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

const noMigrations = { getMigrations: async () => [], getMigrationName: () => '', getMigration: () => null };

/** @param knex the library, of one version */
export function migrateList(knex) {
  const list = async ({ connect }) => {
    const db = knex({
      client: 'pg',
      connection: { user: 'app', stream: connect },
      pool: { min: 0, max: 1 },
      migrations: { migrationSource: noMigrations, tableName: 'knex_migrations', schemaName: 'public' },
    });
    try {
      await db.migrate.list();
    } finally {
      await db.destroy();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: `
      CREATE TABLE knex_migrations (id serial PRIMARY KEY, name varchar(255), batch int, migration_time timestamptz);
      CREATE TABLE knex_migrations_lock ("index" serial PRIMARY KEY, is_locked int);`,
    sessions: { alice: list, bob: list },
    invariant: async ({ connect }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const { rows } = await client.query('SELECT count(*)::int AS n FROM knex_migrations_lock');
      await client.end();
      return rows[0].n === 1 || `the lock table has ${rows[0].n} rows, so it locks nothing`;
    },
  });
}
