/** `node --import moirai/record app.js`: applications that know nothing of it, as processes of their own. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, root, runProcess } from '../support/cli.ts';
import { startMariadb } from '../support/mariadb-server.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startedOrSkipped } from '../support/server-process.ts';
import { linesOf, withoutTimes } from './shop.ts';

const postgres = await startedOrSkipped(startPostgres);
const mariadb = await startedOrSkipped(startMariadb);
const folder = mkdtempSync(join(root, 'node_modules/.moirai-record-'));

beforeAll(async () => {
  await build();
  // As npm installs it: found by its name, through what it exports.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/moirai'), 'dir');
}, 120_000);
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

const loop = `for (const sql of ${JSON.stringify(statements)}) console.dir(await run(sql), { depth: 4 });`;

interface Application {
  readonly driver: 'pg' | 'postgres' | 'mysql2' | 'mariadb';
  /** The specifier by which it is loaded, and what the program then does with `driver`. */
  readonly from: string;
  readonly text: string;
}

const applications: readonly Application[] = [
  {
    driver: 'pg',
    from: 'pg',
    text: `const c = new driver.Client({ host: '127.0.0.1', port: PORT, user: 'postgres' }); await c.connect(); const run = (sql) => c.query(sql); ${loop} await c.end();`,
  },
  {
    driver: 'postgres',
    from: 'postgres',
    text: `const s = driver({ host: '127.0.0.1', port: PORT, user: 'postgres', max: 1 }); const run = (sql) => s.unsafe(sql); ${loop} await s.end();`,
  },
  {
    driver: 'mysql2',
    from: 'mysql2/promise',
    text: `const c = await driver.createConnection({ host: '127.0.0.1', port: PORT, user: 'root', database: 'test' }); const run = (sql) => c.query(sql); ${loop} await c.end();`,
  },
  {
    driver: 'mariadb',
    from: 'mariadb',
    text: `const c = await driver.createConnection({ host: '127.0.0.1', port: PORT, user: 'root', database: 'test' }); const run = (sql) => c.query(sql); ${loop} await c.end();`,
  },
  {
    driver: 'mariadb',
    from: 'mariadb/callback',
    text: `const c = driver.createConnection({ host: '127.0.0.1', port: PORT, user: 'root', database: 'test' }); await new Promise((resolve, reject) => c.connect((error) => (error ? reject(error) : resolve()))); const run = (sql) => new Promise((resolve, reject) => c.query(sql, (error) => (error ? reject(error) : resolve()))); ${loop} await new Promise((resolve) => c.end(resolve));`,
  },
];

const loadings = [
  { by: 'import', extension: 'mjs', wrap: (from: string, text: string) => `import driver from '${from}'; ${text}` },
  {
    by: 'require',
    extension: 'cjs',
    wrap: (from: string, text: string) => `const driver = require('${from}'); (async () => { ${text} })();`,
  },
];

const cases = applications.flatMap((application) => loadings.map((loading) => ({ ...application, ...loading })));

describe('an application that has', () => {
  test.each(cases)('$from by $by', async ({ driver, from, text, extension, wrap }) => {
    const server = driver === 'pg' || driver === 'postgres' ? postgres : mariadb;
    if (server === undefined) return;
    const app = join(folder, `${from.replace('/', '-')}.${extension}`);
    const trace = `${app}.trace.jsonl`;
    writeFileSync(app, wrap(from, text).replaceAll('PORT', String(server.port)));
    const { code, err } = await runProcess(process.execPath, ['--import', 'moirai/record', app], {
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
      { op: 'write', opaque: 'writes', tables: ['hooked'] },
      { op: 'commit' },
      { op: 'end' },
    ]);
  });

  test.each(applications)('$from, with completed reads', async ({ driver, from, text }) => {
    const server = driver === 'pg' || driver === 'postgres' ? postgres : mariadb;
    if (server === undefined) return;
    const app = join(folder, `${from.replace('/', '-')}.completed.mjs`);
    const trace = `${app}.trace.jsonl`;
    const unnamed = text.replace('SELECT n FROM hooked WHERE id = 1', 'SELECT n FROM hooked WHERE n > 4');
    writeFileSync(app, `import driver from '${from}'; ${unnamed}`.replaceAll('PORT', String(server.port)));
    const env = { MOIRAI_TRACE: trace, MOIRAI_COMPLETE_READS: '1' };
    const { code, out, err } = await runProcess(process.execPath, ['--import', 'moirai/record', app], {
      cwd: folder,
      env,
    });
    expect([code, err, out.includes('moirai_')]).toEqual([0, '', false]);
    const read = linesOf(readFileSync(trace, 'utf8')).find(({ op }) => op === 'read');
    expect(read?.reads).toEqual([['hooked/1', { id: 1, n: 5 }]]);
  });
});
