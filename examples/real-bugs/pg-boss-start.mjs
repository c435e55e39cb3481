/** pg-boss: two processes start on a database without its schema. */
import { sqlProgram } from 'moirai';
import pg from 'pg';

/** @param PgBoss the library, of one version */
export function start(PgBoss) {
  const run = async ({ connect }) => {
    const pool = new pg.Pool({ user: 'app', stream: connect, max: 1 });
    const db = { executeSql: (text, values) => pool.query(text, values) };
    const boss = new PgBoss({ db, noSupervisor: true, noScheduling: true });
    try {
      await boss.start();
    } finally {
      await boss.stop();
      await pool.end();
    }
  };
  return sqlProgram({ dialect: 'postgres', schema: 'SELECT 1', sessions: { alice: run, bob: run } });
}
