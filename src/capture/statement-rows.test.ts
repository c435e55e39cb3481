import { beforeAll, describe, expect, test } from 'vitest';
import { loadParser } from '../sql/parse.ts';
import { planStatement } from './plan-statement.ts';
import { type Case, mysql, postgres, rowsOf, short } from './statement-rows.test-support.ts';

beforeAll(() => loadParser());

describe('what a SELECT reads', () => {
  test.each<[string, string, Case, object]>([
    [
      'the row that its key names, though the key is not returned',
      'SELECT balance FROM accounts WHERE id = $1',
      { parameters: ['7'], rows: [{ balance: '30.00' }] },
      { reads: [['accounts/7', { balance: '30' }]] },
    ],
    [
      'that a row is not there',
      'SELECT balance FROM accounts WHERE id = 8',
      { columns: ['balance'] },
      { reads: [['accounts/8', null]] },
    ],
    [
      'of a list those that are there and those that are not',
      'SELECT id, owner FROM accounts a WHERE a.id IN (1, 2)',
      { rows: [{ id: 2, owner: 'x' }] },
      {
        reads: [
          ['accounts/2', { id: 2, owner: 'x' }],
          ['accounts/1', null],
        ],
      },
    ],
    [
      'keys of an array',
      'SELECT * FROM accounts WHERE id = ANY($1::int[])',
      { parameters: [[1]], rows: [{ id: 1, owner: null, balance: '1.50' }] },
      { reads: [['accounts/1', { id: 1, owner: null, balance: '1.5' }]] },
    ],
    [
      'with a lock',
      'SELECT n FROM stock WHERE w = 1 AND item = $1 FOR UPDATE',
      { parameters: ['a/b'], rows: [{ n: '5' }] },
      { reads: [['stock/1/a%2Fb', { n: 5 }]], lock: 'update' },
    ],
    [
      'a range whose condition can be said',
      'SELECT w, item FROM stock WHERE n >= $1 AND n < 9',
      { parameters: [3], rows: [{ w: 1, item: 'a' }] },
      {
        reads: [['stock/1/a', { w: 1, item: 'a' }]],
        predicates: [
          {
            table: 'stock',
            where: [
              { column: 'n', comparison: '>=', value: 3 },
              { column: 'n', comparison: '<', value: 9 },
            ],
          },
        ],
      },
    ],
    [
      'a range whose condition cannot',
      "SELECT id FROM accounts WHERE owner LIKE 'a%'",
      { rows: [{ id: 1 }] },
      { reads: [['accounts/1', { id: 1 }]], opaque: 'reads' },
    ],
    [
      'a part of a range',
      'SELECT id FROM accounts LIMIT 1',
      { rows: [{ id: 1 }] },
      { reads: [['accounts/1', { id: 1 }]], opaque: 'reads' },
    ],
    [
      'a row that another lock hides',
      'SELECT id FROM accounts WHERE id = 1 FOR UPDATE SKIP LOCKED',
      { columns: ['id'] },
      { lock: 'update', opaque: 'reads' },
    ],
    [
      'a limit that is a parameter',
      'SELECT id FROM accounts WHERE id = $1 LIMIT $2',
      { parameters: [7, 1], columns: ['id'] },
      { reads: [['accounts/7', null]] },
    ],
    [
      'a limit below the number of keys',
      'SELECT id FROM accounts WHERE id IN (1, 2) LIMIT 1',
      { rows: [{ id: 1 }] },
      { reads: [['accounts/1', { id: 1 }]], opaque: 'reads' },
    ],
    [
      'a limit that was not reached',
      "SELECT id FROM accounts WHERE owner = 'ann' LIMIT 2",
      { rows: [{ id: 1 }] },
      {
        reads: [['accounts/1', { id: 1 }]],
        predicates: [{ table: 'accounts', where: [{ column: 'owner', comparison: '=', value: 'ann' }] }],
      },
    ],
    [
      'a limit that was reached',
      "SELECT id FROM accounts WHERE owner = 'ann' LIMIT 1",
      { rows: [{ id: 1 }] },
      { reads: [['accounts/1', { id: 1 }]], opaque: 'reads' },
    ],
    ['an offset', 'SELECT id FROM accounts WHERE id = 1 LIMIT 1 OFFSET 1', { columns: ['id'] }, { opaque: 'reads' }],
    [
      'a count of nothing',
      "SELECT count(*) AS n FROM accounts WHERE owner = 'ann'",
      { rows: [{ n: '0' }] },
      { predicates: [{ table: 'accounts', where: [{ column: 'owner', comparison: '=', value: 'ann' }] }] },
    ],
    [
      'a count of some',
      "SELECT count(*) FROM accounts WHERE owner = 'ann'",
      { rows: [{ count: '2' }] },
      { opaque: 'reads' },
    ],
    [
      'another count',
      'SELECT count(owner) FROM accounts WHERE id > 3',
      { rows: [{ count: '0' }] },
      { opaque: 'reads' },
    ],
    ['an aggregate', 'SELECT count(*) FROM accounts WHERE id = 1', { rows: [{ count: '1' }] }, { opaque: 'reads' }],
    [
      'an aggregate that is no function',
      'SELECT JSON_ARRAYAGG(owner) AS all FROM accounts WHERE id = 1',
      { rows: [{ all: null }] },
      { opaque: 'reads' },
    ],
    [
      'an aggregate that only sorts',
      'SELECT 1 AS one FROM accounts WHERE id = 1 ORDER BY count(*)',
      { rows: [{ one: 1 }] },
      { opaque: 'reads' },
    ],
    [
      'a group of nothing',
      'SELECT 1 AS one FROM accounts WHERE id = 1 GROUP BY ()',
      { rows: [{ one: 1 }] },
      { opaque: 'reads' },
    ],
    [
      'a function of one row beside its columns',
      'SELECT lower(owner) AS low, balance FROM accounts WHERE id = 1 ORDER BY upper(owner)',
      { columns: ['low', 'balance'] },
      { reads: [['accounts/1', null]] },
    ],
    ['rows without a key', 'SELECT text FROM notes', { rows: [{ text: 'a' }] }, { opaque: 'reads' }],
    [
      'both sides of a join',
      'SELECT a.id, a.owner, s.n FROM accounts a LEFT JOIN stock s ON s.w = a.id WHERE a.id = 1',
      { rows: [{ id: 1, owner: 'x', n: 2 }] },
      { reads: [['accounts/1', { id: 1, owner: 'x' }]], opaque: 'reads' },
    ],
    [
      'columns of one name, which a driver mixes up',
      'SELECT a.owner, b.owner FROM accounts a, accounts b WHERE a.id = 1 AND b.id = 2',
      { rows: [{ owner: 'y' }], columns: ['owner', 'owner'] },
      {
        reads: [
          ['accounts/1', {}],
          ['accounts/2', {}],
        ],
        opaque: 'reads',
      },
    ],
    [
      'what a subquery reads, unnamed',
      'SELECT owner FROM accounts WHERE id = 1 AND balance > (SELECT avg(n) FROM stock)',
      { rows: [{ owner: 'x' }] },
      { reads: [['accounts/1', { owner: 'x' }]], opaque: 'reads' },
    ],
    [
      'the key 1.5 of an integer',
      'SELECT owner FROM accounts WHERE id = 1.5',
      { columns: ['owner'] },
      { opaque: 'reads' },
    ],
  ])('%s', (_name, sql, given, expected) => expect(short(rowsOf(sql, given))).toEqual(expected));
});

