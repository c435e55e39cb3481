import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applicationOfSource, ddlOf, readSource, schemaOf } from './analyze-source.ts';
import type { Host } from '../host.ts';
import { listFolder, readInput } from '../files/input-files.ts';

const host = { listFolder, readInput } as unknown as Host;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'moirai-source-'));
  const write = (file: string, text: string): void => {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  write('schema.sql', 'CREATE TABLE items (id int PRIMARY KEY)');
  write('tsconfig.json', '{ "compilerOptions": { "paths": { "@/*": ["./src/lib/*"] } } } // with a comment');
  write('migrations/002/up.sql', 'CREATE TABLE orders (id int)');
  write('migrations/002/down.sql', 'DROP TABLE orders');
  write(
    'migrations/001_items.sql',
    '-- +migrate Up\nCREATE TABLE items (id int);\n-- +migrate Down\nDROP TABLE items;\n',
  );
  write('src/lib/db.ts', `import { Pool } from 'pg';\nexport const pool = new Pool();\n`);
  write(
    'src/items.ts',
    `import { pool } from '@/db';\nexport const remove = (id: number) =>\n  pool.query('DELETE FROM items WHERE id = $1', [id]);\n`,
  );
  write('program.ts', `export { default } from 'moirai-programs/queue.ts';\n`);
  write('src/broken.ts', 'export const = 1;\n');
  write(
    'src/items.test.ts',
    `import { pool } from '@/db';\nexport const all = () => pool.query('DELETE FROM items');\n`,
  );
  write('shop/packages/db/package.json', '{ "name": "@shop/db", "main": "./dist/index.js" }');
  write('shop/packages/db/src/index.ts', `import { Pool } from 'pg';\nexport const pool = new Pool();\n`);
  write('shop/apps/web/package.json', '{ "name": "@shop/web", "dependencies": { "@shop/db": "workspace:*" } }');
  write('shop/apps/web/tsconfig.json', '{ "compilerOptions": { "paths": { "~/*": ["./lib/*"] } } }');
  write('shop/apps/web/lib/texts.ts', `export const remove = 'DELETE FROM items WHERE id = $1';\n`);
  write(
    'shop/apps/web/a.ts',
    `import { pool } from '@shop/db';\nimport { remove } from '~/texts';\nexport const clear = (id: number) => pool.query(remove, [id]);\nexport const list = () => pool.query('SELECT id FROM items');\n`,
  );
  write('src/node_modules/x/index.js', `throw new Error();\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a folder is read with the path aliases of the project around it, without tests and packages; places are relative to the working directory', async () => {
  const options = { path: join(folder, 'src'), schema: join(folder, 'schema.sql'), engine: 'postgres' as const };
  const { schema, units, notUnderstood } = await applicationOfSource(options, host);
  const at = (file: string): string => relative('', join(folder, file)).replaceAll('\\', '/');
  expect(schema).toContain('CREATE TABLE items');
  expect(units.map(({ name, place }) => ({ name, place }))).toEqual([
    { name: 'remove', place: { file: at('src/items.ts'), line: 2 } },
  ]);
  expect(units[0]?.steps).toMatchObject([{ kind: 'statement', place: { line: 3 } }]);
  expect(notUnderstood).toMatchObject([
    { place: { file: at('src/broken.ts'), line: 1 }, reason: expect.stringContaining('the file does not parse') },
  ]);
});

test('the packages of a workspace are found by their names, and the aliases of each by its own configuration', async () => {
  const options = { path: join(folder, 'shop'), schema: join(folder, 'schema.sql'), engine: 'postgres' as const };
  const { units, notUnderstood } = await applicationOfSource(options, host);
  expect(notUnderstood).toEqual([]);
  expect(units.map(({ name, steps }) => [name, steps])).toEqual([
    ['clear', [expect.objectContaining({ kind: 'statement', sql: 'DELETE FROM items WHERE id = $1' })]],
    ['list', [expect.objectContaining({ kind: 'statement', sql: 'SELECT id FROM items' })]],
  ]);
});

test('source without its schema, and a schema that is not there, are bad input', async () => {
  await expect(schemaOf(folder, undefined, host)).rejects.toMatchObject({ code: 'analyze/schema-missing' });
  // A module is run, which source must not be.
  const file = join(folder, 'src/items.ts');
  await expect(schemaOf(file, undefined, host)).rejects.toMatchObject({ code: 'analyze/schema-missing' });
  expect(await schemaOf(join(folder, 'program.ts'), undefined, host)).toBeNull();
  const options = { path: join(folder, 'src'), schema: join(folder, 'none.sql'), engine: 'postgres' as const };
  await expect(applicationOfSource(options, host)).rejects.toMatchObject({ name: 'InputError' });
});

test('a folder of migrations is the schema: its .sql files by path, without what undoes them', async () => {
  const ddl = await ddlOf(join(folder, 'migrations'), host);
  expect(ddl.match(/(?:CREATE|DROP) TABLE \w+/g)).toEqual(['CREATE TABLE items', 'CREATE TABLE orders']);
  await expect(ddlOf(join(folder, 'src'), host)).rejects.toMatchObject({
    code: 'analyze/schema-folder',
    message: expect.stringContaining('pg_dump --schema-only'),
  });
});

test.each([
  [
    { 'a.js': `const pool = require('mysql2/promise').createPool({});` },
    'mysql',
    /^the database is MySQL \(mysql2\/promise in .*a\.js\); --engine/,
    null,
  ],
  [{ 'a.js': `const db = require('knex')({ client: 'mysql2' });` }, 'mysql', /client: 'mysql2' in/, null],
  [{ 'a.ts': `import { Pool } from 'pg';` }, 'postgres', null, null],
  [{ 'schema.prisma': `datasource db {\n  provider = "postgresql"\n}`, 'a.ts': 'export {};' }, 'postgres', null, null],
  [
    { 'a.ts': `import knex from 'knex';` },
    'postgres',
    null,
    /^the database is PostgreSQL: the source names none; --engine/,
  ],
  [
    { 'a.ts': `import 'pg';`, 'b.ts': `import 'mysql2';` },
    'postgres',
    null,
    /: the source names pg in .*a\.ts and mysql2 in .*b\.ts; --engine/,
  ],
] as const)(
  'without --engine, the database is the one that the source names: %j',
  async (files, dialect, found, assumed) => {
    const own = mkdtempSync(join(tmpdir(), 'moirai-engine-'));
    try {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text);
      const read = await readSource({ path: own, schema: join(folder, 'schema.sql'), engine: undefined }, host);
      expect(read.source.dialect).toBe(dialect);
      expect(read.found).toEqual(found === null ? null : expect.stringMatching(found));
      expect(read.assumed).toEqual(assumed === null ? null : expect.stringMatching(assumed));
    } finally {
      rmSync(own, { recursive: true });
    }
  },
);
