import { describe, expect, test } from 'vitest';
import { formatApplication } from '../format-application.ts';
import { applicationFromSource, loadTypeScript } from './index.ts';
import { pg, read, ts } from './read-source.test-support.ts';

describe('units', () => {
  test('are the handlers of routes, through routers, wrappers and other files', () => {
    const text = read({
      'src/db.ts': `import { Pool } from 'pg'; export const db = { query: (text: string, values?: unknown[]) => pool.query(text, values) }; const pool = new Pool();`,
      'src/app.ts': `import express from 'express'; import { router } from './router.js';
        const app = express(); app.use('/api', router); app.get('/health', (req, res) => res.send('up')); app.listen(3000);`,
      'src/router.ts': `import { Router } from 'express'; import asyncHandler from 'express-async-handler'; import { db } from './db';
        export const router = Router();
        async function load(id: string) { return (await db.query('SELECT * FROM items WHERE id = $1', [id])).rows[0]; }
        router.get('/items/:id', asyncHandler(async (req, res) => { res.json(await load(req.params.id)); }));
        router.route('/items').post(async (req, res) => { await db.query('INSERT INTO items (name) VALUES ($1)', [req.body.name]); });`,
    });
    expect(text).toBe(`unit GET /items/:id
  SELECT * FROM items WHERE id = $1  [params.id]
unit POST /items
  INSERT INTO items (name) VALUES ($1)  [body.name]
`);
  });

  test('are methods of injected classes, named after their route', () => {
    const text = read({
      'service.ts': `import { Pool } from 'pg'; import { Injectable } from '@nestjs/common';
        @Injectable() export class ItemService { constructor(private readonly pool: Pool) {}
          remove(id: string) { return this.pool.query('DELETE FROM items WHERE id = $1', [id]); } }`,
      'controller.ts': `import { Controller, Delete, Param } from '@nestjs/common'; import { ItemService } from './service';
        @Controller('items') export class ItemController { constructor(private readonly items: ItemService) {}
          @Delete(':id') async remove(@Param('id') id: string) { await this.items.remove(id); } }`,
    });
    expect(text).toBe(`unit DELETE /items/:id
  DELETE FROM items WHERE id = $1  [id]
`);
  });

  test('are scripts and jobs', () => {
    const text = read({
      'job.js': `const { Pool } = require('pg'); const cron = require('node-cron'); const pool = new Pool();
        async function sweep() { await pool.query('DELETE FROM sessions WHERE expires < now()'); }
        cron.schedule('* * * * *', sweep);`,
      'prune.js': `const { Pool } = require('pg');
        async function main() { const pool = new Pool(); await pool.query('DELETE FROM items'); await pool.end(); }
        main();`,
    });
    expect(text).toBe(`unit node-cron: sweep
  DELETE FROM sessions WHERE expires < now()
unit prune.js
  DELETE FROM items
`);
  });
});

describe('transactions', () => {
  test('end on each path, and the unit continues after them', () => {
    const text = read({
      'a.ts': `${pg}export async function book(seat: number) {
        const client = await pool.connect();
        await client.query('begin'); await client.query('set transaction isolation level serializable');
        const { rows: [found] } = await client.query('SELECT taken FROM seats WHERE id = $1', [seat]);
        if (found.taken) { await client.query('rollback'); await pool.query('INSERT INTO refusals VALUES ($1)', [seat]); return false; }
        await client.query('UPDATE seats SET taken = true WHERE id = $1', [seat]);
        await client.query('commit'); client.release();
        await pool.query('INSERT INTO mails VALUES ($1)', [seat]);
        return true; }`,
    });
    expect(text).toBe(`unit book
  transaction book (serializable)
    seats := SELECT taken FROM seats WHERE id = $1  [seat]
    if seats.taken
      abort
    UPDATE seats SET taken = true WHERE id = $1  [seat]
  if seats.taken
    INSERT INTO refusals VALUES ($1)  [seat]
  if not(seats.taken)
    INSERT INTO mails VALUES ($1)  [seat]
`);
  });

  test('have retries, savepoints, and statements of other connections beside them', () => {
    const text = read({
      'a.ts': `${pg}async function transaction(run) {
          for (let attempt = 0; attempt < 3; attempt++) {
            const client = await pool.connect();
            try { await client.query('BEGIN'); const result = await run(client); await client.query('COMMIT'); return result; }
            catch (error) { await client.query('ROLLBACK'); if (error.code !== '40001') throw error; }
            finally { client.release(); } }
          throw new Error('too many'); }
        export const order = async (item) => transaction(async (client) => {
          await client.query('INSERT INTO orders (item) VALUES ($1)', [item]);
          const stock = await pool.query('SELECT count FROM stock WHERE item = $1', [item]);
          await client.query('SAVEPOINT s');
          try { await client.query('UPDATE stock SET count = $1 WHERE item = $2', [stock.rows[0].count - 1, item]); }
          catch { await client.query('ROLLBACK TO SAVEPOINT s'); } });`,
    });
    expect(text).toBe(`unit order
  stock := SELECT count FROM stock WHERE item = $1  [item]
  transaction order
    INSERT INTO orders (item) VALUES ($1)  [item]
    savepoint s
    stock2 := UPDATE stock SET count = $1 WHERE item = $2  [(stock.count - 1), item]
    if fails(count(stock2))
      rollback to savepoint s
`);
  });
});

