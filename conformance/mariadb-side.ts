/**
 * A real MariaDB. Who waits is what SHOW ENGINE INNODB STATUS says of row locks and the process list of all others; the tables of
 * information_schema that say the same are kept for a tenth of a second.
 */
import mysql from 'mysql2/promise';
import { type Client, mysqlClient } from '../test/sql-oracle/answer.ts';
import { RealSide } from './real-side.ts';

/** @param port of a server that belongs to the caller */
export async function mariadbSide(
  port: number,
  { sessionsMax = 3 }: { readonly sessionsMax?: number } = {},
): Promise<RealSide> {
  const config = { host: '127.0.0.1', port, user: 'root', database: 'test' };
  const control = await mysql.createConnection({ ...config, rowsAsArray: true, multipleStatements: true });
  // Else DDL waits now and then for the thread that writes statistics down.
  const settings = ['innodb_stats_persistent = off', 'innodb_stats_auto_recalc = off'];
  for (const setting of settings) await control.query(`set global ${setting}`);
  /** Holds a read view, so that delete-marked records stay: purging takes place at a time of its own. */
  const holder = await mysql.createConnection(config);
  const asker = await mysqlClient(config);
  const clients: Client[] = [];
  const threads: number[] = [];
  for (let i = 0; i < sessionsMax; i += 1) {
    const client = await mysqlClient(config);
    const answer = await client.ask({ sql: 'select connection_id()' });
    if (answer.kind !== 'rows') throw new Error('no connection_id()');
    threads.push(Number((JSON.parse(answer.rows[0] ?? '[]') as string[])[0]));
    clients.push(client);
  }
  const rowsOf = async (sql: string): Promise<unknown[][]> => (await control.query(sql))[0] as unknown[][];
  return new RealSide({
    name: 'MariaDB',
    dialect: 'mysql',
    clients,
    cleaning: ['rollback', 'do release_all_locks()', 'unlock tables'],
    deadlockMs: 2,
    control: {
      ask: async (sql) => {
        const answer = await asker.ask({ sql });
        return answer;
      },
      empty: async () => {
        await holder.query('rollback');
        await control.query('drop database if exists test; create database test; use test');
        for (const client of [asker, ...clients]) await client.ask({ sql: 'use test' });
        await holder.query('start transaction with consistent snapshot');
      },
      waiting: async (sessions) => {
        const [[, , status] = []] = await rowsOf('show engine innodb status');
        const processes = await rowsOf('show processlist');
        const forRows = rowLockWaiters(String(status));
        const forOthers = processes
          .filter((row) => /^(?:Waiting for .* lock|User lock)/i.test(String(row[6])))
          .map(([id]) => Number(id));
        const waiting = new Set([...forRows, ...forOthers]);
        return new Set(sessions.filter((session) => waiting.has(threads[session] ?? 0)));
      },
      recover: async (session) => {
        await control.query(`kill query ${threads[session]}`);
      },
      close: async () => {
        await asker.end();
        await holder.end();
        await control.end();
      },
    },
  });
}

/** The threads of transactions that wait for a lock, from the monitor's section TRANSACTIONS. */
function rowLockWaiters(status: string): number[] {
  return (
    status
      .split('---TRANSACTION')
      // Before the list: the last deadlock, with the transactions as they were then.
      .slice(1)
      .filter((text) => /^LOCK WAIT/m.test(text))
      .flatMap((text) => [...text.matchAll(/^MariaDB thread id (\d+)/gm)].map(([, id]) => Number(id)))
  );
}
