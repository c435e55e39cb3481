/**
 * Voter's transaction with the limit of votes that one telephone has. At read committed two calls count the same votes; at repeatable read,
 * too: the rows that each adds are not the other's.
 */
import knex from 'knex';

const db = knex({ client: 'pg' });
const votesMax = 2;

/** @returns whether the vote counts */
export async function vote(id: number, phone: number, contestant: number): Promise<boolean> {
  return db.transaction(async (transaction) => {
    const candidate = await transaction('contestants')
      .where('contestant_number', contestant)
      .first('contestant_number');
    if (candidate === undefined) return false;
    const counted = await transaction('votes').where('phone_number', phone).count('* as votes').first();
    if (Number(counted?.['votes']) >= votesMax) return false;
    const area = await transaction('area_code_state')
      .where('area_code', Math.floor(phone / 10_000_000))
      .first('state');
    await transaction('votes').insert({
      vote_id: id,
      phone_number: phone,
      contestant_number: contestant,
      created: new Date(),
      state: area?.state ?? 'XX',
    });
    return true;
  });
}
