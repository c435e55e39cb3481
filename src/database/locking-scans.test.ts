/** Which rows a statement of the InnoDB profile locks where it only reads: found out with NOWAIT, on MariaDB 10.11 and here. */
import { expect, test } from 'vitest';
import { connected, openDatabase } from './sql-session.test-support.ts';

const schema = [
  'CREATE TABLE t (id INT PRIMARY KEY, n INT)',
  'CREATE TABLE u (id INT PRIMARY KEY, m INT)',
  'CREATE TABLE v (id INT PRIMARY KEY, n INT)',
  'INSERT INTO t VALUES (1, 1), (2, 1)',
  'INSERT INTO u VALUES (1, 1), (2, 1)',
];

const others = 'SELECT c FROM (SELECT count(*) AS c FROM t WHERE n = 1) AS others';

/** X: another session may not even share the row; S: it may not change it. */
test.each([
  [`UPDATE t SET n = 0 WHERE id = 1 AND (${others}) > 1`, 'read committed', 't1 X'],
  [`UPDATE t SET n = 0 WHERE id = 1 AND (${others}) > 1`, 'repeatable read', 't1 X, t2 S'],
  [`UPDATE t SET n = 0 WHERE id = 1 AND (${others}) > 1`, 'serializable', 't1 X, t2 S'],
  ['UPDATE t SET n = (SELECT max(m) FROM u) WHERE id = 1', 'read committed', 't1 X'],
  ['UPDATE t SET n = (SELECT max(m) FROM u) WHERE id = 1', 'repeatable read', 't1 X, u1 S, u2 S'],
  ['UPDATE t SET n = 0 WHERE id = 1 AND EXISTS (SELECT 1 FROM u WHERE id = 2)', 'repeatable read', 't1 X, u2 S'],
  ['INSERT INTO v SELECT id, n FROM t WHERE id = 2', 'read committed', ''],
  ['INSERT INTO v SELECT id, n FROM t WHERE id = 2', 'repeatable read', 't2 S'],
  ['INSERT INTO v VALUES (1, (SELECT max(m) FROM u))', 'repeatable read', 'u1 S, u2 S'],
  ['DELETE FROM t WHERE id = 1 AND (SELECT max(m) FROM u) > 0', 'read uncommitted', 't1 X, u1 S, u2 S'],
  ['DELETE FROM t WHERE id = 1 AND (SELECT max(m) FROM u) > 0', 'read committed', 't1 X, u1 S, u2 S'],
  ['DELETE FROM t WHERE id = 1 AND (SELECT max(m) FROM u) > 0', 'repeatable read', 't1 X, u1 S, u2 S'],
  ['SELECT * FROM t WHERE id = (SELECT min(id) FROM u) FOR UPDATE', 'repeatable read', 't1 X'],
])('%s at %s locks %s', async (sql, isolation, expected) => {
  const database = await openDatabase({ engine: 'mysql', isolation });
  const [a, b] = [connected(database), connected(database)];
  for (const text of schema) await b.run(text);
  await a.run('BEGIN');
  await a.run(sql);
  const locked: string[] = [];
  for (const row of ['t1', 't2', 'u1', 'u2']) {
    const select = `SELECT * FROM ${row[0]} WHERE id = ${row[1]}`;
    const mayShare = await isGranted(`${select} FOR SHARE NOWAIT`);
    if (!mayShare) locked.push(`${row} X`);
    else if (!(await isGranted(`${select} FOR UPDATE NOWAIT`))) locked.push(`${row} S`);
  }
  database.close();
  expect(locked.join(', ')).toBe(expected);

  async function isGranted(select: string): Promise<boolean> {
    await b.run('BEGIN');
    const outcome = await b.outcome(select);
    await b.run('ROLLBACK');
    return outcome === 'SELECT';
  }
});

test('a statement that has written before it had to wait for what it reads writes once', async () => {
  const database = await openDatabase({ engine: 'mysql', isolation: 'repeatable read' });
  const [a, b] = [connected(database), connected(database)];
  for (const text of schema) await a.run(text);
  await a.run('BEGIN');
  await a.run('UPDATE u SET m = 7 WHERE id = 2');
  const waits = b.run('UPDATE t SET n = n + (SELECT m FROM u WHERE u.id = t.id)');
  await a.run('COMMIT');
  expect((await waits).rowCount).toBe(2);
  expect(await a.rows('SELECT n FROM t ORDER BY id')).toEqual([[2], [8]]);
  database.close();
});
