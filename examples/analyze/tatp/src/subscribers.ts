/** TATP's transactions on subscribers, with Kysely. */
import { db, subscriberOf } from './database.ts';

/** GET_SUBSCRIBER_DATA */
export async function getSubscriberData(subscriber: number): Promise<unknown> {
  return db.selectFrom('subscriber').selectAll().where('s_id', '=', subscriber).executeTakeFirst();
}

/** GET_ACCESS_DATA */
export async function getAccessData(subscriber: number, type: number): Promise<unknown> {
  return db
    .selectFrom('access_info')
    .select(['data1', 'data2', 'data3', 'data4'])
    .where('s_id', '=', subscriber)
    .where('ai_type', '=', type)
    .executeTakeFirst();
}

/** UPDATE_SUBSCRIBER_DATA */
export async function updateSubscriberData(
  subscriber: number,
  bit: number,
  facility: number,
  data: number,
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.updateTable('subscriber').set({ bit_1: bit }).where('s_id', '=', subscriber).execute();
    const { numUpdatedRows } = await transaction
      .updateTable('special_facility')
      .set({ data_a: data })
      .where('s_id', '=', subscriber)
      .where('sf_type', '=', facility)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Error('the subscriber does not have this facility');
  });
}

/** UPDATE_LOCATION */
export async function updateLocation(number: string, location: number): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const subscriber = await subscriberOf(transaction, number);
    await transaction
      .updateTable('subscriber')
      .set({ vlr_location: location })
      .where('s_id', '=', subscriber)
      .execute();
  });
}
