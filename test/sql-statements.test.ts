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

test('a parent that is given the key that it has keeps its children', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE p (id int PRIMARY KEY, v int)');
  database.run('CREATE TABLE c (p int REFERENCES p ON UPDATE SET NULL)');
  database.run('INSERT INTO p VALUES (1, 0); INSERT INTO c VALUES (1)');
  expect(database.run('UPDATE p SET id = id, v = 1')).toEqual({ count: 1 });
  expect(database.rows('SELECT p FROM c')).toEqual([['1']]);
  database.run('UPDATE p SET id = 2');
  expect(database.rows('SELECT p FROM c')).toEqual([[null]]);
});

test('ORDER BY with LIMIT has the first rows of the whole order, and an error in a row that it leaves out', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE t (id int, v int)');
  database.run('INSERT INTO t SELECT i, i % 7 FROM generate_series(1, 300) i');
  const all = database.rows('SELECT id, v FROM t ORDER BY v DESC');
  expect(database.rows('SELECT id, v FROM t ORDER BY v DESC LIMIT 20 OFFSET 30')).toEqual(all.slice(30, 50));
  expect(database.rows('SELECT id, v FROM t ORDER BY v DESC LIMIT 0')).toEqual([]);
  expect(database.run('SELECT 1 / (id - 300) FROM t ORDER BY id LIMIT 1')).toMatchObject({ error: '22012' });
  expect(database.run('SELECT id FROM t ORDER BY v LIMIT -1')).toMatchObject({ error: '2201W' });
});

test('a foreign key with a NULL among its values refers to no row', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE p (a int, b int, PRIMARY KEY (a, b))');
  database.run('CREATE TABLE c (a int, b int, FOREIGN KEY (a, b) REFERENCES p)');
  expect(database.run('INSERT INTO c VALUES (1, NULL), (NULL, 2), (NULL, NULL)')).toEqual({ count: 3 });
  expect(database.run('INSERT INTO c VALUES (1, 2)')).toMatchObject({ error: '23503' });
});

test.each([
  ['SELECT * FROM a WHERE id = $1', ['Index Scan using a_pkey (id =) on a']],
  ['SELECT * FROM a WHERE id IN (1, 2)', ['Index Scan using a_pkey (id in) on a']],
  ['SELECT * FROM a WHERE x = 1 AND y > 2 AND s = 1', ['Index Scan using a_x_y (x =, range) on a']],
  ['SELECT * FROM a WHERE y = 1', ['Seq Scan on a']],
  ['SELECT * FROM a WHERE id > 5 OR id < 2', ['Seq Scan on a']],
  ['SELECT * FROM a WHERE id + 0 = 1', ['Seq Scan on a']],
  [
    'SELECT * FROM a, b WHERE b.id = 1 AND a.id = b.a',
    ['Index Scan using b_pkey (id =) on b', 'Index Scan using a_pkey (id =) on a'],
  ],
  ['SELECT * FROM b LEFT JOIN a ON a.id = b.a', ['Seq Scan on b', 'Index Scan using a_pkey (id =) on a']],
  ['SELECT * FROM b JOIN a ON a.s = b.a', ['Seq Scan on b', 'Hash Join on a']],
  ['SELECT * FROM a WHERE s = 1', ['Seq Scan on a']],
  ['SELECT * FROM a WHERE s = 1 AND y IS NULL', ['Index Scan using a_s (s =) on a']],
  ['UPDATE a SET y = 1 WHERE x = 2', ['Index Scan using a_x_y (x =) on a']],
  ['DELETE FROM a WHERE id BETWEEN 1 AND 2', ['Index Scan using a_pkey (range) on a']],
])('EXPLAIN %s', (sql, lines) => {
  const database = new TestDatabase();
  database.run('CREATE TABLE a (id int PRIMARY KEY, x int, y int, s int)');
  database.run('CREATE INDEX a_x_y ON a (x, y); CREATE INDEX a_s ON a (s) WHERE y IS NULL');
  database.run('CREATE TABLE b (id int PRIMARY KEY, a int)');
  expect(database.rows(`EXPLAIN ${sql}`)).toEqual(lines.map((line) => [line]));
});

test('EXPLAIN (FORMAT JSON) is one document', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)');
  const planOf = (sql: string): unknown => {
    const [[text] = []] = database.rows(`EXPLAIN (FORMAT JSON) ${sql}`);
    const [{ Plan: plan }] = JSON.parse(text ?? '') as [{ Plan: unknown }];
    return plan;
  };
  const index = { 'Node Type': 'Index Scan', 'Index Name': 'a_pkey', Alias: 'a', 'Index Cond': 'id =' };
  expect(planOf('SELECT * FROM a WHERE id = 1')).toEqual(index);
  expect(planOf('SELECT * FROM b, a WHERE a.id = b.id')).toEqual({
    'Node Type': 'Nested Loop',
    Plans: [{ 'Node Type': 'Seq Scan', Alias: 'b' }, index],
  });
  expect(planOf('SELECT 1')).toEqual({ 'Node Type': 'Result' });
});

test.each([
  ['SELECT * FROM a WHERE id = $1 AND s = $2 LIMIT $3', ['int4', 'text', 'int8']],
  ['EXPLAIN SELECT * FROM a WHERE id = $1 AND s = $2 LIMIT $3', ['int4', 'text', 'int8']],
  ['EXPLAIN UPDATE a SET n = n + $1 WHERE id = $2', ['numeric', 'int4']],
  ['INSERT INTO a (id, s) VALUES ($1, $2)', ['int4', 'text']],
  ['INSERT INTO a (id, s) SELECT $1, $2', ['int4', 'text']],
  ['UPDATE a SET n = n + $1, s = $2 WHERE id IN ($3, $4)', ['numeric', 'text', 'int4', 'int4']],
  ['SELECT $1', ['text']],
  ['SELECT $1::int8 + 1, $2 LIKE s FROM a', ['int8', 'text']],
  ['SELECT id FROM a WHERE id = ANY ($1)', ['array']],
])('%s: the types of its parameters', (sql, names) => {
  const database = new TestDatabase();
  database.run('CREATE TABLE a (id int PRIMARY KEY, s text, n numeric)');
  const statement = database.prepare(sql);
  expect(statement.kind === 'query' && statement.parameterTypes.map(({ name }) => name)).toEqual(names);
});

