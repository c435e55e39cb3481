import { beforeAll, describe, expect, test } from 'vitest';
import { loadParser } from '../sql/parse.ts';
import { PlanCache, planStatement } from './statement-plan.ts';
import { type RecordedSchema, schemaOf, type SchemaRow } from './schema.ts';
import { type StatementResult, type StatementRows, rowsOfStatement } from './statement-rows.ts';

beforeAll(() => loadParser());

const column = (table: string, name: string, type: string, more: SchemaRow = {}): SchemaRow => ({
  table_schema: 'public',
  table_name: table,
  column_name: name,
  data_type: type,
  numeric_scale: null,
  collation_name: null,
  has_default: 0,
  is_auto: 0,
  is_current: 1,
  key_position: null,
  uniques: 0,
  ...more,
});

const tables = [
  column('accounts', 'id', 'integer', { key_position: 1 }),
  column('accounts', 'owner', 'text'),
  column('accounts', 'balance', 'numeric', { numeric_scale: 2 }),
  column('stock', 'w', 'integer', { key_position: 1 }),
  column('stock', 'item', 'character varying', { key_position: 2 }),
  column('stock', 'n', 'bigint', { has_default: 1 }),
  column('notes', 'text', 'text'),
];
const postgres = schemaOf('postgres', tables);
const mysql = schemaOf('mysql', [
  ...tables.map((row): SchemaRow => ({ ...row, data_type: row['data_type'] === 'integer' ? 'int' : row['data_type'] })),
  column('jobs', 'id', 'bigint', { key_position: 1, is_auto: 1, has_default: 1 }),
  column('jobs', 'name', 'varchar', { collation_name: 'utf8mb4_general_ci' }),
  column('words', 'word', 'varchar', { key_position: 1, collation_name: 'utf8mb4_general_ci' }),
  column('words', 'n', 'int'),
  column('noted', 'id', 'int', { key_position: 1, has_effects: 1 }),
  column('customers', 'id', 'int', {
    key_position: 1,
    delete_effects: 'public.orders',
    update_effects: 'public.orders|elsewhere.unknown',
  }),
  column('customers', 'name', 'int'),
  column('orders', 'id', 'int', { key_position: 1, delete_effects: 'public.items' }),
  column('items', 'id', 'int', { key_position: 1 }),
  column('computed', 'id', 'int', { key_position: 1 }),
  column('computed', 'n', 'int'),
  column('computed', 'twice', 'int', { has_default: 1, is_computed: 1 }),
  column('cased', 'word', 'varchar', { key_position: 1, collation_name: 'latin1_general_cs' }),
  column('spaced', 'word', 'varchar', { key_position: 1, collation_name: 'utf8mb4_bin' }),
]);

interface Case {
  readonly schema?: RecordedSchema;
  readonly parameters?: readonly unknown[];
  readonly rows?: readonly Readonly<Record<string, unknown>>[];
  readonly columns?: readonly string[];
  readonly affected?: number;
  readonly countsMatched?: boolean;
  readonly insertId?: bigint;
  readonly warnings?: number;
}

function rowsOf(sql: string, given: Case): StatementRows {
  const { rows = [], columns = Object.keys(rows[0] ?? {}), affected = null } = given;
  const result: StatementResult = {
    columns,
    rowCount: rows.length,
    cell: (row, at) => rows[row]?.[columns[at] as string],
    isByName: true,
    affected,
    countsMatched: given.countsMatched ?? true,
    insertId: given.insertId ?? 0n,
    warnings: given.warnings ?? 0,
  };
  const schema = given.schema ?? postgres;
  const plan = planStatement(sql, schema);
  if (plan.kind !== 'select' && plan.kind !== 'insert' && plan.kind !== 'update' && plan.kind !== 'delete')
    throw new Error(`${sql}: ${JSON.stringify(plan)}`);
  const found = rowsOfStatement(plan, given.parameters ?? [], result);
  // Constants taken out of the text change nothing.
  const shaped = new PlanCache(schema).lookup(sql, given.parameters ?? []);
  if (shaped.plan.kind !== plan.kind) throw new Error(`${sql}: ${shaped.plan.kind}`);
  expect(rowsOfStatement(shaped.plan, shaped.parameters, result)).toEqual(found);
  return found;
}

/** Only what is there. */
function short({ reads, writes, unknown, predicates, lock, opaque, tables: anywhere }: StatementRows): object {
  return {
    ...(reads.length > 0 ? { reads } : {}),
    ...(writes.length > 0 ? { writes } : {}),
    ...(unknown.length > 0 ? { unknown } : {}),
    ...(predicates.length > 0 ? { predicates } : {}),
    ...(lock === null ? {} : { lock }),
    ...(opaque === null ? {} : { opaque }),
    ...(anywhere === undefined ? {} : { tables: anywhere }),
  };
}

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
  ['CREATE TABLE t (id int)', 'definition'],
  ['WITH x AS (UPDATE accounts SET id = 1 RETURNING id) SELECT * FROM x', 'opaque'],
  ['SELECT id FROM accounts UNION SELECT w FROM stock', 'opaque'],
  ['UPDATE nowhere SET a = 1', 'opaque'],
  ['this is no SQL', 'opaque'],
])('%s is %s', (sql, kind) => expect(planStatement(sql, postgres).kind).toBe(kind));

