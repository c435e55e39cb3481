/**
 * `MOIRAI_COMPLETE_READS` on real servers through the real drivers: the application sees the same to the last field, whatever it asks, and the
 * trace names more rows. The statements are random, from a grammar that has all that must not be completed.
 */
import * as mariadb from 'mariadb';
import mariadbCallback from 'mariadb/callback';
import mysql2 from 'mysql2';
import mysql from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookMariadb, hookMysql2, hookPg, hookPostgresJs, Recording } from '../../src/capture/index.ts';
import { monotonicNanoseconds } from '../../src/base/index.ts';
import { formatTraceHeader } from '../../src/trace/record.ts';
import { emptyHeader } from '../../src/trace/trace.ts';
import { loadParser } from '../../src/sql/index.ts';
import { mechanismsOf, TraceVerification } from '../../src/verify/index.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import {
  dollars,
  ofMariadb,
  quoted,
  randomStatements,
  seen,
  type Statement,
  type Value,
} from './complete-statements.ts';
import { linesOf } from './shop.ts';

const servers = { postgres: await startedOrSkipped(startPostgres), mysql: await startedOrSkipped(startMariadb) };
const { default: mariadbConnection } = (await import(
  new URL('../../node_modules/mariadb/lib/connection.js', import.meta.url).href
)) as { default: { prototype: object } };

type Run = (statement: Pick<Statement, 'sql' | 'values'>) => Promise<unknown>;

interface Way {
  readonly dialect: 'postgres' | 'mysql';
  readonly name: string;
  readonly open: (port: number) => Promise<{ readonly run: Run; readonly close: () => Promise<unknown> }>;
}

const onPg =
  (run: (client: pg.Client) => Run): Way['open'] =>
  async (port) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres' });
    await client.connect();
    return { run: run(client), close: () => client.end() };
  };

const onPostgresJs =
  (run: (sql: postgres.Sql) => Run): Way['open'] =>
  (port) => {
    const sql = postgres({ host: '127.0.0.1', port, username: 'postgres', max: 1, onnotice: () => {} });
    return Promise.resolve({ run: run(sql), close: () => sql.end() });
  };

const mysqlAddress = (port: number) => ({ host: '127.0.0.1', port, user: 'root', database: 'test' });

const onMysql2 =
  (run: (client: mysql.Connection) => Run): Way['open'] =>
  async (port) => {
    const client = await mysql.createConnection(mysqlAddress(port));
    return { run: run(client), close: () => client.end() };
  };

const onMariadb =
  (options: object, run: (client: mariadb.Connection) => Run): Way['open'] =>
  async (port) => {
    const client = await mariadb.createConnection({ ...mysqlAddress(port), ...options });
    const runOne = run(client);
    return { run: async (statement) => ofMariadb(await runOne(statement)), close: () => client.end() };
  };

