/** The Wikipedia benchmark's watch lists, with mysql2: an article and its talk page are watched together. */
import { inTransaction, now } from './database.ts';

export async function addWatchList(user: number, namespace: number, title: string): Promise<void> {
  await inTransaction(async (connection) => {
    const add =
      'INSERT IGNORE INTO watchlist (wl_user, wl_namespace, wl_title, wl_notificationtimestamp) VALUES (?, ?, ?, NULL)';
    await connection.execute(add, [user, namespace, title]);
    if (namespace === 0) await connection.execute(add, [user, 1, title]);
    await connection.execute('UPDATE useracct SET user_touched = ? WHERE user_id = ?', [now(), user]);
  });
}

export async function removeWatchList(user: number, namespace: number, title: string): Promise<void> {
  await inTransaction(async (connection) => {
    const remove = 'DELETE FROM watchlist WHERE wl_user = ? AND wl_namespace = ? AND wl_title = ?';
    await connection.execute(remove, [user, namespace, title]);
    if (namespace === 0) await connection.execute(remove, [user, 1, title]);
    await connection.execute('UPDATE useracct SET user_touched = ? WHERE user_id = ?', [now(), user]);
  });
}
