/** Modules of the application that were not given: a call that may reach the database is listed, and public packages are not. */
import { describe, expect, test } from 'vitest';
import { applicationFromSource } from './index.ts';
import { ts } from './read-source.test-support.ts';

const packages = {
  'package.json':
    '{ "name": "@acme/web", "dependencies": { "@acme/db": "1.0.0", "stock-db": "*", "ledger-db": "2.1.0" } }',
};

/** All lines, those of units and those beside them. */
function listed(source: string, others: Readonly<Record<string, string>> = packages): readonly string[] {
  const files = new Map(Object.entries({ ...others, 'src/sell.ts': source }));
  const { units, notUnderstood } = applicationFromSource({ ts, files, schema: '', dialect: 'postgres' });
  const found: string[] = [];
  JSON.stringify([units, notUnderstood], (_, value: { readonly kind?: string; readonly reason?: string } | null) => {
    if (value?.kind === 'not-understood') found.push(value.reason ?? '');
    return value;
  });
  return found;
}

const missing = (module: string, name: string): string =>
  `the module ${module} is not in the sources: what ${name} does is not read`;

describe('a call of a module of the application that is not given is listed', () => {
  test('where it gets what the unit uses as a client', () => {
    expect(
      listed(`import { pool, onHand, setOnHand } from '@acme/stock';
        export async function sell(sku) {
          const client = await pool.connect();
          await client.query('BEGIN');
          await setOnHand(client, sku, (await onHand(client, sku)) - 1);
          await client.query('COMMIT');
          client.release();
        }`),
    ).toEqual([
      'a database handle is passed to onHand, which is not in the sources',
      'a database handle is passed to setOnHand, which is not in the sources',
    ]);
  });

  test.each<[string, string]>([
    ['a package of the own scope', '@acme/db'],
    ['a package that is not of a registry', 'stock-db'],
    ['a package that is not declared', 'app/database'],
    ['a file above the folder', '../../stockRepository'],
    ['an alias', '~/lib/db'],
  ])('where %s is named for a database: %s', (_, module) => {
    const source = `import { onHand, setOnHand } from '${module}';
      export async function sell(sku) { const n = await onHand(sku); return setOnHand(sku, n - 1); }`;
    expect(listed(source)).toEqual([missing(module, 'onHand'), missing(module, 'setOnHand')]);
  });

  test('also where its name begins as those that give a handle', () => {
    const source = `import { getStock, createOrder } from '@acme/db';
      export async function sell(sku) { const n = await getStock(sku); await createOrder(sku, n); }`;
    expect(listed(source)).toEqual([missing('@acme/db', 'getStock'), missing('@acme/db', 'createOrder')]);
  });

  test('where the same module gives a handle', () => {
    const use = `import { pool } from '@acme/core'; export const all = () => pool.query('SELECT sku FROM stock');`;
    const source = `import * as core from '@acme/core'; export async function sell(sku) { await core.reserve(sku); }`;
    expect(listed(source, { ...packages, 'src/all.ts': use })).toEqual([missing('@acme/core', 'reserve')]);
  });

  test('where a file is missing that another one with SQL imports', () => {
    const source = `import { Pool } from 'pg'; import { reserve } from './reserve'; const pool = new Pool();
      export async function sell(sku) { await reserve(sku); await pool.query('DELETE FROM carts WHERE sku = $1', [sku]); }`;
    expect(listed(source)).toEqual([missing('./reserve', 'reserve')]);
  });

  test('where all of a transaction is in its function', () => {
    const source = `import { db, reserve } from '@acme/db';
      export async function sell(sku) { await db.transaction().execute(async (tx) => { await reserve(tx, sku); }); }`;
    expect(listed(source)).toContain('a database handle is passed to reserve, which is not in the sources');
  });
});

describe('no line has', () => {
  test.each<[string, string]>([
    [
      'a public package',
      `import { onHand } from 'ledger-db'; import { hash } from 'argon2'; import assert from 'assert';
       export async function sell(db) { await onHand(); await hash('a'); assert(db); }`,
    ],
    [
      'code of the application that is named for something else',
      `import { send } from '@acme/mail'; import { log } from '../log'; export async function sell() { await send(); await log(); }`,
    ],
    [
      'a class of the sources that extends one of such a module, and an object of one',
      `import { Store, Items } from '@acme/stock'; export class Own extends Store { constructor(private db) { super(); } }
       export async function sell(db) { const own = new Own(db); return new Items(); }`,
    ],
    [
      'what gives or ends a handle',
      `import { getPool, closeDatabase } from '@acme/db'; import db from '../db';
       export async function sell() { const pool = await getPool(); const c = await pool.connect(); await c.release(); await db.destroy(); }`,
    ],
  ])('%s', (_, source) => expect(listed(source)).toEqual([]));

  test('a statement on a handle of such a module, which is read', () => {
    const source = `import { pool } from '@acme/db';
      export async function sell(sku) { await pool.query('DELETE FROM stock WHERE sku = $1', [sku]); }`;
    expect(listed(source)).toEqual([]);
  });
});
