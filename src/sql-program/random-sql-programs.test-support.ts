/** Small SQL programs, drawn at random, that meet each other in every way an engine knows. */
import fc from 'fast-check';
import { assert } from '../base/index.ts';
import { type SqlConnection, type SqlProgram, sqlProgram } from '../program/index.ts';
import { queriesOfConnection } from './connection-queries.ts';
import { type Dialect, onMysql, onPostgres } from './engines.test-support.ts';

type Row = Readonly<Record<string, unknown>>;

/** A statement, or one that depends on what another read. */
export type Action =
  | { readonly kind: 'sql'; readonly sql: string }
  | { readonly kind: 'if'; readonly read: string; readonly ifEven: string; readonly otherwise: string };

function schemaOf(dialect: Dialect): string {
  const serial = dialect === 'postgres' ? 'serial PRIMARY KEY' : 'int AUTO_INCREMENT PRIMARY KEY';
  return [
    'CREATE TABLE t (id int PRIMARY KEY, n int, k int, u int UNIQUE)',
    'CREATE INDEX t_k ON t (k)',
    'INSERT INTO t VALUES (1, 10, 1, 1), (2, 20, 1, 2), (5, 50, 3, 5)',
    'CREATE TABLE w (id int PRIMARY KEY, v int)',
    'INSERT INTO w VALUES (1, 100), (2, 200)',
    `CREATE TABLE s (id ${serial}, v int)`,
    'CREATE TABLE h (v int)',
    'CREATE TABLE c (id int PRIMARY KEY, t int REFERENCES t (id))',
  ].join(';');
}

const reads = [
  'SELECT n FROM t WHERE id = 1',
  'SELECT n FROM t WHERE id = 2',
  'SELECT count(*) AS n FROM t',
  'SELECT id FROM t WHERE n >= 20 ORDER BY id',
  'SELECT id, n FROM t WHERE k = 1 ORDER BY id',
  'SELECT id, k FROM t WHERE id > 1 ORDER BY id',
  'SELECT n FROM t WHERE u = 2',
  'SELECT v FROM w WHERE id = 1',
  'SELECT t.n, w.v FROM t JOIN w ON t.id = w.id ORDER BY t.id',
  'SELECT v FROM h',
  'SELECT id, v FROM s',
  'SELECT count(*) AS n FROM c',
];
const locks = [
  'SELECT n FROM t WHERE id = 1 FOR UPDATE',
  'SELECT n FROM t WHERE id = 2 FOR UPDATE',
  'SELECT n FROM t WHERE id = 2 FOR SHARE',
  'SELECT n FROM t WHERE id = 4 FOR UPDATE',
  'SELECT id FROM t WHERE id >= 2 ORDER BY id FOR UPDATE',
  'SELECT id FROM t WHERE k = 1 ORDER BY id FOR SHARE',
  'SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED',
  'SELECT id FROM t WHERE k = 1 FOR UPDATE SKIP LOCKED',
  'SELECT n FROM t WHERE id = 1 FOR UPDATE NOWAIT',
  'SELECT v FROM w WHERE id = 1 FOR UPDATE',
];
const writes = [
  'UPDATE t SET n = n + 1 WHERE id = 1',
  'UPDATE t SET n = n * 2 WHERE id = 2',
  'UPDATE t SET n = n + 3 WHERE n >= 20',
  'UPDATE t SET n = n - 1 WHERE k = 1',
  'UPDATE t SET k = k + 1 WHERE id = 1',
  'UPDATE t SET k = 3 WHERE id = 2',
  'UPDATE t SET u = 7 WHERE id = 1',
  'UPDATE t SET u = 7 WHERE id = 2',
  'UPDATE t SET id = id + 10 WHERE id = 2',
  'UPDATE w SET v = v + (SELECT count(*) FROM t) WHERE id = 1',
  'UPDATE w SET v = v + 1 WHERE id = 2',
  'INSERT INTO t VALUES (3, 30, 1, 3)',
  'INSERT INTO t VALUES (4, 40, 2, 7)',
  'INSERT INTO t VALUES (4, 41, 3, 4)',
  'INSERT INTO t SELECT max(id) + 1, 0, 1, NULL FROM t',
  'INSERT INTO h VALUES (1)',
  'INSERT INTO h SELECT count(*) FROM h',
  'INSERT INTO s (v) VALUES (1)',
  'INSERT INTO s (v) SELECT count(*) FROM s',
  'INSERT INTO c VALUES (1, 2)',
  'INSERT INTO c VALUES (2, 1)',
  'DELETE FROM t WHERE id = 2',
  'DELETE FROM t WHERE id = 1',
  'DELETE FROM t WHERE n < 15',
  'DELETE FROM t WHERE k = 1',
  'DELETE FROM h',
];
const ofDialect: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [
    'INSERT INTO t VALUES (3, 33, 3, 7) ON CONFLICT DO NOTHING',
    'INSERT INTO t VALUES (2, 22, 2, 2) ON CONFLICT (id) DO UPDATE SET n = t.n + 5',
    'SELECT n FROM t WHERE id = 1 FOR NO KEY UPDATE',
    'SELECT n FROM t WHERE id = 2 FOR KEY SHARE',
    'UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n',
  ],
  mysql: [
    'INSERT IGNORE INTO t VALUES (3, 33, 3, 7)',
    'INSERT INTO t VALUES (2, 22, 2, 2) ON DUPLICATE KEY UPDATE n = n + 5',
    'REPLACE INTO t VALUES (2, 23, 2, 2)',
    'SELECT id FROM t WHERE id < 5 ORDER BY id DESC FOR UPDATE',
    'SELECT id FROM t WHERE id <= 2 LOCK IN SHARE MODE',
    'SELECT max(id) + 1 AS n FROM t FOR UPDATE',
    'SELECT count(*) AS n FROM t WHERE k = 1 LOCK IN SHARE MODE',
  ],
};

