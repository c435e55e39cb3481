/** Sequelize on pg and mysql2: models, `sync`. */
import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  type Model,
  type ModelStatic,
  Sequelize,
  type Transaction,
  UniqueConstraintError,
} from 'sequelize';
import type { Driver, NewBook, Served, Shop, ShopTransaction } from './shop.ts';
import { codeField } from './sql-shop.ts';

interface Author extends Model<InferAttributes<Author>, InferCreationAttributes<Author>> {
  id: CreationOptional<number>;
  name: string;
}

interface Book extends Model<InferAttributes<Book>, InferCreationAttributes<Book>> {
  id: CreationOptional<number>;
  authorId: number;
  title: string;
  price: CreationOptional<string>;
  isSold: CreationOptional<boolean>;
  meta: CreationOptional<object | null>;
  added: CreationOptional<Date>;
}

interface Models {
  readonly author: ModelStatic<Author>;
  readonly book: ModelStatic<Book>;
}

type Dialect = 'postgres' | 'mysql';

export const sequelizePostgres: Driver = {
  name: 'Sequelize',
  dialect: 'postgres',
  packages: ['sequelize', 'pg'],
  how: 'models; `sync`, `sync({ alter: true })`',
  without: ['prepared'],
  open: (served) => shop(served, 'postgres'),
};

export const sequelizeMysql: Driver = {
  name: 'Sequelize',
  dialect: 'mysql',
  packages: ['sequelize', 'mysql2'],
  how: 'models; `sync`, `sync({ alter: true })`',
  without: ['prepared'],
  open: (served) => shop(served, 'mysql'),
};

async function shop({ host, port }: Served, dialect: Dialect): Promise<Shop> {
  const client = new Sequelize({
    dialect,
    host,
    port,
    username: 'root',
    database: 'test',
    logging: false,
    pool: { max: 2 },
  });
  const models = defined(client);
  return {
    ...operations(models, client),
    createTables: async () => void (await client.sync()),
    keepTables: async () => {
      await client.sync();
      await client.sync({ alter: true });
    },
    addPlain: async (authorId, title) => void (await models.book.create({ authorId, title })),
    titles: async (author, limit) => {
      const books = await models.book.findAll({
        include: [{ association: 'author', where: { name: author }, required: true }],
        order: [['title', 'DESC']],
        limit,
      });
      return books.map(({ title }) => title);
    },
    like: async ({ author: authorId, price, isSold, added }) =>
      (await models.book.findAll({ where: { authorId, price, isSold, added } })).map(({ title }) => title),
    transaction: (work, isolation) =>
      client.transaction(
        isolation === undefined ? {} : { isolationLevel: isolation.toUpperCase() as Transaction.ISOLATION_LEVELS },
        (own) => work(operations(models, client, own)),
      ),
    codeOf: (error) =>
      error instanceof UniqueConstraintError
        ? codeField(error.parent)
        : codeField((error as { parent?: unknown }).parent ?? {}),
    close: () => client.close(),
  };
}

function defined(client: Sequelize): Models {
  const options = { timestamps: false, freezeTableName: true, underscored: true };
  const id = { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true };
  const author = client.define<Author>(
    'author',
    { id, name: { type: DataTypes.STRING(40), allowNull: false, unique: true } },
    options,
  );
  const book = client.define<Book>(
    'book',
    {
      id,
      authorId: { type: DataTypes.INTEGER, allowNull: false },
      title: { type: DataTypes.STRING(80), allowNull: false },
      price: { type: DataTypes.DECIMAL(10, 2), allowNull: false, defaultValue: '9.99' },
      isSold: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
      meta: { type: DataTypes.JSON },
      added: { type: DataTypes.DATE(3), allowNull: false, defaultValue: DataTypes.NOW },
    },
    { ...options, indexes: [{ unique: true, fields: ['author_id', 'title'] }] },
  );
  book.belongsTo(author, { as: 'author', foreignKey: 'authorId', onDelete: 'CASCADE' });
  return { author, book };
}

function operations(
  { author, book }: Models,
  client: Sequelize,
  transaction: Transaction | null = null,
): ShopTransaction {
  return {
    addAuthor: async (name) => (await author.create({ name }, { transaction })).id,
    addBook: async ({ author: authorId, meta, ...rest }) => {
      await book.create({ authorId, meta: meta as object, ...rest }, { transaction });
    },
    book: async (title) => {
      const row = await book.findOne({ where: { title }, transaction });
      if (row === null) return null;
      const { authorId, price, isSold, meta, added } = row;
      return { author: authorId, title, price, isSold, meta, added } satisfies NewBook;
    },
    setPrice: async (title, price) => (await book.update({ price }, { where: { title }, transaction }))[0],
    remove: (title) => book.destroy({ where: { title }, transaction }),
    ...(transaction === null
      ? {}
      : {
          savepoint: (work) =>
            client.transaction({ transaction }, (own) => work(operations({ author, book }, client, own))),
        }),
  };
}
