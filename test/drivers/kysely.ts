/** Kysely with its own dialects for pg and mysql2. */
import { Kysely, MysqlDialect, PostgresDialect, sql, type Generated, type Transaction } from 'kysely';
import { createPool } from 'mysql2';
import pg from 'pg';
import type { Driver, Shop, ShopTransaction } from './shop.ts';
import { bookOf, codeField } from './sql-shop.ts';

interface Tables {
  author: { id: Generated<number>; name: string };
  book: {
    id: Generated<number>;
    author_id: number;
    title: string;
    price: Generated<string>;
    is_sold: Generated<boolean | number>;
    meta: string | null;
    added: Generated<Date>;
  };
}

type Client = Kysely<Tables>;
type Dialect = 'postgres' | 'mysql';

export const kyselyPostgres: Driver = {
  name: 'Kysely',
  dialect: 'postgres',
  packages: ['kysely', 'pg'],
  how: 'PostgresDialect; schema builder',
  without: ['prepared'],
  open: async ({ host, port }) => {
    const pool = new pg.Pool({ host, port, user: 'ann', database: 'shop', max: 2 });
    return shop(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), 'postgres');
  },
};

export const kyselyMysql: Driver = {
  name: 'Kysely',
  dialect: 'mysql',
  packages: ['kysely', 'mysql2'],
  how: 'MysqlDialect; schema builder',
  without: ['prepared'],
  open: async ({ host, port }) => {
    const pool = createPool({ host, port, user: 'root', database: 'test', connectionLimit: 2 });
    return shop(new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) }), 'mysql');
  },
};

function shop(client: Client, dialect: Dialect): Shop {
  return {
    ...operations(client, dialect),
    createTables: () => createTables(client, dialect),
    // Its introspection, which migrations look at first.
    keepTables: async () => {
      const tables = await client.introspection.getTables();
      const book = tables.find(({ name }) => name === 'book');
      const names = (book?.columns ?? []).map(({ name }) => name).toSorted();
      if (names.join() !== 'added,author_id,id,is_sold,meta,price,title')
        throw new Error(`columns are ${names.join()}`);
    },
    addPlain: async (author, title) => {
      await client.insertInto('book').values({ author_id: author, title, meta: null }).execute();
    },
    titles: async (author, limit) => {
      const rows = await client
        .selectFrom('book')
        .innerJoin('author', 'author.id', 'book.author_id')
        .where('author.name', '=', author)
        .select('book.title')
        .orderBy('book.title', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ title }) => title);
    },
    like: async ({ author, price, isSold, added }) => {
      const rows = await client
        .selectFrom('book')
        .where((is) => is.and({ author_id: author, price, is_sold: isSold, added }))
        .select('title')
        .execute();
      return rows.map(({ title }) => title);
    },
    transaction: (work, isolation) => {
      if (isolation === undefined) return controlled(client, dialect, work);
      const builder = client.transaction().setIsolationLevel(isolation);
      return builder.execute((own) => work(operations(own, dialect)));
    },
    codeOf: codeField,
    close: () => client.destroy(),
  };
}

/** Only transactions that the caller begins and ends have savepoints. */
async function controlled<T>(
  client: Client,
  dialect: Dialect,
  work: (shop: ShopTransaction) => Promise<T>,
): Promise<T> {
  const transaction = await client.startTransaction().execute();
  const savepoint: ShopTransaction['savepoint'] = async (inner) => {
    const within = await transaction.savepoint('inner_work').execute();
    try {
      await inner(operations(within, dialect));
      await within.releaseSavepoint('inner_work').execute();
    } catch (error) {
      await within.rollbackToSavepoint('inner_work').execute();
      throw error;
    }
  };
  try {
    const result = await work({ ...operations(transaction, dialect), savepoint });
    await transaction.commit().execute();
    return result;
  } catch (error) {
    await transaction.rollback().execute();
    throw error;
  }
}

function operations(client: Client | Transaction<Tables>, dialect: Dialect): ShopTransaction {
  return {
    addAuthor: async (name) => {
      const insert = client.insertInto('author').values({ name });
      if (dialect === 'mysql') return Number((await insert.executeTakeFirstOrThrow()).insertId);
      return (await insert.returning('id').executeTakeFirstOrThrow()).id;
    },
    addBook: async ({ author, title, price, isSold, meta, added }) => {
      const row = { author_id: author, title, price, is_sold: isSold, meta: JSON.stringify(meta), added };
      await client.insertInto('book').values(row).execute();
    },
    book: async (title) =>
      bookOf(await client.selectFrom('book').selectAll().where('title', '=', title).executeTakeFirst()),
    setPrice: async (title, price) => {
      const update = client.updateTable('book').set({ price }).where('title', '=', title);
      return Number((await update.executeTakeFirstOrThrow()).numUpdatedRows);
    },
    remove: async (title) =>
      Number((await client.deleteFrom('book').where('title', '=', title).executeTakeFirstOrThrow()).numDeletedRows),
  };
}

async function createTables(client: Client, dialect: Dialect): Promise<void> {
  const { schema } = client;
  const isMysql = dialect === 'mysql';
  await schema
    .createTable('author')
    .addColumn('id', isMysql ? 'integer' : 'serial', (id) => (isMysql ? id.autoIncrement() : id).primaryKey())
    .addColumn('name', 'varchar(40)', (name) => name.notNull().unique())
    .execute();
  await schema
    .createTable('book')
    .addColumn('id', isMysql ? 'integer' : 'serial', (id) => (isMysql ? id.autoIncrement() : id).primaryKey())
    .addColumn('author_id', 'integer', (author) => author.notNull())
    .addColumn('title', 'varchar(80)', (title) => title.notNull())
    .addColumn('price', 'decimal(10, 2)', (price) => price.notNull().defaultTo('9.99'))
    .addColumn('is_sold', 'boolean', (sold) => sold.notNull().defaultTo(false))
    .addColumn('meta', 'json')
    .addColumn('added', isMysql ? 'datetime(3)' : 'timestamptz(3)', (added) =>
      added.notNull().defaultTo(isMysql ? sql`current_timestamp(3)` : sql`current_timestamp`),
    )
    .addUniqueConstraint('author_title', ['author_id', 'title'])
    .addForeignKeyConstraint('book_author', ['author_id'], 'author', ['id'], (key) => key.onDelete('cascade'))
    .execute();
  await schema.createIndex('book_added').on('book').column('added').execute();
}
