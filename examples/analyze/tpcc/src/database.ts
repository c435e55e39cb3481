import { Pool, type PoolClient, type QueryResultRow } from 'pg';

const pool = new Pool();

/** Commits when `run` returns, rolls back when it throws. */
export async function inTransaction<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
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

export function onlyRow<Row extends QueryResultRow>({ rows }: { readonly rows: readonly Row[] }): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such row');
  return row;
}
