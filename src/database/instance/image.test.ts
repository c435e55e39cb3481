/** A database that begins with an image does what one does that has run the schema itself, and changes neither the image nor other copies. */
import { describe, expect, test } from 'vitest';
import type { SqlDatabase } from '../database.ts';
import { connected, openDatabase } from '../sql-session.test-support.ts';
import type { DatabaseImage } from './image.ts';

type Dialect = 'postgres' | 'mysql';

interface Workload {
  readonly schema: readonly string[];
  /** What the one session does, then the other while the first is in a transaction. */
  readonly first: readonly string[];
  readonly second: readonly string[];
}

const workloads: Readonly<Record<Dialect, Workload>> = {
  postgres: {
    schema: [
      "CREATE TYPE state AS ENUM ('new', 'done')",
      'CREATE SEQUENCE numbers START 5 INCREMENT 5',
      `CREATE TABLE parents (id serial PRIMARY KEY, code text UNIQUE, state state DEFAULT 'new', gone int)`,
      "CREATE TABLE children (id int GENERATED ALWAYS AS IDENTITY, parent int REFERENCES parents ON DELETE CASCADE, n int DEFAULT nextval('numbers'), CHECK (n > 0))",
      'CREATE INDEX ON children (parent, n DESC)',
      'CREATE UNIQUE INDEX big ON children (n) WHERE n > 100',
      'CREATE UNIQUE INDEX lower_code ON parents (lower(code))',
      "CREATE VIEW done AS SELECT id, code FROM parents WHERE state = 'done'",
      "COMMENT ON TABLE parents IS 'those above'",
      'CREATE TEMPORARY TABLE passing (a int)',
      'INSERT INTO passing VALUES (1)',
      'SET search_path = pg_catalog, public',
      "INSERT INTO parents (code, gone) SELECT 'p' || i, i FROM generate_series(1, 6) i",
      'INSERT INTO children (parent) SELECT id FROM parents',
      "UPDATE parents SET state = 'done' WHERE id < 3",
      'DELETE FROM parents WHERE id = 6',
      'BEGIN',
      "INSERT INTO parents (code) VALUES ('undone')",
      'ROLLBACK',
      'ALTER TABLE parents DROP COLUMN gone',
      'BEGIN ISOLATION LEVEL SERIALIZABLE',
      "INSERT INTO parents (code) SELECT 'q' || count(*) FROM parents",
      'COMMIT',
      'CREATE TABLE pairs (a int, b int)',
      'INSERT INTO pairs VALUES (1, 1), (2, 2)',
    ],
    first: [
      'SELECT * FROM parents ORDER BY id',
      'SELECT * FROM children',
      'SELECT * FROM done ORDER BY id',
      'SELECT * FROM passing',
      "SELECT nextval('numbers'), nextval('parents_id_seq')",
      "SELECT obj_description('parents'::regclass), 'parents'::regclass::oid::int, txid_current()",
      'SELECT relname, oid::int FROM pg_class WHERE oid > 16000 ORDER BY oid',
      "INSERT INTO parents (code) VALUES ('P1')",
      "INSERT INTO parents (code) VALUES ('p9') RETURNING id",
      "INSERT INTO parents (id, code) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET code = 'one' RETURNING *",
      'INSERT INTO children (parent) VALUES (99)',
      'INSERT INTO children (parent, n) VALUES (2, 200), (3, 200)',
      'DELETE FROM parents WHERE id = 2',
      'SELECT count(*) FROM children WHERE parent = 2',
      'ALTER TABLE pairs ADD COLUMN c int DEFAULT 3',
      'CREATE UNIQUE INDEX ON pairs (a)',
      'BEGIN ISOLATION LEVEL SERIALIZABLE',
      'SELECT sum(b) FROM pairs',
      'UPDATE pairs SET b = 7 WHERE a = 1',
      "UPDATE parents SET state = 'done' WHERE code = 'p3'",
    ],
    second: [
      'BEGIN ISOLATION LEVEL SERIALIZABLE',
      'SELECT sum(b) FROM pairs',
      'UPDATE pairs SET b = 8 WHERE a = 2',
      "SELECT * FROM parents WHERE code = 'p3' FOR UPDATE NOWAIT",
      'ROLLBACK',
      'SELECT * FROM parents ORDER BY id',
    ],
  },
  mysql: {
    schema: [
      'CREATE TABLE parents (id int AUTO_INCREMENT PRIMARY KEY, code varchar(9), gone int, UNIQUE (code))',
      'CREATE TABLE children (parent int, n int, FOREIGN KEY (parent) REFERENCES parents (id) ON DELETE CASCADE, KEY by_n (n))',
      'CREATE VIEW codes AS SELECT code FROM parents',
      'CREATE TEMPORARY TABLE passing (a int)',
      'SET SESSION innodb_lock_wait_timeout = 3',
      "INSERT INTO parents (code, gone) VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)",
      'INSERT INTO children SELECT id, id * 10 FROM parents',
      "UPDATE parents SET code = 'B' WHERE id = 2",
      'UPDATE parents SET id = 9 WHERE id = 4 AND gone = 0',
      'DELETE FROM parents WHERE id = 3',
      'START TRANSACTION',
      "INSERT INTO parents (code) VALUES ('undone')",
      'ROLLBACK',
      'ALTER TABLE parents DROP COLUMN gone',
      'CREATE TABLE hidden (a int)',
      'INSERT INTO hidden VALUES (3), (1), (2)',
    ],
    first: [
      'SELECT * FROM parents ORDER BY id',
      'SELECT * FROM children',
      'SELECT * FROM codes ORDER BY code',
      'SELECT * FROM passing',
      'SELECT * FROM hidden',
      "INSERT INTO parents (code) VALUES ('b')",
      "INSERT INTO parents (code) VALUES ('e')",
      'SELECT last_insert_id()',
      'INSERT INTO children VALUES (99, 1)',
      'DELETE FROM parents WHERE id = 1',
      'SELECT * FROM children ORDER BY n',
      'INSERT INTO hidden VALUES (0)',
      'ALTER TABLE hidden ADD COLUMN b int DEFAULT 3',
      'SELECT * FROM hidden',
      'BEGIN',
      "UPDATE parents SET code = 'z' WHERE id = 2",
      'SELECT * FROM children WHERE n > 15 FOR UPDATE',
    ],
    second: [
      'SELECT * FROM parents ORDER BY id',
      'SELECT * FROM parents WHERE id = 2 FOR UPDATE NOWAIT',
      'SELECT * FROM children WHERE n > 35 FOR UPDATE SKIP LOCKED',
    ],
  },
};

