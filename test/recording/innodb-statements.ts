/** Statements of MariaDB that a mirror of InnoDB may get wrong: where it locks, writes or reads otherwise than the text seems to say. */
import { few, id, readsOf } from './common-statements.ts';
import { oneOf, type Random, type Statement, type StatementWorkload } from './random-statements.ts';

const name = (random: Random): string => oneOf(random, ["'a'", "'A'", "'b'", "'B'", "'c'"]);
const lock = (random: Random): string =>
  oneOf(random, ['', '', ' LOCK IN SHARE MODE', ' FOR UPDATE', ' FOR UPDATE NOWAIT', ' FOR UPDATE SKIP LOCKED']);

const reads: Statement[] = [
  ...readsOf(lock),
  (r) => `SELECT name, v FROM n WHERE name = ${name(r)}${lock(r)}`,
  () => 'SELECT * FROM n',
  () => 'SELECT * FROM m',
  (r) => `SELECT * FROM m WHERE id = ${id(r)}${lock(r)}`,
];
const updates: Statement[] = [
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET v = v WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET w = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET w = ${few(r)}, v = v WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET k = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET k = ${few(r)}, w = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET u = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET v = v + 1 WHERE id = ${id(r)}`,
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE id = ${id(r)} AND w = ${few(r)}`,
  (r, fresh) => `UPDATE n SET v = ${fresh()} WHERE name = ${name(r)}`,
  (r) => `UPDATE m SET v = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET id = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET id = ${id(r)} WHERE id = ${5 + id(r)}`,
  (r) => `UPDATE n SET name = ${name(r)} WHERE name = ${name(r)}`,
];
/** Of which the recorder cannot say which rows they write. */
const opaqueWrites: Statement[] = [
  (r) => `INSERT INTO m (id) VALUES (${id(r)}) ON DUPLICATE KEY UPDATE id = VALUES(id)`,
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE id IN (${id(r)}, ${id(r)})`,
  (r, fresh) => `INSERT INTO n (name, v) VALUES ('${oneOf(r, ['a ', 'A ', 'b ', 'ä'])}', ${fresh()})`,
  (r, fresh) => `UPDATE n SET v = ${fresh()} WHERE name = '${oneOf(r, ['a ', 'A ', 'b ', 'ä'])}'`,
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE k = ${few(r)}`,
  (r) => `UPDATE t SET w = ${few(r)} WHERE id >= ${id(r)} ORDER BY id DESC LIMIT 2`,
  (r, fresh) => `INSERT IGNORE INTO t (id, u, v) VALUES (${id(r)}, ${id(r)}, ${fresh()}), (${id(r)}, NULL, 1)`,
  (r, fresh) => `REPLACE INTO t (id, k, u, v) VALUES (${id(r)}, ${few(r)}, ${id(r)}, ${fresh()})`,
  (r, fresh) =>
    `INSERT INTO t (id, u, v) VALUES (${id(r)}, ${id(r)}, ${fresh()}) ON DUPLICATE KEY UPDATE v = VALUES(v), w = 1`,
  (r) => `DELETE FROM t WHERE k = ${few(r)} LIMIT 1`,
  () => 'INSERT INTO m (id, v, w) SELECT 3, v, w FROM t WHERE id = 3',
  (r) => `UPDATE m JOIN t ON m.id = t.id SET m.v = t.v WHERE t.id = ${id(r)}`,
];
const inserts: Statement[] = [
  (r, fresh) => `INSERT INTO t (id, k, u, v, w) VALUES (${id(r)}, ${few(r)}, NULL, ${fresh()}, ${few(r)})`,
  (r, fresh) => `INSERT INTO t (id, k, v) VALUES (${id(r)}, ${few(r)}, ${fresh()}), (${5 + id(r)}, 1, ${fresh()})`,
  (r, fresh) => `INSERT IGNORE INTO t (id, u, v) VALUES (${id(r)}, ${id(r)}, ${fresh()})`,
  (r) => `REPLACE INTO n (name, v) VALUES (${name(r)}, ${few(r)})`,
  (r) => `REPLACE INTO m (id, v) VALUES (${id(r)}, ${few(r)})`,
  (r) => `INSERT INTO m (id, v) VALUES (${id(r)}, ${few(r)}), (${5 + id(r)}, 0) ON DUPLICATE KEY UPDATE v = VALUES(v)`,
  (r) => `INSERT INTO m (id, v) VALUES (${id(r)}, ${few(r)}) ON DUPLICATE KEY UPDATE w = ${few(r)}`,
  (r) => `INSERT INTO n (name, v) VALUES (${name(r)}, ${few(r)}) ON DUPLICATE KEY UPDATE v = VALUES(v)`,
  (r, fresh) => `INSERT INTO n (name, v) VALUES (${name(r)}, ${fresh()}) ON DUPLICATE KEY UPDATE v = v + 1, x = 7`,
];
const deletes: Statement[] = [
  (r) => `DELETE FROM t WHERE id = ${id(r)}`,
  (r) => `DELETE FROM m WHERE id = ${id(r)}`,
  (r) => `DELETE FROM n WHERE name = ${name(r)}`,
];

