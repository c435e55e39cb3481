/**
 * Prisma with its driver adapters. Its packages are too large to be dependencies of this one: `prisma.test.ts` installs them on request, and what
 * is used of them is typed here.
 */
import type { Driver, NewBook, Served, Shop, ShopTransaction } from '../shop.ts';
import { tables } from '../sql-shop.ts';

/** What `prisma.test.ts` installs. */
export const prismaVersions: Readonly<Record<string, string>> = {
  prisma: '7.10.0',
  '@prisma/client': '7.10.0',
  '@prisma/adapter-pg': '7.10.0',
  '@prisma/adapter-mariadb': '7.10.0',
};

type PrismaDriver = Omit<Driver, 'open'>;

const how = 'driver adapters; run with MOIRAI_PRISMA=1';

export const prismaDrivers: readonly PrismaDriver[] = [
  {
    name: 'Prisma',
    dialect: 'postgres',
    packages: ['prisma', '@prisma/adapter-pg'],
    how,
    without: ['tables kept', 'prepared'],
  },
  {
    name: 'Prisma',
    dialect: 'mysql',
    packages: ['prisma', '@prisma/adapter-mariadb'],
    how,
    without: ['tables kept', 'prepared'],
  },
];

interface Book extends Omit<NewBook, 'author' | 'price'> {
  readonly authorId: number;
  readonly price: { toFixed(digits: number): string };
}

type BookData = Omit<Partial<NewBook>, 'author'> & { readonly authorId?: number };
type BookFilter = Omit<BookData, 'meta'> & { readonly author?: { readonly name: string } };

interface Count {
  readonly count: number;
}

/** What a generated client and its transactions have. */
interface Models {
  readonly author: { create(row: { data: { name: string } }): Promise<{ id: number }> };
  readonly book: {
    create(row: { data: BookData }): Promise<unknown>;
    findFirst(query: { where: BookFilter }): Promise<Book | null>;
    findMany(query: { where: BookFilter; orderBy?: { title: 'desc' }; take?: number }): Promise<readonly Book[]>;
    updateMany(change: { where: BookFilter; data: BookData }): Promise<Count>;
    deleteMany(query: { where: BookFilter }): Promise<Count>;
  };
  $transaction<T>(work: (own: Models) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

interface Client extends Models {
  $executeRawUnsafe(sql: string): Promise<unknown>;
  $disconnect(): Promise<void>;
}

interface TransactionOptions {
  readonly isolationLevel?: string;
  /** Milliseconds until a transaction is rolled back, and until a connection has to be there. */
  readonly timeout?: number;
  readonly maxWait?: number;
}

type ClientClass = new (options: { adapter: object; transactionOptions: TransactionOptions }) => Client;
type AdapterClass = new (address: Readonly<Record<string, string | number>>) => object;

/** The generated clients and the adapters. */
export interface PrismaClasses {
  readonly PostgresClient: ClientClass;
  readonly MysqlClient: ClientClass;
  readonly PrismaPg: AdapterClass;
  readonly PrismaMariaDb: AdapterClass;
}

const levels = {
  'read committed': 'ReadCommitted',
  'repeatable read': 'RepeatableRead',
  serializable: 'Serializable',
};

/** Longer than its 5 and 2 seconds, for a busy machine. */
const patient: TransactionOptions = { timeout: 60_000, maxWait: 60_000 };

export function openPrisma(classes: PrismaClasses, dialect: Driver['dialect'], { host, port }: Served): Shop {
  const { PostgresClient, MysqlClient, PrismaPg, PrismaMariaDb } = classes;
  if (dialect === 'postgres') {
    const adapter = new PrismaPg({ host, port, user: 'ann', database: 'shop', max: 2 });
    return shop(new PostgresClient({ adapter, transactionOptions: patient }), dialect);
  }
  const adapter = new PrismaMariaDb({ host, port, user: 'root', database: 'test', connectionLimit: 2 });
  return shop(new MysqlClient({ adapter, transactionOptions: patient }), dialect);
}

function shop(client: Client, dialect: Driver['dialect']): Shop {
  return {
    ...operations(client),
    // Those of its migrations would need its schema engine, which is a download of its own.
    createTables: async () => {
      for (const sql of tables[dialect]) await client.$executeRawUnsafe(sql);
    },
    addPlain: async (authorId, title) => void (await client.book.create({ data: { authorId, title } })),
    titles: async (name, take) => {
      const found = await client.book.findMany({ where: { author: { name } }, orderBy: { title: 'desc' }, take });
      return found.map(({ title }) => title);
    },
    like: async ({ author, price, isSold, added }) => {
      const found = await client.book.findMany({ where: { authorId: author, price, isSold, added } });
      return found.map(({ title }) => title);
    },
    transaction: (work, isolation) =>
      client.$transaction(
        (own) => work(withSavepoint(own)),
        isolation === undefined ? {} : { isolationLevel: levels[isolation] },
      ),
    codeOf: (error) => codeOf(error, dialect),
    close: () => client.$disconnect(),
  };
}

function operations({ author, book }: Models): ShopTransaction {
  return {
    addAuthor: async (name) => (await author.create({ data: { name } })).id,
    addBook: async ({ author: authorId, ...rest }) => void (await book.create({ data: { authorId, ...rest } })),
    book: async (title) => {
      const found = await book.findFirst({ where: { title } });
      if (found === null) return null;
      const { authorId, price, isSold, meta, added } = found;
      return { author: authorId, title: found.title, price: price.toFixed(2), isSold, meta, added };
    },
    setPrice: async (title, price) => (await book.updateMany({ where: { title }, data: { price } })).count,
    remove: async (title) => (await book.deleteMany({ where: { title } })).count,
  };
}

/** A transaction in a transaction is a savepoint. */
function withSavepoint(own: Models): ShopTransaction {
  return {
    ...operations(own),
    savepoint: (work) => own.$transaction((within) => work(operations(within))),
  };
}

interface PrismaError {
  readonly code?: string;
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: string } } };
}

/** Its own code and the server's, which it passes on: both have to be there for what the suite asks of every client. */
const codes: Readonly<Record<Driver['dialect'], Readonly<Record<string, string>>>> = {
  postgres: { 'P2002 23505': '23505', 'P2034 40001': '40001' },
  mysql: { 'P2002 1062': 'ER_DUP_ENTRY' },
};

function codeOf(error: unknown, dialect: Driver['dialect']): string {
  const { code, meta } = error as PrismaError;
  const both = `${code} ${meta?.driverAdapterError?.cause?.originalCode}`;
  return codes[dialect][both] ?? both;
}
