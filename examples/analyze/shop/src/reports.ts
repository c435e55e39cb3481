/** Totals of a day. `report` may count a sale and leave out what it brought: read skew. */
import { inTransaction } from './database.ts';

export async function recordSale(day: number, amount: number): Promise<void> {
  await inTransaction('BEGIN', async (client) => {
    await client.query('UPDATE totals SET sales = sales + 1 WHERE day = $1', [day]);
    await client.query('UPDATE revenues SET amount = amount + $2 WHERE day = $1', [day, amount]);
  });
}

export async function report(day: number): Promise<{ sales: number; revenue: number }> {
  return inTransaction('BEGIN', async (client) => {
    const revenue = await client.query<{ amount: number }>('SELECT amount FROM revenues WHERE day = $1', [day]);
    const sales = await client.query<{ sales: number }>('SELECT sales FROM totals WHERE day = $1', [day]);
    return { sales: sales.rows[0]?.sales ?? 0, revenue: revenue.rows[0]?.amount ?? 0 };
  });
}
