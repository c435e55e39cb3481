/** TypeORM on pg and mysql2: entities by EntitySchema, `synchronize`. */
import { DataSource, EntitySchema, type EntityManager } from 'typeorm';
import type { Driver, NewBook, Served, Shop, ShopTransaction } from './shop.ts';
import { codeField } from './sql-shop.ts';

interface Author {
  id: number;
  name: string;
}

interface Book extends NewBook {
  readonly id: number;
  readonly owner?: Author;
}

type Dialect = 'postgres' | 'mysql';

export const typeormPostgres: Driver = {
  name: 'TypeORM',
  dialect: 'postgres',
  packages: ['typeorm', 'pg'],
  how: 'EntitySchema; `synchronize`',
  without: ['prepared'],
  open: (served) => shop(served, 'postgres'),
};

export const typeormMysql: Driver = {
  name: 'TypeORM',
  dialect: 'mysql',
  packages: ['typeorm', 'mysql2'],
  how: 'EntitySchema; `synchronize`',
  without: ['prepared'],
  open: (served) => shop(served, 'mysql'),
};

async function shop({ host, port }: Served, dialect: Dialect): Promise<Shop> {
  const { author, book } = entities(dialect);
  const address = { host, port, username: 'root', database: 'test', entities: [author, book] };
  const source = await new DataSource(
    dialect === 'postgres' ? { type: 'postgres', ...address, poolSize: 2 } : { type: 'mysql', ...address, poolSize: 2 },
  ).initialize();
  const books = source.getRepository(book);
  return {
    ...operations(source.manager),
    createTables: () => source.synchronize(),
    keepTables: async () => {
      const { upQueries } = await source.driver.createSchemaBuilder().log();
      if (upQueries.length > 0) throw new Error(upQueries.map(({ query }) => query).join('\n'));
      await source.synchronize();
    },
    addPlain: async (authorId, title) => void (await books.insert({ author: authorId, title })),
    titles: async (name, limit) => {
      const found = await books.find({ where: { owner: { name } }, order: { title: 'DESC' }, take: limit });
      return found.map(({ title }) => title);
    },
    like: async ({ author: authorId, price, isSold, added }) =>
      (await books.find({ where: { author: authorId, price, isSold, added } })).map(({ title }) => title),
    transaction: (work, isolation) => {
      const run = (manager: EntityManager): ReturnType<typeof work> => work(operations(manager, true));
      if (isolation === undefined) return source.transaction(run);
      return source.transaction(isolation.toUpperCase() as 'SERIALIZABLE', run);
    },
    codeOf: codeField,
    close: () => source.destroy(),
  };
}

function operations(manager: EntityManager, isTransaction = false): ShopTransaction {
  return {
    addAuthor: async (name) => Number((await manager.insert('author', { name })).identifiers[0]?.['id']),
    addBook: async (row) => void (await manager.save('book', { ...row })),
    book: async (title) => {
      const found = await manager.findOneBy<Book>('book', { title });
      if (found === null) return null;
      const { author, price, isSold, meta, added } = found;
      return { author, title, price, isSold, meta, added };
    },
    setPrice: async (title, price) => (await manager.update('book', { title }, { price })).affected ?? 0,
    remove: async (title) => (await manager.delete('book', { title })).affected ?? 0,
    ...(isTransaction ? { savepoint: (work) => manager.transaction((own) => work(operations(own, true))) } : {}),
  };
}

function entities(dialect: Dialect): { author: EntitySchema<Author>; book: EntitySchema<Book> } {
  const author = new EntitySchema<Author>({
    name: 'author',
    columns: {
      id: { type: Number, primary: true, generated: 'increment' },
      name: { type: 'varchar', length: 40, unique: true },
    },
  });
  const book = new EntitySchema<Book>({
    name: 'book',
    columns: {
      id: { type: Number, primary: true, generated: 'increment' },
      author: { type: Number, name: 'author_id' },
      title: { type: 'varchar', length: 80 },
      price: { type: 'decimal', precision: 10, scale: 2, default: '9.99' },
      isSold: { type: Boolean, name: 'is_sold', default: false },
      meta: { type: 'json', nullable: true },
      added: {
        type: dialect === 'postgres' ? 'timestamptz' : 'datetime',
        precision: 3,
        createDate: true,
        default: () => (dialect === 'postgres' ? 'now()' : 'CURRENT_TIMESTAMP(3)'),
      },
    },
    relations: {
      owner: { type: 'many-to-one', target: 'author', joinColumn: { name: 'author_id' }, onDelete: 'CASCADE' },
    },
    uniques: [{ columns: ['author', 'title'] }],
    indices: [{ columns: ['added'] }],
  });
  return { author, book };
}
