/** The same expressions here and on real servers: value as text, type, and class of the error. */
import * as fc from 'fast-check';
import { createConnection } from 'mysql2/promise';
import type { Connection } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startMariadb } from './support/mariadb-server.ts';
import { startPostgres } from './support/postgres-server.ts';
import { startedOrSkipped } from './support/server-process.ts';
import type { TestServer } from './support/server-process.ts';
import { formatBinary, parseBinary } from '../src/sql/model/binary-format.ts';
import { SqlError } from '../src/sql/model/sql-error.ts';
import { formatText } from '../src/sql/model/text-format.ts';
import { aggregateCases, aggregateOutcome } from '../src/sql/expressions/aggregate-cases.test-support.ts';
import { anyExpression } from '../src/sql/expressions/expression-arbitrary.test-support.ts';
import { evaluateSql, mysqlOutcomeOf } from '../src/sql/expressions/expression.test-support.ts';
import { mysqlCases } from '../src/sql/expressions/mysql-cases.test-support.ts';
import { structuredCases } from '../src/sql/expressions/oracle-cases-more.test-support.ts';
import { scalarCases } from '../src/sql/expressions/oracle-cases.test-support.ts';

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';
const randomRuns = isHeavy ? 30_000 : 800;
/** One seed for every day's run; another one with MOIRAI_SEED. */
const seed = Number(process.env['MOIRAI_SEED'] ?? 3);

describe('PostgreSQL', () => {
  let server: TestServer | undefined;
  let client: pg.Client;
  beforeAll(async () => {
    server = await startedOrSkipped(startPostgres);
    if (server === undefined) return;
    client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' });
    await client.connect();
  });
  beforeEach(({ skip }) => skip(server === undefined, 'no server'));
  afterAll(async () => {
    if (server === undefined) return;
    await client.end();
    await server.stop();
  });

  const cases = Object.entries({ ...scalarCases, ...structuredCases });
  test.each(cases)('%s: every listed expression', async (_area, expressions) => {
    if (server === undefined) return;
    const differences: string[] = [];
    for (const sql of expressions) {
      const [wanted, found] = [await askPostgres(client, sql), ask(sql)];
      if (!isSame(wanted, found)) differences.push(`${sql}: ${wanted}, here ${found}`);
    }
    expect(differences).toEqual([]);
  });

  test.each(cases)('%s: the binary format', async (_area, expressions) => {
    if (server === undefined) return;
    const differences: string[] = [];
    for (const sql of expressions) {
      const found = binaryOf(sql);
      if (found === undefined) continue;
      const wanted = await askPostgres(client, `encode(${found.sender}(${sql}), 'hex')`);
      if (wanted !== `${found.hex} :25`) differences.push(`${sql}: ${wanted}, here ${found.hex}`);
    }
    expect(differences).toEqual([]);
  });

  test.each(aggregateCases)('%s over %s', async (call, rows) => {
    if (server === undefined) return;
    const found = aggregateOutcome(call, rows);
    const wanted = await askPostgres(client, `${call} FROM (VALUES ${rows}) AS v(x, y)`);
    expect(isSame(wanted, found), `${wanted}, here ${found}`).toBe(true);
  });

  test(`random expressions, seed ${seed}`, { timeout: 600_000 }, async () => {
    if (server === undefined) return;
    const differences: string[] = [];
    let values = 0;
    for (const sql of fc.sample(anyExpression, { seed, numRuns: randomRuns })) {
      const [wanted, found] = [await askPostgres(client, sql), ask(sql)];
      if (!wanted.startsWith('!')) values += 1;
      // What is not supported says so; NULL operands may save PostgreSQL from computing the others.
      const isExcused = found.startsWith('!0A') || (wanted.startsWith('null') && found.startsWith('!'));
      if (!isExcused && !isSame(wanted, found)) differences.push(`${sql}: ${wanted}, here ${found}`);
    }
    expect(differences).toEqual([]);
    expect(values).toBeGreaterThan(randomRuns / 4);
  });
});

describe('MariaDB', () => {
  let server: TestServer | undefined;
  let client: Connection;
  beforeAll(async () => {
    server = await startedOrSkipped(startMariadb);
    if (server === undefined) return;
    const options = { host: '127.0.0.1', port: server.port, user: 'root', database: 'test' };
    client = await createConnection({ ...options, typeCast: (field) => field.string() });
  });
  beforeEach(({ skip }) => skip(server === undefined, 'no server'));
  afterAll(async () => {
    if (server === undefined) return;
    await client.end();
    await server.stop();
  });

  test.each(Object.entries(mysqlCases))('%s: every listed expression', async (_area, expressions) => {
    if (server === undefined) return;
    const differences: string[] = [];
    for (const sql of expressions) {
      const [wanted, found] = [await askMariadb(client, sql), mysqlOutcomeOf(sql)];
      if (wanted !== found) differences.push(`${sql}: ${wanted}, here ${found}`);
    }
    expect(differences).toEqual([]);
  });
});

const asTexts = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

/** `value :type`, or `!` and the SQLSTATE. */
async function askPostgres(client: pg.Client, sql: string): Promise<string> {
  try {
    const { rows, fields } = await client.query<(string | null)[]>({
      text: `SELECT ${sql}`,
      rowMode: 'array',
      types: asTexts,
    });
    return `${rows[0]?.[0] ?? 'null'} :${fields[0]?.dataTypeID}`;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return `!${error.code ?? ''}`;
    throw error;
  }
}

/** PostgreSQL's own functions for the binary formats: int4send, numeric_send. */
const senders: Readonly<Record<string, string>> = Object.fromEntries([
  ...'bool int2 int4 int8 float4 float8 text varchar bpchar name oid bytea'
    .split(' ')
    .map((name) => [name, `${name}send`]),
  ...'numeric date time timestamp timestamptz interval uuid json jsonb array'
    .split(' ')
    .map((name) => [name, `${name}_send`]),
]);

/** Also reads the bytes back. Names of tables and types are texts here, and records have no types of columns. */
function binaryOf(sql: string): { readonly sender: string; readonly hex: string } | undefined {
  try {
    const { value, type } = evaluateSql(sql);
    const sender = senders[type.name];
    if (value === null || sender === undefined) return undefined;
    const bytes = formatBinary(value, type);
    const again = parseBinary(bytes, type);
    if (again === null || formatText(again, type, 'postgres') !== formatText(value, type, 'postgres'))
      throw new Error(`not read back: ${sql}`);
    return { sender, hex: Buffer.from(bytes).toString('hex') };
  } catch (error) {
    if (error instanceof SqlError) return undefined;
    throw error;
  }
}

function ask(sql: string): string {
  try {
    const { text, type } = evaluateSql(sql);
    return `${text ?? 'null'} :${type.oid}`;
  } catch (error) {
    if (error instanceof SqlError) return `!${error.code}`;
    throw error;
  }
}

/** Of errors the class has to be the same: two may be wrong at once, and which is told first is open. */
function isSame(wanted: string, found: string): boolean {
  return (
    wanted === found || (wanted.startsWith('!') && found.startsWith('!') && wanted.slice(0, 3) === found.slice(0, 3))
  );
}

/** `!` for an error: MariaDB's numbers are mapped elsewhere. */
async function askMariadb(client: Connection, sql: string): Promise<string> {
  try {
    const [rows] = await client.query({ sql: `SELECT ${sql}`, rowsAsArray: true });
    const [row] = rows as (string | null)[][];
    return row?.[0] ?? 'null';
  } catch (error) {
    if (error instanceof Error && 'sqlState' in error) return `!${String(error.sqlState)}`;
    throw error;
  }
}
