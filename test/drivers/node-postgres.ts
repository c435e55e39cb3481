/** node-postgres: a pool over loopback, a pool in this process; named statements. */
import pg from 'pg';
import { connectTo } from '../../src/serve/index.ts';
import type { Driver, Served } from './shop.ts';
import { type Answer, type Send, type SqlClient, sqlShop } from './sql-shop.ts';

const common = { dialect: 'postgres', packages: ['pg'] } as const;

export const nodePostgres: Driver = {
  ...common,
  name: 'node-postgres',
  how: 'Pool over loopback',
  without: ['tables kept'],
  open: async ({ host, port }) =>
    sqlShop('postgres', pooled(new pg.Pool({ host, port, user: 'ann', database: 'shop', max: 2 }))),
};

export const nodePostgresInProcess: Driver = {
  ...common,
  name: 'node-postgres in process',
  how: 'Pool on `connectTo` streams',
  without: ['tables kept'],
  open: async ({ database, onBug }: Served) =>
    sqlShop('postgres', pooled(new pg.Pool({ user: 'ann', max: 2, stream: () => connectTo(database, { onBug }) }))),
};

function pooled(pool: pg.Pool): SqlClient {
  return {
    send: sender(pool),
    prepared: async (text, values) => {
      const client = await pool.connect();
      try {
        const answers: Answer[] = [];
        for (const each of values)
          answers.push(answer(await client.query({ name: 'of title', text, values: [...each] })));
        return answers;
      } finally {
        client.release();
      }
    },
    reserve: async (work) => {
      const client = await pool.connect();
      try {
        return await work(sender(client));
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}

function sender(client: pg.Pool | pg.PoolClient): Send {
  return async (sql, values) => answer(await client.query(sql, values === undefined ? undefined : [...values]));
}

function answer({ rows, rowCount }: pg.QueryResult<Record<string, unknown>>): Answer {
  return { rows, count: rowCount ?? 0, insertId: 0 };
}
