/** TPC-C's Payment (clause 2.5), with pg: each sum is read, then written. */
import type { PoolClient } from 'pg';
import { type Customer, customerNamed, type Named } from './customers.ts';
import { inTransaction, onlyRow } from './database.ts';

export interface Payment {
  readonly warehouse: number;
  readonly district: number;
  /** The customer's; it may be another one. */
  readonly customerWarehouse: number;
  readonly customerDistrict: number;
  readonly amount: number;
}

export async function payment(given: Payment, customer: Named): Promise<void> {
  await inTransaction(async (client) => {
    const place = await pay(client, given);
    const found = await customerNamed(client, given.customerWarehouse, given.customerDistrict, customer);
    await receive(client, given, found, place);
  });
}

/** @returns the names of warehouse and district */
async function pay(client: PoolClient, { warehouse, district, amount }: Payment): Promise<string> {
  const { w_ytd, w_name } = onlyRow(
    await client.query<{ w_ytd: number; w_name: string }>(
      'SELECT w_ytd, w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1',
      [warehouse],
    ),
  );
  await client.query('UPDATE warehouse SET w_ytd = $2 WHERE w_id = $1', [warehouse, w_ytd + amount]);
  const { d_ytd, d_name } = onlyRow(
    await client.query<{ d_ytd: number; d_name: string }>(
      'SELECT d_ytd, d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = $1 AND d_id = $2',
      [warehouse, district],
    ),
  );
  await client.query('UPDATE district SET d_ytd = $3 WHERE d_w_id = $1 AND d_id = $2', [
    warehouse,
    district,
    d_ytd + amount,
  ]);
  return `${w_name}    ${d_name}`;
}

async function receive(client: PoolClient, given: Payment, customer: Customer, place: string): Promise<void> {
  const { customerWarehouse, customerDistrict, warehouse, district, amount } = given;
  const key = [customerWarehouse, customerDistrict, customer.c_id];
  const sums = [customer.c_balance - amount, customer.c_ytd_payment + amount, customer.c_payment_cnt + 1];
  if (customer.c_credit === 'BC') {
    const data = `${customer.c_id} ${customerDistrict} ${customerWarehouse} ${district} ${warehouse} ${amount} ${customer.c_data}`;
    await client.query(
      `UPDATE customer SET c_balance = $4, c_ytd_payment = $5, c_payment_cnt = $6, c_data = $7
       WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3`,
      [...key, ...sums, data.slice(0, 500)],
    );
  } else
    await client.query(
      `UPDATE customer SET c_balance = $4, c_ytd_payment = $5, c_payment_cnt = $6
       WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3`,
      [...key, ...sums],
    );
  await client.query(
    `INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
     VALUES ($1, $2, $3, $4, $5, now(), $6, $7)`,
    [customer.c_id, customerDistrict, customerWarehouse, district, warehouse, amount, place],
  );
}
