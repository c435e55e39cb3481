/** Voter's transaction, with Knex: a call to a number votes for a contestant. */
import knex from 'knex';

const db = knex({ client: 'pg' });

/** @returns whether the vote counts */
export async function vote(id: number, phone: number, contestant: number): Promise<boolean> {
  return db.transaction(async (transaction) => {
    const candidate = await transaction('contestants')
      .where('contestant_number', contestant)
      .first('contestant_number');
    if (candidate === undefined) return false;
    const area = await transaction('area_code_state')
      .where('area_code', Math.floor(phone / 10_000_000))
      .first('state');
    const row = { vote_id: id, phone_number: phone, contestant_number: contestant, created: new Date() };
    if (area === undefined) await transaction('votes').insert({ ...row, state: 'XX' });
    else await transaction('votes').insert({ ...row, state: area.state });
    return true;
  });
}
