/** Kysely: two processes run the migrations outside a transaction. Theirs is without statements: its name is to be recorded once all the same. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

const provider = { getMigrations: async () => ({ first: { up: async () => {} } }) };

/** @param library the library and its migrations, of one version */
export function migrate({ Kysely, PostgresDialect, Migrator }) {
  const toLatest = async ({ connect }) => {
    const pool = new pg.Pool({ user: 'app', stream: connect, max: 1 });
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    try {
      const { error } = await new Migrator({ db, provider, disableTransactions: true }).migrateToLatest();
      if (error !== undefined) throw error;
    } finally {
      await db.destroy();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: `
      CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL);
      CREATE TABLE kysely_migration_lock (id varchar(255) PRIMARY KEY, is_locked int NOT NULL DEFAULT 0);
      INSERT INTO kysely_migration_lock (id) VALUES ('migration_lock');`,
    sessions: { alice: toLatest, bob: toLatest },
  });
}