describe('what the server writes by itself', () => {
  test.each<[string, string, Case, object]>([
    ['triggers: anything', 'INSERT INTO noted VALUES (1)', { affected: 1 }, { opaque: 'writes' }],
    ['also where no row was changed', 'UPDATE noted SET id = 2 WHERE id = 1', { affected: 0 }, { opaque: 'writes' }],
    [
      'a deletion that cascades',
      'DELETE FROM customers WHERE id = 1',
      { affected: 1 },
      { writes: [['customers/1', null]], opaque: 'writes', tables: ['orders', 'items'] },
    ],
    [
      'one that finds nothing',
      'DELETE FROM customers WHERE id = 1',
      { affected: 0 },
      { reads: [['customers/1', null]] },
    ],
    [
      'REPLACE deletes, and may give another key to a table that is not known',
      'REPLACE INTO customers VALUES (1, 2)',
      { affected: 2 },
      { opaque: 'writes' },
    ],
    ['a key that changes', 'UPDATE customers SET id = 2 WHERE id = 1', { affected: 1 }, { opaque: 'writes' }],
    [
      'other columns do not matter',
      'UPDATE customers SET name = 2 WHERE id = 1',
      { affected: 1 },
      { writes: [['customers/1', { name: 2 }]] },
    ],
    [
      'nor do new rows',
      'INSERT INTO customers VALUES (1, 2)',
      { affected: 1 },
      { writes: [['customers/1', { id: 1, name: 2 }]] },
    ],
    [
      'columns that are computed',
      'UPDATE computed SET n = 2 WHERE id = 1',
      { affected: 1 },
      { writes: [['computed/1', { n: 2 }]], unknown: [['computed/1', ['twice']]] },
    ],
  ])('%s', (_name, sql, given, expected) => expect(short(rowsOf(sql, { schema: mysql, ...given }))).toEqual(expected));
});

describe('MySQL warns', () => {
  const values = 'INSERT INTO words VALUES (?, 1) ON DUPLICATE KEY UPDATE n = VALUES(n)';
  test.each<[string, string, Case, boolean]>([
    ['that a value did not fit', 'INSERT IGNORE INTO words VALUES (?, 1000)', { warnings: 1 }, true],
    ['that there is such a row', 'INSERT IGNORE INTO words VALUES (?, 1)', { warnings: 1, affected: 0 }, false],
    ['so in an update', 'UPDATE words SET n = 1000 WHERE word = ?', { warnings: 1 }, true],
    ['of VALUES(c), each time', values, { warnings: 1 }, false],
    ['of more than that', values, { warnings: 2 }, true],
  ])('%s', (_name, sql, given, isOpaque) => {
    const { opaque } = rowsOf(sql, { schema: mysql, affected: 1, parameters: ['a'], ...given });
    expect(opaque === 'writes').toBe(isOpaque);
  });
});

describe('what is opaque as a whole', () => {
  const users = (dialect: 'postgres' | 'mysql'): RecordedSchema =>
    schemaOf(dialect, [{ ...column('accounts', 'id', 'integer', { key_position: 1 }), functions: 'Transfer|audit' }]);

  test.each<['postgres' | 'mysql', string, object]>([
    ['postgres', 'SELECT transfer(1)', { kind: 'opaque', writes: true }],
    ['postgres', 'SELECT id FROM accounts WHERE id = audit()', { kind: 'opaque', writes: true }],
    ['postgres', 'SELECT lower(id) FROM accounts', { kind: 'select' }],
    ['postgres', 'CREATE TRIGGER t AFTER INSERT ON accounts EXECUTE FUNCTION audit()', { kind: 'definition' }],
    ['postgres', 'SELECT id FROM accounts FOR KEY SHARE', { kind: 'opaque', writes: false, lock: 'share' }],
    ['postgres', 'SELECT a.id FROM accounts a, stock FOR UPDATE OF a', { kind: 'opaque', writes: false }],
    ['postgres', 'SELECT id FROM accounts FOR UPDATE OF accounts', { kind: 'select', lock: 'update' }],
    ['mysql', 'SELECT Transfer(1)', { kind: 'opaque', writes: true }],
    ['mysql', 'SET @a = transfer(1)', { kind: 'opaque', writes: true }],
    ['mysql', 'SET @a = (SELECT id FROM accounts)', { kind: 'opaque', writes: false, lock: 'share' }],
    ['mysql', 'SET @a = 1', { kind: 'neutral' }],
    ['mysql', 'SELECT id INTO @a FROM accounts', { kind: 'opaque', writes: false, lock: null }],
    ['mysql', 'SELECT id INTO @a FROM accounts FOR UPDATE', { kind: 'opaque', writes: false, lock: 'share' }],
  ])('%s: %s', (dialect, sql, expected) => expect(planStatement(sql, users(dialect))).toMatchObject(expected));
});

describe('which texts are one key', () => {
  test.each<[string, object]>([
    ["DELETE FROM cased WHERE word = 'Ab'", { writes: [['cased/Ab', null]] }],
    ["DELETE FROM cased WHERE word = 'é'", { opaque: 'writes', tables: ['cased'] }],
    ["DELETE FROM spaced WHERE word = 'é'", { writes: [['spaced/é', null]] }],
    ["DELETE FROM spaced WHERE word = 'e '", { opaque: 'writes', tables: ['spaced'] }],
    ["DELETE FROM words WHERE word = 'Ab'", { writes: [['words/ab', null]] }],
  ])('%s', (sql, expected) => expect(short(rowsOf(sql, { schema: mysql, affected: 1 }))).toEqual(expected));
});
