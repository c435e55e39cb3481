/**
 * Two transfers out of one account through node-postgres. Each looks whether there is enough money and then takes it:
 * `moirai test examples/sql-transfer.ts`, and with `--isolation 'repeatable read'`.
 */
import pg from 'pg';
import { sqlProgram, type SqlConnection } from 'moirai';

async function withdraw({ connect }: SqlConnection, amount: number): Promise<void> {
  const client = new pg.Client({ user: 'app', stream: connect });
  await client.connect();
  await client.query('BEGIN');
  const { rows } = await client.query('SELECT balance FROM accounts WHERE id = $1', [1]);
  if (rows[0].balance >= amount) {
    await client.query('UPDATE accounts SET balance = $2 WHERE id = $1', [1, rows[0].balance - amount]);
    await client.query('INSERT INTO withdrawals (amount) VALUES ($1)', [amount]);
  }
  await client.query('COMMIT').catch(() => client.query('ROLLBACK'));
  await client.end();
}

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
    CREATE TABLE withdrawals (id serial PRIMARY KEY, amount int NOT NULL);
    INSERT INTO accounts VALUES (1, 100);
  `,
  sessions: {
    alice: (connection) => withdraw(connection, 70),
    bob: (connection) => withdraw(connection, 50),
  },
  invariant: async ({ connect }) => {
    const client = new pg.Client({ user: 'app', stream: connect });
    await client.connect();
    const { rows } = await client.query(`
      SELECT balance, (SELECT coalesce(sum(amount), 0)::int FROM withdrawals) AS taken FROM accounts WHERE id = 1`);
    await client.end();
    const { balance, taken } = rows[0];
    return balance + taken === 100 || `${taken} was taken and ${balance} is left of 100`;
  },
});