test('what is not supported is named', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE a (id int)');
  const message = (sql: string) => {
    const answer = database.run(sql);
    return 'error' in answer && answer.error === '0A000' ? answer.message : answer;
  };
  expect(message('CREATE RULE r AS ON DELETE TO a DO INSTEAD NOTHING')).toBe('CREATE RULE is not supported by moirai');
  expect(message('MERGE INTO a USING a b ON a.id = b.id WHEN NOT MATCHED BY SOURCE THEN DELETE')).toBe(
    'WHEN NOT MATCHED BY SOURCE is not supported by moirai',
  );
  expect(message('MERGE INTO a USING a b ON a.id = b.id WHEN MATCHED THEN DELETE RETURNING a.id')).toBe(
    'RETURNING of MERGE is not supported by moirai',
  );
  const written = 'WITH w AS (UPDATE a SET id = 2 RETURNING id)';
  expect(message(`${written} MERGE INTO a USING w ON a.id = w.id WHEN MATCHED THEN DELETE`)).toBe(
    'MERGE into "a", to which its WITH writes is not supported by moirai',
  );
  expect(message('SELECT count(*) FROM a GROUP BY CUBE (id)')).toBe(
    'GROUPING SETS, CUBE and ROLLUP is not supported by moirai',
  );
  expect(message('CREATE TABLE c (LIKE a INCLUDING DEFAULTS)')).toMatch(/is not supported by moirai$/);
});

test('a statement is of one version of the catalog', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE a (id int)');
  const statement = database.prepare('SELECT * FROM a');
  database.run('ALTER TABLE a ADD COLUMN b int');
  expect(statement.kind === 'query' && statement.catalogVersion).toBeLessThan(database.catalog.version);
});

test('ORDER BY and LIMIT over an index range stop where enough rows are found', () => {
  const database = new TestDatabase();
  database.run('CREATE TABLE a (id int PRIMARY KEY, k int, s text); CREATE INDEX a_k_s ON a (k, s)');
  database.run(`INSERT INTO a SELECT i, i % 3, chr(65 + i % 26) FROM generate_series(1, 100) i`);
  // Row 50 cannot be read without a division by zero.
  const ids = (rest: string) => database.run(`SELECT id FROM a WHERE 1 / (50 - id) < 2 AND ${rest}`);
  expect(ids('id > 10 ORDER BY id LIMIT 3')).toMatchObject({ rows: [['11'], ['12'], ['13']] });
  expect(ids('id < 90 ORDER BY id DESC LIMIT 2 OFFSET 1')).toMatchObject({ rows: [['88'], ['87']] });
  expect(ids('k = 1 AND s > $$A$$ ORDER BY k, s LIMIT 2')).toMatchObject({ rows: [['1'], ['79']] });
  expect(ids('id > 10 ORDER BY s LIMIT 3')).toMatchObject({ error: '22012' });
  expect(ids('id > 10 ORDER BY id + 0 LIMIT 3')).toMatchObject({ error: '22012' });
});

test.each(['postgres', 'mysql'] as const)('%s: rows in the order of an index are in the order of a sort', (dialect) => {
  const database = new TestDatabase(dialect);
  database.run('CREATE TABLE a (id int PRIMARY KEY, k int, s varchar(9)); CREATE INDEX a_k_s ON a (k, s)');
  for (let i = 0; i < 60; i++) {
    const s = i % 7 === 0 ? 'NULL' : `'${'aBcÄ '[i % 5]}${i % 4}'`;
    database.run(`INSERT INTO a VALUES (${i}, ${i % 5 === 4 ? 'NULL' : i % 5}, ${s})`);
  }
  const nulls = dialect === 'postgres' ? ['', ' NULLS FIRST', ' NULLS LAST'] : [''];
  for (const where of [
    'k > 1',
    'k >= 0',
    'k = 2',
    'k = 2 AND s > $$b$$',
    'k = 3 AND s < $$c$$',
    'id > 30',
    'k IN (1, 2)',
  ]) {
    const condition = dialect === 'postgres' ? where : where.replaceAll('$$', "'");
    for (const order of ['k', 'k, s', 'k DESC, s DESC', 'k DESC, s', 's', 's DESC', 'id', 'id DESC'].flatMap((keys) =>
      nulls.map((last) => `${keys}${last}`),
    )) {
      const [ordered, sorted] = [
        `SELECT k, s FROM a WHERE ${condition}`,
        `SELECT k, s FROM a WHERE ${condition} AND id + 0 >= 0`,
      ];
      const inOrder = database.rows(`${ordered} ORDER BY ${order}`);
      const keys = order.replaceAll(/\b(k|s|id)\b/g, 'q.$1');
      const again = database.rows(`SELECT q.k, q.s FROM (${sorted.replace('k, s', 'id, k, s')}) q ORDER BY ${keys}`);
      const shown = order.startsWith('id') ? ['k', 's'] : ['k', 's'].filter((name) => order.includes(name));
      const only = (rows: typeof inOrder) => rows.map(([k, s]) => shown.map((name) => (name === 'k' ? k : s)));
      expect(only(inOrder), `${condition} ${order}`).toEqual(only(again));
    }
  }
});