const ways: readonly Way[] = (
  [
    [
      'postgres',
      'pg',
      onPg(
        (client) =>
          ({ sql, values }) =>
            client.query(dollars(sql), [...values]),
      ),
    ],
    ['postgres', 'pg, constants', onPg((client) => (statement) => client.query(quoted(statement)))],
    [
      'postgres',
      'pg, rows as arrays',
      onPg(
        (client) =>
          ({ sql, values }) =>
            client.query({ text: dollars(sql), values: [...values], rowMode: 'array' }),
      ),
    ],
    [
      'postgres',
      'pg, callbacks',
      onPg(
        (client) =>
          ({ sql, values }) =>
            new Promise((resolve, reject) => {
              client.query(dollars(sql), [...values], (error, result) => (error ? reject(error) : resolve(result)));
            }),
      ),
    ],
    [
      'postgres',
      'postgres.js, templates',
      onPostgresJs((client) => ({ sql, values }) => {
        const parts = sql.split('?');
        return client(Object.assign(parts, { raw: parts }), ...values);
      }),
    ],
    [
      'postgres',
      'postgres.js, prepared',
      onPostgresJs(
        (client) =>
          ({ sql, values }) =>
            client.unsafe(dollars(sql), values as Value[], { prepare: true }),
      ),
    ],
    ['postgres', 'postgres.js, constants', onPostgresJs((client) => (statement) => client.unsafe(quoted(statement)))],
    [
      'postgres',
      'postgres.js, rows as arrays',
      onPostgresJs(
        (client) =>
          ({ sql, values }) =>
            client.unsafe(dollars(sql), [...values]).values(),
      ),
    ],
    [
      'mysql',
      'mysql2',
      onMysql2(
        (client) =>
          ({ sql, values }) =>
            client.query(sql, [...values]),
      ),
    ],
    ['mysql', 'mysql2, constants', onMysql2((client) => (statement) => client.query(quoted(statement)))],
    [
      'mysql',
      'mysql2, prepared',
      onMysql2(
        (client) =>
          ({ sql, values }) =>
            client.execute(sql, [...values]),
      ),
    ],
    [
      'mysql',
      'mysql2, rows as arrays',
      onMysql2(
        (client) =>
          ({ sql, values }) =>
            client.query({ sql, values: [...values], rowsAsArray: true }),
      ),
    ],
    [
      'mysql',
      'mysql2, prepared, rows as arrays',
      onMysql2(
        (client) =>
          ({ sql, values }) =>
            client.execute({ sql, values: [...values], rowsAsArray: true }),
      ),
    ],
    [
      'mysql',
      'mysql2, callbacks and events',
      (port: number) => {
        const client = mysql2.createConnection(mysqlAddress(port));
        const run: Run = ({ sql, values }) =>
          new Promise((resolve, reject) => {
            const events: unknown[] = [];
            const command = client.query(sql, [...values], (error, ...rest) =>
              error === null ? resolve([rest, events, command.sql]) : reject(error),
            );
            command.on('fields', (fields: unknown) => events.push(fields));
          });
        return Promise.resolve({ run, close: () => new Promise((resolve) => client.end(resolve)) });
      },
    ],
    [
      'mysql',
      'mariadb',
      onMariadb(
        {},
        (client) =>
          ({ sql, values }) =>
            client.query(sql, [...values]),
      ),
    ],
    ['mysql', 'mariadb, constants', onMariadb({}, (client) => (statement) => client.query(quoted(statement)))],
    [
      'mysql',
      'mariadb, prepared',
      onMariadb(
        {},
        (client) =>
          ({ sql, values }) =>
            client.execute(sql, [...values]),
      ),
    ],
    [
      'mysql',
      'mariadb, prepared, no pipelining, parameters in errors',
      onMariadb(
        { pipelining: false, logParam: true },
        (client) =>
          ({ sql, values }) =>
            client.execute(sql, [...values]),
      ),
    ],
    [
      'mysql',
      'mariadb, rows as arrays, columns beside',
      onMariadb(
        { rowsAsArray: true, metaAsArray: true },
        (client) =>
          ({ sql, values }) =>
            client.query(sql, [...values]),
      ),
    ],
    [
      'mysql',
      'mariadb, callbacks and events',
      (port: number) => {
        const client = mariadbCallback.createConnection({ ...mysqlAddress(port), logParam: true });
        const run: Run = ({ sql, values }) =>
          new Promise((resolve, reject) => {
            const events: unknown[] = [];
            const command = client.query(sql, [...values], (error, ...rest) =>
              error === null ? resolve(ofMariadb([rest, events])) : reject(error),
            ) as unknown as { on: (event: string, listener: (given: unknown) => void) => void };
            for (const event of ['fields', 'data']) command.on(event, (given) => events.push(event, given));
          });
        return Promise.resolve({ run, close: () => new Promise((resolve) => client.end(resolve)) });
      },
    ],
  ] as const
).map(([dialect, name, open]) => ({ dialect, name, open }));

/** Statistics that change by themselves would change plans, and with them the order of rows that are equal. */
const still = { postgres: 'WITH (autovacuum_enabled = false)', mysql: 'STATS_PERSISTENT = 1 STATS_AUTO_RECALC = 0' };

function setUp(dialect: Way['dialect']): string[] {
  const [text, shelf] = dialect === 'postgres' ? ['text', '"Shelf"'] : ['varchar(50)', '`Shelf`'];
  const tables = [
    `book (id int PRIMARY KEY, author int, title ${text}, price numeric(9, 2))`,
    'stock (w int, item varchar(20), n bigint, PRIMARY KEY (w, item))',
    `notes (text ${text})`,
    `${shelf} (${dialect === 'postgres' ? '"Id"' : 'Id'} int PRIMARY KEY, ${dialect === 'postgres' ? '"Title"' : 'Title'} ${text})`,
  ];
  return [
    ...tables.map((table) => `CREATE TABLE ${table} ${still[dialect]}`),
    "INSERT INTO book VALUES (1, 1, 'tea', 2.5), (2, 1, 'it''s ü', 7), (3, 2, 'cup', NULL), (4, NULL, 'tea', 1)",
    "INSERT INTO stock VALUES (1, 'a', 5), (1, 'b', 9007199254740993), (2, 'a', NULL)",
    "INSERT INTO notes VALUES ('x'), ('x')",
    `INSERT INTO ${shelf} VALUES (1, 'tea')`,
    dialect === 'postgres' ? 'ANALYZE' : 'ANALYZE TABLE book, stock, notes, Shelf',
  ];
}

