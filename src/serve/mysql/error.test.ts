import { describe, expect, test } from 'vitest';
import { notSupported, SqlError, type SqlErrorDetail } from '../../sql/model/sql-error.ts';
import { mysqlError, protocolError } from './error.ts';

const key = { table: 't', constraint: 't_pkey' };
const reference = { table: 'child', constraint: 'child_fk' };

describe("errors in MySQL's numbers and words", () => {
  test.each<[string, string, SqlErrorDetail, number, string, string]>([
    [
      '23505',
      'x',
      { ...key, detail: 'Key (id)=(1) already exists.' },
      1062,
      '23000',
      "Duplicate entry '1' for key 't.PRIMARY'",
    ],
    [
      '23505',
      'x',
      { table: 't', constraint: 'u', detail: 'Key (a, b)=(1, x) already exists.' },
      1062,
      '23000',
      "Duplicate entry '1-x' for key 't.u'",
    ],
    ['23502', 'x', { column: 'a' }, 1048, '23000', "Column 'a' cannot be null"],
    [
      '23503',
      'x',
      { ...reference, detail: 'Key (p)=(1) is not present in table "parent".' },
      1452,
      '23000',
      'Cannot add or update a child row: a foreign key constraint fails (`shop`.`child`, CONSTRAINT `child_fk` FOREIGN KEY (`p`) REFERENCES `parent`)',
    ],
    [
      '23503',
      'x',
      { ...reference, detail: 'Key (id)=(1) is still referenced from table "child".' },
      1451,
      '23000',
      'Cannot delete or update a parent row: a foreign key constraint fails (`shop`.`child`, CONSTRAINT `child_fk`)',
    ],
    ['23514', 'x', { constraint: 'positive' }, 3819, 'HY000', "Check constraint 'positive' is violated."],
    ['40001', 'x', {}, 1213, '40001', 'Deadlock found when trying to get lock; try restarting transaction'],
    ['40P01', 'x', {}, 1213, '40001', 'Deadlock found when trying to get lock; try restarting transaction'],
    [
      '55P03',
      'canceling statement due to lock timeout',
      {},
      1205,
      'HY000',
      'Lock wait timeout exceeded; try restarting transaction',
    ],
    [
      '55P03',
      'could not obtain lock on row',
      {},
      3572,
      'HY000',
      'Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.',
    ],
    ['57014', 'x', {}, 1317, '70100', 'Query execution was interrupted'],
    ['42P01', 'relation "t" does not exist', {}, 1146, '42S02', "Table 'shop.t' doesn't exist"],
    ['42P01', 'relation "s.t" does not exist', {}, 1146, '42S02', "Table 'shop.t' doesn't exist"],
    ['42P01', 'table "t" does not exist', {}, 1051, '42S02', "Unknown table 'shop.t'"],
    ['42P01', 'view "v" does not exist', {}, 1051, '42S02', "Unknown table 'shop.v'"],
    ['42P16', 'multiple primary keys for table "t" are not allowed', {}, 1068, '42000', 'Multiple primary key defined'],
    ['42710', 'constraint "k" for relation "t" already exists', {}, 1061, '42000', "Duplicate key name 'k'"],
    [
      '42803',
      'column "t.n" must appear in the GROUP BY clause or be used in an aggregate function',
      {},
      1055,
      '42000',
      "'shop.t.n' isn't in GROUP BY",
    ],
    [
      '23503',
      'Cannot: a key fails (`c`, ...)',
      { mysqlNumber: 1452 },
      1452,
      '23000',
      'Cannot: a key fails (`shop`.`c`, ...)',
    ],
    ['42883', 'function f(integer) does not exist', {}, 1305, '42000', 'FUNCTION shop.f does not exist'],
    ['42883', 'operator does not exist: a', {}, 1305, '42000', 'operator does not exist: a'],
    ['42P07', 'relation "t" already exists', {}, 1050, '42S01', "Table 't' already exists"],
    ['42703', 'column "a" does not exist', {}, 1054, '42S22', "Unknown column 'a' in 'field list'"],
    ['42703', 'column t.a does not exist', {}, 1054, '42S22', "Unknown column 't.a' in 'field list'"],
    ['42703', 'column "a" of relation "t" does not exist', {}, 1054, '42S22', "Unknown column 'a' in 'field list'"],
    ['42601', 'syntax error at or near "x"', {}, 1064, '42000', 'syntax error at or near "x"'],
    ['22012', 'division by zero', {}, 1365, '22012', 'Division by 0'],
    ['22003', 'integer out of range', {}, 1690, '22003', 'integer out of range'],
    ['22003', 'integer out of range', { column: 'a' }, 1264, '22003', 'integer out of range'],
    ['22001', 'value too long', {}, 1406, '22001', 'value too long'],
    ['25006', 'read-only', {}, 1792, '25006', 'read-only'],
    ['3D000', 'no database', {}, 1049, '42000', 'no database'],
    ['53300', 'too many', {}, 1040, '08004', 'too many'],
    ['28P01', 'no', {}, 1045, '28000', 'no'],
    ['XX000', 'strange', {}, 1105, 'HY000', 'strange'],
    ['55P03', 'in words of its own', { mysqlNumber: 1205 }, 1205, 'HY000', 'in words of its own'],
    ['42000', 'SAVEPOINT a does not exist', { mysqlNumber: 1305 }, 1305, '42000', 'SAVEPOINT a does not exist'],
    ['23505', 'without detail', {}, 1062, '23000', 'without detail'],
  ])('%s %s %j', (code, message, detail, number, state, said) => {
    expect(mysqlError(new SqlError(code, message, detail), 'shop')).toEqual({ number, state, message: said });
  });

  test('what is not supported', () => {
    expect(mysqlError(notSupported('a trigger'), '')).toMatchObject({ number: 1235, state: '42000' });
  });

  test('of the protocol', () => {
    expect(mysqlError(protocolError(1047, 'Unknown command'), '')).toEqual({
      number: 1047,
      state: '08S01',
      message: 'Unknown command',
    });
  });
});
