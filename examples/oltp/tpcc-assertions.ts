/** A1 to A12: the consistency conditions of the TPC-C specification, section 3.3.2, as queries for rows that break them. */
export const tpccAssertions: Readonly<Record<string, string>> = {
  A1: `SELECT w_id FROM warehouse WHERE w_ytd <> (SELECT SUM(d_ytd) FROM district WHERE d_w_id = w_id)`,
  A2: `SELECT d_id FROM district WHERE d_next_o_id - 1 <> (SELECT COALESCE(MAX(o_id), 0) FROM oorder WHERE o_w_id = d_w_id AND o_d_id = d_id)
       OR (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) <> d_next_o_id - 1
       AND NOT EXISTS (SELECT 1 FROM oorder WHERE o_w_id = d_w_id AND o_d_id = d_id AND o_id = d_next_o_id - 1 AND o_carrier_id IS NOT NULL)`,
  A3: `SELECT no_d_id FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)`,
  A4: `SELECT d_id FROM district WHERE (SELECT COALESCE(SUM(o_ol_cnt), 0) FROM oorder WHERE o_w_id = d_w_id AND o_d_id = d_id)
       <> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)`,
  A5: `SELECT o_id FROM oorder WHERE (o_carrier_id IS NULL)
       <> EXISTS (SELECT 1 FROM new_order WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id)`,
  // Order lines are counted before the orders are looked at: at read committed who reads the order first must see its lines.
  A6: `SELECT o_id FROM (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS counted FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS counted_lines,
       oorder WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND o_ol_cnt <> counted
       UNION ALL SELECT o_id FROM oorder WHERE NOT EXISTS (SELECT 1 FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)`,
  A7: `SELECT o_id FROM oorder, order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
       AND (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)`,
  A8: `SELECT w_id FROM warehouse WHERE w_ytd <> (SELECT COALESCE(SUM(h_amount), 0) FROM history WHERE h_w_id = w_id)`,
  A9: `SELECT d_id FROM district WHERE d_ytd <> (SELECT COALESCE(SUM(h_amount), 0) FROM history WHERE h_w_id = d_w_id AND h_d_id = d_id)`,
  A10: `SELECT c_id FROM customer WHERE c_balance <> (SELECT COALESCE(SUM(ol_amount), 0) FROM oorder, order_line WHERE o_w_id = c_w_id AND o_d_id = c_d_id
        AND o_c_id = c_id AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL)
        - (SELECT COALESCE(SUM(h_amount), 0) FROM history WHERE h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id)`,
  A11: `SELECT d_id FROM district WHERE (SELECT COUNT(*) FROM oorder WHERE o_w_id = d_w_id AND o_d_id = d_id)
        - (SELECT COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)
        <> (SELECT COUNT(*) FROM oorder WHERE o_w_id = d_w_id AND o_d_id = d_id AND o_carrier_id IS NOT NULL)`,
  A12: `SELECT c_id FROM customer WHERE c_balance + c_ytd_payment <> (SELECT COALESCE(SUM(ol_amount), 0) FROM oorder, order_line WHERE o_w_id = c_w_id
        AND o_d_id = c_d_id AND o_c_id = c_id AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL)`,
};
