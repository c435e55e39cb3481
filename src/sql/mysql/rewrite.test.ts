import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { loadModule, parseSync } from 'libpg-query';
import { beforeAll, describe, expect, test } from 'vitest';
import { SqlError } from '../model/sql-error.ts';
import { mysqlColumnTypes } from './column-types.ts';
import { rewriteMysql, type MysqlRewrite } from './rewrite.ts';
import { readRewriteCases } from './rewrite-cases.test-support.ts';

const cases = readRewriteCases(readFileSync(new URL('rewrite-cases.txt', import.meta.url), 'utf8'));

beforeAll(loadModule);

function lines(rewrite: MysqlRewrite): string[] {
  switch (rewrite.kind) {
    case 'sql':
      return [`${rewrite.discardsRows ? 'no rows: ' : ''}${rewrite.text}`];
    case 'statement':
      return [JSON.stringify(rewrite.statement)];
    case 'several':
      return rewrite.parts.flatMap(lines);
  }
}

function texts(rewrite: MysqlRewrite): string[] {
  if (rewrite.kind === 'several') return rewrite.parts.flatMap(texts);
  return rewrite.kind === 'sql' ? [rewrite.text] : [];
}

function text(sql: string): string {
  return texts(rewriteMysql(sql, { database: 'shop' })).join('; ');
}

function errorOf(sql: string): SqlError {
  try {
    rewriteMysql(sql);
  } catch (error) {
    if (error instanceof SqlError) return error;
    throw error;
  }
  throw new Error(`no error: ${sql}`);
}

test('there are cases', () => expect(cases.length).toBeGreaterThan(150));

test.each(cases.map(({ mysql, expected }) => [mysql, expected] as const))('%s', (mysql, expected) => {
  const rewrite = rewriteMysql(mysql, { database: 'shop' });
  expect(lines(rewrite)).toEqual(expected);
  for (const each of texts(rewrite)) expect(parseSync(each).stmts).toHaveLength(1);
});

describe('rewriteMysql', () => {
  test.each(['', ';', ' -- nothing', '/* nothing */;'])('empty: %j', (sql) =>
    expect(rewriteMysql(sql)).toEqual({ kind: 'statement', statement: { kind: 'empty' } }),
  );

  test.each([
    'SHOW VARIABLES',
    "SHOW SESSION VARIABLES LIKE 'sql%'",
    'SHOW GLOBAL VARIABLES WHERE Variable_name = "port"',
    'SHOW COLLATION',
  ])('%s parses', (sql) => expect(parseSync(text(sql)).stmts).toHaveLength(1));

  test('result columns with long names, and with a NUL, are named apart', () => {
    const long = 'x'.repeat(70);
    const rewrite = rewriteMysql(`SELECT 1 AS ${long}, 2, 'a\\0b'`);
    expect(rewrite).toMatchObject({ longNames: [long, 'a\0b'] });
    expect(text(`SELECT 1 AS ${long}, 2`)).toBe('SELECT 1 AS "moirai_name_0", 2 AS "2"');
  });

  test('a name that PostgreSQL would cut is an error', () => {
    expect(errorOf(`SELECT * FROM ${'t'.repeat(64)}`)).toMatchObject({ code: '42622', detail: { mysqlNumber: 1059 } });
    expect(text(`SELECT * FROM ${'t'.repeat(63)}`)).toContain('t'.repeat(63));
  });

  test('places lead back to MySQL’s text', () => {
    const sql = 'SELECT a , missing FROM `t` WHERE x LIKE ? LIMIT 3, 4';
    const rewrite = rewriteMysql(sql);
    if (rewrite.kind !== 'sql') throw new Error('not a text');
    for (const [there, here] of [
      ['"missing"', 'missing'],
      ['"t"', '`t`'],
      ['$1', '?'],
      ['4', '4'],
    ] as const)
      expect({ there, at: rewrite.positionOf(rewrite.text.indexOf(there)) }).toEqual({ there, at: sql.indexOf(here) });
  });

  test('types of columns are PostgreSQL’s or in the table', () => {
    const own = cases.flatMap(({ expected }) =>
      expected.flatMap(
        (line) =>
          line.match(
            /\bmysql_(?:u?(?:tiny|small|medium)?(?:int|decimal|float|double|blob|text)|year|enum|(?:var)?binary)\b(?!\((?:'|"[a-z]"\)))/g,
          ) ?? [],
      ),
    );
    const unknown = own.filter((name) => !mysqlColumnTypes.has(name));
    expect(own.length).toBeGreaterThan(20);
    expect(unknown).toEqual([]);
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
    expect(text(`SELECT ${'('.repeat(50)}1${')'.repeat(50)}`)).toContain('SELECT');
  });
});

/** Good: what is refused, is refused by a SqlError; what is rewritten, PostgreSQL's parser takes. */
function outcomeOf(sql: string): string {
  let rewrite: MysqlRewrite;
  try {
    rewrite = rewriteMysql(sql);
  } catch (error) {
    return error instanceof SqlError ? 'good' : String(error);
  }
  try {
    for (const each of texts(rewrite)) parseSync(each);
    return 'good';
  } catch (error) {
    return `${String(error)}: ${texts(rewrite).join('\n')}`;
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
  ])('%s: a SqlError, or what PostgreSQL parses', (_name, sqls) => {
    fc.assert(
      fc.property(sqls, (sql) => {
        const outcome = outcomeOf(sql);
        expect({ sql, outcome }).toEqual({ sql, outcome: 'good' });
      }),
      { numRuns: 1500 },
    );
  });
});
