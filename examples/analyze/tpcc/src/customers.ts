import type { PoolClient } from 'pg';
import { onlyRow } from './database.ts';

export interface Customer {
  readonly c_id: number;
  readonly c_credit: string;
  readonly c_balance: number;
  readonly c_ytd_payment: number;
  readonly c_payment_cnt: number;
  readonly c_data: string;
}

const columns =
  'c_id, c_first, c_middle, c_last, c_credit, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_data';

/** By number; or by name, where several have it the one in the middle by first name. */
export type Named = { readonly id: number } | { readonly last: string };

export function customerNamed(
  client: PoolClient,
  warehouse: number,
  district: number,
  customer: Named,
): Promise<Customer> {
  return 'id' in customer
    ? customerById(client, warehouse, district, customer.id)
    : customerByName(client, warehouse, district, customer.last);
}

async function customerById(client: PoolClient, warehouse: number, district: number, id: number): Promise<Customer> {
  return onlyRow(
    await client.query<Customer>(`SELECT ${columns} FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3`, [
      warehouse,
      district,
      id,
    ]),
  );
}

async function customerByName(
  client: PoolClient,
  warehouse: number,
  district: number,
  last: string,
): Promise<Customer> {
  const { rows } = await client.query<Customer>(
    `SELECT ${columns} FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first`,
    [warehouse, district, last],
  );
  const middle = rows[Math.ceil(rows.length / 2) - 1];
  if (middle === undefined) throw new Error('no customer has this name');
  return middle;
}
