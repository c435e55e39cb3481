/** A write that depends on an earlier read of its unit, however the program carries the value: real PostgreSQL loses one of two updates of each. */
import { expect, test } from 'vitest';
import { conclude } from '../../evidence/index.ts';
import { analyze } from '../analyze.ts';
import { applicationFromSource } from './index.ts';
import { pg, ts } from './read-source.test-support.ts';

const schema = `
  CREATE TABLE a (id int PRIMARY KEY, bal int NOT NULL);
  CREATE TABLE log (id serial PRIMARY KEY, a int NOT NULL, n int NOT NULL);
  CREATE TABLE fav (u int, p int);`;

async function verdictOf(text: string): Promise<string> {
  const files = new Map([['app.ts', `${pg}${text}`]]);
  const application = applicationFromSource({ ts, files, schema, dialect: 'postgres' });
  expect(application.notUnderstood).toEqual([]);
  const { evidence } = await analyze(application, { isolation: 'read committed' });
  return conclude(evidence).kind;
}

const read = `const r = await pool.query('SELECT bal FROM a WHERE id = $1', [id]);`;
const write = (value: string): string => `await pool.query('UPDATE a SET bal = $2 WHERE id = $1', [id, ${value}]);`;
const unit = (body: string, before = ''): string =>
  `${before}\nexport async function f(id: number, n: number, key: string) {\n${body}\n}`;