describe('SQL text', () => {
  test('is folded from constants, by path where paths differ', () => {
    const text = read({
      'a.ts': `${pg}const columns = ['id', 'name'].join(', ');
        export async function list(name?: string) {
          let text = \`SELECT \${columns} FROM items WHERE true\`; const values: unknown[] = [];
          if (name) { values.push(name); text += ' AND name = $' + values.length; }
          return pool.query(text, values); }`,
    });
    expect(text).toBe(`unit list
  if name
    SELECT id, name FROM items WHERE true AND name = $1  [name]
  else
    SELECT id, name FROM items WHERE true
`);
  });

  test('that is not constant is not understood, with file, line and reason', () => {
    const text = read(
      {
        'src/a.ts': `${pg}export async function all(table: string, ids: number[]) {
          await pool.query(\`SELECT * FROM \${table}\`);
          let text = 'DELETE FROM items WHERE id IN (';
          for (const id of ids) text += id + ',';
          await pool.query(text + '0)'); }
        export async function far(remote: any) { await remote.run(pool); }`,
      },
      true,
    );
    expect(text).toBe(`unit all at src/a.ts:3
  not understood: a part of the SQL text is an argument: table at src/a.ts:4
  not understood: the SQL text is built in a loop at src/a.ts:7
unit far at src/a.ts:8
  not understood: a database handle is passed to remote.run, which is not in the sources at src/a.ts:8
`);
  });
});

describe('a statement that no unit reaches', () => {
  test('is listed, with the function that is not called', () => {
    const text = read(
      {
        'a.ts': `${pg}const DROP = 'DELETE FROM items WHERE old';
          function purge() { return pool.query(DROP); }
          const clear = async (text: string) => { const client = await pool.connect(); await client.query(text); };
          export async function list() { console.log('SELECT id FROM items is next');
            const { rows } = await pool.query('SELECT id FROM items');
            return rows;
            await pool.query('SELECT 1 AS never'); }`,
        'b.ts': `import postgres from 'postgres'; const sql = postgres();
          class Report { rows() { return sql\`SELECT id FROM reports\`; } }
          function run(text: string) { return sql.unsafe(text); }
          export const all = async () => { const open = sql\`SELECT id FROM orders WHERE open\`;
            await run('DELETE FROM carts WHERE done');
            await sql\`SELECT id FROM carts WHERE id IN (\${open})\`; };`,
      },
      true,
    );
    expect(text.split('\n').filter((line) => line.includes('not understood'))).toEqual([
      'not understood: no unit reaches this statement: none calls purge at a.ts:4',
      'not understood: no unit reaches this statement: none calls clear at a.ts:5',
      'not understood: no unit reaches this statement at a.ts:9',
      'not understood: no unit reaches this statement: none calls rows at b.ts:2',
    ]);
  });

  test('is none where a chain of Knex on a handle that the reader lost shows what it is', () => {
    const text = read(
      {
        'a.js': `const knex = require('knex')({}); const held = require('container');
          exports.kept = (id) => knex('items').where({ id }).del();
          exports.lost = async (db, id) => {
            await db('items').where({ id }).update({ n: 1 });
            const row = await db.select('n').from('items').first();
            await held.db.insert({ id }).into('items');
            return [Array.from('items'), Buffer.from('items').toString(), held.name('items').trim(), row]; };`,
      },
      true,
    );
    expect(text).not.toContain('not understood');
    expect(text).toContain('SELECT n FROM items LIMIT $1  [1] at a.js:5');
    expect(text).toContain('INSERT INTO items (id) VALUES ($1)  [id] at a.js:6');
  });

  test('is not a text that only names something: a key of a Map, a text that is kept and runs later', () => {
    const text = read(
      {
        'a.ts': `${pg}const names = new Map<string, string>();
          class Plan { seen = new Set<string>(); name(text: string) { this.seen.add(text); return names.get(text) ?? 'none'; } }
          const plan = new Plan();
          const keep = (text: string) => ({ text });
          const stored = keep('SELECT id FROM items');
          export async function list() { names.set('SELECT id FROM items', 'list'); plan.name('SELECT id FROM items');
            return pool.query(stored.text); }`,
      },
      true,
    );
    expect(text).toBe('unit list at a.ts:8\n  SELECT id FROM items at a.ts:9\n');
  });
});