describe('what a statement writes', () => {
  test.each<[string, string, Case, object]>([
    [
      'INSERT: all columns',
      "INSERT INTO accounts VALUES (1, 'x', 20.50), ($1, NULL, $2)",
      { parameters: [2, 7], affected: 2 },
      {
        writes: [
          ['accounts/1', { id: 1, owner: 'x', balance: '20.5' }],
          ['accounts/2', { id: 2, owner: null, balance: '7' }],
        ],
      },
    ],
    [
      'INSERT: a default is not known, the absence of one is',
      "INSERT INTO stock (w, item) VALUES (1, 'a')",
      { affected: 1 },
      { writes: [['stock/1/a', { w: 1, item: 'a' }]], unknown: [['stock/1/a', ['n']]] },
    ],
    [
      'INSERT ... SELECT',
      'INSERT INTO accounts SELECT w, item, n FROM stock',
      { affected: 3 },
      { opaque: 'writes', tables: ['accounts'] },
    ],
    [
      'INSERT ... RETURNING',
      "INSERT INTO stock (w, item) VALUES (1, 'a') RETURNING *",
      { rows: [{ w: 1, item: 'a', n: '0' }], affected: 1 },
      { writes: [['stock/1/a', { w: 1, item: 'a', n: 0 }]] },
    ],
    [
      'ON CONFLICT DO UPDATE: what is the same either way',
      "INSERT INTO stock VALUES (1, 'a', 5) ON CONFLICT (w, item) DO UPDATE SET n = excluded.n",
      { affected: 1 },
      { writes: [['stock/1/a', { w: 1, item: 'a', n: 5 }]] },
    ],
    [
      'ON CONFLICT DO UPDATE: what is not',
      "INSERT INTO stock VALUES (1, 'a', 5) ON CONFLICT (w, item) DO UPDATE SET n = stock.n + 1",
      { affected: 1 },
      { writes: [['stock/1/a', { w: 1, item: 'a' }]], unknown: [['stock/1/a', ['n']]] },
    ],
    [
      'ON CONFLICT DO NOTHING: nothing done',
      "INSERT INTO stock VALUES (1, 'a', 5) ON CONFLICT DO NOTHING",
      { affected: 0 },
      { opaque: 'reads' },
    ],
    [
      'UPDATE: constants and expressions',
      "UPDATE accounts SET balance = balance + 1, owner = 'y' WHERE id = $1",
      { parameters: [1], affected: 1 },
      { writes: [['accounts/1', { owner: 'y' }]], unknown: [['accounts/1', ['balance']]] },
    ],
    [
      'UPDATE ... RETURNING: also what it computes',
      'UPDATE accounts SET balance = balance + 1 WHERE balance < 5 RETURNING id, balance',
      { rows: [{ id: 3, balance: '4.00' }], affected: 1 },
      { writes: [['accounts/3', { id: 3, balance: '4' }]] },
    ],
    [
      'UPDATE of nothing',
      "UPDATE accounts SET owner = 'y' WHERE id = 9",
      { affected: 0 },
      { reads: [['accounts/9', null]] },
    ],
    [
      'UPDATE with one more condition, of nothing',
      "UPDATE accounts SET owner = 'y' WHERE id = 9 AND balance > 1",
      { affected: 0 },
      { opaque: 'reads' },
    ],
    [
      'UPDATE of some of a list',
      "UPDATE accounts SET owner = 'y' WHERE id IN (1, 2)",
      { affected: 1 },
      { opaque: 'writes', tables: ['accounts'] },
    ],
    [
      'UPDATE of a range',
      "UPDATE accounts SET owner = 'y' WHERE balance > 1",
      { affected: 2 },
      { opaque: 'writes', tables: ['accounts'] },
    ],
    [
      'UPDATE: a value that will be rounded',
      'UPDATE accounts SET balance = 1.005 WHERE id = 1',
      { affected: 1 },
      { writes: [['accounts/1', {}]], unknown: [['accounts/1', ['balance']]] },
    ],
    [
      'UPDATE of the key',
      'UPDATE accounts SET id = 2 WHERE id = 1',
      { affected: 1 },
      {
        writes: [
          ['accounts/1', null],
          ['accounts/2', { id: 2 }],
        ],
        unknown: [['accounts/2', ['owner', 'balance']]],
      },
    ],
    [
      'DELETE',
      'DELETE FROM accounts WHERE id IN (1, 2)',
      { affected: 2 },
      {
        writes: [
          ['accounts/1', null],
          ['accounts/2', null],
        ],
      },
    ],
    ['DELETE of nothing', 'DELETE FROM accounts WHERE id = 1', { affected: 0 }, { reads: [['accounts/1', null]] }],
  ])('%s', (_name, sql, given, expected) => expect(short(rowsOf(sql, given))).toEqual(expected));
});

