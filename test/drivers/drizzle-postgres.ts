/** Drizzle ORM over node-postgres and postgres.js. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { drizzle as overNodePostgres } from 'drizzle-orm/node-postgres';
import {
  boolean,
  integer,
  json,
  numeric,
  type PgDatabase,
  type PgQueryResultHKT,
  pgTable,
  serial,
  timestamp,
  varchar,
} from 'drizzle-orm/pg-core';
import { drizzle as overPostgresJs } from 'drizzle-orm/postgres-js';
import pg from 'pg';
import postgres from 'postgres';
import type { Driver, NewBook, Shop, ShopTransaction } from './shop.ts';
import { codeField, tables } from './sql-shop.ts';

const author = pgTable('author', {
  id: serial('id').primaryKey(),
  name: varchar('name', { length: 40 }).notNull().unique(),
});

const book = pgTable('book', {
  id: serial('id').primaryKey(),
  author: integer('author_id').notNull(),
  title: varchar('title', { length: 80 }).notNull(),
  price: numeric('price', { precision: 10, scale: 2 }).notNull().default('9.99'),
  isSold: boolean('is_sold').notNull().default(false),
  meta: json('meta'),
  added: timestamp('added', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
});

type Client = PgDatabase<PgQueryResultHKT>;

export const drizzleNodePostgres: Driver = {
  name: 'Drizzle, node-postgres',
  dialect: 'postgres',
  packages: ['drizzle-orm', 'pg'],
  how: 'query builder, nested transactions',
  without: ['tables kept'],
  open: async ({ host, port }) => {
    const pool = new pg.Pool({ host, port, user: 'ann', database: 'shop', max: 2 });
    return shop(
      overNodePostgres(pool),
      (result) => (result as pg.QueryResult).rowCount,
      () => pool.end(),
    );
  },
};

export const drizzlePostgresJs: Driver = {
  name: 'Drizzle, postgres.js',
  dialect: 'postgres',
  packages: ['drizzle-orm', 'postgres'],
  how: 'query builder, nested transactions',
  without: ['tables kept'],
  open: async ({ host, port }) => {
    const client = postgres({ host, port, user: 'ann', database: 'shop', max: 2, onnotice: () => undefined });
    return shop(
      overPostgresJs(client),
      (result) => (result as { count: number }).count,
      () => client.end(),
    );
  },
};

type CountOf = (result: unknown) => number | null;

function shop(client: Client, countOf: CountOf, close: () => Promise<void>): Shop {
  const byTitle = client
    .select({ price: book.price })
    .from(book)
    .where(eq(book.title, sql.placeholder('title')))
    .prepare('price_of_title');
  return {
    ...operations(client, countOf),
    createTables: async () => {
      for (const text of tables.postgres) await client.execute(sql.raw(text));
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
        (own) => work(operations(own, countOf)),
        isolation === undefined ? undefined : { isolationLevel: isolation },
      ),
    codeOf: (error) => codeField((error as Error).cause),
    close,
  };
}

function operations(client: Client, countOf: CountOf): ShopTransaction {
  return {
    addAuthor: async (name) => (await client.insert(author).values({ name }).returning())[0]?.id ?? 0,
    addBook: async (row) => void (await client.insert(book).values(row)),
    book: async (title) => {
      const [row] = await client.select().from(book).where(eq(book.title, title)).limit(1);
      return row === undefined ? null : withoutId(row);
    },
    setPrice: async (title, price) =>
      countOf(await client.update(book).set({ price }).where(eq(book.title, title))) ?? 0,
    remove: async (title) => countOf(await client.delete(book).where(eq(book.title, title))) ?? 0,
    savepoint: (work) => client.transaction((own) => work(operations(own, countOf))),
  };
}

function withoutId({ author: owner, title, price, isSold, meta, added }: NewBook): NewBook {
  return { author: owner, title, price, isSold, meta, added };
}
