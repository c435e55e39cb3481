import { Pool, type PoolClient } from 'pg';

const pool = new Pool();

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

export async function custidOf(client: PoolClient, name: string): Promise<number> {
  const { rows } = await client.query<{ custid: number }>('SELECT custid FROM accounts WHERE name = $1', [name]);
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such account');
  return row.custid;
}

export async function savingsOf(client: PoolClient, custid: number): Promise<number> {
  return balanceIn(await client.query<Balance>('SELECT bal FROM savings WHERE custid = $1', [custid]));
}

export async function checkingOf(client: PoolClient, custid: number): Promise<number> {
  return balanceIn(await client.query<Balance>('SELECT bal FROM checking WHERE custid = $1', [custid]));
}

interface Balance {
  readonly bal: number;
}

export function balanceIn({ rows }: { readonly rows: readonly Balance[] }): number {
  const [row] = rows;
  if (row === undefined) throw new Error('there is no such account');
  return row.bal;
}
