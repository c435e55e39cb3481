/** Verrou: two processes take different locks on a database without the table of locks; each makes the table. */
import { sqlProgram } from 'moirai';
import knex from 'knex-3.3.0';

/** @param library the library and its store, of one version */
export function start({ Verrou, knexStore }) {
  const lock = async ({ name, connect }) => {
    const connection = knex({ client: 'pg', connection: { user: 'app', stream: connect }, pool: { min: 0, max: 1 } });
    const verrou = new Verrou({ default: 'db', stores: { db: { driver: knexStore({ connection }) } } });
    try {
      return await verrou.createLock(name, null).acquireImmediately();
    } finally {
      await connection.destroy();
    }
  };
  return sqlProgram({ dialect: 'postgres', schema: 'SELECT 1', sessions: { alice: lock, bob: lock } });
}
