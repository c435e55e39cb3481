import { expect, test } from 'vitest';
import { TestDatabase } from './support/sql-test-database.ts';

test('a table is created, filled, changed and read', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE accounts (id int PRIMARY KEY, name text NOT NULL, balance numeric(10,2) DEFAULT 0)');
  expect(database.run("INSERT INTO accounts VALUES (1, 'ann', 10), (2, 'bob', DEFAULT)")).toEqual({ count: 2 });
  expect(database.run('UPDATE accounts SET balance = balance + 5 WHERE id = 1')).toEqual({ count: 1 });
  expect(database.rows('SELECT name, balance FROM accounts WHERE balance > 1 ORDER BY id')).toEqual([['ann', '15.00']]);
  expect(database.run('DELETE FROM accounts WHERE id = 2')).toEqual({ count: 1 });
  expect(database.rows('SELECT * FROM accounts')).toEqual([['1', 'ann', '15.00']]);
});
