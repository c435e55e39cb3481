/** TPC-C's New-Order (clause 2.4), with pg: what it changes, it reads before. */
import type { PoolClient } from 'pg';
import { inTransaction, onlyRow } from './database.ts';

export interface Line {
  readonly item: number;
  readonly warehouse: number;
  readonly quantity: number;
}

/** The total of an order of a district. */
export async function newOrder(
  warehouse: number,
  district: number,
  customer: number,
  lines: readonly Line[],
): Promise<number> {
  return inTransaction(async (client) => {
    const key = [warehouse, district];
    const { w_tax } = onlyRow(
      await client.query<{ w_tax: number }>('SELECT w_tax FROM warehouse WHERE w_id = $1', [warehouse]),
    );
    const { d_next_o_id: order, d_tax } = onlyRow(
      await client.query<{ d_next_o_id: number; d_tax: number }>(
        'SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2',
        key,
      ),
    );
    await client.query('UPDATE district SET d_next_o_id = $3 WHERE d_w_id = $1 AND d_id = $2', [...key, order + 1]);
    const { c_discount } = onlyRow(
      await client.query<{ c_discount: number }>(
        'SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3',
        [...key, customer],
      ),
    );
    const isLocal = lines.every((line) => line.warehouse === warehouse);
    await client.query(
      `INSERT INTO oorder (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
       VALUES ($1, $2, $3, $4, now(), $5, $6)`,
      [...key, order, customer, lines.length, isLocal ? 1 : 0],
    );
    await client.query('INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3)', [...key, order]);
    let total = 0;
    for (const [at, line] of lines.entries()) {
      const amount = await orderLine(client, line, { warehouse, district, order, number: at + 1 });
      total += amount;
    }
    return total * (1 - c_discount) * (1 + w_tax + d_tax);
  });
}

interface OrderLine {
  readonly warehouse: number;
  readonly district: number;
  readonly order: number;
  readonly number: number;
}

/** @returns its amount */
async function orderLine(client: PoolClient, line: Line, of: OrderLine): Promise<number> {
  // An item that is not there ends the transaction (clause 2.4.2.3).
  const { i_price } = onlyRow(
    await client.query<{ i_price: number }>('SELECT i_price, i_name, i_data FROM item WHERE i_id = $1', [line.item]),
  );
  const stock = onlyRow(
    await client.query<Stock>(
      `SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
              s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10
       FROM stock WHERE s_w_id = $1 AND s_i_id = $2`,
      [line.warehouse, line.item],
    ),
  );
  const left = stock.s_quantity - line.quantity;
  await client.query(
    'UPDATE stock SET s_quantity = $3, s_ytd = $4, s_order_cnt = $5, s_remote_cnt = $6 WHERE s_w_id = $1 AND s_i_id = $2',
    [
      line.warehouse,
      line.item,
      left >= 10 ? left : left + 91,
      stock.s_ytd + line.quantity,
      stock.s_order_cnt + 1,
      stock.s_remote_cnt + (line.warehouse === of.warehouse ? 0 : 1),
    ],
  );
  const amount = line.quantity * i_price;
  await client.query(
    `INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      of.warehouse,
      of.district,
      of.order,
      of.number,
      line.item,
      line.warehouse,
      line.quantity,
      amount,
      distInfo(stock, of.district),
    ],
  );
  return amount;
}

interface Stock {
  readonly s_quantity: number;
  readonly s_ytd: number;
  readonly s_order_cnt: number;
  readonly s_remote_cnt: number;
  readonly s_dist_01: string;
  readonly s_dist_02: string;
  readonly s_dist_03: string;
  readonly s_dist_04: string;
  readonly s_dist_05: string;
  readonly s_dist_06: string;
  readonly s_dist_07: string;
  readonly s_dist_08: string;
  readonly s_dist_09: string;
  readonly s_dist_10: string;
}

function distInfo(stock: Stock, district: number): string | undefined {
  const all = [
    stock.s_dist_01,
    stock.s_dist_02,
    stock.s_dist_03,
    stock.s_dist_04,
    stock.s_dist_05,
    stock.s_dist_06,
    stock.s_dist_07,
    stock.s_dist_08,
    stock.s_dist_09,
    stock.s_dist_10,
  ];
  return all[district - 1];
}
