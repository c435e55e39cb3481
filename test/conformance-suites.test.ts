/** What `npm run conformance` reads of other projects' tests: isolation specifications, regression files, the suites of clients. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseIsolationSpec } from '../conformance/isolation-spec.ts';
import { knownRows } from '../conformance/known-regression.ts';
import { statementsOfScript } from '../conformance/psql-script.ts';
import { Doubt, sortColumns } from '../conformance/regression-doubt.ts';
import { suites } from '../conformance/suite-list.ts';
import { comparedResults } from '../conformance/suite-results.ts';

describe('isolation specifications', () => {
  const spec = `
# A comment.
setup { CREATE TABLE t (a int); }
teardown { DROP TABLE t; }
session "one"
setup { BEGIN; }
step a1 { SELECT 1; }
step a2 { COMMIT; }
session two
step b1 { SELECT
  2; }
teardown { ROLLBACK; }
`;

  test('without permutations every interleaving is run', () => {
    const { setUp, tearDown, sessions, permutations } = parseIsolationSpec(spec);
    expect([setUp, tearDown]).toEqual([['CREATE TABLE t (a int);'], ['DROP TABLE t;']]);
    expect(sessions.map((session) => [session.setUp, [...session.steps.keys()], session.tearDown])).toEqual([
      [['BEGIN;'], ['a1', 'a2'], []],
      [[], ['b1'], ['ROLLBACK;']],
    ]);
    expect(permutations).toEqual([
      ['a1', 'a2', 'b1'],
      ['a1', 'b1', 'a2'],
      ['b1', 'a1', 'a2'],
    ]);
  });

  test('markers of a permutation are ignored', () => {
    const { permutations } = parseIsolationSpec(
      `${spec}\npermutation a1 "b1"(*) a2 (b1, a1 notices 2)\npermutation b1 # end`,
    );
    expect(permutations).toEqual([['a1', 'b1', 'a2'], ['b1']]);
  });
});

test('reasons for other rows of regression files stand in docs/sql.md', () => {
  const docs = readFileSync(new URL('../docs/sql.md', import.meta.url), 'utf8');
  expect(knownRows.map(({ row }) => row).filter((row) => !docs.includes(row))).toEqual([]);
});

describe("clients' own test suites", () => {
  test('only what passes on the server counts; a failure for which there is no reason is not known', () => {
    const theirs = new Map([
      ['copies', true],
      ['listens', true],
      ['connects', true],
      ['sleeps', false],
    ]);
    const ours = new Map([
      ['connects', true],
      ['listens', false],
      ['sleeps', false],
    ]);
    expect(comparedResults([{ reason: 'LISTEN', tests: /^listens$/ }], { theirs, ours })).toEqual({
      lines: ['1 of 3 that pass on the server, 33.3 %', '  NOT KNOWN: copies', '  LISTEN: listens'],
      unknown: 1,
    });
  });

  const knownIn = (suite: string, name: string) => suites[suite]?.known.find(({ tests }) => tests.test(name))?.reason;

  test.each([
    ['node-postgres', 'client/error-handling-tests.js', 'any user and any database'],
    ['node-postgres', 'connection-pool/error-tests.js', undefined],
    ['node-postgres', 'client/async-error-tests.js', undefined],
    ['node-postgres', 'gh-issues/11050-tests.js', undefined],
    ['kysely-postgres', 'postgres: schema drop type should drop a type', 'types that moirai lacks'],
    ['kysely-postgres', 'postgres: merge using should delete', undefined],
    ['kysely-postgres', 'postgres: introspect getColumns should have names', undefined],
  ])('%s: %s fails for a known reason: %s', (suite, name, reason) => expect(knownIn(suite, name)).toBe(reason));

  test('the reasons stand in docs/drivers.md', () => {
    const docs = readFileSync(new URL('../docs/drivers.md', import.meta.url), 'utf8');
    const reasons = Object.values(suites).flatMap(({ known }) => known.map(({ reason }) => reason));
    expect(reasons.filter((reason) => !docs.includes(reason))).toEqual([]);
  });
});

test('after a statement with another result, statements about the same names are in doubt', () => {
  const done = { kind: 'done', tag: '' } as const;
  const refused = { kind: 'error', code: '0A000', message: '' } as const;
  const doubt = new Doubt();
  const same = (sql: string): void => doubt.record(sql, true, { ours: done, theirs: done });
  same('create table a (i int)');
  same('create table b (i int)');
  same('create view v as select * from b');
  doubt.record('create table c () inherits (a)', false, { ours: refused, theirs: done });
  same('insert into b values (1)');
  expect(['a', 'b', 'c', 'v'].filter((name) => doubt.isAbout(`select * from ${name}`))).toEqual(['a', 'c']);
  doubt.record('insert into v values (2)', false, { ours: refused, theirs: done });
  expect(doubt.isAbout('select * from b')).toBe(true);
  same('create table b (i int)');
  expect(doubt.isAbout('select * from b')).toBe(false);
  same('begin');
  doubt.record('insert into b values (3)', false, { ours: refused, theirs: done });
  expect(doubt.isAbout('commit')).toBe(true);
});

test('the columns that ORDER BY names', () => {
  expect(sortColumns('select a, b from t order by t.a desc nulls last, 2 limit 3')).toEqual(['a', '2']);
  expect(sortColumns('select rank() over (order by a) from t')).toBeNull();
  expect(sortColumns('select a from t order by a + 1')).toBeNull();
});

test('statements of a psql script', () => {
  const script = String.raw`
-- A comment; with a semicolon.
\set x 1
SELECT ';', $$ ; $$, (1);
SELECT :x;
COPY t FROM stdin;
1	it's
\N	a\tb
\.
SELECT a::int FROM t \gset
\d t
SELECT 2`;
  expect(statementsOfScript(script)).toEqual([
    `SELECT ';', $$ ; $$, (1)`,
    `INSERT INTO t VALUES ('1', 'it''s'), (NULL, 'a\tb')`,
    'SELECT a::int FROM t',
    'SELECT 2',
  ]);
});
