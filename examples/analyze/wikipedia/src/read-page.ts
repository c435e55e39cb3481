/** The Wikipedia benchmark's readers, with mysql2. */
import type { PoolConnection, RowDataPacket } from 'mysql2/promise';
import { inTransaction } from './database.ts';

export async function getPageAnonymous(address: string, namespace: number, title: string): Promise<unknown> {
  return inTransaction(async (connection) => {
    const page = await pageNamed(connection, namespace, title);
    const [blocks] = await connection.execute('SELECT * FROM ipblocks WHERE ipb_address = ?', [address]);
    return { blocks, text: await textOf(connection, page) };
  });
}

export async function getPageAuthenticated(
  address: string,
  user: number,
  namespace: number,
  title: string,
): Promise<unknown> {
  return inTransaction(async (connection) => {
    const [users] = await connection.execute<RowDataPacket[]>('SELECT * FROM useracct WHERE user_id = ?', [user]);
    if (users[0] === undefined) throw new Error('there is no such user');
    const [groups] = await connection.execute('SELECT ug_group FROM user_groups WHERE ug_user = ?', [user]);
    const page = await pageNamed(connection, namespace, title);
    const [blocks] = await connection.execute('SELECT * FROM ipblocks WHERE ipb_user = ? OR ipb_address = ?', [
      user,
      address,
    ]);
    return { groups, blocks, text: await textOf(connection, page) };
  });
}

async function pageNamed(connection: PoolConnection, namespace: number, title: string): Promise<RowDataPacket> {
  const [pages] = await connection.execute<RowDataPacket[]>(
    'SELECT * FROM page WHERE page_namespace = ? AND page_title = ?',
    [namespace, title],
  );
  const [page] = pages;
  if (page === undefined) throw new Error('there is no such page');
  await connection.execute('SELECT * FROM page_restrictions WHERE pr_page = ?', [page['page_id']]);
  return page;
}

async function textOf(connection: PoolConnection, page: RowDataPacket): Promise<unknown> {
  const [revisions] = await connection.execute<RowDataPacket[]>(
    'SELECT * FROM revision WHERE rev_page = ? AND rev_id = ?',
    [page['page_id'], page['page_latest']],
  );
  const [revision] = revisions;
  if (revision === undefined) throw new Error('there is no such revision');
  const [texts] = await connection.execute('SELECT old_text, old_flags FROM text WHERE old_id = ?', [
    revision['rev_text_id'],
  ]);
  return texts;
}
