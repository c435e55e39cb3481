/** TPC-C's Delivery (clause 2.7), with pg: the oldest order of one district, a transaction for each. */
import { inTransaction, onlyRow } from './database.ts';

/** @returns the order; `null`: none is to be delivered */
export async function deliver(warehouse: number, district: number, carrier: number): Promise<number | null> {
  return inTransaction(async (client) => {
    const { rows: waiting } = await client.query<{ no_o_id: number }>(
      'SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1',
      [warehouse, district],
    );
    const [oldest] = waiting;
    if (oldest === undefined) return null;
    const order = [warehouse, district, oldest.no_o_id];
    await client.query('DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3', order);
    const { o_c_id } = onlyRow(
      await client.query<{ o_c_id: number }>(
        'SELECT o_c_id FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3',
        order,
      ),
    );
    await client.query('UPDATE oorder SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3', [
      ...order,
      carrier,
    ]);
    const { rows: lines } = await client.query<{ ol_number: number; ol_amount: number }>(
      'SELECT ol_number, ol_amount FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3',
      order,
    );
    let total = 0;
    for (const { ol_number, ol_amount } of lines) {
      await client.query(
        `UPDATE order_line SET ol_delivery_d = now()
         WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 AND ol_number = $4`,
        [...order, ol_number],
      );
      total += ol_amount;
    }
    const customer = [warehouse, district, o_c_id];
    const { c_balance, c_delivery_cnt } = onlyRow(
      await client.query<{ c_balance: number; c_delivery_cnt: number }>(
        'SELECT c_balance, c_delivery_cnt FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3',
        customer,
      ),
    );
    await client.query(
      'UPDATE customer SET c_balance = $4, c_delivery_cnt = $5 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3',
      [...customer, c_balance + total, c_delivery_cnt + 1],
    );
    return oldest.no_o_id;
  });
}
