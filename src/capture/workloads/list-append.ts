/** List-append, Elle's workload (VLDB 2021): a row holds a list as text; transactions append unique numbers to lists and read them. */
import { insertRows, integer, scaled, type Workload } from './workload.ts';

const listsAtOne = 20;

export function listAppend(scale: number): Workload {
  const lists = scaled(listsAtOne, scale, 1);
  return {
    tables: [{ name: 'lists', definition: 'CREATE TABLE lists (k int PRIMARY KEY, v text NOT NULL)' }],
    load: (client) =>
      insertRows(
        client,
        'lists',
        Array.from({ length: lists }, (_, k) => [k, '0']),
      ),
    transaction: async ({ client, random, unique }) => {
      for (let left = integer(random, 1, 4); left > 0; left -= 1) {
        const k = random.choose(lists);
        const [row] = await client.query('SELECT v FROM lists WHERE k = ?', k);
        if (random.choose(2) === 0) continue;
        // A list that has grown long begins anew.
        const list = typeof row?.['v'] === 'string' && row['v'].length < 2_000 ? `${row['v']},` : '';
        await client.query('UPDATE lists SET v = ? WHERE k = ?', `${list}${unique()}`, k);
      }
    },
  };
}
