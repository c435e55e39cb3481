/** Rows and conditions of which the source does not say the fields, of builders that ask the schema. */
import { expect, test } from 'vitest';
import { formatApplication } from '../../format-application.ts';
import { applicationFromSource, tableColumns } from '../index.ts';
import { ts } from '../read-source.test-support.ts';

const schema = `CREATE TABLE items (id serial PRIMARY KEY, name text NOT NULL, price int);
  CREATE TABLE notes (code text PRIMARY KEY, body text)`;
const dialect = 'postgres';

async function read(source: string, given = schema): Promise<string> {
  const tables = await tableColumns({ schema: given, dialect });
  const files = new Map([['a.ts', source]]);
  return formatApplication(applicationFromSource({ ts, files, schema: given, dialect, tables }), { places: false });
}

const knex = (body: string) =>
  `import makeKnex from 'knex'; import { map } from 'tools'; const knex = makeKnex({}); export async function f(given) { ${body} }`;
const kysely = (body: string) =>
  `import { Kysely } from 'kysely'; const db = new Kysely({}); export async function f(given) { ${body} }`;

test.each([
  [
    'Knex',
    knex(`await knex('items').insert(given);`),
    'INSERT INTO items (name, price) VALUES ($1, $2)  [given.name, given.price]',
  ],
  [
    'Knex, what a library makes',
    knex(`await knex('items').insert(map(given));`),
    'INSERT INTO items (name, price) VALUES ($1, $2)  [? something of tools, ? something of tools]',
  ],
  [
    'Knex, a key that the database does not make',
    knex(`await knex('notes').insert(given);`),
    'INSERT INTO notes (code, body) VALUES ($1, $2)  [given.code, given.body]',
  ],
  [
    'Knex, SET',
    knex(`await knex('items').where({ id: given.id }).update({ ...given.rest, price: 3 });`),
    'UPDATE items SET name = $1, price = $2 WHERE id = $3  [given.rest.name, 3, given.id]',
  ],
  [
    'Knex, WHERE',
    knex(`await knex('items').where({ ...given, price: 3 }).del();`),
    'DELETE FROM items WHERE price = $1 AND (id = $2 OR name = $3 OR price = $4)  [3, given.id, given.name, given.price]',
  ],
  [
    'Kysely',
    kysely(`await db.insertInto('items').values(given).execute();`),
    'INSERT INTO items (name, price) VALUES ($1, $2)  [given.name, given.price]',
  ],
  [
    'Kysely, SET',
    kysely(`await db.updateTable('items').set(given.rest).where('id', '=', given.id).execute();`),
    'UPDATE items SET name = $1, price = $2 WHERE id = $3  [given.rest.name, given.rest.price, given.id]',
  ],
])('%s', async (_, source, statement) => {
  expect(await read(source)).toBe(`unit f\n  ${statement}\n`);
});

test.each([
  ['Knex', knex(`await knex('items').insert(given.names.map((name) => ({ name, price: 1 })));`)],
  ['Kysely', kysely(`await db.insertInto('items').values(given.names.map((name) => ({ name, price: 1 }))).execute();`)],
])('%s: rows that a function makes of a list, each by a statement of its own', async (_, source) => {
  expect(await read(source)).toBe(
    'unit f\n  for row of given.names\n    INSERT INTO items (name, price) VALUES ($1, $2)  [row, 1]\n',
  );
});

test('rows that a function makes of one list or another', async () => {
  expect(
    await read(
      knex(`const rows = given.isOpen ? given.a.map((name) => ({ name })) : given.b.map((price) => ({ price }));
        await knex('items').insert(rows);`),
    ),
  ).toBe(`unit f
  if given.isOpen
    for row of given.a
      INSERT INTO items (name) VALUES ($1)  [row]
  else
    for row2 of given.b
      INSERT INTO items (price) VALUES ($1)  [row2]
`);
});

test('an object that a loop fills sets any column', async () => {
  expect(
    await read(
      knex(
        `const changes = map(given.names.reduce((all, name) => all, {})); await knex('items').where('id', 1).update(Array.isArray(given) ? changes.list() : changes.one());`,
      ),
    ),
  ).toContain('UPDATE items SET name = $1, price = $2 WHERE id = $3');
});

test('rows of a table that the schema does not have are listed', async () => {
  expect(await read(knex(`await knex('others').insert(given);`))).toContain(
    'not understood: the rows of INSERT are an argument: given',
  );
  expect(await read(knex(`await knex('items').where(given).del();`), '')).toContain(
    'not understood: the columns of WHERE are an argument: given',
  );
});

test('Knex: WITH and UNION of functions, and transactions of a handle from outside', async () => {
  expect(
    await read(
      knex(
        `await knex.withRecursive('tree', ['id'], (qb) => { qb.select('id').from('items').unionAll(function () { this.select('id').from('tree'); }); }).select('id').from('tree');`,
      ),
    ),
  ).toContain('WITH RECURSIVE tree(id) AS (SELECT id FROM items UNION ALL (SELECT id FROM tree)) SELECT id FROM tree');
  const outside = (body: string) =>
    read(
      `import type { Knex } from 'knex'; const remove = (trx, id) => trx('items').where({ id }).del(); export async function f(app, id) { ${body} }`,
    );
  const expected = 'unit f\n  transaction f\n    DELETE FROM items WHERE id = $1  [id]\n';
  expect(await outside(`await app.db.transaction((trx) => remove(trx, id));`)).toBe(expected);
  expect(await outside(`const trx = await app.db.transaction(); await remove(trx, id); await trx.commit();`)).toBe(
    expected,
  );
});

test('a chain that a helper runs stands where it begins', async () => {
  const tables = await tableColumns({ schema, dialect });
  const source = `import { Kysely } from 'kysely'; const db = new Kysely({});
const run = (query) =>
  query.execute();
export const f = (id) => run(
  db.deleteFrom('items').where('id', '=', id));`;
  const application = applicationFromSource({ ts, files: new Map([['a.ts', source]]), schema, dialect, tables });
  expect(formatApplication(application, { places: true })).toContain('DELETE FROM items WHERE id = $1  [id] at a.ts:5');
});
