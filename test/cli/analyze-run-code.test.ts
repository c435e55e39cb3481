/** `moirai analyze --run-code`, in a process of its own: the application's functions run in threads of it, on the mock database. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Ended, root, runBuilt, UserFolder } from '../support/cli.ts';

const folder = new UserFolder();
beforeAll(async () => {
  await build();
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
}, 120_000);
afterAll(() => folder.remove());

function analyze(path: string, schema: string, ...options: readonly string[]): Promise<Ended> {
  return runBuilt(['analyze', path, '--schema', schema, '--run-code', ...options], { cwd: folder.path });
}

const bank = {
  'bank/schema.sql': 'CREATE TABLE accounts (id int PRIMARY KEY, name text NOT NULL, balance int NOT NULL);',
  'bank/src/database.ts': `import { Pool } from 'pg';
export const pool = new Pool();
`,
  'bank/src/accounts.ts': `import { pool } from './database';
export async function deposit({ id, amount }: { id: number; amount: number }): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query('SELECT balance FROM accounts WHERE id = $1', [id]);
    await client.query('UPDATE accounts SET balance = $2 WHERE id = $1', [id, rows[0].balance + amount]);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}
export async function rename(id: number, name: string): Promise<void> {
  await pool.query('SELECT name FROM accounts WHERE id = $1 AND name <> $2', [id, name]);
  let text = 'UPDATE accounts SET ';
  while (!text.endsWith(' = $2')) text += 'name = $2';
  await pool.query(text + ' WHERE id = $1', [id, name]);
}
export class Accounts {
  async close(id: number): Promise<void> {
    await pool.query('DELETE FROM accounts WHERE id = $1', [id]);
  }
}
`,
  'bank/src/handlers.ts': `import { pool } from './database';
export async function open(req, res): Promise<void> {
  await pool.query('INSERT INTO accounts (id, name, balance) VALUES ($1, $2, 0)', [Number(req.params.id), req.body.name]);
  res.status(201).json({});
}
`,
  'bank/src/app.ts': `import express from 'express';
import { open } from './handlers';
express().post('/accounts/:id', open);
`,
  'bank/src/elsewhere.ts': `import { Pool } from 'pg';
const pool = new Pool({ host: 'database.test', port: 5432 });
export async function archive(id: number): Promise<void> {
  await pool.query('UPDATE accounts SET balance = 0 WHERE id = $1', [id]);
}
`,
  'bank/src/broken.ts': `import { pool } from './database';
import './settings';
export async function drop(id: number): Promise<void> {
  await pool.query('DELETE FROM accounts WHERE id = $1', [id]);
}
`,
  'bank/src/settings.ts': `if (process.env['BANK_KEY'] === undefined) throw new Error('BANK_KEY is missing');
export const key = process.env['BANK_KEY'];
`,
};

describe('an application that is read in part', () => {
  let ended: Ended;
  beforeAll(async () => {
    folder.write(bank);
    ended = await runBuilt(
      ['analyze', 'bank/src', '--schema', 'bank/schema.sql', '--run-code', '--json'],
      // A secret of the shell is not the application's.
      { cwd: folder.path, env: { BANK_KEY: 'secret' } },
    );
  }, 180_000);

  const unit = (name: string): object | undefined => {
    const { code } = JSON.parse(ended.out) as { code: { units: readonly { name: string }[] } };
    return code.units.find((one) => one.name === name);
  };

  test('the lost update is confirmed by the code', () => {
    expect(ended).toMatchObject({ code: 1, err: '' });
    const { anomalies } = JSON.parse(ended.out) as { anomalies: readonly object[] };
    const code = { status: 'confirmed', differs: 'internal', reason: null };
    expect(anomalies).toContainEqual(
      expect.objectContaining({
        name: 'lost-update',
        transactions: ['deposit'],
        ran: 'code',
        code: expect.objectContaining(code),
      }),
    );
  });

  test('functions and handlers run, and send what the source has', () => {
    for (const name of ['deposit', 'POST /accounts/:id'])
      expect(unit(name)).toMatchObject({ ran: true, reason: null, differences: [] });
  });

  test('what the source does not say, the run says, with file and line', () => {
    const difference = {
      file: 'bank/src/accounts.ts',
      line: 17,
      source: null,
      sent: 'UPDATE accounts SET name = $2 WHERE id = $1',
    };
    expect(unit('rename')).toMatchObject({ ran: true, differences: [difference] });
  });

  test.each([
    ['Accounts.close', 'it is a method, and its object is not known'],
    ['archive', 'it connects to database.test:5432, which is not the mock database'],
    ['drop', 'the module cannot be loaded: Error: BANK_KEY is missing'],
  ])('%s does not run, and has its reason', (name, reason) => {
    expect(unit(name)).toMatchObject({ ran: false, reason: expect.stringContaining(reason) });
  });
});

test('code that does something else than its source makes the verdict unknown', async () => {
  folder.write({
    'other/schema.sql': bank['bank/schema.sql'],
    // The reader takes what the driver is by the name of its module.
    'other/src/close.ts': `import { Pool } from 'pg';
const pool = new Pool();
const { query } = Pool.prototype;
Object.assign(Pool.prototype, { query: (text: string, ...rest: unknown[]) => query.call(pool, text.replace('DELETE FROM accounts', 'UPDATE accounts SET balance = 0'), ...rest) });
export async function close(id: number): Promise<void> {
  await pool.query('DELETE FROM accounts WHERE id = $1', [id]);
}
`,
  });
  const { code, out } = await analyze('other/src', 'other/schema.sql');
  expect(out).toContain(
    'other/src/close.ts:6 the source has DELETE FROM accounts WHERE id = $1, the run sent UPDATE accounts SET balance = 0 WHERE id = $1',
  );
  expect(out).not.toContain('robust');
  expect(code).toBe(2);
}, 60_000);

test('rows that a constraint of the schema refuses are not tried', async () => {
  folder.write({
    'seats/schema.sql': `CREATE TABLE events (id int PRIMARY KEY, capacity int NOT NULL CHECK (capacity > 0));
      CREATE TABLE seats (id serial PRIMARY KEY, event_id int NOT NULL REFERENCES events(id), user_id int NOT NULL);`,
    'seats/src/reserve.ts': `import { Pool } from 'pg';
const pool = new Pool();
export async function reserve(eventId: number, userId: number): Promise<void> {
  const event = (await pool.query('SELECT capacity FROM events WHERE id = $1', [eventId])).rows[0];
  const taken = (await pool.query('SELECT count(*)::int AS n FROM seats WHERE event_id = $1', [eventId])).rows[0].n;
  if (taken >= event.capacity) throw new Error('sold out');
  await pool.query('INSERT INTO seats (event_id, user_id) VALUES ($1, $2)', [eventId, userId]);
}
`,
  });
  const { code, out, err } = await analyze('seats/src', 'seats/schema.sql');
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(out).toContain("confirmed by the application's own code: in ");
});

test('MySQL: a list is written into the text, and the code confirms the lost update', async () => {
  folder.write({
    'stock/schema.sql': 'CREATE TABLE items (id int PRIMARY KEY, stock int NOT NULL);',
    'stock/src/items.ts': `import { createPool } from 'mysql2/promise';
const pool = createPool(process.env.DATABASE_URL);
export async function take(id: number, count: number): Promise<void> {
  const connection = await pool.getConnection();
  await connection.beginTransaction();
  const [[item]] = await connection.query('SELECT stock FROM items WHERE id = ?', [id]);
  await connection.query('UPDATE items SET stock = ? WHERE id = ?', [item.stock - count, id]);
  await connection.commit();
  connection.release();
}
export async function find(ids: number[]): Promise<unknown> {
  return pool.query('SELECT stock FROM items WHERE id IN (?)', [ids]);
}
`,
  });
  const { code, out } = await analyze('stock/src', 'stock/schema.sql', '--engine', 'mysql', '--json');
  const { anomalies, code: ran } = JSON.parse(out) as {
    anomalies: readonly object[];
    code: { units: readonly object[] };
  };
  expect({ code, anomalies }).toMatchObject({ code: 1, anomalies: [{ name: 'lost-update', ran: 'code' }] });
  expect(ran.units).toMatchObject(['take', 'find'].map((name) => ({ name, ran: true, differences: [] })));
}, 120_000);

test('Ctrl-C ends a call that would not end, and its thread', async () => {
  folder.write({
    'endless/schema.sql': bank['bank/schema.sql'],
    'endless/src/count.ts': `import { writeFileSync } from 'node:fs';
import { Pool } from 'pg';
const pool = new Pool();
export async function count(id: number): Promise<void> {
  writeFileSync('counting', '');
  for (let turn = 0; turn >= 0; turn += 1) if (turn === 10) turn = 0;
  await pool.query('SELECT balance FROM accounts WHERE id = $1', [id]);
}
`,
  });
  let interrupted = 0;
  const { code, out } = await runBuilt(['analyze', 'endless/src', '--schema', 'endless/schema.sql', '--run-code'], {
    cwd: folder.path,
    onStart: (kill) => {
      const look = setInterval(() => {
        if (!existsSync(join(folder.path, 'counting'))) return;
        clearInterval(look);
        interrupted = performance.now();
        kill('SIGINT');
      }, 20);
    },
  });
  expect(out).toContain('count did not run: it was interrupted');
  expect(out).toContain("the check by the application's own code was interrupted");
  expect(code).toBe(2);
  expect(performance.now() - interrupted).toBeLessThan(10_000);
}, 60_000);

test('without source there is nothing to run: bad input', async () => {
  folder.write({
    'bank.ts':
      "import { application } from 'moirai/analyze';\nexport default application({ schema: '', units: {} });\n",
  });
  expect(await runBuilt(['analyze', 'bank.ts', '--run-code'], { cwd: folder.path })).toMatchObject({
    code: 3,
    err: expect.stringContaining('--run-code runs source'),
  });
}, 60_000);

test.runIf(process.env['MOIRAI_HEAVY'] === '1')(
  'the anomalies of SmallBank, by its own code',
  async () => {
    const from = 'examples/analyze/smallbank';
    const { code, out, err } = await runBuilt([
      'analyze',
      `${from}/src`,
      '--schema',
      `${from}/schema.sql`,
      '--run-code',
      '--json',
    ]);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    const found = JSON.parse(out) as {
      anomalies: readonly { name: string; transactions: readonly string[]; ran: string }[];
      code: { units: readonly { name: string; ran: boolean; differences: readonly unknown[] }[] };
    };
    expect(found.anomalies.map(({ name, transactions, ran }) => [name, transactions.length, ran])).toEqual([
      ...Array.from({ length: 4 }, () => ['lost-update', 1, 'code']),
      ['read-skew', 2, 'code'],
      ['causality-violation', 2, 'code'],
      ['read-skew', 2, 'code'],
      ['long-fork', 3, 'code'],
    ]);
    expect(found.code.units.map(({ ran, differences }) => [ran, differences.length])).toEqual(
      Array.from({ length: 5 }, () => [true, 0]),
    );
  },
  900_000,
);

test('the three anomalies of the shop, by its own code', async () => {
  const { code, out, err } = await runBuilt([
    'analyze',
    'examples/analyze/shop/src',
    '--schema',
    'examples/analyze/shop/schema.sql',
    '--run-code',
    '--json',
  ]);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  const found = JSON.parse(out) as {
    anomalies: readonly { name: string; ran: string }[];
    code: { units: readonly { ran: boolean; differences: readonly unknown[] }[] };
  };
  expect(found.anomalies.map(({ name, ran }) => [name, ran])).toEqual([
    ['lost-update', 'code'],
    ['write-skew', 'code'],
    ['read-skew', 'code'],
  ]);
  expect(found.code.units.map(({ ran, differences }) => [ran, differences.length])).toEqual(
    Array.from({ length: 8 }, () => [true, 0]),
  );
}, 300_000);
