import { createPool, type PoolConnection } from 'mysql2/promise';

const pool = createPool({});

export async function inTransaction<Result>(run: (connection: PoolConnection) => Promise<Result>): Promise<Result> {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    const result = await run(connection);
    await connection.commit();
    return result;
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
}

/** Fourteen digits, as MediaWiki writes times. */
export function now(): string {
  return new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
}
