/** MySQL text to rows, end to end, through a driver: the mock's InnoDB beside a real MariaDB. */
import { readFileSync } from 'node:fs';
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTo } from '../src/serve/index.ts';
import { openSqlDatabase, parseProfile } from '../src/database/index.ts';
import { startMariadb } from './support/mariadb-server.ts';
import { startedOrSkipped, type TestServer } from './support/server-process.ts';

const lines = readFileSync(new URL('mysql-compared.txt', import.meta.url), 'utf8').split('\n');
const statements = lines.filter((line) => line !== '' && !line.startsWith('#'));

let server: TestServer | undefined;
let real: Connection | undefined;
let mock: Connection | undefined;

beforeAll(async () => {
  server = await startedOrSkipped(startMariadb);
  if (server === undefined) return;
  real = await createConnection({ host: '127.0.0.1', port: server.port, user: 'root', database: 'test' });
  const database = await openSqlDatabase({ profile: parseProfile({ engine: 'mysql' }) });
  mock = await createConnection({ stream: () => connectTo(database), user: 'root', database: 'test' });
}, 60_000);

afterAll(async () => {
  await real?.end();
  mock?.destroy();
  await server?.stop();
});

test('the mock answers as MariaDB does', async ({ skip }) => {
  if (real === undefined || mock === undefined) return skip('no server');
  const differences: string[] = [];
  let compared = 0;
  for (const line of statements) {
    const sql = line.replace(/^~ */, '');
    const [ours, theirs] = [await answerOf(mock, sql), await answerOf(real, sql)];
    if (line.startsWith('~')) continue;
    compared += 1;
    if (ours !== theirs) differences.push(`${sql}\n  mock:    ${ours}\n  MariaDB: ${theirs}`);
  }
  expect(compared).toBeGreaterThan(90);
  expect(differences).toEqual([]);
});

/** Numbers of errors that are compared with their words: applications and ORMs read them. */
const saidAlike: ReadonlySet<number> = new Set([
  1051, 1052, 1055, 1060, 1061, 1066, 1068, 1075, 1091, 1110, 1111, 1241, 1264, 1365, 1406, 1451, 1452, 1582, 1701,
  1829,
]);

/** As a text: rows, counts, or the error's number. */
async function answerOf(connection: Connection, sql: string): Promise<string> {
  try {
    const [result, fields] = await connection.query<RowDataPacket[][] | ResultSetHeader>({ sql, rowsAsArray: true });
    if (Array.isArray(result)) return JSON.stringify([fields.map(({ name }) => name), result]);
    return `affected ${result.affectedRows}, changed ${result.changedRows}, id ${result.insertId}`;
  } catch (error) {
    if (error instanceof Error && 'errno' in error) {
      const words = saidAlike.has(Number(error.errno)) ? `: ${error.message}` : '';
      return `error ${String(error.errno)}${words}`;
    }
    throw error;
  }
}
