/** Products and orders. `placeOrder` loses updates: the stock that it writes is computed from one that it read. */
import { inTransaction, pool } from './database.ts';

export async function showProduct(id: number): Promise<unknown> {
  const { rows } = await pool.query('SELECT name, price, stock FROM products WHERE id = $1', [id]);
  return rows[0] ?? null;
}

export async function restock(id: number, quantity: number): Promise<void> {
  await pool.query('UPDATE products SET stock = stock + $2 WHERE id = $1', [id, quantity]);
}

export async function placeOrder(customer: number, product: number, quantity: number): Promise<void> {
  await inTransaction('BEGIN', async (client) => {
    const { rows } = await client.query<{ stock: number }>('SELECT stock FROM products WHERE id = $1', [product]);
    const [found] = rows;
    if (found === undefined) throw new Error('there is no such product');
    if (found.stock < quantity) throw new Error('there are not enough of them');
    await client.query('UPDATE products SET stock = $2 WHERE id = $1', [product, found.stock - quantity]);
    await client.query('INSERT INTO orders (customer, product, quantity) VALUES ($1, $2, $3)', [
      customer,
      product,
      quantity,
    ]);
  });
}

export async function listOrders(customer: number): Promise<unknown> {
  const { rows } = await pool.query('SELECT id, product, quantity FROM orders WHERE customer = $1', [customer]);
  return rows;
}