describe('a function behind a name that is not known', () => {
  const helpers = `${pg}const get = (id: number) => pool.query('SELECT n FROM items WHERE id = $1', [id]);
    const set = (id: number, n: number) => pool.query('UPDATE items SET n = $2 WHERE id = $1', [id, n]);
    export const show = (id: number) => get(id); export const reset = (id: number) => set(id, 0);
    const add = async (id: number) => { await set(id, (await get(id)).rows[0].n + 1); };`;
  const linesOf = (text: string): readonly string[] =>
    text.split('\n').filter((line) => line.includes('not understood'));

  test('is a unit where its helpers are reached by others: closures of a queue, methods of objects of a list', () => {
    const files = {
      'a.ts': `${helpers}
const queue: Array<() => Promise<void>> = [];
export function enqueue(id: number) { queue.push(async () => { await add(id); }); }
export async function drain() { let job; while ((job = queue.shift())) await job(); }
class Job { constructor(readonly id: number) {}
  perform() { return add(this.id); }
  describe() { return 'job ' + [this.id].map((id) => String(id)).join(); } }
const all: Job[] = [];
export function schedule(id: number) { all.push(new Job(id)); }
setInterval(async () => { await all.pop()?.perform(); }, 100);`,
    };
    expect(linesOf(read(files))).toEqual([]);
    const { units, assumed } = applicationFromSource({
      ts,
      files: new Map(Object.entries(files)),
      schema: '',
      dialect: 'postgres',
    });
    const text = 'callers of a.ts:8, perform, which were not found, have no transaction open';
    expect([units.map(({ name }) => name), assumed]).toEqual([['show', 'reset', 'a.ts:8', 'perform'], [text]]);
  });

  test('is not listed where a unit runs it, where it only calls a unit, or where a statement in it is listed', () => {
    const text = read(
      {
        'a.ts': `${helpers}
export const twice = (ids: number[]) => Promise.all(ids.map((id) => add(id)));
const routes: Record<string, (id: number) => Promise<unknown>> = { show: (id) => show(id), reset: (id) => reset(id) };
async function answer(name: string) { return routes[name]?.(1); }
function purge() { return pool.query('DELETE FROM items'); }`,
      },
      true,
    );
    expect(linesOf(text)).toEqual(['not understood: no unit reaches this statement: none calls purge at a.ts:10']);
  });

  test('runs where it is a value of a table that is looked up by an unknown key', () => {
    const text = read({
      'a.ts': `${helpers}
const jobs: Record<string, (id: number) => Promise<unknown>> = { add, clear: (id) => set(id, 0) };
export async function run(name: string, id: number) { await jobs[name]!(id); }`,
    });
    expect(linesOf(text)).toEqual([]);
    expect(text.slice(text.indexOf('unit run'))).toContain('SELECT n FROM items WHERE id = $1');
  });
});