test.each<[string, string]>([
  ['through a loop over rows', unit(`${read} let v = 0; for (const row of r.rows) v = row.bal + 1; ${write('v')}`)],
  ['through forEach', unit(`${read} let v = 0; r.rows.forEach((row) => { v = row.bal + 1; }); ${write('v')}`)],
  [
    'through a loop with an index',
    unit(`${read} let v = 0; for (let i = 0; i < r.rows.length; i++) v += r.rows[i].bal; ${write('v')}`),
  ],
  ['by how often a loop runs', unit(`${read} let v = 0; while (v < r.rows[0].bal) v++; ${write('v')}`)],
  [
    'in a Map',
    unit(`${read} const m = new Map(); for (const x of r.rows) m.set(x.id, x.bal); ${write('m.get(id) + n')}`),
  ],
  [
    'in a Set of rows',
    unit(`const r = await pool.query('SELECT p FROM fav WHERE u = $1', [id]);
    const s = new Set(r.rows.map((x) => x.p)); if (s.has(n)) return; await pool.query('INSERT INTO fav(u, p) VALUES ($1, $2)', [id, n]);`),
  ],
  [
    'in a Set that is filled',
    unit(`${read} const s = new Set([]); for (const x of r.rows) s.add(x.bal); for (const x of s) ${write('x')}`),
  ],
  [
    'as a property with a computed name',
    unit(`${read} const m: any = {}; m[key] = r.rows[0].bal; ${write('m[key] + n')}`),
  ],
  ['as a property named by a text', unit(`${read} const m: any = {}; m['b'] = r.rows[0].bal; ${write('m.b + n')}`)],
  ['as an element', unit(`${read} const m = [0]; m[0] = r.rows[0].bal; ${write('m[0] + n')}`)],
  ['on the front of a list', unit(`${read} const m: number[] = []; m.unshift(r.rows[0].bal); ${write('m[0] + n')}`)],
  [
    'on an argument',
    `export async function f(ctx: any) { const { id } = ctx; ${read} ctx.b = r.rows[0].bal; ${write('ctx.b + 1')} }`,
  ],
  [
    'on a part of an argument',
    `export async function f(ctx: any) { const { id } = ctx; ${read} ctx.state.b = r.rows; ${write('ctx.state.b[0].bal + 1')} }`,
  ],
  ['by Object.assign', unit(`${read} const c: any = {}; Object.assign(c, { b: r.rows[0].bal }); ${write('c.b + n')}`)],
  [
    'by Object.assign of a row',
    unit(`${read} const c: any = { bal: 0 }; Object.assign(c, r.rows[0]); ${write('c.bal + n')}`),
  ],
  [
    'on another row',
    unit(
      `${read} const o = await pool.query('SELECT n FROM log WHERE id = $1', [n]); o.rows[0].total = r.rows[0].bal + 1; ${write('o.rows[0].total')}`,
    ),
  ],
  ['in a variable of the file', unit(`${read} last = r.rows[0].bal; ${write('last + n')}`, 'let last = 0;')],
  [
    'as a static property',
    unit(`${read} Cache.last = r.rows[0].bal; ${write('Cache.last + n')}`, 'class Cache { static last = 0; }'),
  ],
  [
    'through a setter',
    unit(
      `${read} const c = new Counter(); c.value = r.rows[0].bal; ${write('c.next + n')}`,
      'class Counter { n = 0; set value(v: number) { this.n = v; } get next() { return this.n + 1; } }',
    ),
  ],
  [
    'through a generator',
    unit(
      `${read} let v = 0; for (const x of each(r.rows)) v = x; ${write('v')}`,
      'function* each(rows: any[]) { for (const row of rows) yield row.bal + 1; }',
    ),
  ],
  [
    'through a cache of another module',
    unit(
      `${read} cache.set('b', r.rows[0].bal); ${write("cache.get('b') + n")}`,
      "import NodeCache from 'node-cache';\nconst cache = new NodeCache();",
    ),
  ],
  [
    'through an object of other code',
    `export async function f(ctx: any, id: number) { ${read} ctx.cache.set('b', r.rows[0].bal); ${write("ctx.cache.get('b') + 1")} }`,
  ],
  [
    'through a function of other code',
    unit(`${read} ${write('addOne(r.rows[0].bal)')}`, "import { addOne } from 'add-one';"),
  ],
  [
    'through a callback of other code',
    unit(
      `${read} let v = 0; each(r.rows, (row: any) => { v = row.bal; }); ${write('v + 1')}`,
      "import each from 'each';",
    ),
  ],
  ['through text', unit(`${read} ${write('Number(JSON.stringify(r.rows[0]).slice(7, 8)) + 1')}`)],
  [
    'through a regular expression',
    unit(`${read} const m = /(\\d+)/.exec(String(r.rows[0].bal)); ${write('Number(m![1]) + 1')}`),
  ],
  ['through a later row', unit(`${read} const last = r.rows[r.rows.length - 1]; ${write('last.bal + 1')}`)],
  ['through a list that shrinks', unit(`${read} const all = [...r.rows]; ${write('all.pop().bal + 1')}`)],
  [
    'by a throw for each row',
    unit(`const r = await pool.query('SELECT id FROM log WHERE a = $1', [id]); r.rows.forEach(() => { throw new Error('taken'); });
    await pool.query('INSERT INTO log(a, n) VALUES ($1, $2)', [id, n]);`),
  ],
  [
    'by a return for a row',
    unit(`const r = await pool.query('SELECT id, n FROM log WHERE a = $1', [id]); for (const x of r.rows) if (x.n > 0) return;
    await pool.query('INSERT INTO log(a, n) VALUES ($1, $2)', [id, n]);`),
  ],
  [
    'by an error of a function',
    unit(
      `${read} try { check(r.rows[0].bal); } catch { return; } ${write('n')}`,
      'function check(n: number) { if (n > 3) throw new Error(); }',
    ),
  ],
  [
    'by what an error holds',
    unit(
      `${read} try { throw Object.assign(new Error(), { n: r.rows[0].bal }); } catch (e: any) { ${write('e.n + 1')} }`,
    ),
  ],
])('%s: no proof that nothing depends on it', async (_, text) => {
  expect(await verdictOf(text)).not.toBe('satisfied');
});

const made = 'const next = r.rows.length > 0 ? r.rows[0].bal + 1 : 1;';
const insert = "await pool.query('INSERT INTO a(id, bal) VALUES ($1, $2)', [id, next]);";
const update = "await pool.query('UPDATE a SET bal = $2 WHERE id = $1', [id, next]);";

