import { beforeAll, expect, test } from 'vitest';
import { loadParser } from '../sql/parse.ts';
import { completedText, completionOf } from './complete.ts';
import { schemaOf, type SchemaRow } from './schema.ts';
import { PlanCache } from './statement-plan.ts';

beforeAll(() => loadParser());

const column = (table: string, name: string, type: string, key: number | null): SchemaRow => ({
  table_schema: 'public',
  table_name: table,
  column_name: name,
  data_type: type,
  numeric_scale: null,
  collation_name: null,
  has_default: 0,
  is_auto: 0,
  is_current: 1,
  key_position: key,
  uniques: 0,
});

const cache = new PlanCache(
  schemaOf('postgres', [
    column('book', 'id', 'integer', 1),
    column('book', 'title', 'text', null),
    column('stock', 'w', 'integer', 1),
    column('stock', 'Item', 'text', 2),
    column('stock', 'n', 'integer', null),
    column('notes', 'text', 'text', null),
  ]),
);

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
