/**
 * TPC-C as research on robustness has it, with pg: every row by its key, and what a transaction adds to a row in the statement that reads it. An order is delivered, or its
 * status read, by its number.
 */
import { Pool, type PoolClient, type QueryResultRow } from 'pg';

const pool = new Pool();

export interface Line {
  readonly item: number;
  readonly warehouse: number;
  readonly quantity: number;
}

export async function newOrder(
  warehouse: number,
  district: number,
  customer: number,
  lines: readonly Line[],
): Promise<void> {
  await inTransaction(async (client) => {
    const key = [warehouse, district];
    await client.query('SELECT w_tax FROM warehouse WHERE w_id = $1', [warehouse]);
    const { order } = await row<{ order: number }>(
      client,
      'UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2 RETURNING d_next_o_id AS order, d_tax',
      key,
    );
    await client.query(
      'SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3',
      [...key, customer],
    );
    await client.query(
      `INSERT INTO oorder (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
       VALUES ($1, $2, $3, $4, now(), $5, 1)`,
      [...key, order, customer, lines.length],
    );
    await client.query('INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3)', [...key, order]);
    for (const [at, line] of lines.entries()) {
      const { i_price } = await row<{ i_price: number }>(client, 'SELECT i_price, i_name FROM item WHERE i_id = $1', [
        line.item,
      ]);
      await client.query(
        `UPDATE stock SET s_quantity = s_quantity - $3, s_ytd = s_ytd + $3, s_order_cnt = s_order_cnt + 1
         WHERE s_w_id = $1 AND s_i_id = $2`,
        [line.warehouse, line.item, line.quantity],
      );
      await client.query(
        `INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '')`,
        [...key, order, at + 1, line.item, line.warehouse, line.quantity, line.quantity * i_price],
      );
    }
  });
}

export async function payment(warehouse: number, district: number, customer: number, amount: number): Promise<void> {
  await inTransaction(async (client) => {
    await client.query('UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1 RETURNING w_name', [warehouse, amount]);
    await client.query('UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2 RETURNING d_name', [
      warehouse,
      district,
      amount,
    ]);
    await client.query(
      `UPDATE customer SET c_balance = c_balance - $4, c_data = left(c_id || ' ' || c_data, 500)
       WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3`,
      [warehouse, district, customer, amount],
    );
    await client.query(
      `INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
       VALUES ($1, $2, $3, $2, $3, now(), $4, '')`,
      [customer, district, warehouse, amount],
    );
  });
}

export async function orderStatus(
  warehouse: number,
  district: number,
  customer: number,
  order: number,
  numbers: readonly number[],
): Promise<void> {
  await inTransaction(async (client) => {
    await client.query(
      'SELECT c_first, c_last, c_balance FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3',
      [warehouse, district, customer],
    );
    const key = [warehouse, district, order];
    await client.query('SELECT o_c_id, o_carrier_id FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3', key);
    for (const number of numbers)
      await client.query(
        `SELECT ol_i_id, ol_amount, ol_delivery_d FROM order_line
         WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 AND ol_number = $4`,
        [...key, number],
      );
  });
}

export async function deliver(
  warehouse: number,
  district: number,
  order: number,
  numbers: readonly number[],
  carrier: number,
): Promise<void> {
  await inTransaction(async (client) => {
    const key = [warehouse, district, order];
    await client.query('SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3', key);
    await client.query('DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3', key);
    const { o_c_id } = await row<{ o_c_id: number }>(
      client,
      'SELECT o_c_id FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3',
      key,
    );
    await client.query('UPDATE oorder SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3', [
      ...key,
      carrier,
    ]);
    for (const number of numbers)
      await client.query(
        `UPDATE order_line SET ol_delivery_d = now()
         WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 AND ol_number = $4`,
        [...key, number],
      );
    await client.query(
      `UPDATE customer SET c_balance = c_balance + 1, c_delivery_cnt = c_delivery_cnt + 1
       WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3`,
      [warehouse, district, o_c_id],
    );
  });
}

export async function stockLevel(
  warehouse: number,
  district: number,
  lines: readonly { readonly order: number; readonly number: number }[],
): Promise<number> {
  return inTransaction(async (client) => {
    await client.query('SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2', [warehouse, district]);
    let quantity = 0;
    for (const line of lines) {
      const { ol_i_id } = await row<{ ol_i_id: number }>(
        client,
        'SELECT ol_i_id FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 AND ol_number = $4',
        [warehouse, district, line.order, line.number],
      );
      const stock = await row<{ s_quantity: number }>(
        client,
        'SELECT s_quantity FROM stock WHERE s_w_id = $1 AND s_i_id = $2',
        [warehouse, ol_i_id],
      );
      quantity += stock.s_quantity;
    }
    return quantity;
  });
}

async function row<Row extends QueryResultRow>(
  client: PoolClient,
  sql: string,
  values: readonly unknown[],
): Promise<Row> {
  const { rows } = await client.query<Row>(sql, [...values]);
  const [found] = rows;
  if (found === undefined) throw new Error('there is no such row');
  return found;
}

/** Commits when `run` returns, rolls back when it throws. */
async function inTransaction<Result>(run: (client: PoolClient) => Promise<Result>): Promise<Result> {
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
