import { expect, test } from 'vitest';
import { pg, read } from './read-source.test-support.ts';

test('handlers in objects that a framework takes are units, with what they close over', () => {
  const text = read({
    'routes.js': `module.exports = (knex) => [
      { method: 'GET', path: '/items', handler: async (request) => knex('items').where({ id: request.params.id }).first() },
      { method: 'DELETE', path: '/items', options: { async handler({ params }) { return knex('items').where('id', params.id).del(); } } }];`,
    'server.js': `const knex = require('knex')({}); const server = require('@hapi/hapi').server();
      const routes = require('./routes')(knex); for (const route of routes.map((one) => one)) server.table.add(route);`,
  });
  expect(text).toContain('SELECT * FROM items WHERE id = $1 LIMIT $2');
  expect(text).toContain('DELETE FROM items WHERE id = $1');
  expect(text).not.toContain('not understood');
});

test('functions that a factory makes for a caller outside the sources are units', () => {
  const text = read({
    'a.ts': `${pg}const createItems = (db: Pool) => ({ add: (id: number) => db.query('INSERT INTO items VALUES ($1)', [id]) });
      globalThis.items = createItems(pool);`,
  });
  expect(text).toContain('INSERT INTO items VALUES ($1)');
});

test('fields of classes that are functions are units', () => {
  const text = read({
    'a.ts': `${pg}export class Items { add = async (id: number) => pool.query('INSERT INTO items VALUES ($1)', [id]); }`,
  });
  expect(text).toBe('unit add\n  INSERT INTO items VALUES ($1)  [id]\n');
});

test('a function that runs in a transaction which another begins is listed', () => {
  const text = read({
    'a.js': `const knex = require('knex')({}); const steps = require('steps');
      exports.move = () => knex.transaction(async (trx) => { await trx('a').del(); steps.keep['move'] = () => trx('b').del(); });`,
  });
  expect(text).toContain('not understood: it runs in a transaction that code begins which does not call it');
  expect(text).not.toContain('DELETE FROM b');
});

test('dead code is listed', () => {
  const text = read({ 'a.ts': `${pg}function purge() { return pool.query('DELETE FROM items'); }` });
  expect(text).toContain('not understood: no unit reaches this statement: none calls purge');
});

test('a function that a job gives to a library while its transaction is open runs in that transaction', () => {
  const source = `import Queue from 'bee-queue'; import csv from 'some-csv'; import { Pool } from 'pg';
    const pool = new Pool(); const jobs = new Queue('jobs');
    jobs.process(async (job) => {
      const client = await pool.connect();
      await client.query('BEGIN');
      csv.parse(job.data, { chunk: async (row) => { await client.query('DELETE FROM items WHERE id = $1', [row.id]); } });
      await client.query('COMMIT');
    });`;
  const text = read({ 'jobs.ts': source });
  expect(text.match(/DELETE/g)).toHaveLength(1);
  expect(text).toMatch(/ {2}transaction .*\n {4}for pass .*\n {6}DELETE FROM items/);
});
