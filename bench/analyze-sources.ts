/** A code base of any size for `analyze`: services with a table of their own and shared helpers, and code that touches no database. */

/** @returns files by path; about `lines` lines */
export function codeBase(lines: number): { readonly files: ReadonlyMap<string, string>; readonly schema: string } {
  const files = new Map([['src/database.ts', database]]);
  const tables: string[] = [];
  for (let at = 0, count = 0; count < lines; at += 1) {
    const text = service(at);
    files.set(`src/service-${at}.ts`, text);
    tables.push(`CREATE TABLE items_${at} (id int PRIMARY KEY, owner int NOT NULL, amount int NOT NULL);`);
    count += text.split('\n').length;
  }
  return { files, schema: tables.join('\n') };
}

const database = `import { Pool, type PoolClient } from 'pg';
export const pool = new Pool();
export async function inTransaction<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await run(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
`;

/** One transaction of every tenth service loses an update. */
function service(at: number): string {
  const lock = at % 10 === 0 ? '' : ' FOR UPDATE';
  return `import { inTransaction, pool } from './database.ts';
import type { PoolClient } from 'pg';
export async function show${at}(id: number) {
  const { rows } = await pool.query('SELECT owner, amount FROM items_${at} WHERE id = $1', [id]);
  return rows[0] === undefined ? null : summary${at}(rows[0]);
}
export async function change${at}(id: number, by: number) {
  await inTransaction(async (client) => {
    const amount = await amountOf${at}(client, id);
    if (amount + by < 0) throw new Error('there is not enough');
    await client.query('UPDATE items_${at} SET amount = $2 WHERE id = $1', [id, amount + by]);
  });
}
export async function give${at}(id: number, owner: number) {
  await pool.query('UPDATE items_${at} SET owner = $2 WHERE id = $1', [id, owner]);
}
async function amountOf${at}(client: PoolClient, id: number): Promise<number> {
  const { rows } = await client.query('SELECT amount FROM items_${at} WHERE id = $1${lock}', [id]);
  if (rows[0] === undefined) throw new Error('there is no such item');
  return rows[0].amount;
}
function summary${at}(item: { owner: number; amount: number }) {
  return { owner: item.owner, amount: item.amount, isRich: item.amount > 100 };
}
${Array.from({ length: 24 }, (_, number) => plain(at, number)).join('')}`;
}

function plain(at: number, number: number): string {
  return `export function rate${at}x${number}(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) {
    if (value < ${number}) continue;
    sum += value * ${at + 1};
  }
  return sum / Math.max(1, values.length);
}
`;
}