async function prepare(dialect: Way['dialect'], port: number): Promise<void> {
  const first = ways.find((way) => way.dialect === dialect);
  const { run, close } = (await first?.open(port)) ?? expect.fail();
  for (const sql of setUp(dialect)) await run({ sql, values: [] });
  await close();
}

interface Recorded {
  readonly answers: readonly string[];
  readonly trace: string;
}

async function ask(
  way: Way,
  port: number,
  statements: readonly Statement[],
  completesReads: boolean | null,
): Promise<Recorded> {
  let trace = `${formatTraceHeader({ ...emptyHeader, hasMarks: true })}\n`;
  const write = (line: string): void => void (trace += line);
  const warn = (message: string): void => expect.fail(message);
  const recording = new Recording({ write, now: monotonicNanoseconds, warn, completesReads: completesReads === true });
  const unhook =
    completesReads === null
      ? []
      : [
          hookPg(pg as never, recording),
          hookPostgresJs(postgres as never, recording),
          hookMysql2(mysql2, recording),
          hookMariadb(mariadbConnection, recording),
        ];
  const answers: string[] = [];
  try {
    const { run, close } = await way.open(port);
    await run({ sql: 'SELECT 1', values: [] });
    for (const statement of statements) {
      // What the statement has written or locked is nobody's business.
      await run({ sql: 'BEGIN', values: [] });
      const tell = (answer: unknown): string => seen(answer, statement);
      answers.push(await run(statement).then(tell, tell));
      await run({ sql: 'ROLLBACK', values: [] });
    }
    await close();
  } finally {
    for (const undo of unhook) undo();
  }
  recording.end();
  return { answers, trace };
}

function violationsIn(trace: string, dialect: Way['dialect']): string[] {
  const violations: string[] = [];
  const verification = new TraceVerification({
    mechanisms: mechanismsOf(dialect, dialect === 'postgres' ? 'read committed' : 'repeatable read'),
    onViolation: ({ reason }) => violations.push(reason),
  });
  verification.push(new TextEncoder().encode(trace));
  verification.finish();
  return violations;
}

/** Rows that reads name, and operations that may have touched more than they name. */
function namedIn(trace: string): { readonly rows: number; readonly opaque: number } {
  const lines = linesOf(trace);
  return {
    rows: lines.reduce((sum, { reads = [], writes = [] }) => sum + reads.length + writes.length, 0),
    opaque: lines.filter(({ opaque }) => opaque !== undefined).length,
  };
}

beforeAll(async () => {
  await loadParser();
  for (const dialect of ['postgres', 'mysql'] as const) {
    const server = servers[dialect];
    if (server !== undefined) await prepare(dialect, server.port);
  }
});
afterAll(async () => {
  await servers.postgres?.stop();
  await servers.mysql?.stop();
});

/** MOIRAI_HEAVY=1: 5,000 by each way. */
const count = process.env['MOIRAI_HEAVY'] === '1' ? 5_000 : 120;

describe.each(ways)('$name', (way) => {
  test.skipIf(servers[way.dialect] === undefined)('the application sees the same, the trace names more', async () => {
    const port = servers[way.dialect]?.port ?? 0;
    const statements = randomStatements(way.dialect, count, 1 + ways.indexOf(way));
    const without = await ask(way, port, statements, null);
    const recorded = await ask(way, port, statements, false);
    const completed = await ask(way, port, statements, true);
    const beside = ({ answers }: Recorded): object[] => statements.map((asked, i) => ({ asked, answer: answers[i] }));
    expect(beside(recorded)).toEqual(beside(without));
    expect(beside(completed)).toEqual(beside(without));
    expect(violationsIn(completed.trace, way.dialect)).toEqual([]);
    const [before, after] = [namedIn(recorded.trace), namedIn(completed.trace)];
    expect(after.rows).toBeGreaterThan(1.3 * before.rows);
    expect(after.opaque).toBeLessThan(before.opaque);
  });
});

