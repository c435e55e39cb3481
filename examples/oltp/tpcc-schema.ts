/** TPC-C at the scale of MonkeyDB (OOPSLA 2021, section 8.1): one warehouse, two districts, three customers a district, few items. */
export const scale = { districts: 2, customers: 3, items: 3 } as const;

/** BenchBase's tables; the columns that no statement of the transactions looks at are left out. */
const tables = [
  `CREATE TABLE warehouse (w_id int NOT NULL, w_ytd decimal(12,2) NOT NULL, w_tax decimal(4,4) NOT NULL, w_name varchar(10) NOT NULL,
   w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL,
   PRIMARY KEY (w_id))`,
  `CREATE TABLE district (d_w_id int NOT NULL, d_id int NOT NULL, d_ytd decimal(12,2) NOT NULL, d_tax decimal(4,4) NOT NULL, d_next_o_id int NOT NULL,
   d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL,
   d_zip char(9) NOT NULL, PRIMARY KEY (d_w_id, d_id))`,
  `CREATE TABLE customer (c_w_id int NOT NULL, c_d_id int NOT NULL, c_id int NOT NULL, c_discount decimal(4,4) NOT NULL, c_credit char(2) NOT NULL,
   c_last varchar(16) NOT NULL, c_first varchar(16) NOT NULL, c_credit_lim decimal(12,2) NOT NULL, c_balance decimal(12,2) NOT NULL,
   c_ytd_payment decimal(12,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL,
   PRIMARY KEY (c_w_id, c_d_id, c_id))`,
  `CREATE TABLE history (h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL,
   h_date timestamp NOT NULL, h_amount decimal(6,2) NOT NULL, h_data varchar(24) NOT NULL)`,
  `CREATE TABLE oorder (o_w_id int NOT NULL, o_d_id int NOT NULL, o_id int NOT NULL, o_c_id int NOT NULL, o_carrier_id int DEFAULT NULL, o_ol_cnt int NOT NULL,
   o_all_local int NOT NULL, o_entry_d timestamp NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id))`,
  `CREATE TABLE new_order (no_w_id int NOT NULL, no_d_id int NOT NULL, no_o_id int NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))`,
  `CREATE TABLE order_line (ol_w_id int NOT NULL, ol_d_id int NOT NULL, ol_o_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL,
   ol_delivery_d timestamp NULL DEFAULT NULL, ol_amount decimal(6,2) NOT NULL, ol_supply_w_id int NOT NULL, ol_quantity decimal(6,2) NOT NULL,
   ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))`,
  `CREATE TABLE item (i_id int NOT NULL, i_name varchar(24) NOT NULL, i_price decimal(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id))`,
  `CREATE TABLE stock (s_w_id int NOT NULL, s_i_id int NOT NULL, s_quantity int NOT NULL, s_ytd decimal(8,2) NOT NULL, s_order_cnt int NOT NULL,
   s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, PRIMARY KEY (s_w_id, s_i_id))`,
];

const rows = [
  `INSERT INTO warehouse VALUES (1, 0, 0.1, 'Moirai', 'a', 'b', 'c', 'XX', '123456789')`,
  ...each(
    scale.districts,
    (d) => `INSERT INTO district VALUES (1, ${d}, 0, 0.1, 1, 'D${d}', 'a', 'b', 'c', 'XX', '123456789')`,
  ),
  ...each(scale.districts, (d) =>
    each(
      scale.customers,
      (c) =>
        `INSERT INTO customer VALUES (1, ${d}, ${c}, 0.1, '${c === 1 ? 'BC' : 'GC'}', 'BARBAR', 'F${c}', 50000, 0, 0, 0, 0, 'data')`,
    ),
  ).flat(),
  ...each(scale.items, (i) => `INSERT INTO item VALUES (${i}, 'item${i}', ${i}.50, 'data')`),
  ...each(scale.items, (i) => `INSERT INTO stock VALUES (1, ${i}, 50, 0, 0, 0, 'data', 'one', 'two')`),
];

export const schema: readonly string[] = [...tables, ...rows];

function each<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i + 1));
}
