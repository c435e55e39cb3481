/** Statements that answered otherwise than the real server once. */
import type { Dialect } from '../../src/sql/index.ts';
import { mysqlRegressions } from './regressions-mysql.ts';

export interface Regression {
  readonly dialect: Dialect;
  readonly what: string;
  readonly statements: readonly string[];
}

const numbered = 'CREATE TABLE n (id int AUTO_INCREMENT PRIMARY KEY, u int UNIQUE, v int NOT NULL)';

export const regressions: readonly Regression[] = [
  {
    dialect: 'mysql',
    what: 'a changed primary key moves the row in every index: the statement ends',
    statements: [
      'CREATE TABLE t (id int PRIMARY KEY, r int, KEY (r))',
      'INSERT INTO t VALUES (1, 1)',
      'UPDATE t SET id = id + 1 WHERE r IN (1)',
      'SELECT * FROM t',
    ],
  },
  {
    dialect: 'mysql',
    what: 'counts and insert ids of upserts',
    statements: [
      numbered,
      'INSERT INTO n (u, v) VALUES (1, 1)',
      'INSERT INTO n (u, v) VALUES (1, NULL)',
      'INSERT INTO n (u, v) VALUES (2, 2)',
      'INSERT INTO n (u, v) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 5',
      'INSERT INTO n (u, v) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 5',
      'INSERT INTO n (u, v) VALUES (3, 1), (1, 2), (4, 4) ON DUPLICATE KEY UPDATE v = VALUES(v)',
      'SELECT LAST_INSERT_ID()',
      'REPLACE INTO n (u, v) VALUES (1, 7)',
      'REPLACE INTO n VALUES (1, 1, 7)',
      'REPLACE INTO n VALUES (1, 1, 7)',
      'INSERT IGNORE INTO n (u, v) VALUES (1, 1), (9, 9)',
      'INSERT IGNORE INTO n (u, v) VALUES (1, 1)',
      'SELECT * FROM n ORDER BY id',
      'INSERT INTO n VALUES (100, 50, 50)',
      'SELECT LAST_INSERT_ID()',
      'INSERT INTO n VALUES (200, 50, 50)',
      'INSERT INTO n (u, v) SELECT u + 100, v FROM n ORDER BY id',
      'SELECT * FROM n ORDER BY id',
    ],
  },
  {
    dialect: 'mysql',
    what: 'values that are missing, and too many or too few of them',
    statements: [
      numbered,
      'INSERT INTO n VALUES (1)',
      'INSERT INTO n VALUES (1, 2, 3, 4)',
      'INSERT INTO n (u) VALUES (1)',
      'INSERT INTO n () VALUES ()',
      "CREATE TABLE e (k ENUM('a', 'b') NOT NULL, d int DEFAULT 3)",
      'INSERT INTO e () VALUES ()',
      'SELECT * FROM e',
    ],
  },
  {
    dialect: 'mysql',
    what: 'columns refuse texts that are no dates, times and numbers',
    statements: [
      'CREATE TABLE t (d DATE, t TIME, i int, f double, c DECIMAL(5,2))',
      "INSERT INTO t (d) VALUES ('nope')",
      "INSERT INTO t (t) VALUES ('900:00:00')",
      "INSERT INTO t (t) VALUES ('-100:00:00')",
      "INSERT INTO t (i) VALUES ('x')",
      "INSERT INTO t (i) VALUES ('3x')",
      "INSERT INTO t (i) VALUES ('7')",
      'SELECT * FROM t ORDER BY i, t',
    ],
  },
  {
    dialect: 'mysql',
    what: 'a recursive query has the types of its first part',
    statements: [
      'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4) SELECT SUM(n) FROM c',
      'WITH RECURSIVE c AS (SELECT 0 AS i UNION SELECT i + 1 FROM c WHERE i < 3) SELECT * FROM c ORDER BY 1',
    ],
  },
  {
    dialect: 'mysql',
    what: 'CHAR has no blanks at its end, bits of no rows are 0, indexes have the names of tables',
    statements: [
      'CREATE TABLE t (a CHAR(3), u int, UNIQUE KEY u (u))',
      "INSERT INTO t VALUES ('a', 1)",
      "SELECT concat(a, '!') FROM t WHERE a = 'a'",
      'SELECT BIT_OR(u), BIT_AND(u), BIT_XOR(u) FROM t WHERE u > 5',
      'CREATE TABLE u (id int)',
      'DROP INDEX nothing ON t',
      'ALTER TABLE t DROP COLUMN nothing',
      'DROP VIEW nothing',
    ],
  },
  {
    dialect: 'postgres',
    what: 'set operations keep a modifier only where both sides have it',
    statements: [
      'CREATE TABLE t (a numeric(8,2), b numeric(8,2), c numeric)',
      'SELECT a FROM t UNION SELECT b FROM t',
      'SELECT a FROM t UNION SELECT 1',
      'SELECT a FROM t UNION ALL SELECT c FROM t',
    ],
  },
  {
    dialect: 'postgres',
    what: 'UPDATE ... FROM assigns the values of the row that it was joined with, also to columns of unique keys',
    statements: [
      'CREATE TABLE items (id int PRIMARY KEY, list int, pos int, UNIQUE (list, pos))',
      'INSERT INTO items VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3)',
      'UPDATE items SET pos = v.p FROM (VALUES (1, 11), (2, 12), (3, 13)) v (id, p) WHERE items.id = v.id',
      'SELECT id, pos FROM items ORDER BY id',
      'CREATE TABLE src (id int, p int)',
      'INSERT INTO src VALUES (1, 21), (2, 22), (3, 23)',
      'UPDATE items i SET pos = src.p, id = i.id + 10 FROM src WHERE i.id = src.id RETURNING i.id, i.pos, src.p',
      'CREATE SEQUENCE numbers',
      `UPDATE items SET pos = nextval('numbers') FROM src WHERE items.id = src.id + 10`,
      'SELECT * FROM items ORDER BY id',
    ],
  },
  {
    dialect: 'mysql',
    what: 'UPDATE of a join assigns the values of the row that it was joined with, also to columns of unique keys',
    statements: [
      'CREATE TABLE items (id int PRIMARY KEY, list int, pos int, UNIQUE KEY lp (list, pos))',
      'INSERT INTO items VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3)',
      'CREATE TABLE src (id int PRIMARY KEY, p int)',
      'INSERT INTO src VALUES (1, 21), (2, 22), (3, 23)',
      'UPDATE items i JOIN src ON i.id = src.id SET i.pos = src.p, i.id = i.id + 10',
      'SELECT * FROM items ORDER BY id',
    ],
  },
  {
    dialect: 'postgres',
    what: 'keys of several columns do not run into each other',
    statements: [
      `SELECT count(*) OVER (PARTITION BY a, b) FROM (VALUES (E'x\\x01vy', 'z'), ('x', E'y\\x01vz')) q (a, b)`,
      `WITH RECURSIVE r (a, b) AS (VALUES (E'x\\x01vy', 'z'), ('x', E'y\\x01vz') UNION SELECT a, b FROM r) SELECT count(*) FROM r`,
      `SELECT count(DISTINCT (a, b)) FROM (VALUES (E'x\\x01vy', 'z'), ('x', E'y\\x01vz')) q (a, b)`,
      `SELECT a, count(*) FROM (VALUES (E'x\\x01vy', 'z'), ('x', E'y\\x01vz')) q (a, b) GROUP BY a, b ORDER BY a`,
    ],
  },
  {
    dialect: 'mysql',
    what: 'PARTITION BY, recursive UNION and IN compare texts as their collation does',
    statements: [
      'CREATE TABLE p (id int PRIMARY KEY, name varchar(20))',
      `INSERT INTO p VALUES (1, 'a'), (2, 'A'), (3, 'b'), (4, 'a ')`,
      'SELECT id, COUNT(*) OVER (PARTITION BY name) AS n FROM p ORDER BY id',
      'SELECT id, FIRST_VALUE(id) OVER (PARTITION BY name ORDER BY id) AS n FROM p ORDER BY id',
      `WITH RECURSIVE c AS (SELECT CAST('a' AS CHAR(5)) x, 0 n UNION SELECT UPPER(x), n FROM c) SELECT COUNT(*) FROM c`,
      `SELECT id FROM p WHERE name IN ('A', 'c') ORDER BY id`,
      'SELECT COUNT(DISTINCT name) FROM p',
    ],
  },
  {
    dialect: 'postgres',
    what: 'types by name: with a schema, in quotes, arrays, with a length',
    statements: [
      `CREATE TYPE e1 AS ENUM ('a', 'b')`,
      'CREATE SCHEMA other',
      `CREATE TYPE other."E 2" AS ENUM ('a')`,
      `SELECT 'public.e1'::regtype, '"public"."e1"'::regtype, '"e1"'::regtype, 'E1'::regtype, 'other."E 2"'::regtype`,
      `SELECT 'public.nope'::regtype`,
      `SELECT 'nope.e1'::regtype`,
      `SELECT '"E 2"'::regtype`,
      `SELECT 'public.e1'::regtype::oid = (SELECT oid FROM pg_type WHERE typname = 'e1')`,
      `SELECT 'other."E 2"[]'::regtype::oid = (SELECT typarray FROM pg_type WHERE typname = 'E 2')`,
      `SELECT 'e1[]'::regtype, 'int[]'::regtype, 'varchar(10)'::regtype, 'pg_catalog.int4'::regtype, 'timestamp(3) with time zone'::regtype`,
      `SELECT to_regtype('public.e1'), to_regtype('nope'), to_regtype('nope.e1')`,
      'DROP SCHEMA other CASCADE',
    ],
  },
  {
    dialect: 'postgres',
    what: 'rows of a table are counted, and those that a left join has not found are not',
    statements: [
      'CREATE TABLE t (id int PRIMARY KEY, a int)',
      'INSERT INTO t VALUES (1, 1), (2, NULL)',
      'SELECT count(t.*), count(t), count(DISTINCT t.*) FROM t',
      'SELECT count(o.*) FROM t LEFT JOIN t o ON o.id = t.id + 1',
      'SELECT count(nothing.*) FROM t',
    ],
  },
  {
    dialect: 'postgres',
    what: 'a table that is made from a query tells how many rows it has; lastval follows setval',
    statements: [
      'CREATE TABLE t AS SELECT 1 AS a UNION ALL SELECT 2',
      'SELECT * INTO u FROM t',
      'CREATE TABLE v AS SELECT * FROM t WITH NO DATA',
      'CREATE TABLE IF NOT EXISTS v AS SELECT 1',
      'CREATE SEQUENCE s',
      'CREATE SEQUENCE other',
      'SELECT lastval()',
      `SELECT setval('s', 20)`,
      'SELECT lastval()',
      `SELECT nextval('s')`,
      `SELECT setval('s', 50)`,
      `SELECT lastval(), currval('s')`,
      `SELECT setval('other', 7)`,
      `SELECT lastval(), currval('other')`,
      `SELECT setval('s', 70, false)`,
      'SELECT lastval()',
    ],
  },
  ...mysqlRegressions,
];
