/** mysql2: `query`, which writes parameters into the text, and `execute`, which prepares and speaks binary. */
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise';
import type { Driver, Served } from './shop.ts';
import { type Answer, type Row, type Send, sqlShop } from './sql-shop.ts';

export const mysql2Query: Driver = {
  name: 'mysql2, query',
  dialect: 'mysql',
  packages: ['mysql2'],
  how: 'pool; text protocol',
  without: ['tables kept', 'prepared'],
  open: (served) => mysql2(served, 'query'),
};

export const mysql2Execute: Driver = {
  name: 'mysql2, execute',
  dialect: 'mysql',
  packages: ['mysql2'],
  how: 'pool; prepared statements, binary protocol',
  without: ['tables kept'],
  open: (served) => mysql2(served, 'execute'),
};

type Way = 'query' | 'execute';

async function mysql2({ host, port }: Served, way: Way) {
  const pool = createPool({ host, port, user: 'root', database: 'test', connectionLimit: 2, decimalNumbers: false });
  return sqlShop('mysql', {
    send: sender(pool, way),
    ...(way === 'query'
      ? {}
      : {
          prepared: async (sql: string, values: readonly (readonly unknown[])[]) => {
            const connection = await pool.getConnection();
            const statement = await connection.prepare(sql);
            const answers: Answer[] = [];
            for (const each of values) answers.push(answer((await statement.execute([...each] as string[]))[0]));
            await statement.close();
            connection.release();
            return answers;
          },
        }),
    reserve: async (work) => {
      const connection = await pool.getConnection();
      try {
        return await work(sender(connection, way));
      } finally {
        connection.release();
      }
    },
    close: () => pool.end(),
  });
}

function sender(client: Pool | PoolConnection, way: Way): Send {
  return async (sql, values) => {
    // BEGIN and savepoints go as text: that is how mysql2's own beginTransaction sends them.
    const [result] =
      values === undefined || way === 'query'
        ? await client.query(sql, values === undefined ? [] : [...values])
        : await client.execute(sql, values as string[]);
    return answer(result);
  };
}

function answer(result: unknown): Answer {
  if (Array.isArray(result)) return { rows: result as Row[], count: result.length, insertId: 0 };
  const { affectedRows, insertId } = result as { affectedRows: number; insertId: number };
  return { rows: [], count: affectedRows, insertId };
}