/** What the server writes by itself: foreign keys with actions, generated columns, times of updates, other spellings of a key. */
const effects: Statement[] = [
  (r) => `DELETE FROM parent WHERE id = ${id(r)}`,
  (r) => `INSERT INTO parent (id) VALUES (${id(r)})`,
  (r) => `UPDATE parent SET id = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE parent SET id = ${id(r)} WHERE id = ${5 + id(r)}`,
  (r) => `UPDATE parent SET v = v + 1 WHERE id = ${id(r)}`,
  (r) => `REPLACE INTO parent (id, v) VALUES (${id(r)}, ${few(r)})`,
  (r) => `INSERT INTO child (id, parent) VALUES (${id(r)}, ${id(r)})`,
  (r) => `UPDATE child SET parent = ${id(r)} WHERE id = ${id(r)}`,
  (r) => `DELETE FROM child WHERE id = ${id(r)}`,
  (r) => `SELECT * FROM child WHERE id = ${id(r)}${lock(r)}`,
  () => 'SELECT * FROM child',
  (r) => `SELECT * FROM grandchild WHERE id = ${id(r)}`,
  (r) => `INSERT INTO grandchild (id, child) VALUES (${id(r)}, ${id(r)})`,
  (r) => `SELECT * FROM parent WHERE id = ${id(r)}${lock(r)}`,
  (r) => `UPDATE computed SET v = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE computed SET w = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `INSERT INTO computed (id, v) VALUES (${id(r)}, ${few(r)}) ON DUPLICATE KEY UPDATE v = VALUES(v)`,
  (r) => `SELECT * FROM computed WHERE id = ${id(r)}${lock(r)}`,
  () => 'SELECT * FROM computed',
  (r) => `UPDATE cased SET v = ${few(r)} WHERE name = ${name(r)}`,
  (r, fresh) => `INSERT INTO cased (name, v) VALUES (${name(r)}, ${fresh()})`,
  (r) => `DELETE FROM cased WHERE name = ${name(r)}`,
  (r) => `SELECT * FROM cased WHERE name = ${name(r)}${lock(r)}`,
  () => 'SELECT * FROM cased',
];
/** Which may write anything. */
const triggers: Statement[] = [
  (r) => `INSERT INTO noted (id, v) VALUES (${id(r)}, ${few(r)})`,
  (r, fresh) => `UPDATE noted SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r) => `DELETE FROM noted WHERE id = ${id(r)}`,
  (r) => `UPDATE seen SET v = v + 1 WHERE id = ${id(r)}`,
];
const routines: Statement[] = [
  (r) => `CALL look(${id(r)})`,
  (r) => `CALL bump(${id(r)})`,
  (r) => `SELECT bumped(${id(r)})`,
  (r) => `SET @x = (SELECT v FROM m WHERE id = ${id(r)})`,
  (r) => `SET @x = bumped(${id(r)})`,
  (r) => `SELECT v INTO @x FROM m WHERE id = ${id(r)}`,
  (r, fresh) => `INSERT IGNORE INTO small (id, v) VALUES (${id(r)}, ${fresh()})`,
  (r, fresh) => `UPDATE IGNORE small SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r) => `SELECT * FROM small WHERE id = ${id(r)}${lock(r)}`,
  (r) => `DELETE FROM small WHERE id = ${id(r)}`,
  () => 'SELECT * FROM small',
];
/** Some of which commit what is open. */
const definitions: Statement[] = [
  () => 'ANALYZE TABLE m',
  () => 'CREATE TEMPORARY TABLE IF NOT EXISTS mine (id int)',
  () => 'DROP TEMPORARY TABLE IF EXISTS mine',
  () => 'DROP TABLE IF EXISTS gone',
  () => 'CREATE TABLE IF NOT EXISTS gone (id int PRIMARY KEY, v int) ENGINE=InnoDB',
  () => 'ALTER TABLE gone MODIFY v bigint',
  (r) => `INSERT INTO gone (id, v) VALUES (${id(r)}, ${few(r)})`,
  (r) => `SELECT * FROM gone WHERE id = ${id(r)}`,
  (r, fresh) => `ANALYZE UPDATE m SET v = ${fresh()} WHERE id = ${id(r)}`,
];
const ofTriggers: Statement[] = [
  (r) => `SELECT * FROM noted WHERE id = ${id(r)}${lock(r)}`,
  (r) => `SELECT * FROM m WHERE id = ${id(r)}${lock(r)}`,
  (r, fresh) => `UPDATE m SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r, fresh) => `INSERT INTO m (id, v, w) VALUES (${id(r)}, ${fresh()}, 0)`,
  () => 'SELECT * FROM noted',
];

