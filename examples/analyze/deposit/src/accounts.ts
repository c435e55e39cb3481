/** The application of `../application.ts` as source: an update that is computed from an earlier read. */
import { pool, withTransaction } from './database.ts';

export async function deposit(id: number, amount: number): Promise<void> {
  await withTransaction(async (client) => {
    const { rows } = await client.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [id]);
    const [account] = rows;
    if (account === undefined) throw new Error('there is no such account');
    await client.query('UPDATE accounts SET balance = $2 WHERE id = $1', [id, account.balance + amount]);
  });
}

export async function balance(id: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [id]);
  return rows[0]?.balance;
}
