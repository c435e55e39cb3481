/** The five transactions of TPC-C with the statements of BenchBase, FOR UPDATE included. Warehouse 1 is the only one. */
import { integer, numberOf, type TransactionContext, type WorkloadClient } from './workload.ts';
import { scale } from './tpcc-tables.ts';

async function newOrder({ client, random }: TransactionContext): Promise<void> {
  const district = integer(random, 1, scale.districts);
  const customer = integer(random, 1, scale.customers);
  const lines = Array.from({ length: integer(random, 1, 3) }, () => ({
    item: integer(random, 1, scale.items),
    quantity: integer(random, 1, 5),
  }));
  await client.query(
    'SELECT C_DISCOUNT, C_LAST, C_CREDIT FROM customer WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    1,
    district,
    customer,
  );
  await client.query('SELECT W_TAX FROM warehouse WHERE W_ID = ?', 1);
  const [row] = await client.query(
    'SELECT D_NEXT_O_ID, D_TAX FROM district WHERE D_W_ID = ? AND D_ID = ? FOR UPDATE',
    1,
    district,
  );
  const order = numberOf(row, 'd_next_o_id');
  await client.query('UPDATE district SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_W_ID = ? AND D_ID = ?', 1, district);
  await client.query(
    'INSERT INTO oorder (O_ID, O_D_ID, O_W_ID, O_C_ID, O_ENTRY_D, O_OL_CNT, O_ALL_LOCAL) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)',
    order,
    district,
    1,
    customer,
    lines.length,
    1,
  );
  await client.query('INSERT INTO new_order (NO_O_ID, NO_D_ID, NO_W_ID) VALUES (?, ?, ?)', order, district, 1);
  let number = 0;
  for (const { item, quantity } of lines) {
    number += 1;
    const [found] = await client.query('SELECT I_PRICE, I_NAME, I_DATA FROM item WHERE I_ID = ?', item);
    const [stock] = await client.query(
      'SELECT S_QUANTITY, S_DATA, S_DIST_01, S_DIST_02 FROM stock WHERE S_I_ID = ? AND S_W_ID = ? FOR UPDATE',
      item,
      1,
    );
    const left = numberOf(stock, 's_quantity') - quantity;
    await client.query(
      'UPDATE stock SET S_QUANTITY = ?, S_YTD = S_YTD + ?, S_ORDER_CNT = S_ORDER_CNT + 1, S_REMOTE_CNT = S_REMOTE_CNT + ? WHERE S_I_ID = ? AND S_W_ID = ?',
      left < 10 ? left + 91 : left,
      quantity,
      0,
      item,
      1,
    );
    await client.query(
      'INSERT INTO order_line (OL_O_ID, OL_D_ID, OL_W_ID, OL_NUMBER, OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DIST_INFO) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      order,
      district,
      1,
      number,
      item,
      1,
      quantity,
      quantity * numberOf(found, 'i_price'),
      'info',
    );
  }
}

async function payment({ client, random, unique }: TransactionContext): Promise<void> {
  const district = integer(random, 1, scale.districts);
  const customer = integer(random, 1, scale.customers);
  const amount = integer(random, 1, 50);
  await client.query('UPDATE warehouse SET W_YTD = W_YTD + ? WHERE W_ID = ?', amount, 1);
  await client.query('SELECT W_STREET_1, W_STREET_2, W_CITY, W_STATE, W_ZIP, W_NAME FROM warehouse WHERE W_ID = ?', 1);
  await client.query('UPDATE district SET D_YTD = D_YTD + ? WHERE D_W_ID = ? AND D_ID = ?', amount, 1, district);
  await client.query(
    'SELECT D_STREET_1, D_STREET_2, D_CITY, D_STATE, D_ZIP, D_NAME FROM district WHERE D_W_ID = ? AND D_ID = ?',
    1,
    district,
  );
  const [row] = await client.query(
    'SELECT C_FIRST, C_LAST, C_CREDIT, C_CREDIT_LIM, C_DISCOUNT, C_BALANCE, C_YTD_PAYMENT, C_PAYMENT_CNT FROM customer WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    1,
    district,
    customer,
  );
  await client.query(
    'UPDATE customer SET C_BALANCE = ?, C_YTD_PAYMENT = ?, C_PAYMENT_CNT = ? WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',

    numberOf(row, 'c_balance') - amount,
    numberOf(row, 'c_ytd_payment') + amount,
    numberOf(row, 'c_payment_cnt') + 1,
    1,
    district,
    customer,
  );
  await client.query(
    'INSERT INTO history (H_ID, H_C_D_ID, H_C_W_ID, H_C_ID, H_D_ID, H_W_ID, H_DATE, H_AMOUNT, H_DATA) VALUES (?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)',
    unique(),
    district,
    1,
    customer,
    district,
    1,
    amount,
    'payment',
  );
}

