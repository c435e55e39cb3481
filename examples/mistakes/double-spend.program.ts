/** Double spend, with mysql2: two payments check one balance, and each subtracts from it. */
import type { RowDataPacket } from 'mysql2/promise';
import { sqlProgram } from 'moirai';
import { type Connection, inMysqlTransaction, onMysql } from './clients.ts';

const wallet = '0b7a2f0e-8f51-4f0a-8a3e-5a0c1d3c9a10';

const pay = (connection: Connection, cents: number): Promise<string> =>
  onMysql(connection, (client) =>
    inMysqlTransaction(client, async () => {
      const [rows] = await client.execute<RowDataPacket[]>('SELECT * FROM wallets WHERE id = ?', [wallet]);
      if (rows[0]?.['balance_cents'] < cents) return 'declined';
      await client.execute('UPDATE wallets SET balance_cents = balance_cents - ? WHERE id = ?', [cents, wallet]);
      return 'paid';
    }),
  );

export default sqlProgram({
  dialect: 'mysql',
  schema: `
    CREATE TABLE wallets (
      id char(36) PRIMARY KEY, owner varchar(40), email varchar(80), currency char(3), balance_cents int, limit_cents int,
      country char(2), plan varchar(20), is_frozen boolean, note varchar(200)
    );
    INSERT INTO wallets VALUES ('${wallet}', 'Ann', 'ann@example.org', 'EUR', 10000, 0, 'DE', 'free', false, '');
  `,
  sessions: { rent: (connection) => pay(connection, 7_000), shoes: (connection) => pay(connection, 6_000) },
  invariant: (end) =>
    onMysql(end, async (client) => {
      const [rows] = await client.query<RowDataPacket[]>('SELECT balance_cents FROM wallets');
      return rows[0]?.['balance_cents'] >= 0 || `the balance is ${rows[0]?.['balance_cents']}`;
    }),
});
