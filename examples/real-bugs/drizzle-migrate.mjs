/** Drizzle: two processes start and run the migrations. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { sqlProgram } from 'moirai';

const migrationsFolder = mkdtempSync(join(tmpdir(), 'drizzle-'));
const entries = [{ idx: 0, version: '7', when: 1, tag: '0000_first', breakpoints: true }];
mkdirSync(join(migrationsFolder, 'meta'));
writeFileSync(
  join(migrationsFolder, 'meta/_journal.json'),
  JSON.stringify({ version: '7', dialect: 'postgresql', entries }),
);
writeFileSync(join(migrationsFolder, '0000_first.sql'), 'UPDATE settings SET version = version + 1');

/** @param library the library and its migrator, of one version */
export function start({ drizzle, migrate }) {
  const run = async ({ connect }) => {
    const client = new pg.Client({ user: 'app', stream: connect });
    await client.connect();
    try {
      await migrate(drizzle(client), { migrationsFolder });
    } finally {
      await client.end();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: `
      CREATE SCHEMA drizzle;
      CREATE TABLE drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint);
      CREATE TABLE settings (version int NOT NULL);
      INSERT INTO settings VALUES (0)`,
    sessions: { alice: run, bob: run },
    invariant: async ({ connect }) => {
      const client = new pg.Client({ user: 'app', stream: connect });
      await client.connect();
      const { rows } = await client.query('SELECT version FROM settings');
      await client.end();
      return rows[0].version === 1 || `one migration ran ${rows[0].version} times`;
    },
  });
}
