/** Statements of PostgreSQL that a mirror of it may get wrong: where it locks, writes or reads otherwise than the text seems to say. */
import { few, id, readsOf } from './common-statements.ts';
import { oneOf, type Random, type Statement, type StatementWorkload } from './random-statements.ts';

const name = (random: Random): string => oneOf(random, ["'a'", "'A'", "'a '", "'ä'", "'b/%'"]);
const lock = (random: Random): string =>
  oneOf(random, [
    '',
    '',
    ' FOR UPDATE',
    ' FOR NO KEY UPDATE',
    ' FOR SHARE',
    ' FOR KEY SHARE',
    ' FOR UPDATE NOWAIT',
    ' FOR UPDATE SKIP LOCKED',
  ]);

const reads: Statement[] = [
  ...readsOf(lock),
  (r) => `SELECT t.id, t.v, m.id, m.v FROM t JOIN m ON m.id = t.id WHERE t.id = ${id(r)} FOR UPDATE OF t`,
  (r) => `SELECT t.id AS a, t.v AS b, m.id, m.v FROM t JOIN m ON m.id = t.id WHERE t.id = ${id(r)}${lock(r)}`,
  (r) => `SELECT name, v FROM n WHERE name = ${name(r)}${lock(r)}`,
  () => 'SELECT * FROM n',
  () => 'SELECT * FROM m',
  (r) => `SELECT * FROM m WHERE id = ${id(r)}${lock(r)}`,
  (r) => `SELECT * FROM m WHERE id = ${id(r)}; SELECT * FROM t WHERE id = ${id(r)}`,
];
const updates: Statement[] = [
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET v = v WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET w = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET k = ${few(r)}, w = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET u = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET v = v + 1 WHERE id = ${id(r)} RETURNING id, v`,
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE k = ${few(r)} RETURNING *`,
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE id = ${id(r)} AND w = ${few(r)}`,
  (r) => `UPDATE t SET v = m.v FROM m WHERE m.id = t.id AND t.id = ${id(r)} RETURNING t.id, t.v`,
  (r) => `UPDATE m SET v = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET id = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE t SET id = ${id(r)} WHERE id = ${5 + id(r)}`,
  (r, fresh) => `UPDATE n SET v = ${fresh()} WHERE name = ${name(r)}`,
  (r) => `UPDATE n SET name = ${name(r)} WHERE name = ${name(r)}`,
  (r, fresh) => `UPDATE m SET v = ${fresh()} WHERE id = ${id(r)}; UPDATE t SET v = ${fresh()} WHERE id = ${id(r)}`,
];
const inserts: Statement[] = [
  (r, fresh) => `INSERT INTO t (id, k, u, v, w) VALUES (${id(r)}, ${few(r)}, NULL, ${fresh()}, ${few(r)})`,
  (r, fresh) => `INSERT INTO t (id, k, v) VALUES (${id(r)}, ${few(r)}, ${fresh()}), (${5 + id(r)}, 1, ${fresh()})`,
  (r, fresh) => `INSERT INTO t (id, u, v) VALUES (${id(r)}, ${id(r)}, ${fresh()}) ON CONFLICT DO NOTHING`,
  (r) => `INSERT INTO m (id, v) VALUES (${id(r)}, ${few(r)}) ON CONFLICT (id) DO UPDATE SET v = excluded.v`,
  (r) => `INSERT INTO m (id, v) VALUES (${id(r)}, 0), (${5 + id(r)}, 0) ON CONFLICT (id) DO UPDATE SET v = excluded.v`,
  (r) => `INSERT INTO m (id, v) VALUES (${id(r)}, 0) ON CONFLICT (id) DO UPDATE SET w = m.w + 1 WHERE m.v > 0`,
  (r) => `INSERT INTO m (id, v) VALUES (${id(r)}, 0) ON CONFLICT (id) DO UPDATE SET w = 1 RETURNING *`,
  (r, fresh) =>
    `INSERT INTO t (id, u, v) VALUES (${5 + id(r)}, ${id(r)}, ${fresh()}) ON CONFLICT (u) DO NOTHING RETURNING id`,
  (r, fresh) =>
    `INSERT INTO n (name, v) VALUES (${name(r)}, ${fresh()}) ON CONFLICT (name) DO UPDATE SET v = excluded.v`,
];
const deletes: Statement[] = [
  (r) => `DELETE FROM t WHERE id = ${id(r)}`,
  (r) => `DELETE FROM t WHERE k = ${few(r)} RETURNING id, v`,
  (r) => `DELETE FROM m WHERE id = ${id(r)}`,
  (r) => `DELETE FROM n WHERE name = ${name(r)}`,
];
/** Of which the recorder cannot say which rows they write. */
const opaqueWrites: Statement[] = [
  (r, fresh) => `UPDATE t SET v = ${fresh()} WHERE k = ${few(r)}`,
  (r, fresh) =>
    `INSERT INTO t (id, u, v) VALUES (${id(r)}, ${id(r)}, ${fresh()}) ON CONFLICT (u) DO UPDATE SET v = excluded.v`,
  (r) =>
    `WITH gone AS (DELETE FROM t WHERE id = ${id(r)} RETURNING v) INSERT INTO m (id, v) SELECT ${5 + id(r)}, v FROM gone ON CONFLICT DO NOTHING`,
  (r) => `INSERT INTO m (id, v, w) SELECT ${id(r)}, v, w FROM t WHERE id = ${id(r)} ON CONFLICT DO NOTHING`,
  (r) => `DELETE FROM m USING t WHERE m.id = t.id AND t.w = ${few(r)}`,
];
/** What the server writes by itself. */
const effects: Statement[] = [
  (r) => `DELETE FROM parent WHERE id = ${id(r)}`,
  (r) => `INSERT INTO parent (id) VALUES (${id(r)}) ON CONFLICT DO NOTHING`,
  (r) => `UPDATE parent SET id = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE parent SET id = ${id(r)} WHERE id = ${5 + id(r)}`,
  (r) => `UPDATE parent SET v = v + 1 WHERE id = ${id(r)}`,
  (r) => `INSERT INTO child (id, parent) VALUES (${id(r)}, ${id(r)}) ON CONFLICT DO NOTHING`,
  (r) => `UPDATE child SET parent = ${id(r)} WHERE id = ${id(r)}`,
  (r) => `DELETE FROM child WHERE id = ${id(r)}`,
  (r) => `SELECT * FROM child WHERE id = ${id(r)}${lock(r)}`,
  () => 'SELECT * FROM child',
  (r) => `SELECT * FROM grandchild WHERE id = ${id(r)}`,
  (r) => `INSERT INTO grandchild (id, child) VALUES (${id(r)}, ${id(r)}) ON CONFLICT DO NOTHING`,
  (r) => `SELECT * FROM parent WHERE id = ${id(r)}${lock(r)}`,
  (r) => `UPDATE computed SET v = ${few(r)} WHERE id = ${id(r)}`,
  (r) => `INSERT INTO computed (id, v) VALUES (${id(r)}, 1) ON CONFLICT (id) DO UPDATE SET v = excluded.v`,
  (r) => `SELECT * FROM computed WHERE id = ${id(r)}${lock(r)}`,
  () => 'SELECT * FROM computed',
  (r, fresh) => `INSERT INTO part (id, v) VALUES (${id(r)}, ${fresh()}) ON CONFLICT (id) DO UPDATE SET v = excluded.v`,
  (r, fresh) => `UPDATE part SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r) => `UPDATE part SET id = ${5 + id(r)} WHERE id = ${id(r)}`,
  (r) => `UPDATE part SET id = ${id(r)} WHERE id = ${5 + id(r)}`,
  (r) => `SELECT * FROM part WHERE id = ${id(r)}${lock(r)}`,
  (r) => `SELECT * FROM low_part WHERE id = ${id(r)}${lock(r)}`,
  () => 'SELECT * FROM part',
];
const hidden: Statement[] = [
  (r) => `INSERT INTO noted (id, v) VALUES (${id(r)}, ${few(r)}) ON CONFLICT DO NOTHING`,
  (r, fresh) => `UPDATE noted SET v = ${fresh()} WHERE id = ${id(r)}`,
  (r) => `UPDATE seen SET v = v + 1 WHERE id = ${id(r)}`,
  (r) => `SELECT bumped(${id(r)})`,
  (r) => `SELECT * FROM m WHERE id = bumped(${id(r)})`,
  (r) => `UPDATE low_part SET v = v + 1 WHERE id = ${id(r)}`,
  (r) => `DO $$ BEGIN PERFORM bumped(${id(r)}); END $$`,
];
const besideHidden: Statement[] = [
  (r) => `SELECT * FROM noted WHERE id = ${id(r)}${lock(r)}`,
  (r) => `SELECT * FROM m WHERE id = ${id(r)}${lock(r)}`,
  (r, fresh) => `UPDATE m SET v = ${fresh()} WHERE id = ${id(r)}`,
  () => 'SELECT * FROM noted',
  (r, fresh) => `UPDATE part SET v = ${fresh()} WHERE id = ${id(r)}`,
  () => 'SELECT * FROM part',
];