/** Each with functions of the application that are told of columns or texts: what they are told is collected. */
const listeners: readonly (Pick<Way, 'name' | 'dialect'> & { readonly open: (told: string[]) => Way['open'] })[] = [
  {
    name: 'postgres.js, names of columns',
    dialect: 'postgres',
    open: (told) => (port) => {
      const from = (name: string): string => (told.push(name), name.toUpperCase());
      const sql = postgres({ host: '127.0.0.1', port, username: 'postgres', max: 1, transform: { column: { from } } });
      return Promise.resolve({ run: ({ sql: text }) => sql.unsafe(text), close: () => sql.end() });
    },
  },
  {
    name: 'postgres.js, texts',
    dialect: 'postgres',
    open: (told) => (port) => {
      const debug = (_connection: number, text: string): void => void told.push(text);
      const sql = postgres({ host: '127.0.0.1', port, username: 'postgres', max: 1, debug });
      return Promise.resolve({ run: ({ sql: text }) => sql.unsafe(text), close: () => sql.end() });
    },
  },
  {
    name: 'mysql2, values',
    dialect: 'mysql',
    open: (told) =>
      onMysql2((client) => ({ sql }) => {
        const typeCast = (field: { name: string }, next: () => unknown): unknown => (told.push(field.name), next());
        return client.query({ sql, typeCast });
      }),
  },
  {
    name: 'mysql2, nested tables',
    dialect: 'mysql',
    open: (told) =>
      onMysql2(
        (client) =>
          async ({ sql }) =>
            told.push(JSON.stringify(await client.query({ sql, nestTables: true }))),
      ),
  },
  {
    name: 'mariadb, values',
    dialect: 'mysql',
    open: (told) => {
      const typeCast = (column: { name: () => string }, next: () => unknown): unknown => (
        told.push(column.name()), next()
      );
      return onMariadb(
        { typeCast },
        (client) =>
          ({ sql }) =>
            client.execute(sql),
      );
    },
  },
  {
    name: 'mariadb, texts',
    dialect: 'mysql',
    open: (told) => {
      const logger = { query: (text: string): void => void told.push(text) };
      return onMariadb(
        { logger },
        (client) =>
          ({ sql }) =>
            client.query(sql),
      );
    },
  },
  {
    name: 'pg, prepared statements',
    dialect: 'postgres',
    open: (told) =>
      onPg((client) => async ({ sql }) => {
        await client.query({ name: `named ${sql}`, text: sql });
        const { rows } = await client.query({ text: 'SELECT * FROM pg_prepared_statements', rowMode: 'array' });
        told.push(JSON.stringify(rows));
      }),
  },
];

test.each(listeners)(
  "$name: the application's own functions are told of nothing else",
  async ({ name, dialect, open }) => {
    const port = servers[dialect]?.port;
    if (port === undefined) return;
    const told: string[] = [];
    const statements = [
      { sql: 'SELECT title FROM book', values: [], isOrdered: true },
      { sql: 'SELECT title FROM book b', values: [], isOrdered: true },
    ];
    await ask({ name, dialect, open: open(told) }, port, statements, true);
    expect(told.filter((text) => text.includes('title')).length).toBeGreaterThan(0);
    expect(told.filter((text) => text.includes('moirai'))).toEqual([]);
  },
);

test.each(ways.filter(({ name }) => /^(?:pg|postgres.js, prepared|mysql2|mariadb)$/.test(name)))(
  '$name: a statement behind a definition that has no answer yet is left as it is',
  async ({ dialect, name, open }) => {
    const port = servers[dialect]?.port;
    if (port === undefined) return;
    const way: Way = {
      dialect,
      name,
      open: async (on) => {
        const { run, close } = await open(on);
        const rename: Run = async ({ sql }) => {
          const [from, to] = sql.split(' ');
          const texts = [`ALTER TABLE moved RENAME COLUMN ${from} TO ${to}`, 'SELECT title FROM moved'];
          return (await Promise.all(texts.map((text) => run({ sql: text, values: [] })))).at(-1);
        };
        return { run: (statement) => (/^[ik]/.test(statement.sql) ? rename(statement) : run(statement)), close };
      },
    };
    const { run, close } = await open(port);
    await run({ sql: 'CREATE TABLE moved (i int PRIMARY KEY, title varchar(9))', values: [] });
    const statements = ['i k', 'k i'].map((sql) => ({ sql, values: [], isOrdered: true }));
    const without = await ask(way, port, statements, null);
    const completed = await ask(way, port, statements, true);
    await run({ sql: 'DROP TABLE moved', values: [] });
    await close();
    expect(completed.answers).toEqual(without.answers);
    expect(completed.answers[0]).not.toMatch(/error/i);
  },
);
