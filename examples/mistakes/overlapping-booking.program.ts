/** Overlapping bookings, with Knex: two requests see that a room is free, and both book it. */
import knex from 'knex';
import { sqlProgram } from 'moirai';
import { type Connection, onPostgres } from './clients.ts';

const room = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

async function book({ connect }: Connection, guest: string, from: number, until: number): Promise<string> {
  const db = knex({ client: 'pg', connection: { user: 'app', stream: connect } as object, pool: { min: 0, max: 1 } });
  try {
    return await db.transaction(async (t) => {
      await t('rooms').where({ id: room }).first();
      const taken = await t('bookings')
        .where({ room_id: room })
        .where('from_hour', '<', until)
        .where('until_hour', '>', from);
      if (taken.length > 0) return 'taken';
      await t('bookings').insert({ id: crypto.randomUUID(), room_id: room, guest, from_hour: from, until_hour: until });
      return 'booked';
    });
  } finally {
    await db.destroy();
  }
}

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE rooms (id uuid PRIMARY KEY, name text NOT NULL);
    CREATE TABLE bookings (
      id uuid PRIMARY KEY, room_id uuid NOT NULL REFERENCES rooms, guest text NOT NULL, from_hour int NOT NULL,
      until_hour int NOT NULL, note text, color text, created_by text, created_at timestamp, is_private boolean
    );
    INSERT INTO rooms VALUES ('${room}', 'Blue');
  `,
  sessions: {
    ann: (connection) => book(connection, 'Ann', 9, 11),
    ben: (connection) => book(connection, 'Ben', 10, 12),
  },
  invariant: (end) =>
    onPostgres(end, async (client) => {
      const { rows } = await client.query(
        'SELECT 1 FROM bookings a JOIN bookings b ON a.id < b.id AND a.from_hour < b.until_hour AND b.from_hour < a.until_hour',
      );
      return rows.length === 0 || 'two bookings overlap';
    }),
});
