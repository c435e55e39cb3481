/** SEATS's transactions on reservations, with postgres.js: what they change, they read before. */
import type { TransactionSql } from 'postgres';
import { onlyRow, sql } from './database.ts';

export async function newReservation(
  id: number,
  customer: number,
  flight: number,
  seat: number,
  price: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    const found = onlyRow(
      await tx<
        { f_al_id: number; f_seats_left: number }[]
      >`SELECT f_al_id, f_seats_left FROM flight WHERE f_id = ${flight}`,
    );
    await tx`SELECT al_name FROM airline WHERE al_id = ${found.f_al_id}`;
    if (found.f_seats_left <= 0) throw new Error('the flight is full');
    const onSeat = await tx`SELECT r_id FROM reservation WHERE r_f_id = ${flight} AND r_seat = ${seat}`;
    if (onSeat.length > 0) throw new Error('the seat is taken');
    const ofCustomer = await tx`SELECT r_id FROM reservation WHERE r_f_id = ${flight} AND r_c_id = ${customer}`;
    if (ofCustomer.length > 0) throw new Error('the customer has a seat on this flight');
    const before = onlyRow(
      await tx<Customer[]>`
        SELECT c_base_ap_id, c_balance, c_sattr00, c_iattr10, c_iattr11, c_iattr12, c_iattr13, c_iattr14, c_iattr15
        FROM customer WHERE c_id = ${customer}`,
    );
    await tx`
      INSERT INTO reservation (r_id, r_c_id, r_f_id, r_seat, r_price, r_iattr00, r_iattr01, r_iattr02, r_iattr03)
      VALUES (${id}, ${customer}, ${flight}, ${seat}, ${price}, 0, 1, 2, 3)`;
    await tx`UPDATE flight SET f_seats_left = ${found.f_seats_left - 1} WHERE f_id = ${flight}`;
    await tx`
      UPDATE customer SET c_iattr10 = ${before.c_iattr10 + 1}, c_iattr11 = ${before.c_iattr11 + 1}, c_iattr12 = 1, c_iattr13 = 2,
        c_iattr14 = 3, c_iattr15 = 4
      WHERE c_id = ${customer}`;
    const miles = onlyRow(
      await tx<{ ff_iattr10: number }[]>`
        SELECT ff_iattr10 FROM frequent_flyer WHERE ff_c_id = ${customer} AND ff_al_id = ${found.f_al_id}`,
    );
    await tx`
      UPDATE frequent_flyer SET ff_iattr10 = ${miles.ff_iattr10 + 1}, ff_iattr11 = 1, ff_iattr12 = 2, ff_iattr13 = 3, ff_iattr14 = 4
      WHERE ff_c_id = ${customer} AND ff_al_id = ${found.f_al_id}`;
  });
}

interface Customer {
  readonly c_balance: number;
  readonly c_iattr10: number;
  readonly c_iattr11: number;
}

/** By number, or by name; of a frequent flyer, too. */
export async function deleteReservation(
  flight: number,
  customer: { readonly id: number } | { readonly name: string },
  airline: number | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    const id = 'id' in customer ? customer.id : await customerNamed(tx, customer.name);
    const before = onlyRow(
      await tx<(Customer & { c_iattr00: number })[]>`
        SELECT c_sattr00, c_sattr02, c_sattr04, c_iattr00, c_iattr02, c_iattr04, c_iattr06, c_iattr10, c_iattr11, c_balance
        FROM customer WHERE c_id = ${id}`,
    );
    const { f_seats_left } = onlyRow(
      await tx<{ f_seats_left: number }[]>`SELECT f_seats_left FROM flight WHERE f_id = ${flight}`,
    );
    const reserved = onlyRow(
      await tx<{ r_id: number; r_price: number; r_iattr00: number }[]>`
        SELECT r_id, r_seat, r_price, r_iattr00 FROM reservation WHERE r_c_id = ${id} AND r_f_id = ${flight}`,
    );
    await tx`DELETE FROM reservation WHERE r_id = ${reserved.r_id} AND r_c_id = ${id} AND r_f_id = ${flight}`;
    await tx`UPDATE flight SET f_seats_left = ${f_seats_left + 1} WHERE f_id = ${flight}`;
    await tx`
      UPDATE customer SET c_balance = ${before.c_balance - reserved.r_price}, c_iattr00 = ${reserved.r_iattr00},
        c_iattr10 = ${before.c_iattr10 - 1}, c_iattr11 = ${before.c_iattr11 - 1}
      WHERE c_id = ${id}`;
    if (airline === null) return;
    const { ff_iattr10 } = onlyRow(
      await tx<{ ff_iattr10: number }[]>`
        SELECT ff_iattr10 FROM frequent_flyer WHERE ff_c_id = ${id} AND ff_al_id = ${airline}`,
    );
    await tx`
      UPDATE frequent_flyer SET ff_iattr10 = ${ff_iattr10 - 1} WHERE ff_c_id = ${id} AND ff_al_id = ${airline}`;
  });
}

export async function customerNamed(tx: TransactionSql, name: string): Promise<number> {
  return onlyRow(await tx<{ c_id: number }[]>`SELECT c_id FROM customer WHERE c_id_str = ${name}`).c_id;
}

export async function updateReservation(
  id: number,
  customer: number,
  flight: number,
  seat: number,
  value: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    const onSeat = await tx`SELECT r_id FROM reservation WHERE r_f_id = ${flight} AND r_seat = ${seat}`;
    if (onSeat.length > 0) throw new Error('the seat is taken');
    const ofCustomer = await tx`SELECT r_id FROM reservation WHERE r_f_id = ${flight} AND r_c_id = ${customer}`;
    if (ofCustomer.length === 0) throw new Error('the customer has no seat on this flight');
    await tx`
      UPDATE reservation SET r_seat = ${seat}, r_iattr00 = ${value}
      WHERE r_id = ${id} AND r_c_id = ${customer} AND r_f_id = ${flight}`;
  });
}
