/** The limit of a coupon, with mysql2: two checkouts see that it was used once less than it may be, and both use it. */
import type { RowDataPacket } from 'mysql2/promise';
import { sqlProgram } from 'moirai';
import { type Connection, inMysqlTransaction, onMysql } from './clients.ts';

const redeem = (connection: Connection, order: string): Promise<string> =>
  onMysql(connection, (client) =>
    inMysqlTransaction(client, async () => {
      const [rows] = await client.query<RowDataPacket[]>('SELECT * FROM coupons WHERE code = ?', ['SPRING']);
      const coupon = rows[0];
      if (coupon === undefined || coupon['used'] >= coupon['usable']) return 'refused';
      await client.query('UPDATE coupons SET used = ? WHERE id = ?', [coupon['used'] + 1, coupon['id']]);
      await client.query('INSERT INTO redemptions (id, coupon_id, order_id) VALUES (?, ?, ?)', [
        crypto.randomUUID(),
        coupon['id'],
        order,
      ]);
      return 'redeemed';
    }),
  );

export default sqlProgram({
  dialect: 'mysql',
  schema: `
    CREATE TABLE coupons (
      id char(36) PRIMARY KEY, code varchar(20) UNIQUE, percent int, used int, usable int, starts_on date, ends_on date,
      country char(2), campaign varchar(40), is_active boolean
    );
    CREATE TABLE redemptions (id char(36) PRIMARY KEY, coupon_id char(36) NOT NULL, order_id varchar(40) NOT NULL);
    INSERT INTO coupons VALUES
      ('5f0c7f8e-2f1c-4f44-9c55-1c2b3d4e5f60', 'SPRING', 20, 99, 100, '2026-03-01', '2026-04-01', 'DE', 'spring', true);
  `,
  sessions: { ann: (connection) => redeem(connection, 'A-1'), ben: (connection) => redeem(connection, 'B-1') },
  invariant: (end) =>
    onMysql(end, async (client) => {
      const [rows] = await client.query<RowDataPacket[]>('SELECT id FROM redemptions');
      return rows.length <= 1 || `the last coupon was redeemed ${rows.length} times`;
    }),
});
