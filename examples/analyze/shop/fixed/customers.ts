/** As in ../src, but serializable: the caller tries again after error 40001. */
import { inTransaction } from './database.ts';

const begin = 'BEGIN ISOLATION LEVEL SERIALIZABLE';

export async function pay(customer: number, amount: number): Promise<void> {
  await inTransaction(begin, async (client) => {
    const money = await client.query<{ balance: number }>('SELECT balance FROM customers WHERE id = $1', [customer]);
    const points = await client.query<{ amount: number }>('SELECT amount FROM points WHERE customer = $1', [customer]);
    if ((money.rows[0]?.balance ?? 0) + (points.rows[0]?.amount ?? 0) < amount) throw new Error('not enough');
    await client.query('UPDATE customers SET balance = balance - $2 WHERE id = $1', [customer, amount]);
  });
}

export async function redeem(customer: number, amount: number): Promise<void> {
  await inTransaction(begin, async (client) => {
    const money = await client.query<{ balance: number }>('SELECT balance FROM customers WHERE id = $1', [customer]);
    const points = await client.query<{ amount: number }>('SELECT amount FROM points WHERE customer = $1', [customer]);
    if ((money.rows[0]?.balance ?? 0) + (points.rows[0]?.amount ?? 0) < amount) throw new Error('not enough');
    await client.query('UPDATE points SET amount = amount - $2 WHERE customer = $1', [customer, amount]);
  });
}
