/** A duplicate invitation, with TypeORM: two requests look for an invitation, find none, and each saves one. */
import pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';
import { sqlProgram } from 'moirai';
import { type Connection, onPostgres } from './clients.ts';

interface Invitation {
  readonly id: string;
  readonly teamId: string;
  readonly email: string;
  readonly role: string;
}

const Invitation = new EntitySchema<Invitation>({
  name: 'Invitation',
  tableName: 'invitations',
  columns: {
    id: { type: 'uuid', primary: true },
    teamId: { type: 'uuid', name: 'team_id' },
    email: { type: 'text' },
    role: { type: 'text' },
  },
});

const team = '3d6f4c6a-7f2a-4a8a-9d0e-7a2b9c1e5f03';

async function invite({ connect }: Connection, email: string): Promise<string> {
  const source = new DataSource({
    type: 'postgres',
    username: 'app',
    driver: pg,
    entities: [Invitation],
    extra: { stream: connect, max: 1 },
    installExtensions: false,
  });
  await source.initialize();
  try {
    return await source.transaction(async (manager) => {
      const known = await manager.findOneBy(Invitation, { teamId: team, email });
      if (known !== null) return 'invited before';
      await manager.insert(Invitation, { id: crypto.randomUUID(), teamId: team, email, role: 'member' });
      return 'invited';
    });
  } finally {
    await source.destroy();
  }
}

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE invitations (
      id uuid PRIMARY KEY, team_id uuid NOT NULL, email text NOT NULL, role text NOT NULL, message text, locale text,
      sent_at timestamp, opened_at timestamp, accepted_at timestamp, invited_by uuid
    );
  `,
  sessions: {
    click: (connection) => invite(connection, 'ann@example.org'),
    secondClick: (connection) => invite(connection, 'ann@example.org'),
  },
  invariant: (end) =>
    onPostgres(end, async (client) => {
      const { rows } = await client.query('SELECT id FROM invitations');
      return rows.length <= 1 || `Ann was invited ${rows.length} times`;
    }),
});
