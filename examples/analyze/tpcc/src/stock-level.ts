/** TPC-C's Stock-Level (clause 2.8), with pg: items of the last 20 orders of which there are few. */
import { inTransaction, onlyRow } from './database.ts';

export async function stockLevel(warehouse: number, district: number, threshold: number): Promise<number> {
  return inTransaction(async (client) => {
    const { d_next_o_id: next } = onlyRow(
      await client.query<{ d_next_o_id: number }>('SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2', [
        warehouse,
        district,
      ]),
    );
    const { rows: lines } = await client.query<{ ol_i_id: number }>(
      'SELECT DISTINCT ol_i_id FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $4',
      [warehouse, district, next, next - 20],
    );
    let low = 0;
    for (const { ol_i_id } of lines) {
      const { rows } = await client.query(
        'SELECT s_i_id FROM stock WHERE s_w_id = $1 AND s_i_id = $2 AND s_quantity < $3',
        [warehouse, ol_i_id, threshold],
      );
      low += rows.length;
    }
    return low;
  });
}
