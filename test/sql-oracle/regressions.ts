/** Statements that answered otherwise than the real server once. */
import type { Dialect } from '../../src/sql/index.ts';

interface Regression {
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
      "INSERT INTO t (f) VALUES ('abc')",
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
];
