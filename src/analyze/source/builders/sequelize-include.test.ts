/** Associated rows of Sequelize: what joins them, what a row object does with them, and what is listed. */
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

test('associated rows that the reader does not write are listed', () => {
  const text = unit(`const author = await Author.findByPk(id); await author.$set('genres', given);`);
  expect(text).toContain('not understood: `$set` of Sequelize is not read');
});

test('a scope that the sources do not say is listed', () => {
  expect(unit(`await Author.scope('named').findAll({ attributes: ['id'] });`)).toBe(`unit f
  SELECT id FROM authors WHERE name = $1  ['x']
`);
  expect(unit(`await Author.scope(given).findAll();`)).toContain('not understood');
  expect(unit(`await Author.unscoped().count();`)).toContain('SELECT count(*) AS value FROM authors');
});

test('an object of conditions that a caller gives may test any column', () => {
  expect(unit(`await Genre.destroy({ where: { ...given } });`)).toBe(`unit f
  DELETE FROM genres WHERE (id = $1 OR name = $2)  [given.id, given.name]
`);
});
