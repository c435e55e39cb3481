// What `node --import moirai/record` sees of an application that has a driver by `import` or by `require`, against `moirai serve`.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = 'node_modules/moirai/dist/cli/main.js';
const statements = [
  'CREATE TABLE packed (id int PRIMARY KEY, n int)',
  'INSERT INTO packed VALUES (1, 5)',
  'SELECT n FROM packed WHERE id = 1',
  'DROP TABLE packed',
];
const each = `for (const sql of ${JSON.stringify(statements)}) await run(sql);`;
const drivers = [
  [
    'pg',
    'postgres',
    `const c = new driver.Client(at); await c.connect(); const run = (sql) => c.query(sql); ${each} await c.end();`,
  ],
  [
    'postgres',
    'postgres',
    `const s = driver({ ...at, max: 1 }); const run = (sql) => s.unsafe(sql); ${each} await s.end();`,
  ],
  [
    'mysql2/promise',
    'mysql',
    `const c = await driver.createConnection(at); const run = (sql) => c.query(sql); ${each} await c.end();`,
  ],
  [
    'mariadb',
    'mysql',
    `const c = await driver.createConnection(at); const run = (sql) => c.query(sql); ${each} await c.end();`,
  ],
];

for (const engine of ['postgres', 'mysql']) {
  const server = spawn(process.execPath, [main, 'serve', '--engine', engine, '--port', '0'], { stdio: 'pipe' });
  try {
    let printed = '';
    for (const stream of [server.stdout, server.stderr])
      stream.setEncoding('utf8').on('data', (text) => (printed += text));
    while (!/DATABASE_URL=\S+\n/.test(printed))
      await Promise.race([once(server.stdout, 'data'), once(server.stderr, 'data')]);
    const { hostname: host, port, username: user, pathname } = new URL(/DATABASE_URL=(\S+)/.exec(printed)[1]);
    const at = JSON.stringify({ host, port: Number(port), user, database: pathname.slice(1) });
    for (const [name, , text] of drivers.filter(([, dialect]) => dialect === engine)) {
      const program = `const at = ${at}; ${text}`;
      writeFileSync('app.mjs', `import driver from '${name}'; ${program}`);
      writeFileSync('app.cjs', `const driver = require('${name}'); (async () => { ${program} })();`);
      for (const app of ['app.mjs', 'app.cjs']) {
        const env = { ...process.env, MOIRAI_TRACE: `${app}.trace.jsonl` };
        await run(process.execPath, ['--import', 'moirai/record', app], { env });
        const trace = readFileSync(`${app}.trace.jsonl`, 'utf8');
        assert.match(trace, /"writes":\[\["packed\/1",\{"id":1,"n":5\}\]\]/, `${name} in ${app}: ${trace}`);
        assert.match(trace, /"reads":\[\["packed\/1",\{"n":5\}\]\]/, `${name} in ${app}: ${trace}`);
      }
    }
  } finally {
    server.kill('SIGINT');
    await once(server, 'close');
  }
}
