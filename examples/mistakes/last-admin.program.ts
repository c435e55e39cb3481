/** The last admin leaves, with Kysely on MySQL: each of two admins sees the other one, and both leave. */
import { createPool } from 'mysql2';
import { Kysely, MysqlDialect } from 'kysely';
import type { RowDataPacket } from 'mysql2/promise';
import { sqlProgram } from 'moirai';
import { type Connection, onMysql } from './clients.ts';

interface Teams {
  readonly members: { readonly id: string; readonly team_id: string; readonly email: string; readonly role: string };
}

const team = '3d6f4c6a-7f2a-4a8a-9d0e-7a2b9c1e5f03';
const ann = 'e1b7c9d0-1111-4a6f-8c2d-0f1e2d3c4b01';
const ben = 'e1b7c9d0-2222-4a6f-8c2d-0f1e2d3c4b02';

async function leave({ connect }: Connection, member: string): Promise<string> {
  const db = new Kysely<Teams>({
    dialect: new MysqlDialect({ pool: createPool({ user: 'app', stream: connect, connectionLimit: 1 }) }),
  });
  try {
    return await db.transaction().execute(async (t) => {
      const admins = await t
        .selectFrom('members')
        .select('id')
        .where('team_id', '=', team)
        .where('role', '=', 'admin')
        .execute();
      if (admins.length < 2) return 'stays';
      await t.updateTable('members').set({ role: 'guest' }).where('id', '=', member).execute();
      return 'left';
    });
  } finally {
    await db.destroy();
  }
}

export default sqlProgram({
  dialect: 'mysql',
  schema: `
    CREATE TABLE members (
      id char(36) PRIMARY KEY, team_id char(36) NOT NULL, email varchar(80), name varchar(40), role varchar(20), locale char(2),
      joined_on date, invited_by char(36), picture varchar(80), is_active boolean
    );
    INSERT INTO members VALUES
      ('${ann}', '${team}', 'ann@example.org', 'Ann', 'admin', 'en', '2026-01-01', NULL, NULL, true),
      ('${ben}', '${team}', 'ben@example.org', 'Ben', 'admin', 'en', '2026-01-02', NULL, NULL, true);
  `,
  sessions: { ann: (connection) => leave(connection, ann), ben: (connection) => leave(connection, ben) },
  invariant: (end) =>
    onMysql(end, async (client) => {
      const [rows] = await client.query<RowDataPacket[]>("SELECT id FROM members WHERE role = 'admin'");
      return rows.length > 0 || 'the team has no admin';
    }),
});
