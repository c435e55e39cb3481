/** One statement on a connection of its own, as the server's own administrator. */
import { createConnection } from 'mysql2/promise';
import pg from 'pg';

export async function execute(
  engine: 'postgres' | 'mariadb' | 'mysql',
  port: number,
  statement: string,
): Promise<void> {
  if (engine === 'postgres') {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
    return;
  }
  const client = await createConnection({ host: '127.0.0.1', port, user: 'root' });
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
