/** node-pg-migrate: two processes start on a database without its table of migrations. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { sqlProgram } from 'moirai';

const empty = mkdtempSync(join(tmpdir(), 'no-migrations-'));

/** @param migrate the library, of one version */
export function bootstrap(migrate) {
  const run = async ({ connect }) => {
    const dbClient = new pg.Client({ user: 'app', stream: connect });
    await dbClient.connect();
    try {
      await migrate({
        dbClient,
        dir: empty,
        direction: 'up',
        migrationsTable: 'pgmigrations',
        count: Infinity,
        log: () => {},
      });
    } catch (error) {
      // It says that another migration runs, and is to be started again.
      if (!/Another migration is already running/.test(error.message)) throw error;
    } finally {
      await dbClient.end();
    }
  };
  return sqlProgram({ dialect: 'postgres', schema: 'SELECT 1', sessions: { alice: run, bob: run } });
}