async function run(database: SqlDatabase, statements: readonly string[]): Promise<unknown[]> {
  const session = connected(database);
  const answers: unknown[] = [];
  for (const sql of statements) {
    try {
      const { rows, rowCount, command } = await session.run(sql);
      answers.push([sql, command, rowCount, rows.map((row) => row.map(String))]);
    } catch (error) {
      answers.push([sql, String(error)]);
    }
  }
  return answers;
}

async function withSchema(dialect: Dialect): Promise<SqlDatabase> {
  const database = await openDatabase({ engine: dialect }, { settle: null, clock: () => 1n });
  const session = connected(database);
  for (const sql of workloads[dialect].schema) await session.run(sql);
  session.session.close();
  return database;
}

async function worked(database: SqlDatabase, dialect: Dialect): Promise<unknown> {
  database.start();
  const answers = [
    ...(await run(database, workloads[dialect].first)),
    ...(await run(database, workloads[dialect].second)),
  ];
  return { answers, history: database.history() };
}

describe.each(['postgres', 'mysql'] as const)('%s', (dialect) => {
  const copyOf = (image: DatabaseImage | null): Promise<SqlDatabase> =>
    openDatabase({ engine: dialect }, { settle: null, clock: () => 1n, ...(image === null ? {} : { image }) });

  test('copies of an image answer as the database that has run the schema, one after the other', async () => {
    const made = await withSchema(dialect);
    const image = made.image();
    expect(image).not.toBeNull();
    const expected = await worked(made, dialect);
    expect(await worked(await copyOf(image), dialect)).toEqual(expected);
    expect(await worked(await copyOf(image), dialect)).toEqual(expected);
  });

  test('a copy has an image of its own', async () => {
    const copy = await copyOf((await withSchema(dialect)).image());
    expect(await worked(await copyOf(copy.image()), dialect)).toEqual(await worked(copy, dialect));
  });

  test.each([
    ['a session is connected', (database: SqlDatabase) => void connected(database)],
    ['it was given another seed', (database: SqlDatabase) => void database.administer({ kind: 'seed', seed: 2 })],
  ])('there is none while %s', async (_, change) => {
    const database = await withSchema(dialect);
    change(database);
    expect(database.image()).toBeNull();
  });

  test('there is none where random numbers were drawn', async () => {
    const database = await openDatabase({ engine: dialect }, { settle: null });
    const session = connected(database);
    await session.run({ postgres: 'SELECT random()', mysql: 'SELECT rand()' }[dialect]);
    session.session.close();
    expect(database.image()).toBeNull();
  });
});