const closeStatements = [
  'SELECT v FROM w WHERE id = 1',
  'SELECT v FROM w WHERE id = 2',
  'SELECT id, v FROM w ORDER BY id',
  'SELECT count(*) AS n FROM w WHERE v > 150',
  'SELECT v FROM w WHERE id = 1 FOR UPDATE',
  'SELECT id FROM w WHERE id > 1 ORDER BY id FOR SHARE',
  'UPDATE w SET v = v + 1 WHERE id = 1',
  'UPDATE w SET v = v + 1 WHERE id = 2',
  'UPDATE w SET v = 300 - v WHERE v > 150',
  'UPDATE w SET id = 3 WHERE id = 2',
  'INSERT INTO w VALUES (3, 300)',
  'INSERT INTO w SELECT 3, sum(v) FROM w',
  'DELETE FROM w WHERE id = 2',
];

const levels: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'],
  mysql: ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'],
};

function action(dialect: Dialect): fc.Arbitrary<Action> {
  const read = fc.constantFrom(...reads);
  const write = fc.constantFrom(...writes, ...ofDialect[dialect]);
  const any = fc.oneof(
    { arbitrary: read, weight: 3 },
    { arbitrary: fc.constantFrom(...locks), weight: 2 },
    { arbitrary: write, weight: 4 },
  );
  return fc.oneof(
    { arbitrary: any.map((sql): Action => ({ kind: 'sql', sql })), weight: 8 },
    {
      arbitrary: fc.record({ kind: fc.constant('if' as const), read, ifEven: write, otherwise: any }),
      weight: 1,
    },
  );
}

const sql = (text: string): Action => ({ kind: 'sql', sql: text });

/** What a transaction may begin with besides `BEGIN`: another level than that of the others, and to read alone. */
export const otherBegins: Readonly<Record<Dialect, readonly (readonly string[])[]>> = {
  postgres: [
    ...levels.postgres.map((level) => [`BEGIN ISOLATION LEVEL ${level}`]),
    ['BEGIN READ ONLY'],
    ['BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE'],
  ],
  mysql: [
    ...levels.mysql.map((level) => [`SET TRANSACTION ISOLATION LEVEL ${level}`, 'BEGIN']),
    ['START TRANSACTION WITH CONSISTENT SNAPSHOT'],
    ['START TRANSACTION READ ONLY'],
  ],
};

/** One statement that commits by itself, or a transaction, now and then at another level than the others or with a savepoint. */
function block(dialect: Dialect, lengthMax: number): fc.Arbitrary<Action[]> {
  return fc.oneof(
    { arbitrary: action(dialect).map((one) => [one]), weight: 1 },
    { arbitrary: transactionOf(dialect, action(dialect), lengthMax), weight: 3 },
  );
}

function transactionOf(dialect: Dialect, each: fc.Arbitrary<Action>, lengthMax: number): fc.Arbitrary<Action[]> {
  const begin = fc.oneof(
    { arbitrary: fc.constant(['BEGIN']), weight: 6 },
    { arbitrary: fc.constantFrom(...otherBegins[dialect]), weight: 1 },
  );
  const end = fc.constantFrom('COMMIT', 'COMMIT', 'COMMIT', 'ROLLBACK');
  return fc
    .tuple(begin, fc.array(each, { minLength: 1, maxLength: lengthMax }), end, fc.nat(9))
    .map(([first, body, last, mark]) => {
      const inner =
        mark === 0 ? [sql('SAVEPOINT a'), ...body.slice(0, 1), sql('ROLLBACK TO SAVEPOINT a'), ...body.slice(1)] : body;
      return [...first.map(sql), ...inner, sql(last)];
    });
}

export type Sessions = readonly (readonly Action[])[];

/** Two sessions, one of them with two blocks at times, or three short ones. */
export function randomSessions(dialect: Dialect): fc.Arbitrary<Sessions> {
  return fc.oneof(
    fc.tuple(block(dialect, 3), block(dialect, 3)),
    fc.tuple(
      fc.tuple(block(dialect, 2), block(dialect, 1)).map(([a, b]) => [...a, ...b]),
      block(dialect, 2),
    ),
    fc.tuple(block(dialect, 2), block(dialect, 1), block(dialect, 1)),
    fc.tuple(block(dialect, 1), block(dialect, 1), block(dialect, 1)),
  );
}