async function delivery({ client, random }: TransactionContext): Promise<void> {
  const carrier = integer(random, 1, 10);
  for (let district = 1; district <= scale.districts; district += 1) await deliverOne(client, district, carrier);
}

async function deliverOne(client: WorkloadClient, district: number, carrier: number): Promise<void> {
  const [oldest] = await client.query(
    'SELECT NO_O_ID FROM new_order WHERE NO_D_ID = ? AND NO_W_ID = ? ORDER BY NO_O_ID ASC LIMIT 1',
    district,
    1,
  );
  if (oldest === undefined) return;
  const order = numberOf(oldest, 'no_o_id');
  await client.query('DELETE FROM new_order WHERE NO_O_ID = ? AND NO_D_ID = ? AND NO_W_ID = ?', order, district, 1);
  const [row] = await client.query(
    'SELECT O_C_ID FROM oorder WHERE O_ID = ? AND O_D_ID = ? AND O_W_ID = ?',
    order,
    district,
    1,
  );
  await client.query(
    'UPDATE oorder SET O_CARRIER_ID = ? WHERE O_ID = ? AND O_D_ID = ? AND O_W_ID = ?',
    carrier,
    order,
    district,
    1,
  );
  await client.query(
    'UPDATE order_line SET OL_DELIVERY_D = CURRENT_TIMESTAMP WHERE OL_O_ID = ? AND OL_D_ID = ? AND OL_W_ID = ?',
    order,
    district,
    1,
  );
  const [total] = await client.query(
    'SELECT SUM(OL_AMOUNT) AS OL_TOTAL FROM order_line WHERE OL_O_ID = ? AND OL_D_ID = ? AND OL_W_ID = ?',
    order,
    district,
    1,
  );
  await client.query(
    'UPDATE customer SET C_BALANCE = C_BALANCE + ?, C_DELIVERY_CNT = C_DELIVERY_CNT + 1 WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    numberOf(total, 'ol_total'),
    1,
    district,
    numberOf(row, 'o_c_id'),
  );
}

async function orderStatus({ client, random }: TransactionContext): Promise<void> {
  const district = integer(random, 1, scale.districts);
  const customer = integer(random, 1, scale.customers);
  await client.query(
    'SELECT C_FIRST, C_LAST, C_BALANCE FROM customer WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?',
    1,
    district,
    customer,
  );
  const [row] = await client.query(
    'SELECT O_ID, O_CARRIER_ID, O_ENTRY_D FROM oorder WHERE O_W_ID = ? AND O_D_ID = ? AND O_C_ID = ? ORDER BY O_ID DESC LIMIT 1',
    1,
    district,
    customer,
  );
  if (row === undefined) return;
  await client.query(
    'SELECT OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DELIVERY_D FROM order_line WHERE OL_O_ID = ? AND OL_D_ID = ? AND OL_W_ID = ?',
    numberOf(row, 'o_id'),
    district,
    1,
  );
}

async function stockLevel({ client, random }: TransactionContext): Promise<void> {
  const district = integer(random, 1, scale.districts);
  const [row] = await client.query('SELECT D_NEXT_O_ID FROM district WHERE D_W_ID = ? AND D_ID = ?', 1, district);
  const next = numberOf(row, 'd_next_o_id');
  await client.query(
    'SELECT COUNT(DISTINCT (S_I_ID)) AS STOCK_COUNT FROM order_line, stock WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID < ? AND OL_O_ID >= ? AND S_W_ID = ? AND S_I_ID = OL_I_ID AND S_QUANTITY < ?',
    1,
    district,
    next,
    next - 20,
    1,
    integer(random, 10, 20),
  );
}

/** The mix of the specification, section 5.2.3: 45, 43, 4, 4 and 4 percent. */
export function anyTransaction(context: TransactionContext): Promise<void> {
  const roll = integer(context.random, 1, 100);
  if (roll <= 45) return newOrder(context);
  if (roll <= 88) return payment(context);
  if (roll <= 92) return delivery(context);
  return roll <= 96 ? orderStatus(context) : stockLevel(context);
}