test('CommonJS: module.exports, exports and require, as a whole and by name', () => {
  const text = read({
    'db.js': `const Pool = require('pg').Pool; const pool = new Pool();
      module.exports = { pool, run: async (...args) => pool.query(args[0], args[1]) };`,
    'remove.js': `const { pool } = require('./db'); module.exports = async (id) => { await pool.query('DELETE FROM items WHERE id = $1', [id]); };`,
    'app.js': `const db = require('./db.js'); const remove = require('./remove'); const app = require('express')();
      app.post('/items', async (req) => { await db.run('INSERT INTO items VALUES ($1)', [req.body.id]); await remove(req.body.old); });
      class Counter { total() { return require('./db').pool.query('SELECT sum(id) FROM items'); } }
      exports.counter = new Counter();
      exports.count = () => require('./db').pool.query('SELECT count(*) FROM items');`,
  });
  expect(text).toBe(`unit POST /items
  INSERT INTO items VALUES ($1)  [body.id]
  DELETE FROM items WHERE id = $1  [body.old]
unit Counter.total
  SELECT sum(id) FROM items
unit count
  SELECT count(*) FROM items
`);
});

test('a transaction has the name of the function that runs it: not that of one that takes its text or its work, whatever they are called', () => {
  const text = read({
    'db.ts': `import { Client } from 'pg'; const client = new Client();
      export const query = (text: string, values?: unknown[]) => client.query(text, values);
      export async function run(work: () => Promise<void>) { await query('BEGIN'); await work(); await query('COMMIT'); }`,
    'a.ts': `import { query, run } from './db';
      async function open(id: number) { await query('BEGIN'); await query('DELETE FROM items WHERE id = $1', [id]); await query('COMMIT'); }
      export async function both(id: number) { await open(id); await run(async () => { await query('DELETE FROM carts'); }); }`,
  });
  expect(text).toBe(`unit both
  transaction open
    DELETE FROM items WHERE id = $1  [id]
  transaction both
    DELETE FROM carts
`);
});

test('a library that is not read is listed where it is awaited; so is SQL for a function that is not in the sources', () => {
  const text = read(
    {
      'a.ts': `import { MikroORM } from '@mikro-orm/postgresql'; import helper from 'sql-helper';
        const orm = MikroORM.initSync({});
        export const list = () => orm.em.find('Item', { open: true });
        export async function sell(id: number) {
          await orm.em.transactional(async (em) => { await em.nativeUpdate('Item', { id }, {}); });
          await helper.many('SELECT * FROM items'); }`,
    },
    true,
  );
  expect(text).toBe(`unit list at a.ts:3
  not understood: @mikro-orm/postgresql is not read at a.ts:3
unit sell at a.ts:4
  not understood: @mikro-orm/postgresql is not read at a.ts:5
  not understood: SQL is passed to helper.many, which is not in the sources at a.ts:6
`);
});

test('a statement stands where its SQL is, not in the wrapper that runs it', () => {
  const text = read(
    {
      'db.ts': `import { Pool } from 'pg'; const pool = new Pool();
        async function run(client: Pool, ...args: unknown[]) {
          const text = args[0];
          return client.query(text, args[1]); }
        export const db = { many: async (text: string, values?: unknown[]) => (await run(pool, text, values)).rows };`,
      'a.ts': `import { db } from './db';
        export async function old() {
          const text = 'SELECT id FROM items WHERE old';
          return db.many(text); }`,
    },
    true,
  );
  expect(text).toBe(`unit old at a.ts:2
  SELECT id FROM items WHERE old at a.ts:4
`);
});

test('postgres.js: objects as columns, fragments by path, a handle from outside the sources', () => {
  const text = read({
    'src/routes/items/+server.ts': `import postgres from 'postgres'; const sql = postgres();
      export async function POST({ request, locals }) {
        const { id, name, old } = await request.json();
        await locals.sql\`DELETE FROM items WHERE id = \${old}\`;
        const item = { id, name };
        await sql\`INSERT INTO items \${sql(item, 'id', 'name')}\`;
        const open = sql\`AND open\`;
        await sql\`UPDATE items SET \${sql(item)} WHERE id = \${id} \${open}\`; }`,
  });
  expect(text).toBe(`unit POST /items
  DELETE FROM items WHERE id = $1  [body.old]
  INSERT INTO items ("id", "name") VALUES ($1, $2)  [body.id, body.name]
  UPDATE items SET "id" = $1, "name" = $2 WHERE id = $3 AND open  [body.id, body.name, body.id]
`);
});

test('placeholders for each element of a list are one whose value is a list', () => {
  const source = `import mysql from 'mysql2/promise'; const pool = mysql.createPool({});
    export const f = (ids: number[]) => pool.query(\`DELETE FROM items WHERE id IN (\${ids.map(() => '?').join(', ')})\`, ids);`;
  expect(read({ 'a.ts': source }, false, 100_000, 'mysql')).toBe(
    'unit f\n  DELETE FROM items WHERE id IN (?)  [ids]\n',
  );
});

