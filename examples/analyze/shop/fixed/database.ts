import { Pool, type PoolClient } from 'pg';

/** The server of DATABASE_URL, or of PGHOST and the like. */
export const pool = new Pool(
  process.env['DATABASE_URL'] === undefined ? {} : { connectionString: process.env['DATABASE_URL'] },
);

/** Commits when `run` returns, rolls back when it throws. */
export async function inTransaction<Result>(
  begin: string,
  run: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const result = await run(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
