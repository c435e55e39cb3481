/** postgres.js as it is by default: it asks pg_type for array types, and names its statements. */
import postgres from 'postgres';
import type { Driver } from './shop.ts';
import { type Answer, type Send, sqlShop } from './sql-shop.ts';

export const postgresJs: Driver = {
  name: 'postgres.js',
  dialect: 'postgres',
  packages: ['postgres'],
  how: 'its own pool; named statements; `fetch_types`',
  without: ['tables kept'],
  open: async ({ host, port }) => {
    const sql = postgres({ host, port, user: 'ann', database: 'shop', max: 2, onnotice: () => undefined });
    return sqlShop('postgres', {
      send: sender(sql),
      prepared: async (text, values) => {
        const answers: Answer[] = [];
        for (const each of values) answers.push(answer(await sql.unsafe(text, each as string[], { prepare: true })));
        return answers;
      },
      reserve: async (work) => {
        const reserved = await sql.reserve();
        try {
          return await work(sender(reserved));
        } finally {
          reserved.release();
        }
      },
      begin: (work, isolation) =>
        sql.begin(isolation === undefined ? '' : `isolation level ${isolation}`, (transaction) =>
          work(sender(transaction)),
        ) as ReturnType<typeof work>,
      close: () => sql.end(),
    });
  },
};

function sender(sql: Pick<postgres.Sql, 'unsafe'>): Send {
  return async (text, values = []) => answer(await sql.unsafe(text, values as string[]));
}

function answer(result: postgres.RowList<postgres.Row[]>): Answer {
  return { rows: [...result], count: result.count, insertId: 0 };
}
