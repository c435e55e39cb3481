import { createPool, type PoolConnection, type RowDataPacket } from 'mysql2/promise';

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

export async function custidOf(connection: PoolConnection, name: string): Promise<number> {
  const [rows] = await connection.query<RowDataPacket[]>('SELECT custid FROM accounts WHERE name = ?', [name]);
  return valueOf(rows, 'custid');
}

export async function savingsOf(connection: PoolConnection, custid: number): Promise<number> {
  const [rows] = await connection.query<RowDataPacket[]>('SELECT bal FROM savings WHERE custid = ?', [custid]);
  return valueOf(rows, 'bal');
}

export async function checkingOf(connection: PoolConnection, custid: number): Promise<number> {
  const [rows] = await connection.query<RowDataPacket[]>('SELECT bal FROM checking WHERE custid = ?', [custid]);
  return valueOf(rows, 'bal');
}

function valueOf(rows: readonly RowDataPacket[], column: string): number {
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such row');
  return Number(row[column]);
}
