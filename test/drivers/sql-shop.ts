/** The shop for clients that take SQL: statements here, how they are sent in the clients' files. */
import type { Isolation, NewBook, Shop, ShopTransaction } from './shop.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly rows: readonly Row[];
  readonly count: number;
  readonly insertId: number;
}

export type Send = (sql: string, values?: readonly unknown[]) => Promise<Answer>;

export interface SqlClient {
  readonly send: Send;
  readonly prepared?: (sql: string, values: readonly (readonly unknown[])[]) => Promise<Answer[]>;
  /** One connection, until `work` has ended. */
  readonly reserve: <T>(work: (send: Send) => Promise<T>) => Promise<T>;
  /** In place of BEGIN, COMMIT and ROLLBACK. */
  readonly begin?: <T>(work: (send: Send) => Promise<T>, isolation?: Isolation) => Promise<T>;
  readonly close: () => Promise<void>;
}

export const tables = {
  postgres: [
    'create table author (id serial primary key, name varchar(40) not null unique)',
    `create table book (
      id serial primary key,
      author_id integer not null references author (id) on delete cascade,
      title varchar(80) not null,
      price numeric(10, 2) not null default 9.99,
      is_sold boolean not null default false,
      meta json,
      added timestamptz(3) not null default current_timestamp,
      unique (author_id, title))`,
  ],
  mysql: [
    'CREATE TABLE author (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE)',
    `CREATE TABLE book (
      id INT NOT NULL AUTO_INCREMENT,
      author_id INT NOT NULL,
      title VARCHAR(80) NOT NULL,
      price DECIMAL(10, 2) NOT NULL DEFAULT 9.99,
      is_sold BOOLEAN NOT NULL DEFAULT FALSE,
      meta JSON,
      added DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
      PRIMARY KEY (id),
      UNIQUE KEY author_title (author_id, title),
      CONSTRAINT book_author FOREIGN KEY (author_id) REFERENCES author (id) ON DELETE CASCADE)`,
  ],
} as const;

type Dialect = keyof typeof tables;

export function sqlShop(dialect: Dialect, client: SqlClient, codeOf: (error: unknown) => unknown = codeField): Shop {
  const { send } = client;
  const { prepared } = client;
  return {
    ...sqlOperations(dialect, send),
    createTables: async () => {
      for (const sql of tables[dialect]) await send(sql);
    },
    addPlain: async (author, title) => {
      await send(marked(dialect, 'insert into book (author_id, title) values (?, ?)'), [author, title]);
    },
    titles: async (author, limit) => {
      const sql = `select b.title from book b join author a on a.id = b.author_id
        where a.name = ? order by b.title desc limit ${dialect === 'postgres' ? '?' : String(limit)}`;
      const { rows } = await send(marked(dialect, sql), dialect === 'postgres' ? [author, limit] : [author]);
      return rows.map((row) => String(row['title']));
    },
    like: async ({ author, price, isSold, added }) => {
      const sql = 'select title from book where author_id = ? and price = ? and is_sold = ? and added = ? order by id';
      const { rows } = await send(marked(dialect, sql), [author, price, isSold, added]);
      return rows.map((row) => String(row['title']));
    },
    ...(prepared === undefined
      ? {}
      : {
          prepared: async (titles) => {
            const sql = marked(dialect, 'select price from book where title = ?');
            const answers = await prepared(
              sql,
              titles.map((title) => [title]),
            );
            return answers.map(({ rows: [row] }) => (row === undefined ? undefined : String(row['price'])));
          },
        }),
    transaction: (work, isolation) => {
      const inside = (own: Send): ReturnType<typeof work> => work(withSavepoint(dialect, own));
      if (client.begin !== undefined) return client.begin(inside, isolation);
      return client.reserve((own) => inTransaction(dialect, own, inside, isolation));
    },
    codeOf,
    close: client.close,
  };
}

/** `?` for MySQL, `$1` for PostgreSQL. */
function marked(dialect: Dialect, sql: string): string {
  let n = 0;
  return dialect === 'mysql' ? sql : sql.replaceAll('?', () => `$${(n += 1)}`);
}

function sqlOperations(dialect: Dialect, send: Send): ShopTransaction {
  return {
    addAuthor: async (name) => {
      if (dialect === 'mysql') return (await send('INSERT INTO author (name) VALUES (?)', [name])).insertId;
      return Number((await send('insert into author (name) values ($1) returning id', [name])).rows[0]?.['id']);
    },
    addBook: async ({ author, title, price, isSold, meta, added }) => {
      const sql = 'insert into book (author_id, title, price, is_sold, meta, added) values (?, ?, ?, ?, ?, ?)';
      await send(marked(dialect, sql), [author, title, price, isSold, JSON.stringify(meta), added]);
    },
    book: async (title) => bookOf((await send(marked(dialect, 'select * from book where title = ?'), [title])).rows[0]),
    setPrice: async (title, price) =>
      (await send(marked(dialect, 'update book set price = ? where title = ?'), [price, title])).count,
    remove: async (title) => (await send(marked(dialect, 'delete from book where title = ?'), [title])).count,
  };
}

function withSavepoint(dialect: Dialect, send: Send): ShopTransaction {
  const operations = sqlOperations(dialect, send);
  return {
    ...operations,
    savepoint: async (work) => {
      await send('savepoint inner_work');
      try {
        await work(operations);
        await send('release savepoint inner_work');
      } catch (error) {
        await send('rollback to savepoint inner_work');
        throw error;
      }
    },
  };
}

async function inTransaction<T>(
  dialect: Dialect,
  send: Send,
  work: (send: Send) => Promise<T>,
  isolation: Isolation | undefined,
): Promise<T> {
  if (dialect === 'mysql' && isolation !== undefined) await send(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
  await send(dialect === 'mysql' || isolation === undefined ? 'begin' : `begin isolation level ${isolation}`);
  try {
    const result = await work(send);
    await send('commit');
    return result;
  } catch (error) {
    await send('rollback');
    throw error;
  }
}

/** A row of `book` as drivers give it, in the suite's types. */
export function bookOf(row: Row | undefined): NewBook | null {
  if (row === undefined) return null;
  const { author_id: author, title, price, is_sold: isSold, meta, added } = row;
  return {
    author: Number(author),
    title: String(title),
    price: String(price),
    isSold: isSold === true || isSold === 1,
    meta: typeof meta === 'string' ? JSON.parse(meta) : meta,
    added: added as Date,
  };
}

export function codeField(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
