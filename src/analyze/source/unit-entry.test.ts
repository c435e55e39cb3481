import { expect, test } from 'vitest';
import type { UnitEntry } from '../application.ts';
import { applicationFromSource } from './index.ts';
import { pg, ts } from './read-source.test-support.ts';

function entries(files: Readonly<Record<string, string>>): ReadonlyMap<string, UnitEntry | undefined> {
  const { units } = applicationFromSource({
    ts,
    files: new Map(Object.entries(files)),
    schema: '',
    dialect: 'postgres',
  });
  return new Map(units.map(({ name, entry }) => [name, entry]));
}

const query = "await pool.query('SELECT * FROM items WHERE id = $1', [id]);";

test.each([
  ['a declaration', `export async function find(id: number) { ${query} }`, 'find'],
  ['a constant', `export const find = async (id: number) => { ${query} };`, 'find'],
  ['another name', `async function find(id: number) { ${query} }\nexport { find as findItem };`, 'findItem'],
  ['the default', `export default async function find(id: number) { ${query} }`, 'default'],
])('%s is called by the name under which its file exports it', (_name, text, exported) => {
  const of = { file: 'src/items.ts', export: exported };
  expect([...entries({ 'src/items.ts': pg + text }).values()]).toEqual([
    { kind: 'function', of, parameters: [{ name: 'id', isOptional: false }] },
  ]);
});

test('module.exports of CommonJS', () => {
  const text = `const { Pool } = require('pg');\nconst pool = new Pool();
async function find(id) { ${query} }
exports.all = async () => { await pool.query('SELECT * FROM items'); };
exports.find = find;`;
  expect(entries({ 'items.js': text })).toEqual(
    new Map<string, UnitEntry>([
      [
        'find',
        { kind: 'function', of: { file: 'items.js', export: 'find' }, parameters: [{ name: 'id', isOptional: false }] },
      ],
      ['all', { kind: 'function', of: { file: 'items.js', export: 'all' }, parameters: [] }],
    ]),
  );
});

test('a file that exports another one as an object', () => {
  const names = entries({
    'items.ts': `${pg}export * as names from './names';\nexport const find = async (id: number) => { ${query} };`,
    'names.ts': `export const one = 1;`,
  });
  expect(names.get('find')).toMatchObject({ kind: 'function', of: { file: 'items.ts', export: 'find' } });
});

test('parameters that are taken apart, and those that a caller may leave out', () => {
  const text = `export async function find({ id, size: n = 1 }: Query, limit = 10, ...rest: string[]) { ${query} }`;
  const [entry] = entries({ 'items.ts': pg + text }).values();
  expect(entry).toMatchObject({
    parameters: [
      {
        properties: [
          { name: 'id', isOptional: false },
          { name: 'size', isOptional: true },
        ],
        isOptional: false,
      },
      { name: 'limit', isOptional: true },
      { name: 'rest', isOptional: true },
    ],
  });
});

test('handlers of routes that their file exports', () => {
  const found = entries({
    'items.ts': `${pg}export async function remove(req, res) { await pool.query('DELETE FROM items WHERE id = $1', [req.params.id]); res.json({}); }`,
    'app.ts': `import express from 'express'; import { remove } from './items.ts';
const app = express();
app.delete('/items/:id', remove);
app.get('/items', async (req, res) => { await remove(req, res); });`,
  });
  expect(found).toEqual(
    new Map<string, UnitEntry>([
      ['DELETE /items/:id', { kind: 'handlers', of: [{ file: 'items.ts', export: 'remove' }] }],
      ['GET /items', { kind: 'none', reason: 'no file exports the function at app.ts:4' }],
    ]),
  );
});

test.each([
  [
    'a method',
    `export class Items { async find(id: number) { ${query} } }`,
    'it is a method, and its object is not known',
  ],
  ['a script', "await pool.query('DELETE FROM items');", 'it is what its file does when it loads'],
  [
    'a job',
    `import { Worker } from 'bullmq'; new Worker('clean', async () => { await pool.query('DELETE FROM items'); });`,
    'it is given to a library, which calls it',
  ],
])('%s says why it cannot be called', (_name, text, reason) => {
  expect([...entries({ 'items.ts': pg + text }).values()]).toEqual([{ kind: 'none', reason }]);
});
