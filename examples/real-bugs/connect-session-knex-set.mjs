/** connect-session-knex: two requests save the same new session. */
import { sqlProgram } from 'moirai';
import knex from 'knex-3.3.0';

/** @param Store the library's session store, of one version */
export function set(Store) {
  const save = async ({ connect }) => {
    const connection = knex({
      client: 'pg',
      connection: { user: 'app', stream: connect },
      version: '15',
      pool: { min: 0, max: 1 },
    });
    try {
      await new Store({ knex: connection, cleanupInterval: 0 }).set('abc', { cookie: { maxAge: 60_000 } });
    } finally {
      await connection.destroy();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE sessions (sid varchar(255) PRIMARY KEY, sess json NOT NULL, expired timestamptz NOT NULL)',
    sessions: { alice: save, bob: save },
  });
}