/** Of two that make the row, one fails and overwrites what the other made: the INSERT that failed has made none. */
test.each<[string, string]>([
  ['in the handler', unit(`${read} ${made} try { ${insert} } catch { ${update} }`)],
  [
    'behind it, by a variable that it sets',
    unit(`${read} ${made} let isThere = false; try { ${insert} } catch { isThere = true; } if (isThere) { ${update} }`),
  ],
  [
    'in the function of a promise',
    unit(
      `${read} ${made} await pool.query('INSERT INTO a(id, bal) VALUES ($1, $2)', [id, next]).catch(async () => { ${update} });`,
    ),
  ],
  [
    'in a handler of another function',
    unit(
      `${read} ${made} try { await make(id, next); } catch { ${update} }`,
      `async function make(id: number, next: number) { ${insert} }`,
    ),
  ],
  [
    'behind a transaction',
    unit(`${read} ${made} const c = await pool.connect(); try { await c.query('BEGIN'); await c.query('INSERT INTO a(id, bal) VALUES ($1, $2)', [id, next]); await c.query('COMMIT'); }
    catch { await c.query('ROLLBACK'); ${update} }`),
  ],
])('an UPDATE after an INSERT that fails, %s: no proof', async (_, text) => {
  expect(await verdictOf(text)).not.toBe('satisfied');
});

const check = `async function check(id: number) { ${read} if (r.rows[0].bal > 0) throw new Error(); }`;

/** The write runs because of what the function read. */
test.each<[string, string]>([
  ['returns', unit(`try { await check(id); } catch { return; } ${write('n')}`, check)],
  [
    'sets a variable',
    unit(`let isFree = true; try { await check(id); } catch { isFree = false; } if (isFree) ${write('n')}`, check),
  ],
  ['writes', unit(`try { await check(id); return; } catch { ${write('n')} }`, check)],
])('a throw of a function, of which the handler %s: no proof', async (_, text) => {
  expect(await verdictOf(text)).not.toBe('satisfied');
});

const other = `await pool.query('SELECT n FROM log WHERE id = $1', [n]);`;
const add = `await pool.query('UPDATE a SET bal = $2 WHERE id = $1 AND bal > 0', [id, v]);`;

test.each<[string, string]>([
  ['a clock', unit(`${other} const v = Date.now(); ${add}`)],
  ['a number of chance', unit(`${other} const v = Math.random(); ${add}`)],
  [
    'what a function of other code makes of an argument',
    unit(`${other} const v = await hash(key); ${add}`, "import { hash } from 'hash';"),
  ],
  [
    'a loop over an argument',
    `export async function f(id: number, n: number, all: number[]) { ${other} let v = 0; for (const x of all) v += x; ${add} }`,
  ],
  ['a loop that counts', unit(`${other} let v = 1; for (let i = 0; i < n; i++) v *= 2; ${add}`)],
  [
    'a regular expression on an argument',
    unit(`${other} const m = /(\\d+)/.exec(key); const v = Number(m![1]); ${add}`),
  ],
  ['an environment variable', unit(`${other} const v = Number(process.env.LIMIT); ${add}`)],
])('%s is no read: the proof stays', async (_, text) => {
  const log = `export async function g(id: number, n: number) { await pool.query('UPDATE log SET n = $2 WHERE id = $1', [id, n]); await pool.query('UPDATE a SET bal = $2 WHERE id = $1', [n, id]); }`;
  expect(await verdictOf(`${text}\n${log}`)).toBe('satisfied');
});

/** The key of a unit that another one sets: it may be that of any row. */
test('a variable of a file that a function sets is no constant', async () => {
  const text = `let current = 1;
    export function choose(id: number) { current = id; }
    export async function f() { const c = await pool.connect(); await c.query('BEGIN'); const r = await c.query('SELECT bal FROM a WHERE id = $1', [current]);
      await c.query('UPDATE a SET bal = $1 WHERE id = 2', [r.rows[0].bal + 1]); await c.query('COMMIT'); }`;
  expect(await verdictOf(text)).not.toBe('satisfied');
});

test("'1' == 1, as JavaScript has it", async () => {
  const text = `const one: any = '1'; export async function f(id: number, n: number) { ${read} if (one == 1) ${write('r.rows[0].bal + n')} }`;
  expect(await verdictOf(text)).toBe('violated');
});
