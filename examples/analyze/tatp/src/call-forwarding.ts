/** TATP's transactions on the forwarding of calls, with Kysely. */
import { db, subscriberOf } from './database.ts';

/** GET_NEW_DESTINATION */
export async function getNewDestination(
  subscriber: number,
  facility: number,
  start: number,
  end: number,
): Promise<unknown> {
  return db
    .selectFrom('special_facility as sf')
    .innerJoin('call_forwarding as cf', (join) =>
      join.onRef('cf.s_id', '=', 'sf.s_id').onRef('cf.sf_type', '=', 'sf.sf_type'),
    )
    .select('cf.numberx')
    .where('sf.s_id', '=', subscriber)
    .where('sf.sf_type', '=', facility)
    .where('sf.is_active', '=', 1)
    .where('cf.start_time', '<=', start)
    .where('cf.end_time', '>', end)
    .execute();
}

/** INSERT_CALL_FORWARDING */
export async function insertCallForwarding(
  number: string,
  facility: number,
  start: number,
  end: number,
  destination: string,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const subscriber = await subscriberOf(transaction, number);
    await transaction.selectFrom('special_facility').select('sf_type').where('s_id', '=', subscriber).execute();
    await transaction
      .insertInto('call_forwarding')
      .values({ s_id: subscriber, sf_type: facility, start_time: start, end_time: end, numberx: destination })
      .execute();
  });
}

/** DELETE_CALL_FORWARDING */
export async function deleteCallForwarding(number: string, facility: number, start: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const subscriber = await subscriberOf(transaction, number);
    const { numDeletedRows } = await transaction
      .deleteFrom('call_forwarding')
      .where('s_id', '=', subscriber)
      .where('sf_type', '=', facility)
      .where('start_time', '=', start)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Error('no call is forwarded then');
  });
}