describe('MySQL', () => {
  test.each<[string, string, Case, object]>([
    [
      'columns without regard to case',
      'SELECT Balance FROM accounts WHERE ID = ?',
      { parameters: [1], rows: [{ Balance: '1.00' }] },
      { reads: [['accounts/1', { balance: '1' }]] },
    ],
    [
      'an AUTO_INCREMENT key',
      "INSERT INTO jobs (name) VALUES ('A')",
      { affected: 1, insertId: 5n },
      { writes: [['jobs/5', { id: 5, name: 'A' }]] },
    ],
    ['REPLACE', "REPLACE INTO jobs VALUES (5, 'b')", { affected: 2 }, { writes: [['jobs/5', { id: 5, name: 'b' }]] }],
    [
      'ON DUPLICATE KEY UPDATE of a row with its own spelling of the key',
      "INSERT INTO words VALUES ('A', 1) ON DUPLICATE KEY UPDATE n = VALUES(n)",
      { affected: 2 },
      { writes: [['words/a', { n: 1 }]], unknown: [['words/a', ['word']]] },
    ],
    [
      'ON DUPLICATE KEY UPDATE',
      "INSERT INTO jobs VALUES (5, 'b') ON DUPLICATE KEY UPDATE name = VALUES(name)",
      { affected: 2 },
      { writes: [['jobs/5', { id: 5, name: 'b' }]] },
    ],
    [
      'no change, which may be no row',
      "UPDATE jobs SET name = 'b' WHERE id = 5",
      { affected: 0, countsMatched: false },
      { opaque: 'reads' },
    ],
    [
      'an aggregate beside any row',
      'SELECT id, max(name) FROM jobs',
      { rows: [{ id: 1, 'max(name)': 'b' }] },
      { opaque: 'reads' },
    ],
  ])('%s', (_name, sql, given, expected) => expect(short(rowsOf(sql, { schema: mysql, ...given }))).toEqual(expected));
});

test.each([
  ['BEGIN ISOLATION LEVEL SERIALIZABLE', 'transaction'],
  ['SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'neutral'],
  ['SELECT 1', 'neutral'],
  ['CREATE TABLE t (id int)', 'ddl'],
  ['WITH x AS (UPDATE accounts SET id = 1 RETURNING id) SELECT * FROM x', 'opaque'],
  ['SELECT id FROM accounts UNION SELECT w FROM stock', 'opaque'],
  ['UPDATE nowhere SET a = 1', 'opaque'],
  ['this is no SQL', 'opaque'],
])('%s is %s', (sql, kind) => expect(planStatement(sql, postgres).kind).toBe(kind));