const weighted = (weight: number, statements: readonly Statement[]): [number, Statement][] =>
  statements.map((statement) => [weight, statement]);
const named = [...weighted(4, reads), ...weighted(2, updates), ...weighted(2, inserts), ...weighted(2, deletes)];

const setUp = [
  'DROP VIEW IF EXISTS seen',
  'DROP TABLE IF EXISTS t, n, m, grandchild, child, parent, computed, noted, part',
  'CREATE TABLE t (id int PRIMARY KEY, k int, u int UNIQUE, v int, w int)',
  'CREATE INDEX ON t (k)',
  'CREATE TABLE n (name text PRIMARY KEY, v int)',
  'CREATE TABLE m (id int PRIMARY KEY, v int, w int)',
  'CREATE TABLE parent (id int PRIMARY KEY, v int)',
  'CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)',
  'CREATE TABLE grandchild (id int PRIMARY KEY, child int REFERENCES child (id) ON DELETE SET NULL)',
  'CREATE TABLE computed (id int PRIMARY KEY, v int, twice int GENERATED ALWAYS AS (v * 2) STORED)',
  'CREATE TABLE part (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)',
  'CREATE TABLE low_part PARTITION OF part FOR VALUES FROM (0) TO (6)',
  'CREATE TABLE high_part PARTITION OF part FOR VALUES FROM (6) TO (100)',
  'CREATE TABLE noted (id int PRIMARY KEY, v int, w int)',
  'CREATE VIEW seen AS SELECT id, v FROM m',
  'CREATE OR REPLACE FUNCTION bumped(i int) RETURNS int LANGUAGE sql AS $$ UPDATE m SET v = v + 1 WHERE id = i RETURNING id $$',
  `CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.w := NEW.v; UPDATE m SET w = NEW.v WHERE id = NEW.id; RETURN NEW; END $$`,
  'CREATE TRIGGER note BEFORE INSERT OR UPDATE ON noted FOR EACH ROW EXECUTE FUNCTION note()',
];
const rows = [
  'INSERT INTO t (id, k, u, v, w) VALUES (1, 0, 1, 0, 0), (2, 1, 2, 0, 0), (3, 2, 3, 0, 0), (4, 0, NULL, 0, 0)',
  'INSERT INTO m (id, v, w) VALUES (1, 0, 0), (2, 0, 0), (3, 0, 0)',
];

/** @param level of every transaction that is begun; the session has it for others */
export function postgresStatements(level: string): Readonly<Record<string, StatementWorkload>> {
  const postgres: Omit<StatementWorkload, 'statements'> = {
    setUp,
    rows,
    transactions: [
      [[`BEGIN ISOLATION LEVEL ${level}`], ['COMMIT']],
      [['BEGIN'], ['COMMIT']],
      [[], []],
    ],
    // An error lets the transaction do nothing more.
    afterError: () => 'roll back',
  };
  return {
    'whose rows are known': { ...postgres, statements: named },
    'that have effects': { ...postgres, statements: weighted(1, effects) },
    'with triggers and functions': { ...postgres, statements: [...weighted(25, besideHidden), ...weighted(1, hidden)] },
    'of all kinds': { ...postgres, statements: [...named, ...weighted(1, opaqueWrites)] },
  };
}
