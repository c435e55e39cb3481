/** Drizzle ORM over mysql2. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { boolean, datetime, decimal, int, json, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle, type MySql2Database } from 'drizzle-orm/mysql2';
import { createPool } from 'mysql2/promise';
import type { Driver, NewBook, Shop, ShopTransaction } from './shop.ts';
import { codeField, tables } from './sql-shop.ts';

const author = mysqlTable('author', {
  id: int('id').primaryKey().autoincrement(),
  name: varchar('name', { length: 40 }).notNull().unique(),
});

const book = mysqlTable('book', {
  id: int('id').primaryKey().autoincrement(),
  author: int('author_id').notNull(),
  title: varchar('title', { length: 80 }).notNull(),
  price: decimal('price', { precision: 10, scale: 2 }).notNull().default('9.99'),
  isSold: boolean('is_sold').notNull().default(false),
  meta: json('meta'),
  added: datetime('added', { fsp: 3 }).notNull().default(sql`(CURRENT_TIMESTAMP(3))`),
});

export const drizzleMysql2: Driver = {
  name: 'Drizzle, mysql2',
  dialect: 'mysql',
  packages: ['drizzle-orm', 'mysql2'],
  how: 'query builder, nested transactions',
  without: ['tables kept'],
  open: async ({ host, port }) => {
    const pool = createPool({ host, port, user: 'root', database: 'test', connectionLimit: 2 });
    return shop(drizzle(pool), () => pool.end());
  },
};

type Client = Pick<MySql2Database, 'select' | 'insert' | 'update' | 'delete' | 'transaction'>;

function shop(client: MySql2Database, close: () => Promise<void>): Shop {
  const byTitle = client
    .select({ price: book.price })
    .from(book)
    .where(eq(book.title, sql.placeholder('title')))
    .prepare();
  return {
    ...operations(client),
    createTables: async () => {
      for (const text of tables.mysql) await client.execute(sql.raw(text));
    },
    addPlain: async (authorId, title) => void (await client.insert(book).values({ author: authorId, title })),
    titles: async (name, limit) => {
      const rows = await client
        .select({ title: book.title })
        .from(book)
        .innerJoin(author, eq(author.id, book.author))
        .where(eq(author.name, name))
        .orderBy(desc(book.title))
        .limit(limit);
      return rows.map(({ title }) => title);
    },
    like: async (wanted) => {
      const { price, isSold, added } = wanted;
      const condition = and(
        eq(book.author, wanted.author),
        eq(book.price, price),
        eq(book.isSold, isSold),
        eq(book.added, added),
      );
      return (await client.select({ title: book.title }).from(book).where(condition)).map(({ title }) => title);
    },
    prepared: async (titles) => {
      const prices: (string | undefined)[] = [];
      for (const title of titles) prices.push((await byTitle.execute({ title }))[0]?.price);
      return prices;
    },
    transaction: (work, isolation) =>
      client.transaction(
        (own) => work(operations(own)),
        isolation === undefined ? undefined : { isolationLevel: isolation },
      ),
    codeOf: (error) => codeField((error as Error).cause),
    close,
  };
}

function operations(client: Client): ShopTransaction {
  return {
    addAuthor: async (name) => (await client.insert(author).values({ name }).$returningId())[0]?.id ?? 0,
    addBook: async (row) => void (await client.insert(book).values(row)),
    book: async (title) => {
      const [row] = await client.select().from(book).where(eq(book.title, title)).limit(1);
      return row === undefined ? null : withoutId(row);
    },
    setPrice: async (title, price) =>
      (await client.update(book).set({ price }).where(eq(book.title, title)))[0].affectedRows,
    remove: async (title) => (await client.delete(book).where(eq(book.title, title)))[0].affectedRows,
    savepoint: (work) => client.transaction((own) => work(operations(own))),
  };
}

function withoutId({ author: owner, title, price, isSold, meta, added }: NewBook): NewBook {
  return { author: owner, title, price, isSold, meta, added };
}
