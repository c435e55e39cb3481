/** `node --import moirai/record app.js`: applications that know nothing of it, as processes of their own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, root, runProcess } from '../support/cli.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { linesOf, withoutTimes } from './shop.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
const folder = mkdtempSync(join(root, 'node_modules/.moirai-record-'));

beforeAll(build, 120_000);
afterAll(async () => {
  await postgres?.stop();
  await mariadb?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const statements = [
  'CREATE TABLE hooked (id int PRIMARY KEY, n int)',
  'INSERT INTO hooked VALUES (1, 5)',
  'BEGIN',
  'SELECT n FROM hooked WHERE id = 1',
  'UPDATE hooked SET n = 6 WHERE id = 1',
  'COMMIT',
  'DROP TABLE hooked',
];

const loop = `for (const sql of ${JSON.stringify(statements)}) await run(sql);`;

const applications = [
  [
    'pg',
    `import pg from 'pg'; const c = new pg.Client({ host: '127.0.0.1', port: PORT, user: 'postgres' }); await c.connect(); const run = (sql) => c.query(sql); ${loop} await c.end();`,
  ],
  [
    'postgres',
    `import postgres from 'postgres'; const s = postgres({ host: '127.0.0.1', port: PORT, user: 'postgres', max: 1 }); const run = (sql) => s.unsafe(sql); ${loop} await s.end();`,
  ],
  [
    'mysql2',
    `import mysql from 'mysql2/promise'; const c = await mysql.createConnection({ host: '127.0.0.1', port: PORT, user: 'root', database: 'test' }); const run = (sql) => c.query(sql); ${loop} await c.end();`,
  ],
  [
    'mariadb',
    `import mariadb from 'mariadb'; const c = await mariadb.createConnection({ host: '127.0.0.1', port: PORT, user: 'root', database: 'test' }); const run = (sql) => c.query(sql); ${loop} await c.end();`,
  ],
] as const;

describe('an application with', () => {
  test.each(applications)('%s', async (name, text) => {
    const server = name === 'pg' || name === 'postgres' ? postgres : mariadb;
    if (server === undefined) return;
    const app = join(folder, `${name}.mjs`);
    const trace = join(folder, `${name}.trace.jsonl`);
    writeFileSync(app, text.replaceAll('PORT', String(server.port)));
    const hook = join(root, 'dist/cli/record-hook.js');
    const { code, err } = await runProcess(process.execPath, ['--import', hook, app], {
      cwd: folder,
      env: { MOIRAI_TRACE: trace },
    });
    expect([code, err]).toEqual([0, '']);
    expect(linesOf(readFileSync(trace, 'utf8')).map(withoutTimes)).toEqual([
      { op: 'write', writes: [['hooked/1', { id: 1, n: 5 }]] },
      { op: 'commit' },
      { op: 'begin' },
      { op: 'read', reads: [['hooked/1', { n: 5 }]] },
      { op: 'write', writes: [['hooked/1', { n: 6 }]] },
      { op: 'commit' },
      { op: 'end' },
    ]);
  });
});
