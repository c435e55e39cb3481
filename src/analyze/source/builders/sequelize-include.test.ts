/** Associated rows of Sequelize: what joins them, what a row object does with them, and what is listed. */
import { Sequelize } from 'sequelize';
import { expect, test } from 'vitest';
import { read } from '../read-source.test-support.ts';

const models = {
  'author.ts': `import { BelongsToMany, Column, HasMany, Model, Scopes, Table } from 'sequelize-typescript'; import { Book } from './book'; import { Genre } from './genre'; import { AuthorGenre } from './author-genre';
    @Scopes(() => ({ named: { where: { name: 'x' } } }))
    @Table({ tableName: 'authors', timestamps: false }) export class Author extends Model { @Column declare name: string;
      @HasMany(() => Book) declare books: Book[]; @BelongsToMany(() => Genre, () => AuthorGenre) declare genres: Genre[]; }`,
  'book.ts': `import { BelongsTo, Column, ForeignKey, Model, Table } from 'sequelize-typescript'; import { Author } from './author';
    @Table({ tableName: 'books', timestamps: false }) export class Book extends Model { @Column declare title: string;
      @ForeignKey(() => Author) @Column declare authorId: number; @BelongsTo(() => Author) declare author: Author; }`,
  'genre.ts': `import { Column, Model, Table } from 'sequelize-typescript';
    @Table({ tableName: 'genres', timestamps: false }) export class Genre extends Model { @Column declare name: string; }`,
  'author-genre.ts': `import { Column, ForeignKey, Model, Table } from 'sequelize-typescript'; import { Author } from './author'; import { Genre } from './genre';
    @Table({ tableName: 'author_genres', timestamps: false }) export class AuthorGenre extends Model {
      @ForeignKey(() => Author) @Column declare authorId: number; @ForeignKey(() => Genre) @Column declare genreId: number; }`,
};

function unit(body: string): string {
  const head = `import { Author } from './author'; import { Book } from './book'; import { Genre } from './genre';`;
  return read({ ...models, 'a.ts': `${head} export async function f(id, given) { ${body} }` });
}

test('decorators say which rows are joined', () => {
  expect(unit(`await Book.findAll({ attributes: ['id'], include: [Author] });`)).toBe(`unit f
  SELECT books.id, author.id AS "author.id", author.name AS "author.name" FROM books LEFT JOIN authors AS author ON books."authorId" = author.id
`);
  expect(unit(`await Author.findAll({ attributes: ['id'], include: ['genres'] });`)).toContain(
    'FROM authors LEFT JOIN author_genres AS "genres->through" ON authors.id = "genres->through"."authorId" LEFT JOIN genres AS genres ON "genres->through"."genreId" = genres.id',
  );
});

test('a limit counts the rows before others are joined', () => {
  expect(
    unit(`await Author.findAll({ attributes: ['id'], limit: 2, include: [{ model: Book, where: { title: 'x' } }] });`),
  ).toBe(`unit f
  SELECT authors.id, books.id AS "books.id", books.title AS "books.title", books."authorId" AS "books.authorId" FROM (SELECT authors.id, authors.name FROM authors WHERE EXISTS (SELECT 1 FROM books AS books WHERE authors.id = books."authorId" AND (books.title = $1)) LIMIT $2) AS authors JOIN books AS books ON authors.id = books."authorId" AND (books.title = $3)  ['x', 2, 'x']
`);
});

test('joined rows are objects that can be saved', () => {
  const text = unit(`const author = await Author.findByPk(id, { attributes: ['id'], include: [Book] });
    for (const book of author.books) { book.title = given; await book.save(); }`);
  expect(text).toContain('UPDATE books SET title = $1 WHERE id = $2  [given, book.books.id]');
});

test('how many rows are joined is not the number of rows of the result', () => {
  const text = unit(`const author = await Author.findOne({ where: { id }, include: [Book] });
    if (author.books.length === 0) await Author.destroy({ where: { id } });`);
  expect(text).toContain('if (? how many rows are joined = 0)');
});

test('a row object reads and adds associated rows', () => {
  const text = unit(`const author = await Author.findByPk(id, { attributes: ['id'] });
    await author.$get('books'); await author.$get('genres', { attributes: ['name'] }); await author.$count('books'); await author.$create('book', { title: given });`);
  expect(text).toContain(`SELECT id, title, "authorId" FROM books WHERE "authorId" = $1  [authors.id]`);
  expect(text).toContain(
    `SELECT name FROM genres WHERE id IN (SELECT "genreId" FROM author_genres WHERE "authorId" = $1)  [authors.id]`,
  );
  expect(text).toContain(`INSERT INTO books (title, "authorId") VALUES ($1, $2) RETURNING`);
});

test('associated rows that are set: a look, what is gone, and what is new', () => {
  expect(unit(`const author = await Author.findByPk(id); await author.$set('genres', given);`)).toBe(`unit f
  authors := SELECT id, name FROM authors WHERE id = $1  [id]
  SELECT "authorId", "genreId" FROM author_genres WHERE "authorId" = $1  [authors.id]
  if ? which rows were found
    DELETE FROM author_genres WHERE "authorId" = $1 AND "genreId" = $2  [authors.id, ? a row that is gone]
  if ? which rows were found
    INSERT INTO author_genres ("authorId", "genreId") VALUES ($1, $2) RETURNING "authorId", "genreId"  [authors.id, ? a row that is new]
`);
});

