import { expect, test } from 'vitest';
import { shapeOf } from './literals.ts';

test.each<[string, string, (string | number)[]]>([
  ["SELECT v FROM t WHERE id = 7 AND s = 'it''s'", 'SELECT v FROM t WHERE id = $1 AND s = $2', [7, "it's"]],
  ["INSERT INTO t VALUES (-1, 'a,(2'), (2, NULL)", 'INSERT INTO t VALUES ($1, $2), ($3, NULL)', [-1, 'a,(2', 2]],
  ['UPDATE "t=1" SET v = v + 1 WHERE id IN (1, 2)', 'UPDATE "t=1" SET v = v + 1 WHERE id IN ($1, $2)', [1, 2]],
  [
    "SELECT v FROM t WHERE s LIKE '=(3' AND id = 4 LIMIT 5",
    "SELECT v FROM t WHERE s LIKE '=(3' AND id = $1 LIMIT 5",
    [4],
  ],
])('%s', (sql, text, values) => expect(shapeOf(sql, 'postgres')).toEqual({ text, values }));

test.each([
  'SELECT v FROM t',
  'SELECT v FROM t WHERE id = $1 AND n = 2',
  "SELECT v FROM t WHERE s = E'\\n'",
  'SELECT v FROM t WHERE id = 1 -- 2',
  'SELECT v FROM t WHERE price = 2.50',
  'SELECT v FROM t WHERE id = 12345678901234567890',
  'CREATE TABLE t (v varchar(20))',
])('%s stays as it is', (sql) => expect(shapeOf(sql, 'postgres')).toBeNull());
