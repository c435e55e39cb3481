/** The five transactions of TPC-C with the statements of BenchBase, FOR UPDATE included. */
import { integer, numberOf, type TransactionContext, type WorkloadClient } from './workload.ts';
import { sizes } from './tpcc-tables.ts';

/** A client at a warehouse, 1 or more of `warehouses`. */
export interface Terminal extends TransactionContext {
  readonly warehouse: number;
  readonly warehouses: number;
}

/** In so many percent of the cases another warehouse, where there is one: sections 2.4.1.5 and 2.5.1.2. */
function elsewhere({ random, warehouse, warehouses }: Terminal, percent: number): number {
  if (warehouses === 1 || integer(random, 1, 100) > percent) return warehouse;
  const other = integer(random, 1, warehouses - 1);
  return other < warehouse ? other : other + 1;
}

async function newOrder(terminal: Terminal): Promise<void> {
  const { client, random, warehouse } = terminal;
  const district = integer(random, 1, sizes.districts);
  const customer = integer(random, 1, sizes.customers);
  const lines = Array.from({ length: integer(random, 1, 3) }, () => ({
    item: integer(random, 1, sizes.items),
    quantity: integer(random, 1, 5),
    supply: elsewhere(terminal, 1),
  }));
  await client.query(
    'SELECT C_DISCOUNT, C_LAST, C_CREDIT FROM customer WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    warehouse,
    district,
    customer,
  );
  await client.query('SELECT W_TAX FROM warehouse WHERE W_ID = ?', warehouse);
  const [row] = await client.query(
    'SELECT D_NEXT_O_ID, D_TAX FROM district WHERE D_W_ID = ? AND D_ID = ? FOR UPDATE',
    warehouse,
    district,
  );
  const order = numberOf(row, 'd_next_o_id');
  await client.query(
    'UPDATE district SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_W_ID = ? AND D_ID = ?',
    warehouse,
    district,
  );
  await client.query(
    'INSERT INTO oorder (O_ID, O_D_ID, O_W_ID, O_C_ID, O_ENTRY_D, O_OL_CNT, O_ALL_LOCAL) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)',
    order,
    district,
    warehouse,
    customer,
    lines.length,
    lines.every(({ supply }) => supply === warehouse) ? 1 : 0,
  );
  await client.query('INSERT INTO new_order (NO_O_ID, NO_D_ID, NO_W_ID) VALUES (?, ?, ?)', order, district, warehouse);
  for (const [i, line] of lines.entries()) await orderLine(client, [order, district, warehouse, i + 1], line);
}

/** @param key of the order's line: order, district, warehouse, number */
async function orderLine(
  client: WorkloadClient,
  key: readonly [number, number, number, number],
  { item, quantity, supply }: { readonly item: number; readonly quantity: number; readonly supply: number },
): Promise<void> {
  const [found] = await client.query('SELECT I_PRICE, I_NAME, I_DATA FROM item WHERE I_ID = ?', item);
  const [stock] = await client.query(
    'SELECT S_QUANTITY, S_DATA, S_DIST_01, S_DIST_02 FROM stock WHERE S_I_ID = ? AND S_W_ID = ? FOR UPDATE',
    item,
    supply,
  );
  const left = numberOf(stock, 's_quantity') - quantity;
  await client.query(
    'UPDATE stock SET S_QUANTITY = ?, S_YTD = S_YTD + ?, S_ORDER_CNT = S_ORDER_CNT + 1, S_REMOTE_CNT = S_REMOTE_CNT + ? WHERE S_I_ID = ? AND S_W_ID = ?',
    left < 10 ? left + 91 : left,
    quantity,
    supply === key[2] ? 0 : 1,
    item,
    supply,
  );
  await client.query(
    'INSERT INTO order_line (OL_O_ID, OL_D_ID, OL_W_ID, OL_NUMBER, OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DIST_INFO) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ...key,
    item,
    supply,
    quantity,
    quantity * numberOf(found, 'i_price'),
    'info',
  );
}

async function payment(terminal: Terminal): Promise<void> {
  const { client, random, unique, warehouse } = terminal;
  const customerWarehouse = elsewhere(terminal, 15);
  const district = integer(random, 1, sizes.districts);
  const customer = integer(random, 1, sizes.customers);
  const amount = integer(random, 1, 50);
  await client.query('UPDATE warehouse SET W_YTD = W_YTD + ? WHERE W_ID = ?', amount, warehouse);
  await client.query(
    'SELECT W_STREET_1, W_STREET_2, W_CITY, W_STATE, W_ZIP, W_NAME FROM warehouse WHERE W_ID = ?',
    warehouse,
  );
  await client.query(
    'UPDATE district SET D_YTD = D_YTD + ? WHERE D_W_ID = ? AND D_ID = ?',
    amount,
    warehouse,
    district,
  );
  await client.query(
    'SELECT D_STREET_1, D_STREET_2, D_CITY, D_STATE, D_ZIP, D_NAME FROM district WHERE D_W_ID = ? AND D_ID = ?',
    warehouse,
    district,
  );
  const [row] = await client.query(
    'SELECT C_FIRST, C_LAST, C_CREDIT, C_CREDIT_LIM, C_DISCOUNT, C_BALANCE, C_YTD_PAYMENT, C_PAYMENT_CNT FROM customer WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    customerWarehouse,
    district,
    customer,
  );
  await client.query(
    'UPDATE customer SET C_BALANCE = ?, C_YTD_PAYMENT = ?, C_PAYMENT_CNT = ? WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',

    numberOf(row, 'c_balance') - amount,
    numberOf(row, 'c_ytd_payment') + amount,
    numberOf(row, 'c_payment_cnt') + 1,
    customerWarehouse,
    district,
    customer,
  );
  await client.query(
    'INSERT INTO history (H_ID, H_C_D_ID, H_C_W_ID, H_C_ID, H_D_ID, H_W_ID, H_DATE, H_AMOUNT, H_DATA) VALUES (?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)',
    unique(),
    district,
    customerWarehouse,
    customer,
    district,
    warehouse,
    amount,
    'payment',
  );
}