test('rows between two models that are added: an INSERT where the look finds none', () => {
  expect(unit(`const author = await Author.findByPk(id); await author.$add('genres', [given]);`)).toContain(`
  author_genres := SELECT "authorId", "genreId" FROM author_genres WHERE "authorId" = $1 AND "genreId" IN ($2)  [authors.id, given]
  if (count(author_genres) = 0)
    INSERT INTO author_genres ("authorId", "genreId") VALUES ($1, $2) RETURNING "authorId", "genreId"  [authors.id, given]
`);
});

test('columns between the rows that a call gives are listed', () => {
  const text = unit(
    `const author = await Author.findByPk(id); await author.$add('genres', given, { through: { rank: 1 } });`,
  );
  expect(text).toContain('not understood: `$add` of Sequelize is not read with columns of its own between the rows');
});

test('rows that a function makes of a list are inserted one for each', () => {
  expect(unit(`await Genre.bulkCreate(given.names.map((name) => ({ name })));`)).toContain(
    '  for row of given.names\n    INSERT INTO genres (name) VALUES ($1) RETURNING id, name  [row]\n',
  );
});

test("a transaction is that of the options, also where they are a caller's, or of its function with CLS", () => {
  const inside = (body: string, head = '') =>
    read({
      ...models,
      'a.ts': `import { Author } from './author'; import { Sequelize } from 'sequelize'; const sequelize = new Sequelize(''); ${head}
        export async function f(id, given) { ${body} }`,
    });
  const deletion = '    DELETE FROM authors WHERE id = $1  [id]\n';
  expect(
    inside(`await sequelize.transaction((transaction) => Author.destroy({ where: { id }, ...given, transaction }));`),
  ).toContain(`  transaction f\n    DELETE FROM authors`);
  const alone = `await sequelize.transaction(() => Author.destroy({ where: { id } }));`;
  expect(inside(alone)).toContain(deletion.slice(2));
  expect(inside(alone)).not.toContain(deletion);
  expect(inside(alone, `Sequelize.useCLS({});`)).toContain(`  transaction f\n${deletion}`);
  expect(
    inside(`await Author.sequelize.transaction((transaction) => Author.destroy({ where: { id }, transaction }));`),
  ).toContain(`  transaction f\n${deletion}`);
});

test('models and transactions of a handle that comes from outside', () => {
  const text = read({
    'models.js': `const { Sequelize, DataTypes } = require('sequelize'); const sequelize = new Sequelize('');
      sequelize.define('Item', { n: DataTypes.INTEGER }, { timestamps: false, tableName: 'items' });`,
    'a.js': `exports.f = (app, id) => app.get('db').transaction(async (transaction) => { await app.get('db').models.Item.destroy({ where: { id }, transaction }); });`,
  });
  expect(text).toContain('  transaction f\n    DELETE FROM items WHERE id = $1  [id]\n');
});

test('a call of a model that no unit reaches is listed', () => {
  const text = read({
    ...models,
    'a.ts': `import { Author } from './author'; function f() { return Author.create({ name: 'x' }); }`,
  });
  expect(text).toContain('not understood: no unit reaches this statement: none calls f');
});

test('associations in files that import the models', () => {
  const text = read({
    'a-links.js': `const { Owner, Item } = require('./models'); Owner.hasMany(Item, { as: 'items', foreignKey: 'ownerId' });`,
    'models.js': `const { Sequelize, DataTypes, Model } = require('sequelize'); const sequelize = new Sequelize('');
      class Owner extends Model {} class Item extends Model {}
      Owner.init({ n: DataTypes.INTEGER }, { sequelize, timestamps: false, tableName: 'owners' });
      Item.init({ n: DataTypes.INTEGER }, { sequelize, timestamps: false, tableName: 'items' }); module.exports = { Owner, Item };`,
    'z.js': `const { Owner } = require('./models'); exports.f = () => Owner.findAll({ include: ['items'] });`,
  });
  expect(text).toContain('LEFT JOIN items AS items ON owners.id = items."ownerId"');
});

test('a model that is made with `new` is saved by what it has', () => {
  expect(
    unit(`const genre = new Genre({ name: given }); await genre.save(); await Genre.create(genre.toJSON());`),
  ).toContain('INSERT INTO genres (name) VALUES ($1) RETURNING id, name  [given]');
});

test('a scope that the sources do not say is listed', () => {
  expect(unit(`await Author.scope('named').findAll({ attributes: ['id'] });`)).toBe(`unit f
  SELECT id FROM authors WHERE name = $1  ['x']
`);
  expect(unit(`await Genre.scope(given).findAll();`)).toContain('not understood');
  expect(unit(`await Author.unscoped().count();`)).toContain('SELECT count(*) AS value FROM authors');
});

