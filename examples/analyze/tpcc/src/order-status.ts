/** TPC-C's Order-Status (clause 2.6), with pg. */
import type { PoolClient } from 'pg';
import { customerNamed, type Named } from './customers.ts';
import { inTransaction } from './database.ts';

export async function orderStatus(warehouse: number, district: number, customer: Named): Promise<unknown> {
  return inTransaction(async (client) => {
    const found = await customerNamed(client, warehouse, district, customer);
    return { customer: found, lines: await lastOrder(client, warehouse, district, found.c_id) };
  });
}

async function lastOrder(client: PoolClient, warehouse: number, district: number, customer: number): Promise<unknown> {
  const { rows: orders } = await client.query<{ o_id: number }>(
    `SELECT o_id, o_carrier_id, o_entry_d FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3
     ORDER BY o_id DESC LIMIT 1`,
    [warehouse, district, customer],
  );
  const [last] = orders;
  if (last === undefined) return [];
  const { rows } = await client.query(
    `SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
     WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3`,
    [warehouse, district, last.o_id],
  );
  return rows;
}
