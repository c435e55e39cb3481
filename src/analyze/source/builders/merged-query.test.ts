/** Statements that differ by path, or in the passes of a loop, in their conditions only. */
import { expect, test } from 'vitest';
import { formatApplication } from '../../format-application.ts';
import { applicationFromSource, tableColumns } from '../index.ts';
import { ts } from '../read-source.test-support.ts';

const schema = `CREATE TABLE items (id int PRIMARY KEY, name text, price int)`;
const dialect = 'postgres';

async function knex(body: string): Promise<string> {
  const source = `import makeKnex from 'knex'; const knex = makeKnex({}); export async function f(given, list) { ${body} }`;
  const tables = await tableColumns({ schema, dialect });
  const application = applicationFromSource({ ts, files: new Map([['a.ts', source]]), schema, dialect, tables });
  return formatApplication(application, { places: false });
}

const anyColumn = '(id = $1 OR name = $2 OR price = $3)';

test('conditions that a loop adds may test any column', async () => {
  const added = '[? a condition that a loop adds, ? a condition that a loop adds, ? a condition that a loop adds]';
  for (const loop of [
    `Object.entries(given).forEach(([key, value]) => { query.andWhere(key, value); });`,
    `for (const key in given) { if (given.skipped === key) continue; query.where(key, given[key]); }`,
  ])
    expect(await knex(`const query = knex('items'); ${loop} await query.del();`)).toBe(
      `unit f\n  DELETE FROM items WHERE ${anyColumn}  ${added}\n`,
    );
});

test('a loop that adds alternatives, to a statement that differs by path', async () => {
  expect(
    await knex(`const query = knex('items').where('id', 1); if (given.name) query.where('name', given.name);
      for (const one of list) query.orWhere('id', one); await query.del();`),
  ).toBe(`unit f
  DELETE FROM items WHERE id = $1 AND (($2 AND (name = $3)) OR NOT $4) OR (id = $5 OR name = $6 OR price = $7)  [1, (given.name and true), given.name, (given.name and true), ? a condition that a loop adds, ? a condition that a loop adds, ? a condition that a loop adds]
`);
});

test('columns and operators that differ by path', async () => {
  expect(await knex(`await knex('items').where('price', given.name ? '>' : '<', 3).del();`)).toBe(`unit f
  DELETE FROM items WHERE (($1 AND (price > $2)) OR (NOT $3 AND (price < $4)))  [(given.name and true), 3, (given.name and true), 3]
`);
});

test('other clauses that a loop adds are listed', async () => {
  expect(
    await knex(`const query = knex('items'); for (const one of list) query.orWhere('id', one); await query.del();`),
  ).toContain('not understood: the statement is built in a loop');
  expect(
    await knex(
      `const query = knex('items'); for (const one of list) query.increment(one); await query.where('id', 1);`,
    ),
  ).toContain('not understood: the statement is built in a loop');
});

test('conditions in a function that differ by path are both in the text', async () => {
  expect(
    await knex(
      `await knex('items').where((qb) => { qb.where('id', 1); if (given.name) qb.where('name', given.name); }).del();`,
    ),
  ).toBe(`unit f
  DELETE FROM items WHERE (id = $1 AND (($2 AND (name = $3)) OR NOT $4))  [1, (given.name and true), given.name, (given.name and true)]
`);
});

test('many conditions that depend on paths: one statement', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'g', 'h', 'i', 'j'];
  const text = await knex(
    `const query = knex('items').select('id'); ${names.map((name) => `if (given.${name}) query.where('price', '>', given.${name});`).join(' ')} await query;`,
  );
  expect(text).not.toContain('not understood');
  expect(text.match(/SELECT/g)?.length).toBeLessThanOrEqual(16);
  for (const name of names) expect(text).toContain(`given.${name}`);
});
