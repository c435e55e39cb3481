import { expect, test } from 'vitest';
import { seeded } from '../../base/index.ts';
import { absentRows } from './absent-rows.ts';
import type { TransactionContext, WorkloadClient } from './workload.ts';

/** A database of one column at a time: rows that were inserted and not emptied. */
function fakeDatabase(): { readonly client: WorkloadClient; readonly statements: string[] } {
  const rows = new Map<string, Set<number>>();
  const statements: string[] = [];
  const tableOf = (name: string): Set<number> => {
    const table = rows.get(name) ?? new Set();
    rows.set(name, table);
    return table;
  };
  const query: WorkloadClient['query'] = async (sql, ...parameters) => {
    statements.push(sql);
    await Promise.resolve();
    const [, name = ''] = /(?:FROM|INTO) (\w+)/.exec(sql) ?? [];
    if (sql.startsWith('SELECT')) return tableOf(name).has(Number(parameters[0])) ? [{ v: 0 }] : [];
    if (sql.startsWith('INSERT')) tableOf(name).add(Number(parameters[0]));
    else for (const emptied of sql.replace('TRUNCATE ', '').split(', ')) tableOf(emptied).clear();
    return [];
  };
  return { client: { query }, statements };
}

function contextOf(client: WorkloadClient, clientNumber: number): TransactionContext {
  return { client, clientNumber, random: seeded(1), unique: () => 0 };
}

test('two transactions at once each miss the row of the other', async () => {
  const { client, statements } = fakeDatabase();
  const { transaction } = absentRows(1);
  await Promise.all([0, 1].map((number) => transaction(contextOf(client, number))));
  expect(statements).toEqual([
    'SELECT v FROM absent_0 WHERE k = ?',
    'SELECT v FROM absent_0 WHERE k = ?',
    'INSERT INTO absent_0 (k, v) VALUES (?, ?)',
    'INSERT INTO absent_0 (k, v) VALUES (?, ?)',
  ]);
});

test('one after the other, the second finds the row of the first', async () => {
  const { client, statements } = fakeDatabase();
  const { transaction } = absentRows(1);
  for (const number of [0, 1, 2]) await transaction(contextOf(client, number));
  expect(statements.filter((sql) => sql.startsWith('INSERT'))).toEqual([
    'INSERT INTO absent_0 (k, v) VALUES (?, ?)',
    'INSERT INTO absent_1 (k, v) VALUES (?, ?)',
  ]);
});

test('a table is emptied when both are done with it, and used again only then, with other keys', async () => {
  const { client, statements } = fakeDatabase();
  const { tables, transaction, tend } = absentRows(1);
  expect(await tend?.(client)).toBe(false);
  for (let i = 0; i < 2 * tables.length; i += 1) await transaction(contextOf(client, 0));
  statements.length = 0;
  const waiting = transaction(contextOf(client, 0));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(statements).toEqual([]);
  expect(await tend?.(client)).toBe(true);
  await waiting;
  expect(statements[0]).toMatch(/^TRUNCATE absent_0, absent_1, /);
  expect(statements.slice(1)).toEqual([
    'SELECT v FROM absent_0 WHERE k = ?',
    'INSERT INTO absent_0 (k, v) VALUES (?, ?)',
  ]);
});
