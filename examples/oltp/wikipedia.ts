/**
 * Wikipedia's UpdatePage and GetPage with the statements of BenchBase: two pages, two users. A15 to A17: what the account, the recent changes
 * and the log say of a user's edits is the same. The log and the recent changes are written in one transaction and never changed, so A17
 * holds for every reader that sees whole transactions.
 */
import { type Client, type Dialect, numberOf, transaction } from './client.ts';
import type { Random } from './random.ts';

const users = 2;
const pages = 2;

export function schema(dialect: Dialect): readonly string[] {
  const generated = dialect === 'postgres' ? 'serial' : 'int NOT NULL AUTO_INCREMENT';
  return [
    `CREATE TABLE useracct (user_id ${generated}, user_name varchar(255) NOT NULL, user_touched varchar(14) NOT NULL, user_editcount int DEFAULT NULL, PRIMARY KEY (user_id))`,
    `CREATE TABLE page (page_id ${generated}, page_namespace int NOT NULL, page_title varchar(255) NOT NULL, page_restrictions varchar(255) NOT NULL,
     page_is_new smallint NOT NULL, page_is_redirect smallint NOT NULL, page_touched varchar(14) NOT NULL, page_latest int NOT NULL, page_len int NOT NULL,
     PRIMARY KEY (page_id), UNIQUE (page_namespace, page_title))`,
    `CREATE TABLE text (old_id ${generated}, old_text text NOT NULL, old_flags varchar(255) NOT NULL, old_page int DEFAULT NULL, PRIMARY KEY (old_id))`,
    `CREATE TABLE revision (rev_id ${generated}, rev_page int NOT NULL, rev_text_id int NOT NULL, rev_comment varchar(255) NOT NULL, rev_user int NOT NULL,
     rev_user_text varchar(255) NOT NULL, rev_timestamp varchar(14) NOT NULL, rev_minor_edit smallint NOT NULL, rev_deleted smallint NOT NULL,
     rev_len int DEFAULT NULL, rev_parent_id int DEFAULT NULL, PRIMARY KEY (rev_id))`,
    `CREATE TABLE recentchanges (rc_id ${generated}, rc_timestamp varchar(14) NOT NULL, rc_user int NOT NULL, rc_namespace int NOT NULL, rc_title varchar(255) NOT NULL,
     rc_comment varchar(255) NOT NULL, rc_cur_id int NOT NULL, rc_this_oldid int NOT NULL, rc_last_oldid int NOT NULL, PRIMARY KEY (rc_id))`,
    `CREATE TABLE logging (log_id ${generated}, log_type varchar(32) NOT NULL, log_action varchar(32) NOT NULL, log_timestamp varchar(14) NOT NULL, log_user int NOT NULL,
     log_namespace int NOT NULL, log_title varchar(255) NOT NULL, log_comment varchar(255) NOT NULL, log_page int DEFAULT NULL, PRIMARY KEY (log_id))`,
    ...each(users, (i) => `INSERT INTO useracct (user_name, user_touched, user_editcount) VALUES ('user${i}', '0', 0)`),
    ...each(pages, (i) => `INSERT INTO text (old_text, old_flags, old_page) VALUES ('text', 'utf-8', ${i})`),
    ...each(
      pages,
      (
        i,
      ) => `INSERT INTO revision (rev_page, rev_text_id, rev_comment, rev_user, rev_user_text, rev_timestamp, rev_minor_edit, rev_deleted, rev_len, rev_parent_id)
        VALUES (${i}, ${i}, '', 1, 'user1', '0', 0, 0, 4, 0)`,
    ),
    ...each(
      pages,
      (
        i,
      ) => `INSERT INTO page (page_namespace, page_title, page_restrictions, page_is_new, page_is_redirect, page_touched, page_latest, page_len)
        VALUES (0, 'page${i}', '', 0, 0, '0', ${i}, 4)`,
    ),
  ];
}

export const wikipediaAssertions: Readonly<Record<string, string>> = {
  A15: 'SELECT user_id FROM useracct WHERE user_editcount <> (SELECT COUNT(*) FROM recentchanges WHERE rc_user = user_id)',
  A16: 'SELECT user_id FROM useracct WHERE user_editcount <> (SELECT COUNT(*) FROM logging WHERE log_user = user_id)',
  A17: `SELECT user_id FROM useracct WHERE (SELECT COUNT(*) FROM recentchanges WHERE rc_user = user_id)
        <> (SELECT COUNT(*) FROM logging WHERE log_user = user_id)`,
};

export function anyTransaction(client: Client, random: Random): Promise<void> {
  const user = random.integer(1, users);
  const title = `page${random.integer(1, pages)}`;
  return random.integer(1, 100) <= 70 ? updatePage(client, user, title) : getPage(client, title);
}

async function updatePage(client: Client, user: number, title: string): Promise<void> {
  await transaction(client, async () => {
    const [page] = await client.query(
      'SELECT * FROM page WHERE page_namespace = ? AND page_title = ? LIMIT 1',
      0,
      title,
    );
    if (page === undefined) return;
    const pageId = numberOf(page, 'page_id');
    const latest = numberOf(page, 'page_latest');
    await client.change("INSERT INTO text (old_page, old_text, old_flags) VALUES (?, ?, 'utf-8')", pageId, 'new text');
    const [text] = await client.query('SELECT MAX(old_id) AS id FROM text WHERE old_page = ?', pageId);
    await client.change(
      'INSERT INTO revision (rev_page, rev_text_id, rev_comment, rev_minor_edit, rev_user, rev_user_text, rev_timestamp, rev_deleted, rev_len, rev_parent_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      pageId,
      numberOf(text, 'id'),
      'comment',
      0,
      user,
      `user${user}`,
      '1',
      0,
      8,
      latest,
    );
    const [revision] = await client.query('SELECT MAX(rev_id) AS id FROM revision WHERE rev_page = ?', pageId);
    const revisionId = numberOf(revision, 'id');
    await client.change(
      'UPDATE page SET page_latest = ?, page_touched = ?, page_is_new = 0, page_is_redirect = 0, page_len = ? WHERE page_id = ?',
      revisionId,
      '1',
      8,
      pageId,
    );
    await client.change(
      'INSERT INTO recentchanges (rc_timestamp, rc_namespace, rc_title, rc_cur_id, rc_user, rc_comment, rc_this_oldid, rc_last_oldid) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      '1',
      0,
      title,
      pageId,
      user,
      'comment',
      revisionId,
      latest,
    );
    await client.change(
      "INSERT INTO logging (log_type, log_action, log_timestamp, log_user, log_title, log_namespace, log_page, log_comment) VALUES ('patrol', 'patrol', ?, ?, ?, ?, ?, '')",
      '1',
      user,
      title,
      0,
      pageId,
    );
    await client.change('UPDATE useracct SET user_editcount = user_editcount + 1 WHERE user_id = ?', user);
    await client.change('UPDATE useracct SET user_touched = ? WHERE user_id = ?', '1', user);
  });
}

async function getPage(client: Client, title: string): Promise<void> {
  await transaction(client, async () => {
    const [page] = await client.query(
      'SELECT * FROM page WHERE page_namespace = ? AND page_title = ? LIMIT 1',
      0,
      title,
    );
    if (page === undefined) return;
    const pageId = numberOf(page, 'page_id');
    await client.query(
      'SELECT * FROM page, revision WHERE page_id = rev_page AND rev_page = ? AND page_id = ? AND rev_id = page_latest LIMIT 1',
      pageId,
      pageId,
    );
  });
}

function each<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i + 1));
}
