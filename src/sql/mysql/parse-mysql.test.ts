import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { loadModule } from 'libpg-query';
import { beforeAll, describe, expect, test } from 'vitest';
import { SqlError } from '../model/sql-error.ts';
import { notedTree, readParseCases, withoutPlaces } from './parse-cases.test-support.ts';
import { parseMysql } from './parse-mysql.ts';
import type { Parsed } from './parsed.ts';

const cases = readParseCases(readFileSync(new URL('parse-cases.txt', import.meta.url), 'utf8'));

beforeAll(loadModule);

/** As the table has it: trees, or the statement. */
function shown(parsed: Parsed): unknown[] {
  switch (parsed.kind) {
    case 'tree':
      return [withoutPlaces(parsed.tree)];
    case 'effects':
      return [{ effects: withoutPlaces({ SelectStmt: parsed.query }) }];
    case 'into':
      return [{ into: parsed.variables, query: withoutPlaces({ SelectStmt: parsed.query }) }];
    case 'statement':
      return [parsed.statement];
    case 'several':
      return parsed.parts.map(withoutPlaces);
  }
}

function expectedOf(line: string): unknown {
  if (line.startsWith('{')) return JSON.parse(line);
  const sql = line.replace('no rows: ', '');
  return sql === line ? notedTree(sql) : { effects: notedTree(sql) };
}

/** Of a SELECT: the names of its columns, where it names them. */
function columnNamesOf(sql: string): (string | undefined)[] {
  const parsed = parseMysql(sql);
  const list = parsed.kind === 'tree' && 'SelectStmt' in parsed.tree ? (parsed.tree.SelectStmt.targetList ?? []) : [];
  return list.map((node) => ('ResTarget' in node ? node.ResTarget.name : undefined));
}

function errorOf(sql: string): SqlError {
  try {
    parseMysql(sql);
  } catch (error) {
    if (error instanceof SqlError) return error;
    throw error;
  }
  throw new Error(`no error: ${sql}`);
}

test('there are cases', () => expect(cases.length).toBeGreaterThan(150));

test.each(cases.map(({ mysql, expected }) => [mysql, expected] as const))('%s', (mysql, expected) => {
  expect(shown(parseMysql(mysql, 'shop'))).toEqual(expected.map(expectedOf));
});

describe('parseMysql', () => {
  test.each(['', ';', ' -- nothing', '/* nothing */;'])('empty: %j', (sql) =>
    expect(parseMysql(sql)).toEqual({ kind: 'statement', statement: { kind: 'empty' } }),
  );

  test.each([
    'SHOW VARIABLES',
    "SHOW SESSION VARIABLES LIKE 'sql%'",
    'SHOW GLOBAL VARIABLES WHERE Variable_name = "port"',
    'SHOW COLLATION',
  ])('%s is a query', (sql) => expect(parseMysql(sql)).toMatchObject({ kind: 'tree', tree: { SelectStmt: {} } }));

  test('names of result columns have any length and any characters', () => {
    const long = 'x'.repeat(70);
    expect(columnNamesOf(`SELECT 1 AS ${long}, 2, 'a\\0b', ''`)).toEqual([long, '2', 'a\0b', '']);
  });

  test('a string has any characters', () => {
    expect(parseMysql("SELECT 'a\\0b', _utf8mb4 x'410042'")).toMatchObject({
      tree: {
        SelectStmt: {
          targetList: ['a\0b', 'A\0B'].map((sval) => ({ ResTarget: { val: { A_Const: { sval: { sval } } } } })),
        },
      },
    });
  });

  test('a name that is too long is an error', () => {
    expect(errorOf(`SELECT * FROM ${'t'.repeat(65)}`)).toMatchObject({ code: '42622', detail: { mysqlNumber: 1059 } });
    expect(parseMysql(`SELECT * FROM ${'é'.repeat(64)}`)).toMatchObject({ kind: 'tree' });
  });

  test('nodes know their places in the text', () => {
    const sql = 'SELECT a , missing FROM `t` WHERE x LIKE ? LIMIT 3, 4';
    const place = (text: string): object => ({ location: sql.indexOf(text) });
    expect(parseMysql(sql)).toMatchObject({
      tree: {
        SelectStmt: {
          targetList: [{}, { ResTarget: { val: { ColumnRef: place('missing') } } }],
          fromClause: [{ RangeVar: place('`t`') }],
          whereClause: { A_Expr: { rexpr: { ParamRef: place('?') }, ...place('LIKE') } },
          limitCount: { A_Const: place('4') },
          limitOffset: { A_Const: place('3') },
        },
      },
    });
  });
});

describe('syntax errors are MySQL’s', () => {
  test.each([
    ['SELEC 1', 'SELEC 1', 1],
    ['SELECT', '', 1],
    ['SELECT 1 FROM', '', 1],
    ["SELECT 'open", "'open", 1],
    ['SELECT 1\nFROM t WHERE', '', 2],
    ['SELECT a b c FROM t', 'c FROM t', 1],
    ['SELECT * FROM select', 'select', 1],
    ['UPDATE t SET a', '', 1],
    ['INSERT INTO t (a VALUES (1)', 'VALUES (1)', 1],
    ['CREATE TABLE t (a integr)', 'integr)', 1],
    ['CREATE TABLE t (a int', '', 1],
    ['SELECT 1; SELECT 2', '; SELECT 2', 1],
    ['SELECT 1 + + FROM t', 'FROM t', 1],
    ['SELECT (1', '', 1],
    ['SELECT a FROM t LEFT JOIN u', '', 1],
    ['DELETE t WHERE a = 1', 'WHERE a = 1', 1],
    ['SELECT "a" "b" \'', "'", 1],
    ['SELECT a::int', '::int', 1],
    ['SHOW NOTHING', 'NOTHING', 1],
    ['SAVEPOINT', '', 1],
    ['UPDATE t SET a = 1 LIMIT 0, 1', ', 1', 1],
    ['DELETE FROM t LIMIT 1 OFFSET 1', 'OFFSET 1', 1],
  ])('%s', (sql, near, line) => {
    const error = errorOf(sql);
    expect({ code: error.code, number: error.detail.mysqlNumber }).toEqual({ code: '42601', number: 1064 });
    expect(error.message).toContain(`near '${near}' at line ${line}`);
  });
});