/** So few statements that most have hundreds of schedules: two sessions, or three of a statement or two. */
export function smallSessions(dialect: Dialect): fc.Arbitrary<Sessions> {
  const one = action(dialect).map((each) => [each]);
  return fc.oneof(
    { arbitrary: fc.tuple(block(dialect, 2), block(dialect, 2)), weight: 4 },
    { arbitrary: fc.tuple(block(dialect, 3), block(dialect, 1)), weight: 2 },
    {
      arbitrary: fc.tuple(
        fc.tuple(one, one).map((both) => both.flat()),
        block(dialect, 2),
      ),
      weight: 2,
    },
    { arbitrary: fc.tuple(block(dialect, 2), one, one), weight: 3 },
    { arbitrary: fc.tuple(block(dialect, 1), block(dialect, 1), one), weight: 1 },
  );
}

/** Over three rows of one table, so that most statements of different sessions conflict: lost updates, write skew, phantoms, and the cycles of three sessions. */
export function closeSessions(dialect: Dialect): fc.Arbitrary<Sessions> {
  const each = fc.constantFrom(...closeStatements).map(sql);
  const one = each.map((statement) => [statement]);
  const any = fc.oneof({ arbitrary: one, weight: 1 }, { arbitrary: transactionOf(dialect, each, 2), weight: 3 });
  return fc.oneof(fc.tuple(transactionOf(dialect, each, 3), any), fc.tuple(any, any, any));
}

/** How many steps the sessions have. @param stopsAtSnapshot may others come in between the snapshot of a transaction and its first read? */
export function countSteps(sessions: Sessions, stopsAtSnapshot: boolean): readonly number[] {
  return sessions.map((actions) => stepsOf(actions, Number(stopsAtSnapshot)));
}

function stepsOf(actions: readonly Action[], stepsToBegin: number): number {
  let isOpen = false;
  let steps = 0;
  for (const each of actions) {
    const text = each.kind === 'sql' ? each.sql : '';
    const begins = /^(?:BEGIN|START)/.test(text);
    if (begins || !isOpen) steps += stepsToBegin;
    if (!begins) steps += each.kind === 'if' ? 2 : 1;
    isOpen = begins || (isOpen && !/^(?:COMMIT|ROLLBACK)$/.test(text));
  }
  return steps;
}

/** @param speaks through a driver and its protocol, or, in less time, without */
export function programOf(
  dialect: Dialect,
  sessions: Sessions,
  {
    schema = schemaOf(dialect),
    speaks = 'protocol',
  }: { readonly schema?: string; readonly speaks?: 'protocol' | 'directly' } = {},
): SqlProgram {
  const run = speaks === 'directly' ? runDirectly : dialect === 'postgres' ? runOnPostgres : runOnMysql;
  return sqlProgram({
    dialect,
    schema: schema.split(';'),
    sessions: Object.fromEntries(
      sessions.map((actions, i) => [`s${i}`, (connection: SqlConnection) => run(connection, actions)]),
    ),
  });
}

/** What each statement gave: rows, or the code of its error; after an error the transaction continues where the engine lets it. */
async function perform(query: (text: string) => Promise<readonly Row[]>, actions: readonly Action[]): Promise<unknown> {
  const results: unknown[] = [];
  const told = (text: string): Promise<unknown> =>
    query(text).catch((error: { readonly code?: string }) => error.code ?? 'error');
  for (const each of actions) {
    if (each.kind === 'sql') results.push(await told(each.sql));
    else {
      const read = await told(each.read);
      results.push(read);
      const first = Array.isArray(read) ? (read as readonly Row[])[0] : undefined;
      const number = Number(Object.values(first ?? {})[0] ?? 0);
      results.push(await told(number % 2 === 0 ? each.ifEven : each.otherwise));
    }
  }
  await told('ROLLBACK');
  return results;
}

function runOnPostgres(connection: SqlConnection, actions: readonly Action[]): Promise<unknown> {
  return onPostgres(connection, (client) => perform(async (text) => (await client.query<Row>(text)).rows, actions));
}

function runOnMysql(connection: SqlConnection, actions: readonly Action[]): Promise<unknown> {
  return onMysql(connection, (client) =>
    perform(async (text) => {
      const [rows] = await client.query(text);
      return Array.isArray(rows) ? (rows as readonly Row[]) : [];
    }, actions),
  );
}

async function runDirectly(connection: SqlConnection, actions: readonly Action[]): Promise<unknown> {
  const queries = queriesOfConnection(connection)?.('app');
  assert(queries !== undefined, 'a session of a program has queries');
  try {
    return await perform(async (text) => {
      const answer = await queries.query(text, []);
      if (answer.kind === 'refused') throw Object.assign(new Error(answer.message), { code: answer.code });
      return answer.rows.map((row) => Object.fromEntries(answer.columns.map(({ name }, at) => [name, row[at]])));
    }, actions);
  } finally {
    queries.end();
  }
}
