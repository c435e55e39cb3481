/** SEATS's readers, with postgres.js. */
import { onlyRow, sql } from './database.ts';

export async function findFlights(
  depart: number,
  arrive: number,
  from: Date,
  to: Date,
  distance: number,
): Promise<unknown> {
  return sql.begin(async (tx) => {
    await tx`
      SELECT d_ap_id0, d_ap_id1, d_distance FROM airport_distance
      WHERE d_ap_id0 = ${depart} AND d_ap_id1 = ${arrive} AND d_distance <= ${distance}`;
    const flights = await tx<{ f_al_id: number; f_depart_ap_id: number; f_arrive_ap_id: number }[]>`
      SELECT f_id, f_al_id, f_depart_ap_id, f_depart_time, f_arrive_ap_id, f_arrive_time FROM flight
      WHERE f_depart_ap_id = ${depart} AND f_depart_time >= ${from} AND f_depart_time <= ${to} AND f_arrive_ap_id = ${arrive}`;
    const found: unknown[] = [];
    for (const flight of flights) {
      await tx`SELECT al_name FROM airline WHERE al_id = ${flight.f_al_id}`;
      for (const airport of [flight.f_depart_ap_id, flight.f_arrive_ap_id]) {
        const { ap_co_id } = onlyRow(
          await tx<{ ap_co_id: number }[]>`SELECT ap_code, ap_name, ap_co_id FROM airport WHERE ap_id = ${airport}`,
        );
        await tx`SELECT co_name FROM country WHERE co_id = ${ap_co_id}`;
      }
      found.push(flight);
    }
    return found;
  });
}

export async function findOpenSeats(flight: number): Promise<unknown> {
  return sql.begin(async (tx) => {
    const { f_seats_total, f_seats_left } = onlyRow(
      await tx<{ f_seats_total: number; f_seats_left: number }[]>`
        SELECT f_status, f_base_price, f_seats_total, f_seats_left FROM flight WHERE f_id = ${flight}`,
    );
    const taken = await tx`SELECT r_id, r_seat FROM reservation WHERE r_f_id = ${flight}`;
    return { taken, left: f_seats_left, total: f_seats_total };
  });
}
