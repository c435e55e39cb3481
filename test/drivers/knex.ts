/** Knex on pg and mysql2: its schema builder, `hasTable`, and migrations with their own tables and locks. */
import knexOf, { type Knex } from 'knex';
import type { Driver, Served, Shop, ShopTransaction } from './shop.ts';
import { bookOf, codeField, type Row } from './sql-shop.ts';

type Dialect = 'postgres' | 'mysql';

export const knexPostgres: Driver = {
  name: 'Knex',
  dialect: 'postgres',
  packages: ['knex', 'pg'],
  how: 'client `pg`; migrations',
  without: ['prepared'],
  open: async (served) => shop(served, 'postgres'),
};

export const knexMysql: Driver = {
  name: 'Knex',
  dialect: 'mysql',
  packages: ['knex', 'mysql2'],
  how: 'client `mysql2`; migrations',
  without: ['prepared'],
  open: async (served) => shop(served, 'mysql'),
};

function shop({ host, port }: Served, dialect: Dialect): Shop {
  const client = knexOf({
    client: dialect === 'postgres' ? 'pg' : 'mysql2',
    connection: { host, port, user: 'root', database: 'test' },
    pool: { min: 0, max: 2 },
  });
  return {
    ...operations(client, dialect),
    createTables: async () => {
      const [, names] = (await client.migrate.latest({ migrationSource: migrations })) as [number, string[]];
      if (names.join() !== 'authors,books') throw new Error(`it migrated ${names.join()}`);
    },
    keepTables: async () => {
      for (const [table, isThere] of [
        ['book', true],
        ['missing', false],
      ] as const) {
        if ((await client.schema.hasTable(table)) !== isThere) throw new Error(`hasTable ${table}`);
      }
      if (!(await client.schema.hasColumn('book', 'price'))) throw new Error('hasColumn price');
      const [, names] = (await client.migrate.latest({ migrationSource: migrations })) as [number, string[]];
      if (names.length > 0) throw new Error(`it migrated ${names.join()} again`);
    },
    addPlain: async (author, title) => void (await client('book').insert({ author_id: author, title })),
    titles: (author, limit) =>
      client('book')
        .join('author', 'author.id', 'book.author_id')
        .where('author.name', author)
        .orderBy('book.title', 'desc')
        .limit(limit)
        .pluck<string[]>('book.title'),
    like: ({ author, price, isSold, added }) =>
      client('book').where({ author_id: author, price, is_sold: isSold, added }).pluck<string[]>('title'),
    transaction: (work, isolationLevel) =>
      client.transaction(
        (own) => work(operations(own, dialect)),
        isolationLevel === undefined ? {} : { isolationLevel },
      ),
    codeOf: codeField,
    close: () => client.destroy(),
  };
}

function operations(client: Knex | Knex.Transaction, dialect: Dialect): ShopTransaction {
  return {
    addAuthor: async (name) => {
      const insert = client('author').insert({ name });
      if (dialect === 'mysql') return (await insert)[0] ?? 0;
      return Number((await insert.returning<{ id: number }[]>('id'))[0]?.id);
    },
    addBook: async ({ author, title, price, isSold, meta, added }) => {
      const row = { author_id: author, title, price, is_sold: isSold, meta: JSON.stringify(meta), added };
      await client('book').insert(row);
    },
    book: async (title) => bookOf((await client('book').where({ title }).first()) as Row | undefined),
    setPrice: (title, price) => client('book').where({ title }).update({ price }),
    remove: (title) => client('book').where({ title }).delete(),
    ...('isCompleted' in client
      ? { savepoint: (work) => client.transaction((own) => work(operations(own, dialect))) }
      : {}),
  };
}

const created: Readonly<Record<string, (schema: Knex.SchemaBuilder, client: Knex) => PromiseLike<unknown>>> = {
  authors: (schema) =>
    schema.createTable('author', (table) => {
      table.increments('id');
      table.string('name', 40).notNullable().unique();
    }),
  books: (schema, client) =>
    schema.createTable('book', (table) => {
      table.increments('id');
      table.integer('author_id').unsigned().notNullable().references('id').inTable('author').onDelete('CASCADE');
      table.string('title', 80).notNullable();
      table.decimal('price', 10, 2).notNullable().defaultTo(9.99);
      table.boolean('is_sold').notNullable().defaultTo(false);
      table.json('meta');
      table.datetime('added', { precision: 3 }).notNullable().defaultTo(client.fn.now(3));
      table.unique(['author_id', 'title']);
      table.index('added');
    }),
};

const migrations: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(created),
  getMigrationName: (name) => name,
  getMigration: async (name) => ({
    up: async (client) => void (await created[name]?.(client.schema, client)),
    down: (client) => client.schema.dropTable(name),
  }),
};