test('a handle whose origin is not in the sources is known by its SQL', () => {
  const application = applicationFromSource({
    ts,
    files: new Map([
      [
        'a.js',
        `const pool = require('../config/pool');
        exports.pay = async (id) => {
          const connection = await pool.getConnection(); await connection.beginTransaction();
          const bills = await connection.query('SELECT total FROM bills WHERE id = ?', [id]);
          if (bills.length === 0) throw new Error('none');
          await connection.query('UPDATE bills SET paid = ? WHERE id = ?', [bills[0].total, id]); await connection.commit(); };`,
      ],
    ]),
    schema: '',
    dialect: 'mysql',
  });
  expect(formatApplication(application, { places: false })).toBe(`unit pay
  transaction pay
    bills := SELECT total FROM bills WHERE id = ?  [id]
    if (count(bills) = 0)
      abort
    UPDATE bills SET paid = ? WHERE id = ?  [bills.total, id]
`);
});

test('a handle from outside is known also where its SQL differs by path', () => {
  const text = read({
    'a.js': `const db = require('our-database'); const app = require('express')();
      app.post('/users', async (req) => { let text = 'UPDATE users SET name = $1';
        if (req.body.photo !== undefined) text = 'UPDATE users SET name = $1, photo = $2';
        await db.query(text + ' WHERE id = 1', [req.body.name, req.body.photo]); });`,
  });
  expect(text).toBe(`unit POST /users
  if not(is null(body.photo))
    UPDATE users SET name = $1, photo = $2 WHERE id = 1  [body.name, body.photo]
  else
    UPDATE users SET name = $1 WHERE id = 1  [body.name, body.photo]
`);
});

test('a loop over rows uses their columns; Promise.all runs all; a list of columns is a parameter', () => {
  const text = read({
    'a.ts': `${pg}export async function close(day: string) {
      const { rows } = await pool.query('SELECT id, total FROM orders WHERE day = $1', [day]);
      await Promise.all(rows.map(async (order) => pool.query('UPDATE orders SET paid = $1 WHERE id = $2', [order.total, order.id])));
      await pool.query('DELETE FROM carts WHERE id = ANY($1)', [rows.map((order) => order.id)]); }`,
  });
  expect(text).toBe(`unit close
  orders := SELECT id, total FROM orders WHERE day = $1  [day]
  for order of orders[]
    UPDATE orders SET paid = $1 WHERE id = $2  [order.total, order.id]
  DELETE FROM carts WHERE id = ANY($1)  [orders[].id]
`);
});

test('what cannot be read is said: a file that does not parse, a function that calls itself, a unit that is too large', () => {
  const text = read(
    {
      'broken.ts': 'export function (',
      'a.ts': `${pg}async function walk(client, id) { const { rows } = await client.query('SELECT child FROM tree WHERE id = $1', [id]); for (const row of rows) await walk(client, row.child); }
        export async function tree(id) { await walk(await pool.connect(), id); }`,
    },
    true,
  );
  expect(text).toContain('not understood: the file does not parse: Identifier expected. at broken.ts:1');
  expect(text).toContain('not understood: a function that calls itself at a.ts:3');
  const small = read(
    {
      'a.ts': `${pg}export async function f() { await pool.query('SELECT 1 AS x'); await pool.query('SELECT 2 AS x'); }`,
    },
    false,
    5,
  );
  expect(small).toContain('not understood: a unit is too large');
});

test('without a file, and without a compiler, one error says what to do', async () => {
  expect(() => read({ 'readme.md': '' })).toThrow('there is no TypeScript or JavaScript file to read');
  const missing = loadTypeScript(() => Promise.resolve({ default: { version: '7.0.2' } }));
  await expect(missing).rejects.toMatchObject({ code: 'analyze/typescript-missing' });
});

test('a file that exports an object of a class outside the sources gives that object', () => {
  const text = read({
    'app.js': `const Koa = require('koa'); const app = new Koa(); app.proxy = true; module.exports = app;`,
    'server.js': `const { Pool } = require('pg'); const app = require('./app'); const pool = new Pool();
      async function main() { app.callback(); await pool.query('DELETE FROM sessions'); }
      main();`,
  });
  expect(text).toBe(`unit server.js
  DELETE FROM sessions
`);
});
