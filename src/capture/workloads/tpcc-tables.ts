/** TPC-C with few rows, for each warehouse. What matters here is which transactions conflict, not how much there is. */
export const sizes = { districts: 10, customers: 30, items: 100 } as const;

/** BenchBase's; the columns that no statement looks at are left out. `history` has a key, so that its rows have names in a trace. */
export const tpccTables: readonly { readonly name: string; readonly definition: string }[] = [
  {
    name: 'warehouse',
    definition: `CREATE TABLE warehouse (w_id int NOT NULL, w_ytd decimal(12,2) NOT NULL, w_tax decimal(4,4) NOT NULL, w_name varchar(10) NOT NULL,
   w_street_1 varchar(20) NOT NULL, w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, w_zip char(9) NOT NULL,
   PRIMARY KEY (w_id))`,
  },
  {
    name: 'district',
    definition: `CREATE TABLE district (d_w_id int NOT NULL, d_id int NOT NULL, d_ytd decimal(12,2) NOT NULL, d_tax decimal(4,4) NOT NULL, d_next_o_id int NOT NULL,
   d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL,
   d_zip char(9) NOT NULL, PRIMARY KEY (d_w_id, d_id))`,
  },
  {
    name: 'customer',
    definition: `CREATE TABLE customer (c_w_id int NOT NULL, c_d_id int NOT NULL, c_id int NOT NULL, c_discount decimal(4,4) NOT NULL, c_credit char(2) NOT NULL,
   c_last varchar(16) NOT NULL, c_first varchar(16) NOT NULL, c_credit_lim decimal(12,2) NOT NULL, c_balance decimal(12,2) NOT NULL,
   c_ytd_payment decimal(12,2) NOT NULL, c_payment_cnt int NOT NULL, c_delivery_cnt int NOT NULL, c_data varchar(500) NOT NULL,
   PRIMARY KEY (c_w_id, c_d_id, c_id))`,
  },
  {
    name: 'history',
    definition: `CREATE TABLE history (h_id bigint PRIMARY KEY, h_c_id int NOT NULL, h_c_d_id int NOT NULL, h_c_w_id int NOT NULL, h_d_id int NOT NULL, h_w_id int NOT NULL,
   h_date timestamp NOT NULL, h_amount decimal(6,2) NOT NULL, h_data varchar(24) NOT NULL)`,
  },
  {
    name: 'oorder',
    definition: `CREATE TABLE oorder (o_w_id int NOT NULL, o_d_id int NOT NULL, o_id int NOT NULL, o_c_id int NOT NULL, o_carrier_id int DEFAULT NULL, o_ol_cnt int NOT NULL,
   o_all_local int NOT NULL, o_entry_d timestamp NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id))`,
  },
  {
    name: 'new_order',
    definition: `CREATE TABLE new_order (no_w_id int NOT NULL, no_d_id int NOT NULL, no_o_id int NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))`,
  },
  {
    name: 'order_line',
    definition: `CREATE TABLE order_line (ol_w_id int NOT NULL, ol_d_id int NOT NULL, ol_o_id int NOT NULL, ol_number int NOT NULL, ol_i_id int NOT NULL,
   ol_delivery_d timestamp NULL DEFAULT NULL, ol_amount decimal(6,2) NOT NULL, ol_supply_w_id int NOT NULL, ol_quantity decimal(6,2) NOT NULL,
   ol_dist_info char(24) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))`,
  },
  {
    name: 'item',
    definition: `CREATE TABLE item (i_id int NOT NULL, i_name varchar(24) NOT NULL, i_price decimal(5,2) NOT NULL, i_data varchar(50) NOT NULL, PRIMARY KEY (i_id))`,
  },
  {
    name: 'stock',
    definition: `CREATE TABLE stock (s_w_id int NOT NULL, s_i_id int NOT NULL, s_quantity int NOT NULL, s_ytd decimal(8,2) NOT NULL, s_order_cnt int NOT NULL,
   s_remote_cnt int NOT NULL, s_data varchar(50) NOT NULL, s_dist_01 char(24) NOT NULL, s_dist_02 char(24) NOT NULL, PRIMARY KEY (s_w_id, s_i_id))`,
  },
];