test('a scope that a caller names is one of the sources, or none', () => {
  expect(unit(`await Author.scope(given).findAll({ attributes: ['id'] });`)).toBe(`unit f
  if (given = 'named')
    SELECT id FROM authors WHERE name = $1  ['x']
  else
    SELECT id FROM authors
`);
});

test('an object of conditions that a caller gives may test any column', () => {
  expect(unit(`await Genre.destroy({ where: { ...given } });`)).toBe(`unit f
  DELETE FROM genres WHERE (id = $1 OR name = $2)  [given.id, given.name]
`);
});

test('an order of which the source does not say the column or the direction', () => {
  const order = (by: string) => unit(`await Genre.findAll({ attributes: ['id'], order: [${by}] });`);
  expect(order(`['name', given.way]`)).toBe('unit f\n  SELECT id FROM genres ORDER BY name\n');
  expect(order(`[given.by, given.way]`)).toBe('unit f\n  SELECT id FROM genres ORDER BY $1  [given.by]\n');
});

test('a decorator may give an association another name than its field', () => {
  const text = read({
    'models.ts': `import { BelongsTo, Column, ForeignKey, HasMany, Model, Table } from 'sequelize-typescript';
      @Table({ tableName: 'owners', timestamps: false }) export class Owner extends Model { @HasMany(() => Item, { as: 'parts' }) declare items: Item[]; }
      @Table({ tableName: 'items', timestamps: false }) export class Item extends Model { @ForeignKey(() => Owner) @Column declare ownerId: number; }
      export const f = () => Owner.findAll({ attributes: ['id'], include: [{ model: Item, as: 'parts', attributes: ['id'] }] });`,
  });
  expect(text).toContain(
    'SELECT owners.id, parts.id AS "parts.id" FROM owners LEFT JOIN items AS parts ON owners.id = parts."ownerId"',
  );
});

test('a value that is undefined in `where` is no missing condition', () => {
  expect(unit(`await Genre.destroy({ where: { name: undefined } });`)).toContain(
    'not understood: name of `where` is undefined, which Sequelize refuses',
  );
});

test('the library ignores an option of `include` that it does not have, and `on` is listed', () => {
  const of = (option: string) => unit(`await Author.findAll({ include: [{ association: 'genres', ${option} }] });`);
  expect(of('seperate: true')).toBe(of(''));
  expect(of('on: { id: 1 }')).toContain('not understood: `on` of an included model is not read');
});

test('where a value is undefined in `where` on one path, the call throws there, and a handler runs', () => {
  const destroy = 'await Genre.destroy({ where: { name: given ? given.name : undefined } });';
  expect(unit(destroy)).toBe(`unit f
  if not(given)
    return
  DELETE FROM genres WHERE name = $1  [given.name]
`);
  const caught = unit(`try { ${destroy} } catch { await Genre.destroy({ where: { name: 'none' } }); }`);
  expect(caught).toContain("if not(given)\n    genres := DELETE FROM genres WHERE name = $1  ['none']");
});

test('a condition that only one path sets is there on that path', () => {
  expect(unit(`const where = {}; if (given) where.name = given; await Genre.destroy({ where });`)).toBe(`unit f
  if given
    DELETE FROM genres WHERE name = $1  [given]
  else
    DELETE FROM genres
`);
});

test('a row that other code gives a service', () => {
  expect(
    read({
      ...models,
      'a.ts': `import { Author } from './author'; import { Book } from './book';
        class Current { private author: Author; set one(author: Author) { this.author = author; } get one() { return this.author; } }
        export class Books { constructor(private current: Current) {} remove() { return Book.destroy({ where: { authorId: this.current.one.id } }); } }`,
    }),
  ).toContain('DELETE FROM books WHERE "authorId" = $1  [? what author is]');
});

test('a model of which a field differs by path is saved', () => {
  expect(
    unit(`const row = Genre.build({ name: given.name ? given.name : undefined }); await Genre.create(row.toJSON());`),
  ).toContain('INSERT INTO genres (name) VALUES ($1) RETURNING id, name');
});

test('a new row gets its key by a method of its association', () => {
  expect(unit(`const book = Book.build({ title: given }); await book.$set('author', id);`)).toContain(
    'INSERT INTO books (title, "authorId") VALUES ($1, $2) RETURNING id, title, "authorId"  [given, id]',
  );
});

const names = `Order Orders url_click url_clicks users_stats Tags Posts Category Categories Address Addresses Status Alias Box Class Series News Media Data
  Person OrderIndex Matrix Knife Woman Quiz Analysis Child Access Bus Day Wish Match`;

test.each(names.split(/\s+/))('the table of a model %s has the name that the library gives it', (name) => {
  const { tableName } = new Sequelize({ dialect: 'postgres' }).define(name, {});
  const source = `import { Sequelize } from 'sequelize'; const Model = new Sequelize('').define('${name}', {}, { timestamps: false });
    export const f = () => Model.findAll({ attributes: ['id'] });`;
  expect(read({ 'a.ts': source }).replaceAll('"', '')).toBe(`unit f\n  SELECT id FROM ${tableName}\n`);
});