const weighted = (weight: number, statements: readonly Statement[]): [number, Statement][] =>
  statements.map((statement) => [weight, statement]);

const innodb: Omit<StatementWorkload, 'statements'> = {
  setUp: [
    'DROP TABLE IF EXISTS t, n, m, grandchild, child, parent, computed, cased, noted, small, gone',
    'DROP VIEW IF EXISTS seen',
    'CREATE TABLE t (id int PRIMARY KEY, k int, u int, v int, w int, KEY (k), UNIQUE (u)) ENGINE=InnoDB',
    'CREATE TABLE n (name varchar(10) PRIMARY KEY, v int, x int) ENGINE=InnoDB',
    'CREATE TABLE m (id int PRIMARY KEY, v int, w int) ENGINE=InnoDB',
    'CREATE TABLE parent (id int PRIMARY KEY, v int) ENGINE=InnoDB',
    'CREATE TABLE child (id int PRIMARY KEY, parent int, FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB',
    'CREATE TABLE grandchild (id int PRIMARY KEY, child int, FOREIGN KEY (child) REFERENCES child (id) ON DELETE SET NULL) ENGINE=InnoDB',
    'CREATE TABLE computed (id int PRIMARY KEY, v int, w int, twice int AS (v * 2) STORED, thrice int AS (v * 3) VIRTUAL, ' +
      'at timestamp(6) DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6)) ENGINE=InnoDB',
    'CREATE TABLE cased (name varchar(10) COLLATE utf8mb4_bin PRIMARY KEY, v int) ENGINE=InnoDB',
    'CREATE TABLE noted (id int PRIMARY KEY, v int, w int) ENGINE=InnoDB',
    'CREATE TRIGGER noted_insert BEFORE INSERT ON noted FOR EACH ROW SET NEW.w = 3',
    'CREATE TRIGGER noted_update AFTER UPDATE ON noted FOR EACH ROW REPLACE INTO m (id, v) VALUES (NEW.id, NEW.v)',
    'CREATE TRIGGER noted_delete AFTER DELETE ON noted FOR EACH ROW UPDATE m SET w = w + 1 WHERE id = OLD.id',
    'CREATE TABLE small (id int PRIMARY KEY, v tinyint) ENGINE=InnoDB',
    'DROP PROCEDURE IF EXISTS look',
    'DROP PROCEDURE IF EXISTS bump',
    'DROP FUNCTION IF EXISTS bumped',
    'CREATE PROCEDURE look (i int) SELECT v FROM m WHERE id = i',
    'CREATE PROCEDURE bump (i int) UPDATE m SET v = v + 1 WHERE id = i',
    'CREATE FUNCTION bumped (i int) RETURNS int BEGIN UPDATE m SET v = v + 1 WHERE id = i; RETURN i; END',
    'CREATE VIEW seen AS SELECT id, v FROM m',
  ],
  rows: [
    'INSERT INTO t (id, k, u, v, w) VALUES (1, 0, 1, 0, 0), (2, 1, 2, 0, 0), (3, 2, 3, 0, 0), (4, 0, NULL, 0, 0)',
    "INSERT INTO n (name, v) VALUES ('a', 0), ('b', 0)",
  ],
  transactions: [
    [['BEGIN'], ['COMMIT']],
    [['BEGIN'], ['COMMIT']],
    [['START TRANSACTION WITH CONSISTENT SNAPSHOT'], ['COMMIT']],
    [['SET autocommit = 0'], ['COMMIT', 'SET autocommit = 1']],
    [[], []],
  ],
  /** The victim of a deadlock has no transaction any more; other errors take back their statement only. */
  afterError: (error) => ((error as { errno?: number }).errno === 1213 ? 'roll back' : 'go on'),
};

const savepoints: Statement[] = ['SAVEPOINT a', 'ROLLBACK TO SAVEPOINT a', 'RELEASE SAVEPOINT A'].map(
  (sql) => () => sql,
);
const named = [
  ...weighted(2, savepoints),
  ...weighted(4, reads),
  ...weighted(2, updates),
  ...weighted(2, inserts),
  ...weighted(2, deletes),
];

export const innodbStatements: Readonly<Record<string, StatementWorkload>> = {
  'whose rows are known': { ...innodb, statements: named },
  'that have effects': { ...innodb, statements: weighted(1, effects) },
  'with triggers': { ...innodb, statements: [...weighted(25, ofTriggers), ...weighted(1, triggers)] },
  'with functions': { ...innodb, statements: [...weighted(25, ofTriggers), ...weighted(1, routines)] },
  'with definitions': { ...innodb, statements: [...weighted(4, ofTriggers), ...weighted(1, definitions)] },
  'of all kinds': { ...innodb, statements: [...named, ...weighted(1, opaqueWrites)] },
};