describe('what is not supported is named', () => {
  test.each([
    ['SELECT a, SUM(b) FROM t GROUP BY a WITH ROLLUP', 'WITH ROLLUP'],
    ['SELECT SQL_CALC_FOUND_ROWS * FROM t', 'SQL_CALC_FOUND_ROWS'],
    ["SELECT * FROM t WHERE MATCH (a) AGAINST ('x')", 'MATCH ... AGAINST'],
    ["SELECT * INTO OUTFILE 'x' FROM t", 'SELECT ... INTO'],
    ['UPDATE t1, t2 SET t1.a = 1, t2.b = 2', 'UPDATE of several tables'],
    ['DELETE a, b FROM a JOIN b', 'DELETE from several tables'],
    ['UPDATE IGNORE t SET a = 1', 'UPDATE IGNORE'],
    ['CREATE TABLE t (a SET("x"))', 'the type SET'],
    ['CREATE TABLE t (a BIT(1))', 'the type BIT'],
    ['CREATE TABLE t (a text, FULLTEXT KEY (a))', 'FULLTEXT'],
    ['CREATE TABLE t (a int) PARTITION BY HASH (a)', 'PARTITION BY'],
    ['CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1', 'CREATE TRIGGER'],
    ['LOCK TABLES t WRITE', 'LOCK TABLES'],
    ['KILL 3', 'KILL'],
    ['EXPLAIN SELECT 1', 'EXPLAIN'],
    ['SHOW CREATE TABLE t', 'SHOW CREATE'],
    ['SET GLOBAL max_connections = 3', 'SET GLOBAL'],
    ['CALL p()', 'CALL'],
    ["LOAD DATA INFILE 'x' INTO TABLE t", 'LOAD'],
    ['SELECT a FROM t FOR UPDATE WAIT 3', 'FOR UPDATE WAIT'],
    ["SELECT NOW() + INTERVAL '1:30' MINUTE_SECOND", 'MINUTE_SECOND'],
  ])('%s', (sql, construct) => {
    const error = errorOf(sql);
    expect(error.code).toBe('0A000');
    expect(error.message).toContain(construct);
  });

  test('an unknown system variable', () =>
    expect(errorOf('SET SESSION nonsense = 1')).toMatchObject({ code: '42704', detail: { mysqlNumber: 1193 } }));

  test.each(['SELECT IF(1, 2)', 'SELECT NULLIF(1)', 'SELECT IFNULL(1, 2, 3)', 'SELECT COALESCE()', 'SELECT NOW(1, 2)'])(
    '%s has too few or too many arguments',
    (sql) => expect(errorOf(sql)).toMatchObject({ code: '42883', detail: { mysqlNumber: 1582 } }),
  );

  test('nesting without end', () => {
    expect(errorOf(`SELECT ${'('.repeat(20_000)}1${')'.repeat(20_000)}`).code).toBe('54001');
    expect(parseMysql(`SELECT ${'('.repeat(50)}1${')'.repeat(50)}`)).toMatchObject({ kind: 'tree' });
  });
});

/** Good: what is refused, is refused by a SqlError. */
function outcomeOf(sql: string): string {
  try {
    parseMysql(sql);
    return 'good';
  } catch (error) {
    return error instanceof SqlError ? 'good' : String(error);
  }
}

describe('properties', () => {
  /** Words of statements in any order: mostly errors, and what is none must be good. */
  const words = cases.flatMap(({ mysql }) => mysql.split(/\s+/));
  const soup = fc.array(fc.constantFrom(...new Set(words)), { maxLength: 12 }).map((parts) => parts.join(' '));
  /** A good statement with a piece cut out or put in twice. */
  const mutant = fc
    .tuple(fc.constantFrom(...cases), fc.nat(), fc.nat({ max: 12 }), fc.boolean())
    .map(([{ mysql }, at, length, isTwice]) => {
      const from = at % mysql.length;
      return mysql.slice(0, isTwice ? from + length : from) + mysql.slice(isTwice ? from : from + length);
    });

  /** A good statement with a word of another one in the place of its own. */
  const hybrid = fc
    .tuple(
      fc.constantFrom(...cases),
      fc.nat(),
      fc.constantFrom(...new Set(words.flatMap((word) => word.match(/\w+|\W/g) ?? []))),
    )
    .map(([{ mysql }, at, word]) => {
      const pieces: string[] = mysql.match(/\w+|\W/g) ?? [];
      return pieces.with(at % pieces.length, word).join('');
    });

  test.each([
    ['words in any order', soup],
    ['statements with a foreign word', hybrid],
    ['statements with a part missing or doubled', mutant],
    ['any text', fc.string({ unit: 'binary' })],
  ])('%s: a SqlError, or a statement', (_name, sqls) => {
    fc.assert(
      fc.property(sqls, (sql) => {
        const outcome = outcomeOf(sql);
        expect({ sql, outcome }).toEqual({ sql, outcome: 'good' });
      }),
      { numRuns: 1500 },
    );
  });
});
