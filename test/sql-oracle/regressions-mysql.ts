/** MySQL's functions, types and definitions that answered otherwise than the real server once. */
import type { Regression } from './regressions.ts';

export const mysqlRegressions: readonly Regression[] = [
  {
    dialect: 'mysql',
    what: 'a negative number in an AUTO_INCREMENT column',
    statements: [
      'CREATE TABLE na (id int PRIMARY KEY AUTO_INCREMENT, t varchar(9))',
      `INSERT INTO na (id, t) VALUES (-999, 'x')`,
      `INSERT INTO na (t) VALUES ('y')`,
      `INSERT INTO na (id, t) VALUES (-7, 'z') ON DUPLICATE KEY UPDATE t = 'q'`,
      'SELECT * FROM na ORDER BY id',
      'CREATE TABLE nb (id bigint PRIMARY KEY AUTO_INCREMENT)',
      'INSERT INTO nb VALUES (-9223372036854775808)',
    ],
  },
  {
    dialect: 'mysql',
    what: 'binary strings are bytes to functions; HEX of a number',
    statements: [
      `SELECT HEX(X'8090') a, LENGTH(X'8090') b, BIT_LENGTH(X'8090') c, HEX('é') d, LENGTH('é') e, HEX(255) f, HEX(-1) g, HEX(12.6) h`,
      'CREATE TABLE b (id int PRIMARY KEY, b BINARY(4), v VARBINARY(20), bl BLOB)',
      `INSERT INTO b VALUES (1, X'8090', X'8090', X'ff00')`,
      'SELECT HEX(b) a, HEX(v) c, HEX(bl) d, LENGTH(b) e, LENGTH(v) f, CHAR_LENGTH(v) g FROM b',
      `SELECT CONCAT(v, bl) = X'8090ff00' a, LEFT(v, 1) = X'80' c, SUBSTRING(v, 2, 1) = X'90' d, HEX(CONCAT(v, 'a')) e FROM b`,
      "SELECT HEX(REVERSE(v)) a, HEX(RIGHT(v, 1)) c, HEX(LPAD(v, 4, X'ff')) d, HEX(REPLACE(v, X'80', X'81')) e FROM b",
      "SELECT HEX(TRIM(v)) a, HEX(UPPER(v)) c, HEX(REPEAT(v, 2)) d, MD5(v) e, SHA1(v) f, ASCII(v) g, LOCATE(X'90', v) h FROM b",
      `SELECT HEX(UNHEX('8090')) a, HEX(CAST('abc' AS BINARY)) c, HEX(UNHEX('zz')) d`,
    ],
  },
  {
    dialect: 'mysql',
    what: 'CHAR, INSERT, EXTRACT of texts, the clock of UTC',
    statements: [
      `SELECT CHAR(65) a, CHAR(65, 66) b, CHAR(77, 121, 83, 81, '76') c, HEX(CHAR(256)) d, CHAR(0x65) e, HEX(CHAR(77.3, 200)) f`,
      'SELECT CHAR(65 USING utf8mb4) a, CHAR(NULL, 65) b, LENGTH(CHAR(NULL)) c',
      `SELECT INSERT('abc', 1, 1, 'x') a, INSERT('Quadratic', 3, 4, 'What') b, INSERT('Quadratic', -1, 4, 'What') c, INSERT('Quadratic', 3, 100, 'What') d`,
      `SELECT INSERT('abc', 4, 1, 'x') a, INSERT('abc', 2, -1, 'x') b, INSERT('abc', 2, 0, 'x') c, INSERT(NULL, 1, 1, 'x') d, INSERT('éèê', 2, 1, 'x') e`,
      'SELECT UTC_DATE = CURDATE() a, UTC_DATE() = CURRENT_DATE() b, UTC_TIME() = CURRENT_TIME c, UTC_TIMESTAMP = NOW() d',
      `SELECT EXTRACT(YEAR FROM '2020-01-01') a, EXTRACT(HOUR FROM '2020-02-01 10:11:12.5') b, EXTRACT(MINUTE FROM '10:11:12') c, EXTRACT(MICROSECOND FROM '2020-02-01 10:11:12.5') d`,
      `SELECT EXTRACT(WEEK FROM '2020-02-01') a, EXTRACT(YEAR_MONTH FROM '2020-02-01') b, EXTRACT(DAY_HOUR FROM '2020-02-01 10:11:12') c, EXTRACT(DAY_MICROSECOND FROM '2020-02-01 10:11:12.5') d`,
      `SELECT EXTRACT(MINUTE_SECOND FROM '2020-02-01 10:11:12') a, EXTRACT(HOUR FROM '-12:30:00') b, EXTRACT(HOUR FROM TIME '-12:30:00') c, EXTRACT(YEAR FROM NULL) d`,
      'CREATE TABLE ex (d date, dt datetime(6), t time, s varchar(30))',
      `INSERT INTO ex VALUES ('2021-03-04', '2021-03-04 05:06:07.123456', '08:09:10', '2022-05-06 07:08:09')`,
      'SELECT EXTRACT(YEAR FROM d) a, EXTRACT(HOUR FROM dt) b, EXTRACT(MINUTE FROM t) c, EXTRACT(YEAR FROM s) e, EXTRACT(HOUR FROM s) f, EXTRACT(HOUR FROM d) g FROM ex',
    ],
  },
  {
    dialect: 'mysql',
    what: 'CREATE TABLE ... LIKE',
    statements: [
      `CREATE TABLE base (id int PRIMARY KEY AUTO_INCREMENT, name varchar(20) NOT NULL DEFAULT 'x', u int UNIQUE, c int CHECK (c > 0), KEY nm (name))`,
      `INSERT INTO base (name, u) VALUES ('a', 1), ('b', 2)`,
      'CREATE TABLE t2 LIKE base',
      'CREATE TABLE IF NOT EXISTS t2 LIKE base',
      'CREATE TABLE t3 (LIKE base)',
      'CREATE TABLE t2 LIKE base',
      'CREATE TABLE t4 LIKE nothing',
      `INSERT INTO t2 (name, u) VALUES ('c', 1)`,
      `INSERT INTO t2 (u) VALUES (2)`,
      'SELECT id, name, u FROM t2 ORDER BY id',
      `INSERT INTO t2 (name, u) VALUES ('c', 1)`,
      'INSERT INTO t2 (u, c) VALUES (5, -1)',
      `SELECT column_name AS n, column_key AS k, extra AS e, is_nullable AS i FROM information_schema.columns WHERE table_name = 't2' ORDER BY ordinal_position`,
      'SELECT count(*) AS n FROM base',
    ],
  },
  {
    dialect: 'mysql',
    what: 'a character set that there is not',
    statements: ['SET NAMES nope', 'SET NAMES utf8mb4', 'SET CHARACTER SET nope'],
  },
];
