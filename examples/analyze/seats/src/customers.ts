/** SEATS's transaction on customers, with postgres.js. */
import { onlyRow, sql } from './database.ts';
import { customerNamed } from './reservations.ts';

export async function updateCustomer(
  customer: { readonly id: number } | { readonly name: string },
  updatesFrequentFlyer: boolean,
  value0: number,
  value1: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    const id = 'id' in customer ? customer.id : await customerNamed(tx, customer.name);
    const { c_base_ap_id } = onlyRow(await tx<{ c_base_ap_id: number }[]>`SELECT * FROM customer WHERE c_id = ${id}`);
    const { ap_co_id } = onlyRow(await tx<{ ap_co_id: number }[]>`SELECT * FROM airport WHERE ap_id = ${c_base_ap_id}`);
    await tx`SELECT * FROM country WHERE co_id = ${ap_co_id}`;
    if (updatesFrequentFlyer) {
      const programs = await tx<{ ff_al_id: number }[]>`SELECT * FROM frequent_flyer WHERE ff_c_id = ${id}`;
      for (const { ff_al_id } of programs)
        await tx`
          UPDATE frequent_flyer SET ff_iattr00 = ${value0}, ff_iattr01 = ${value1}
          WHERE ff_c_id = ${id} AND ff_al_id = ${ff_al_id}`;
    }
    await tx`UPDATE customer SET c_iattr00 = ${value0}, c_iattr01 = ${value1} WHERE c_id = ${id}`;
  });
}
