/** Knex where a query or a handle goes through other code, and what a program knows of its engine. */
import { expect, test } from 'vitest';
import { read } from '../read-source.test-support.ts';

const knex = `const knex = require('knex')({});\n`;

test('a query that an object outside the sources takes, by the one method of that name', () => {
  const filters = `class Filters { constructor(given = {}) { this.given = given; } narrow(query) { if (this.given.name) query.where('name', this.given.name); } }\n`;
  const body = `exports.f = async (request) => { const query = knex('items'); request.plugins.filters.narrow(query); await query.del(); };`;
  const deletion = `  if ? what Filters has
    DELETE FROM items WHERE name = $1  [? what Filters has]
  else
    DELETE FROM items
`;
  expect(read({ 'a.js': `${knex}${filters}${body}` })).toContain(deletion);
  const other = `class Others { narrow() {} }\n`;
  expect(read({ 'a.js': `${knex}${filters}${other}${body}` })).toContain(
    'not understood: a database handle is passed to request.plugins.filters.narrow, which is not in the sources',
  );
});

test('`ref`, of a handle that comes from outside too', () => {
  const text = read({
    'a.js': `require('knex'); exports.f = (knex, id) => knex('items').innerJoin(knex.ref('parts').as('p'), 'p.item', 'items.id').select(knex.ref('p.name').as('part'), knex.raw('1 as one')).where('items.id', id);`,
  });
  expect(text).toContain(
    'SELECT p.name AS part, 1 as one FROM items JOIN parts AS p ON p.item = items.id WHERE items.id = $1',
  );
});

test('a count of the rows of another query, by its client', () => {
  expect(
    read({
      'a.js': `${knex}exports.f = async (name) => { const query = knex('items').where('name', name).limit(3);
        await query.client.queryBuilder().count('* as n').from(query.clone().clear('limit').as('counted')).first(); };`,
    }),
  ).toContain('SELECT count(*) AS n FROM (SELECT * FROM items WHERE name = $1) AS counted LIMIT $2  [name, 1]');
});

test('a method of a query that the source chooses, and one that it does not say', () => {
  const f = (method: string) =>
    read({
      'knex.js': `const db = require('knex')({}); db.like = db.client.driverName === 'pg' ? 'whereILike' : 'whereLike'; module.exports = db;`,
      'a.js': `const knex = require('./knex'); exports.f = async (given) => { const query = knex('items'); query[${method}]('name', given.name); await query.del(); };`,
    });
  expect(f('knex.like')).toContain('DELETE FROM items WHERE name ILIKE $1  [given.name]');
  expect(f('given.method')).toContain('not understood: `query[given.method]` of a query of Knex is not read');
});

test('the same column set twice, a column that the source does not say, and opposites', () => {
  const f = (body: string) => read({ 'a.js': `${knex}exports.f = (given) => ${body};` });
  expect(f(`knex('items').where('id', 1).increment('n', 2).update({ n: 3, name: 'x' })`)).toContain(
    'UPDATE items SET n = $1, name = $2 WHERE id = $3',
  );
  expect(f(`knex('items').where('id', 1).increment(given.column, 2)`)).toContain(
    'not understood: the columns of SET are an argument: given.column',
  );
  expect(f(`knex('items').whereNot({ a: 1, b: 2 }).del()`)).toContain('WHERE NOT a = $1 AND NOT b = $2');
  expect(f(`knex('items').select(1).where('a', given.sign, 2).groupBy(1)`)).toContain(
    'SELECT 1 FROM items WHERE (a = $1 OR $2) GROUP BY 1  [2, ? an operator that the source does not say]',
  );
});

test('a number in raw SQL, a subquery in a function, names of columns that the source does not say', () => {
  const f = (body: string) => read({ 'a.js': `${knex}exports.f = async (given) => { ${body} };` });
  expect(f("await knex('items').update({ n: knex.raw(`n + ${given.a - given.b}`) });")).toContain(
    'UPDATE items SET n = n + $1  [(given.a - given.b)]',
  );
  expect(f("await knex('items').update({ n: knex.raw(`n + ${given.a}`) });")).toContain('not understood');
  expect(
    f(`await knex.select('id').from(function () { return this.select('id').from('items').limit(1).as('i'); });`),
  ).toContain('SELECT id FROM (SELECT id FROM items LIMIT $1) AS i  [1]');
  expect(f("await knex('items').select(given.fields.map((field) => `items.${field}`));")).toContain(
    'SELECT * FROM items',
  );
  expect(f(`await knex('items').truncate();`)).toContain('TRUNCATE TABLE items');
});

test('a value that is undefined in `where` is no missing condition', () => {
  const f = (body: string) => read({ 'a.js': `${knex}exports.f = (given) => ${body};` });
  for (const condition of [`{ id: undefined }`, `'id', undefined`])
    expect(f(`knex('items').where(${condition}).del()`)).toMatch(/not understood: .*undefined, which Knex refuses/);
});
