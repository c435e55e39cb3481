/** The mariadb connector: a pool, `query` and `execute`. */
import { createPool, type PoolConnection } from 'mariadb';
import type { Driver } from './shop.ts';
import { type Answer, type Row, type Send, sqlShop } from './sql-shop.ts';

export const mariadb: Driver = {
  name: 'mariadb',
  dialect: 'mysql',
  packages: ['mariadb'],
  how: 'pool; text protocol, prepared statements for the repeated one',
  without: ['tables kept'],
  open: async ({ host, port }) => {
    const pool = createPool({ host, port, user: 'root', database: 'test', connectionLimit: 2, insertIdAsNumber: true });
    return sqlShop('mysql', {
      send: sender(pool),
      prepared: async (sql, values) => {
        const connection = await pool.getConnection();
        const statement = await connection.prepare(sql);
        const answers: Answer[] = [];
        for (const each of values) answers.push(answer(await statement.execute(each)));
        statement.close();
        await connection.release();
        return answers;
      },
      reserve: async (work) => {
        const connection = await pool.getConnection();
        try {
          return await work(sender(connection));
        } finally {
          await connection.release();
        }
      },
      close: () => pool.end(),
    });
  },
};

function sender(client: Pick<PoolConnection, 'query'>): Send {
  return async (sql, values) => answer(await client.query(sql, values));
}

function answer(result: unknown): Answer {
  if (Array.isArray(result)) return { rows: result as Row[], count: result.length, insertId: 0 };
  const { affectedRows, insertId } = result as { affectedRows: number; insertId: number };
  return { rows: [], count: affectedRows, insertId };
}
