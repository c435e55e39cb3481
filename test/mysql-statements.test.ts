/** The MySQL statements of our tables are MySQL: a real server parses every one of them. What it does not find does not matter. */
import { readFileSync } from 'node:fs';
import { createConnection, type Connection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readParseCases } from '../src/sql/mysql/parse-cases.test-support.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startedOrSkipped, type TestServer } from './support/server-process.ts';

const file = new URL('../src/sql/mysql/parse-cases.txt', import.meta.url);
const cases = readParseCases(readFileSync(file, 'utf8'));

let server: TestServer | undefined;
let connection: Connection | undefined;

beforeAll(async () => {
  server = await startedOrSkipped(startMariadb);
  if (server === undefined) return;
  connection = await createConnection({ host: '127.0.0.1', port: server.port, user: 'root', database: 'test' });
}, 60_000);

afterAll(async () => {
  await connection?.end();
  await server?.stop();
});

/** The statement was understood, and then something in it was not there: databases, tables, columns, functions, keys, prepared forms of it. */
const missingThings = new Set([1049, 1051, 1054, 1061, 1065, 1072, 1091, 1109, 1146, 1176, 1295, 1305]);

test('MariaDB parses the MySQL statements of the table', async ({ skip }) => {
  if (connection === undefined) return skip('no server');
  const refused: string[] = [];
  for (const { mysql } of cases.filter(({ isMariadb }) => isMariadb)) {
    const error = await errorOfPreparing(connection, mysql);
    if (error !== undefined && !missingThings.has(error.errno)) refused.push(`${mysql}: ${error.message}`);
  }
  expect(refused).toEqual([]);
});

test('and it refuses the ones that are marked as MySQL 8 only', async ({ skip }) => {
  if (connection === undefined) return skip('no server');
  const others = cases.filter(({ isMariadb }) => !isMariadb);
  const known: string[] = [];
  for (const { mysql } of others) {
    const error = await errorOfPreparing(connection, mysql);
    if (error?.errno !== 1064 && error?.errno !== 1193) known.push(mysql);
  }
  expect(others.length).toBeGreaterThan(5);
  expect(known).toEqual([]);
});

async function errorOfPreparing(
  to: Connection,
  sql: string,
): Promise<{ readonly errno: number; readonly message: string } | undefined> {
  try {
    const statement = await to.prepare(sql);
    await statement.close();
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'errno' in error) return { errno: Number(error.errno), message: error.message };
    throw error;
  }
}
