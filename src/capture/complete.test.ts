import { beforeAll, expect, test } from 'vitest';
import { loadParser } from '../sql/parse.ts';
import { completedText, completionOf, mayDefine, positionBefore, rowsWithoutAdded } from './complete.ts';
import { schemaOf } from './schema.ts';
import { column } from './statement-rows.test-support.ts';
import { PlanCache } from './plan-cache.ts';

beforeAll(() => loadParser());

const tables = [
  column('book', 'id', 'integer', { key_position: 1 }),
  column('book', 'title', 'text'),
  column('stock', 'w', 'integer', { key_position: 1 }),
  column('stock', 'Item', 'text', { key_position: 2 }),
  column('stock', 'n', 'integer'),
  column('notes', 'text', 'text'),
];
const cache = new PlanCache(schemaOf('postgres', tables));
const mysql = new PlanCache(schemaOf('mysql', tables));

test.each([
  ['SELECT title FROM book WHERE title = $1', 'SELECT "book"."id" AS moirai_1, title FROM book WHERE title = $1'],
  ["SELECT 'ü', b.title FROM book b", `SELECT "b"."id" AS moirai_1, 'ü', b.title FROM book b`],
  ['SELECT n FROM stock', 'SELECT "stock"."w" AS moirai_1, "stock"."Item" AS moirai_2, n FROM stock'],
  [
    'SELECT b.title FROM book b JOIN stock s ON s.w = b.id ORDER BY s.n',
    'SELECT "b"."id" AS moirai_1, "s"."w" AS moirai_2, "s"."Item" AS moirai_3, b.title FROM book b JOIN stock s ON s.w = b.id ORDER BY s.n',
  ],
  [
    'UPDATE book SET title = $1 WHERE title = $2; ',
    'UPDATE book SET title = $1 WHERE title = $2 RETURNING "book"."id" AS moirai_1',
  ],
  [
    'UPDATE stock SET n = n + 1 WHERE w = 1 AND "Item" = $1',
    'UPDATE stock SET n = n + 1 WHERE w = 1 AND "Item" = $1 RETURNING "stock"."w" AS moirai_1, "stock"."Item" AS moirai_2, "stock"."n" AS moirai_3',
  ],
  ['DELETE FROM book b RETURNING title', 'DELETE FROM book b RETURNING title, "b"."id" AS moirai_1'],
  ['INSERT INTO book (title) VALUES ($1)', 'INSERT INTO book (title) VALUES ($1) RETURNING "book"."id" AS moirai_1'],
])('%s', (sql, whole) => {
  const completion = completionOf(sql, [], cache);
  expect(completion === null ? null : completedText(sql, completion)).toBe(whole);
});

test.each([
  'SELECT id FROM book',
  'SELECT * FROM book',
  'SELECT DISTINCT title FROM book',
  'SELECT title FROM book GROUP BY title',
  'SELECT max(title) FROM book',
  'SELECT title FROM book ORDER BY 1',
  'SELECT title FROM book ORDER BY title, 2',
  'SELECT title FROM book ORDER BY $1',
  'SELECT title FROM book ORDER BY count(*)',
  'SELECT JSON_ARRAYAGG(title) FROM book',
  'SELECT unknown_function(title) FROM book',
  'SELECT title FROM book WHERE id = 7',
  'SELECT title AS moirai_1 FROM book',
  'SELECT FROM book',
  '(SELECT title FROM book)',
  'WITH b AS (SELECT 1) SELECT title FROM book',
  'SELECT title FROM book UNION SELECT text FROM notes',
  'SELECT title INTO other FROM book',
  'SELECT text FROM notes',
  'SELECT title FROM book, nobody_knows_this',
  'SELECT title FROM book -- with a comment',
  'SELECT title FROM book; SELECT 1',
  'UPDATE book SET title = $1 WHERE id = $2',
  'UPDATE notes SET text = $1',
  'DELETE FROM book USING stock WHERE id = w',
  'BEGIN',
])('%s stays as it is', (sql) => {
  expect(completionOf(sql, [], cache)).toBeNull();
});

test.each([
  ['SELECT title FROM book WHERE title = ?', 'SELECT `book`.`id` AS moirai_1, title FROM book WHERE title = ?'],
  ['SELECT B.title FROM book B', 'SELECT `B`.`id` AS moirai_1, B.title FROM book B'],
  ['SELECT title FROM book AS `b``c`', 'SELECT `b``c`.`id` AS moirai_1, title FROM book AS `b``c`'],
  ['SELECT SQL_NO_CACHE title FROM book', null],
  ['SELECT title FROM book # with a comment', null],
  ['SELECT title INTO @x FROM book', null],
  ["UPDATE book SET title = 'x' WHERE title = 'y'", null],
])('MySQL: %s', (sql, whole) => {
  const completion = completionOf(sql, [], mysql);
  expect(completion === null ? null : completedText(sql, completion)).toBe(whole);
});

test('what was added is taken out of rows, and the rows that came stay', () => {
  const [first, alone] = ['SELECT n FROM stock', 'UPDATE book SET title = $1'].map((sql) =>
    completionOf(sql, [], cache),
  );
  const [last] = ['DELETE FROM book RETURNING title'].map((sql) => completionOf(sql, [], cache));
  if (!first || !last || !alone) throw new Error('all of them are completed');
  const rows = [{ moirai_1: 1, moirai_2: 'a', n: 5 }];
  expect([rowsWithoutAdded(rows, first), rows]).toEqual([[{ n: 5 }], [{ moirai_1: 1, moirai_2: 'a', n: 5 }]]);
  expect(rowsWithoutAdded([[1, 'a', 5]], first)).toEqual([[5]]);
  expect(rowsWithoutAdded([['tea', 1]], last)).toEqual([['tea']]);
  expect(rowsWithoutAdded([{ moirai_1: 1 }], alone)).toEqual([]);
});

test('a position is one of the text that the application wrote', () => {
  const sql = 'SELECT title FROM book WHERE tite = 1';
  const completion = completionOf(sql, [], cache);
  if (completion === null) throw new Error('it is completed');
  const at = completedText(sql, completion).indexOf('tite') + 1;
  expect(positionBefore(String(at), sql, completion)).toBe(String(sql.indexOf('tite') + 1));
  expect(positionBefore('1', sql, completion)).toBe('1');
});

test.each([
  ['ALTER TABLE book ADD x int', true],
  ['SELECT 1; DROP TABLE book', true],
  ['DO $$ BEGIN END $$', true],
  ['SELECT title FROM book;', false],
  ["INSERT INTO book VALUES (1, 'a')", false],
])('%s may change the tables: %s', (sql, expected) => expect(mayDefine(sql, [], cache)).toBe(expected));
