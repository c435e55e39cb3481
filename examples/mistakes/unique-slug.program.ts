/** A slug that is unique by a SELECT, with Drizzle: two posts of one title look for a free slug, and both take the first. */
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { sqlProgram } from 'moirai';
import { type Connection, onPostgres } from './clients.ts';

const posts = pgTable('posts', {
  id: uuid('id').primaryKey(),
  title: text('title').notNull(),
  slug: text('slug').notNull(),
  body: text('body').notNull(),
  author: text('author').notNull(),
});

const publish = (connection: Connection, author: string): Promise<string> =>
  onPostgres(connection, (client) =>
    drizzle(client).transaction(async (t) => {
      let slug = 'hello';
      for (let n = 2; (await t.select({ id: posts.id }).from(posts).where(eq(posts.slug, slug))).length > 0; n += 1)
        slug = `hello-${n}`;
      await t.insert(posts).values({ id: crypto.randomUUID(), title: 'Hello', slug, body: '', author });
      return slug;
    }),
  );

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE posts (
      id uuid PRIMARY KEY, title text NOT NULL, slug text NOT NULL, body text NOT NULL, author text NOT NULL, language text,
      published_at timestamp, edited_at timestamp, is_pinned boolean, picture text
    );
  `,
  sessions: { ann: (connection) => publish(connection, 'Ann'), ben: (connection) => publish(connection, 'Ben') },
  invariant: (end) =>
    onPostgres(end, async (client) => {
      const { rows } = await client.query('SELECT slug FROM posts GROUP BY slug HAVING count(*) > 1');
      return rows.length === 0 || `two posts have the slug ${rows[0].slug}`;
    }),
});
