/** An idempotency key, with node-postgres: a request is sent again, and neither sees that the other has its key. */
import { sqlProgram } from 'moirai';
import { type Connection, inTransaction, onPostgres } from './clients.ts';

const key = '9e0d9b1c-1b39-4c60-8f0f-3e5b8f0a2d77';

const charge = (connection: Connection): Promise<string> =>
  onPostgres(connection, (client) =>
    inTransaction(client, async () => {
      const { rows } = await client.query('SELECT response FROM requests WHERE idempotency_key = $1', [key]);
      if (rows.length > 0) return rows[0].response;
      await client.query('INSERT INTO charges (customer, amount_cents) VALUES ($1, $2)', ['ann', 4900]);
      await client.query('INSERT INTO requests (id, idempotency_key, response) VALUES ($1, $2, $3)', [
        crypto.randomUUID(),
        key,
        'charged',
      ]);
      return 'charged';
    }),
  );

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE requests (
      id uuid PRIMARY KEY, idempotency_key uuid NOT NULL, method text, path text, body text, response text, status int,
      client text, created_at timestamp, expires_at timestamp
    );
    CREATE TABLE charges (id serial PRIMARY KEY, customer text NOT NULL, amount_cents int NOT NULL);
  `,
  sessions: { request: charge, retry: charge },
  invariant: (end) =>
    onPostgres(end, async (client) => {
      const { rows } = await client.query('SELECT id FROM charges');
      return rows.length <= 1 || `Ann was charged ${rows.length} times`;
    }),
});
