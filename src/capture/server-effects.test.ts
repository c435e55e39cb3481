/** What a server does beside what the statement says, and what is not recorded for it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { loadParser } from '../sql/parse.ts';
import { type RecordedSchema, schemaOf } from './schema.ts';
import { planStatement } from './plan-statement.ts';
import { type Case, column, mysql, rowsOf, short } from './statement-rows.test-support.ts';

beforeAll(() => loadParser());

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

test('rows that are those of another table too have no names', () => {
  expect(short(rowsOf('SELECT id FROM partition WHERE id = 1', { rows: [{ id: 1 }] }))).toEqual({ opaque: 'reads' });
  expect(short(rowsOf('DELETE FROM partition WHERE id = 1', { affected: 1 }))).toEqual({ opaque: 'writes' });
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
    schemaOf(dialect, [
      { ...column('accounts', 'id', 'integer', { key_position: 1 }), functions: 'Transfer|audit|add stock' },
    ]);

  test.each<['postgres' | 'mysql', string, object]>([
    ['postgres', 'SELECT transfer(1)', { kind: 'opaque', writes: true }],
    ['postgres', 'SELECT id FROM accounts WHERE id = audit()', { kind: 'opaque', writes: true }],
    ['postgres', 'SELECT "Add stock"(1)', { kind: 'opaque', writes: true }],
    ['postgres', 'SELECT audit.lower(id) FROM accounts', { kind: 'select' }],
    ['postgres', 'SELECT lower(id) FROM accounts', { kind: 'select' }],
    ['postgres', 'CREATE TRIGGER t AFTER INSERT ON accounts EXECUTE FUNCTION audit()', { kind: 'ddl' }],
    [
      'postgres',
      'ALTER TABLE "a""b" ADD FOREIGN KEY (id) REFERENCES s.other',
      { kind: 'ddl', tables: ['a"b', 'other'] },
    ],
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