async function delivery({ client, random, warehouse }: Terminal): Promise<void> {
  const carrier = integer(random, 1, 10);
  for (let district = 1; district <= sizes.districts; district += 1)
    await deliverOne(client, warehouse, district, carrier);
}

async function deliverOne(client: WorkloadClient, warehouse: number, district: number, carrier: number): Promise<void> {
  const [oldest] = await client.query(
    'SELECT NO_O_ID FROM new_order WHERE NO_D_ID = ? AND NO_W_ID = ? ORDER BY NO_O_ID ASC LIMIT 1',
    district,
    warehouse,
  );
  if (oldest === undefined) return;
  const order = numberOf(oldest, 'no_o_id');
  await client.query(
    'DELETE FROM new_order WHERE NO_O_ID = ? AND NO_D_ID = ? AND NO_W_ID = ?',
    order,
    district,
    warehouse,
  );
  const [row] = await client.query(
    'SELECT O_C_ID FROM oorder WHERE O_ID = ? AND O_D_ID = ? AND O_W_ID = ?',
    order,
    district,
    warehouse,
  );
  await client.query(
    'UPDATE oorder SET O_CARRIER_ID = ? WHERE O_ID = ? AND O_D_ID = ? AND O_W_ID = ?',
    carrier,
    order,
    district,
    warehouse,
  );
  await client.query(
    'UPDATE order_line SET OL_DELIVERY_D = CURRENT_TIMESTAMP WHERE OL_O_ID = ? AND OL_D_ID = ? AND OL_W_ID = ?',
    order,
    district,
    warehouse,
  );
  const [total] = await client.query(
    'SELECT SUM(OL_AMOUNT) AS OL_TOTAL FROM order_line WHERE OL_O_ID = ? AND OL_D_ID = ? AND OL_W_ID = ?',
    order,
    district,
    warehouse,
  );
  await client.query(
    'UPDATE customer SET C_BALANCE = C_BALANCE + ?, C_DELIVERY_CNT = C_DELIVERY_CNT + 1 WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    numberOf(total, 'ol_total'),
    warehouse,
    district,
    numberOf(row, 'o_c_id'),
  );
}

async function orderStatus({ client, random, warehouse }: Terminal): Promise<void> {
  const district = integer(random, 1, sizes.districts);
  const customer = integer(random, 1, sizes.customers);
  await client.query(
    'SELECT C_FIRST, C_LAST, C_BALANCE FROM customer WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    warehouse,
    district,
    customer,
  );
  const [row] = await client.query(
    'SELECT O_ID, O_CARRIER_ID, O_ENTRY_D FROM oorder WHERE O_W_ID = ? AND O_D_ID = ? AND O_C_ID = ? ORDER BY O_ID DESC LIMIT 1',
    warehouse,
    district,
    customer,
  );
  if (row === undefined) return;
  await client.query(
    'SELECT OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DELIVERY_D FROM order_line WHERE OL_O_ID = ? AND OL_D_ID = ? AND OL_W_ID = ?',
    numberOf(row, 'o_id'),
    district,
    warehouse,
  );
}

async function stockLevel({ client, random, warehouse }: Terminal): Promise<void> {
  const district = integer(random, 1, sizes.districts);
  const [row] = await client.query(
    'SELECT D_NEXT_O_ID FROM district WHERE D_W_ID = ? AND D_ID = ?',
    warehouse,
    district,
  );
  const next = numberOf(row, 'd_next_o_id');
  await client.query(
    'SELECT COUNT(DISTINCT (S_I_ID)) AS STOCK_COUNT FROM order_line, stock WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID < ? AND OL_O_ID >= ? AND S_W_ID = ? AND S_I_ID = OL_I_ID AND S_QUANTITY < ?',
    warehouse,
    district,
    next,
    next - 20,
    warehouse,
    integer(random, 10, 20),
  );
}

/** The mix of the specification, section 5.2.3: 45, 43, 4, 4 and 4 percent. */
export function anyTransaction(context: Terminal): Promise<void> {
  const roll = integer(context.random, 1, 100);
  if (roll <= 45) return newOrder(context);
  if (roll <= 88) return payment(context);
  if (roll <= 92) return delivery(context);
  return roll <= 96 ? orderStatus(context) : stockLevel(context);
}
