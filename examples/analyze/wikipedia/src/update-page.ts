/** The Wikipedia benchmark's edit of a page, with mysql2: the text, the revision, the page, and those who watch it. */
import type { PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { inTransaction, now } from './database.ts';

export interface Edit {
  readonly page: number;
  readonly namespace: number;
  readonly title: string;
  readonly text: string;
  readonly user: number;
  readonly userText: string;
  readonly comment: string;
  readonly isMinor: boolean;
}

export async function updatePage(edit: Edit, textId: number, revisionId: number): Promise<void> {
  const time = now();
  await inTransaction(async (connection) => {
    const [[old]] = await connection.execute<RowDataPacket[]>(
      'SELECT old_text FROM text WHERE old_id = ? AND old_page = ?',
      [textId, edit.page],
    );
    if (old === undefined) throw new Error('the text is not of this page');
    const length = edit.text.length;
    const [{ insertId: text }] = await connection.execute<ResultSetHeader>(
      "INSERT INTO text (old_page, old_text, old_flags) VALUES (?, ?, 'utf-8')",
      [edit.page, edit.text],
    );
    const [{ insertId: revision }] = await connection.execute<ResultSetHeader>(
      `INSERT INTO revision (rev_page, rev_text_id, rev_comment, rev_minor_edit, rev_user, rev_user_text, rev_timestamp, rev_len, rev_parent_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [edit.page, text, edit.comment, edit.isMinor ? 1 : 0, edit.user, edit.userText, time, length, revisionId],
    );
    await connection.execute(
      'UPDATE page SET page_latest = ?, page_touched = ?, page_is_new = 0, page_is_redirect = 0, page_len = ? WHERE page_id = ?',
      [revision, time, length, edit.page],
    );
    await connection.execute(
      `INSERT INTO recentchanges (rc_timestamp, rc_user, rc_user_text, rc_namespace, rc_title, rc_comment, rc_cur_id, rc_this_oldid, rc_last_oldid, rc_old_len, rc_new_len)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        time,
        edit.user,
        edit.userText,
        edit.namespace,
        edit.title,
        edit.comment,
        edit.page,
        text,
        textId,
        length,
        length,
      ],
    );
    await notify(connection, edit, time);
  });
  await inTransaction((connection) => log(connection, edit, time));
}

async function notify(connection: PoolConnection, { title, namespace, user }: Edit, time: string): Promise<void> {
  const [watching] = await connection.execute<RowDataPacket[]>(
    'SELECT wl_user FROM watchlist WHERE wl_title = ? AND wl_namespace = ? AND wl_user <> ? AND wl_notificationtimestamp IS NULL',
    [title, namespace, user],
  );
  for (const { wl_user } of watching) {
    await connection.execute(
      'UPDATE watchlist SET wl_notificationtimestamp = ? WHERE wl_title = ? AND wl_namespace = ? AND wl_user = ?',
      [time, title, namespace, wl_user],
    );
    await connection.execute('SELECT * FROM useracct WHERE user_id = ?', [wl_user]);
  }
}

async function log(connection: PoolConnection, edit: Edit, time: string): Promise<void> {
  await connection.execute(
    `INSERT INTO logging (log_type, log_action, log_timestamp, log_user, log_namespace, log_title, log_page)
     VALUES ('patrol', 'patrol', ?, ?, ?, ?, ?)`,
    [time, edit.user, edit.namespace, edit.title, edit.page],
  );
  const [[user]] = await connection.execute<RowDataPacket[]>('SELECT user_editcount FROM useracct WHERE user_id = ?', [
    edit.user,
  ]);
  if (user === undefined) throw new Error('there is no such user');
  await connection.execute('UPDATE useracct SET user_editcount = ? WHERE user_id = ?', [
    user['user_editcount'] + 1,
    edit.user,
  ]);
  await connection.execute('UPDATE useracct SET user_touched = ? WHERE user_id = ?', [time, edit.user]);
}
