/**
 * Below REPEATABLE READ an UPDATE or DELETE that reads its own table in a subquery keeps the locks on rows that do not match. Expected are the record
 * locks that SHOW ENGINE INNODB STATUS of MariaDB 10.11 lists after the statement.
 */
import { expect, test } from 'vitest';
import { connected, openDatabase } from './sql-session.test-support.ts';

const schema = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT, g INT)',
  'INSERT INTO t VALUES (1, 1, 1), (2, 2, 1), (3, 3, 2), (4, 4, 2)',
];
const kept = '(SELECT * FROM (SELECT MIN(id) FROM t GROUP BY g) x)';
const derived = '(SELECT id FROM (SELECT id FROM t WHERE g = 1) x)';

test.each([
  ['UPDATE t SET v = v + 10 WHERE g = 1', '1, 2'],
  ['UPDATE t SET v = v + 10 WHERE id IN (SELECT id FROM t x WHERE g = 1)', '1, 2, 3, 4'],
  [`UPDATE t SET v = v + 10 WHERE id IN ${derived}`, '1, 2, 3, 4'],
  [`UPDATE t SET v = v + 10 WHERE v < 4 AND id IN ${derived}`, '1, 2, 3'],
  ['UPDATE t SET v = v + 10 WHERE v > 1 AND id IN (SELECT id FROM t x WHERE g = 1)', '2, 3, 4'],
  ['UPDATE t SET v = v + 10 WHERE v > 1 AND id IN (SELECT v FROM t x WHERE g = 1)', '1, 2, 3, 4'],
  ['UPDATE t SET v = v + 10 WHERE v > 1 AND EXISTS (SELECT 1 FROM t x WHERE x.g = 1 AND x.id = t.id)', '2, 3, 4'],
  ['UPDATE t SET v = v + 10 WHERE v IN (SELECT v FROM t x WHERE g = 1)', '1, 2, 3, 4'],
  ['UPDATE t SET v = v + 10 WHERE EXISTS (SELECT 1 FROM t x WHERE x.g = 1 AND x.id = t.id)', '1, 2, 3, 4'],
  ['UPDATE t SET v = v + 10 WHERE id IN (SELECT id FROM (SELECT id FROM t WHERE g = 1 LIMIT 2) x)', '1, 2'],
  ['DELETE FROM t WHERE id IN (SELECT id FROM t x WHERE g = 1)', '1, 2, 3, 4'],
  [`DELETE FROM t WHERE v < 4 AND id IN ${derived}`, '1, 2, 3, 4'],
  ['DELETE FROM t WHERE EXISTS (SELECT 1 FROM t x WHERE x.g = 1 AND x.id = t.id)', '1, 2, 3, 4'],
  ['DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM t x WHERE x.g = 1 AND x.id = t.id)', '1, 2, 3, 4'],
  // The server locks the first row that it asks before it computes the derived table, which then takes no shared lock on that row.
  [`DELETE FROM t WHERE id NOT IN ${kept}`, '2, 3, 4'],
  [`DELETE FROM t WHERE g = 2 AND id NOT IN ${kept}`, '1, 2, 4'],
  [`DELETE FROM t WHERE id NOT IN ${kept} AND v > 2`, '2, 3, 4'],
  ['DELETE FROM t WHERE id IN (SELECT * FROM (SELECT MAX(id) FROM t GROUP BY g) x)', '2, 3, 4'],
])('%s locks %s', async (sql, expected) => {
  const database = await openDatabase({ engine: 'mysql', isolation: 'read committed' });
  const [a, b] = [connected(database), connected(database)];
  for (const text of schema) await b.run(text);
  await a.run('BEGIN');
  await a.run(sql);
  const locked: number[] = [];
  for (const id of [1, 2, 3, 4]) {
    await b.run('BEGIN');
    if ((await b.outcome(`SELECT * FROM t WHERE id = ${id} FOR UPDATE NOWAIT`)) !== 'SELECT') locked.push(id);
    await b.run('ROLLBACK');
  }
  database.close();
  expect(locked.join(', ')).toBe(expected);
});

test('the subquery of an UPDATE waits for a row of its table, which may close a deadlock', async () => {
  const database = await openDatabase({ engine: 'mysql', isolation: 'read committed' });
  const [a, b] = [connected(database), connected(database)];
  for (const text of schema) await b.run(text);
  for (const session of [a, b]) await session.run('BEGIN');
  await b.run('UPDATE t SET v = 0 WHERE id = 4');
  const waiting = a.outcome('UPDATE t SET v = v + 10 WHERE id IN (SELECT id FROM t x WHERE g = 1)');
  await b.run('SELECT 1');
  const outcomes = [await b.outcome('UPDATE t SET v = 0 WHERE id = 1')];
  await b.run('ROLLBACK');
  outcomes.push(await waiting);
  database.close();
  expect(outcomes).toContain('40001');
});
