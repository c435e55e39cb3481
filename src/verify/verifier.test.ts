import { describe, expect, test } from 'vitest';
import { engines, mechanismsOf, parseMechanisms } from './engines.ts';
import type { RowImage } from '../trace/trace.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const initial = new Map<string, RowImage>([
  ['x', 0],
  ['y', 0],
]);

function found(engine: string, isolation: string, text: string): string[] {
  return verifyAll(mechanismsOf(engine, isolation), traceOf(text), initial).violations.map(
    ({ mechanism }) => mechanism,
  );
}

const lostUpdate = 'a t1 r x=0 \n b t2 r x=0 \n a t1 w x=1 \n a t1 commit \n b t2 w x=2 \n b t2 commit';
const writeSkew = 'a t1 r x=0 y=0 \n b t2 r x=0 y=0 \n a t1 w x=1 \n b t2 w y=1 \n a t1 commit \n b t2 commit';
const readSkew = 'a t1 r x=0 \n b t2 w x=1 y=1 \n b t2 commit \n a t1 r y=1 \n a t1 commit';
const dirtyWrite = 'a t1 w x=1 \n b t2 w x=2 \n a t1 commit \n b t2 commit';
const dirtyRead = 'a t1 w x=1 \n b t2 r x=1 \n a t1 abort \n b t2 commit';
const earlyRead = 'a t1 w x=1 \n b t2 r x=1 \n a t1 commit \n b t2 commit';
const phantomOrder = 'a t1 r x=0 \n b t2 w x=1 \n b t2 commit \n a t1 commit';

describe('anomalies by engine and level', () => {
  test.each([
    ['lost update', lostUpdate, 'mysql', 'repeatable read', []],
    ['lost update', lostUpdate, 'postgres', 'read committed', []],
    ['lost update', lostUpdate, 'postgres', 'repeatable read', ['first-updater-wins']],
    ['lost update', lostUpdate, 'oracle', 'serializable', ['first-updater-wins']],
    ['lost update', lostUpdate, 'tidb', 'optimistic', ['serialization-certifier']],
    ['lost update', lostUpdate, 'foundationdb', 'serializable', ['serialization-certifier']],
    ['lost update', lostUpdate, 'sqlserver', 'repeatable read', ['mutual-exclusion']],
    ['write skew', writeSkew, 'postgres', 'repeatable read', []],
    ['write skew', writeSkew, 'postgres', 'serializable', ['serialization-certifier']],
    ['write skew', writeSkew, 'cockroachdb', 'serializable', ['serialization-certifier']],
    ['write skew', writeSkew, 'sqlite', 'serializable', ['mutual-exclusion', 'serialization-certifier']],
    ['read skew', readSkew, 'postgres', 'read committed', []],
    ['read skew', readSkew, 'mysql', 'repeatable read', ['consistent-read']],
    ['read skew', readSkew, 'spanner', 'serializable', ['serialization-certifier']],
    ['dirty write', dirtyWrite, 'mysql', 'read uncommitted', ['mutual-exclusion']],
    ['dirty write', dirtyWrite, 'foundationdb', 'serializable', []],
    ['dirty read', dirtyRead, 'mysql', 'read uncommitted', []],
    ['dirty read', dirtyRead, 'singlestore', 'read committed', ['consistent-read']],
    ['a read of what commits later', earlyRead, 'postgres', 'read committed', ['consistent-read']],
    ['an overwritten read', phantomOrder, 'mysql', 'serializable', ['mutual-exclusion']],
    ['an overwritten read', phantomOrder, 'postgres', 'serializable', []],
  ])('$0 at $2 $3', (_name, text, engine, isolation, expected) => {
    expect([...new Set(found(engine, isolation, text))].toSorted()).toEqual(expected);
  });
});

test.each([
  ['not seen by one read and seen by another', 1, ['consistent-read']],
  ['seen by none', 0, []],
])('of one snapshot, a transaction that commits meanwhile is %s', (_name, y, expected) => {
  const text = `
    b t2 w x=1 y=1 @1-5
    a t1 r x=0 @0-20
    b t2 commit @8-12
    a t1 r y=${y} @21-25
    a t1 commit @26-30`;
  expect(found('postgres', 'repeatable read', text)).toEqual(expected);
});

test('a transaction that breaks the locks of two others gives two violations', () => {
  const text = `
    a t1 w x=1
    b t2 w y=1
    c t3 w x=2
    c t3 w y=2
    a t1 commit
    b t2 commit
    c t3 commit`;
  expect(found('postgres', 'read committed', text)).toEqual(['mutual-exclusion', 'mutual-exclusion']);
});

describe('serializable snapshot isolation', () => {
  test('lets a pivot pass whose out-conflict commits last', () => {
    // t1 -rw-> t2 -rw-> t3, but t3 is the last to commit.
    const text = `
      b t2 r y=0
      a t1 r x=0
      b t2 w x=1
      c t3 w y=1
      a t1 w z=1
      a t1 commit
      b t2 commit
      c t3 commit`;
    expect(found('postgres', 'serializable', text)).toEqual([]);
  });

  test('lets a reader pass of what another had overwritten before the pivot did', () => {
    // t1 -rw-> t0 -ww-> t2 -rw-> t3: t1 meets the version of t0 and does not look further.
    const overwritten = `
      d t0 w y=1
      d t0 commit`;
    const text = (before: string): string => `
      a t1 w z=1
      ${before}
      c t3 w x=1
      b t2 r x=0
      c t3 commit
      b t2 w y=2
      b t2 commit
      a t1 r y=0
      a t1 commit`;
    expect(found('postgres', 'serializable', text(overwritten))).toEqual([]);
    expect(found('postgres', 'serializable', text(''))).toEqual(['serialization-certifier']);
  });

  test('lets a reader pass whose snapshot is older than the first commit', () => {
    const text = `
      a t1 r x=0
      b t2 r y=0
      c t3 w y=1
      c t3 commit
      b t2 w x=1
      b t2 commit
      a t1 commit`;
    expect(found('postgres', 'serializable', text)).toEqual([]);
  });

  test('and not one whose snapshot is newer: the read-only anomaly of Fekete, O’Neil and O’Neil', () => {
    const text = `
      b t2 r x=0 y=0
      c t3 w y=1
      c t3 commit
      a t1 r x=0 y=1
      a t1 commit
      b t2 w x=1
      b t2 commit`;
    expect(found('postgres', 'serializable', text)).toEqual(['serialization-certifier']);
  });
});

describe('what is not known is no violation', () => {
  test.each([
    [
      'a commit that was never answered may have happened',
      'a t1 w x=1 \n a t1 commit @10- \n b t2 r x=1 \n b t2 commit',
    ],
    ['and may not', 'a t1 w x=1 \n a t1 commit @10- \n b t2 r x=0 \n b t2 commit'],
    ['a client that died while committing', 'a t1 w x=1 \n b t2 r x=1 \n b t2 commit'],
    [
      'a client that continues with another transaction',
      'a t1 w x=1 \n b t2 r x=1 \n a t3 r y=0 \n a t3 commit \n b t2 commit',
    ],
    ['and whose write is read after that', 'a t1 w x=1 \n a t3 r y=0 \n a t3 commit \n b t2 r x=1 \n b t2 commit'],
    [
      'also when its locks are forgotten',
      'a t1 w x=1 \n a t3 r y=0 \n a t3 commit \n c t4 w x=5 \n c t4 abort \n b t2 r x=1 \n b t2 commit',
    ],
    ['or is not', 'a t1 w x=1 \n a t3 r y=0 \n a t3 commit \n b t2 r x=0 \n b t2 commit'],
    ['two values that are equal', 'a t1 w x=0 \n a t1 commit \n b t2 r x=0 \n b t2 commit'],
    ['a commit beside a read', 'a t1 w x=1 @1-2 \n a t1 commit @3-9 \n b t2 r x=0 @4-5 \n b t2 commit @6-7'],
    ['a statement that failed', 'a t1 w-failed x=1 \n a t1 abort \n b t2 r x=0 \n b t2 commit'],
    ['a commit that failed', 'a t1 w x=1 \n a t1 commit-failed \n b t2 r x=0 \n b t2 commit'],
    ['locks that an error has released', 'a t1 w x=1 \n a t1 w-failed y=1 \n b t2 w x=2 \n b t2 commit \n a t1 abort'],
    ['an insert after a delete', 'a t1 r x=0 \n b t2 w x=null \n b t2 commit \n a t1 w x=1 \n a t1 commit'],
    ['a row whose initial value is not given', 'a t1 r new=7 \n a t1 commit'],
  ])('%s', (_name, text) => expect(found('postgres', 'repeatable read', text)).toEqual([]));

  test('a failed commit leaves nothing to read', () => {
    const text = 'a t1 w x=1 \n a t1 commit-failed \n b t2 r x=1 \n b t2 commit';
    expect(found('postgres', 'repeatable read', text)).toEqual(['consistent-read']);
  });

  test('an initial value is learned where nothing else explains it', () => {
    const text = 'a t1 r new=7 \n a t1 commit \n b t2 r new=8 \n b t2 commit';
    expect(found('postgres', 'read committed', text)).toEqual(['consistent-read']);
  });
});

describe('columns', () => {
  const start = 'i t0 w t/1={"a":1,"b":1} \n i t0 commit';
  test.each([
    ['a part of a row is read', `${start} \n a t1 r t/1={"b":1} \n a t1 commit`, []],
    [
      'a column that was not written stays',
      `${start} \n a t1 w t/1={"a":2} \n a t1 commit \n b t2 r t/1={"a":2,"b":1} \n b t2 commit`,
      [],
    ],
    [
      'and has no other value',
      `${start} \n a t1 w t/1={"a":2} \n a t1 commit \n b t2 r t/1={"a":2,"b":3} \n b t2 commit`,
      ['consistent-read'],
    ],
    [
      'columns of two versions are no row',
      `${start} \n a t1 w t/1={"a":2,"b":2} \n a t1 commit @30-90 \n b t2 r t/1={"a":2,"b":1} @40-50 \n b t2 commit @60-70`,
      ['consistent-read'],
    ],
    ['own columns come first', `${start} \n a t1 w t/1={"a":2} \n a t1 r t/1={"a":2,"b":1} \n a t1 commit`, []],
    [
      'and must be seen',
      `${start} \n a t1 w t/1={"a":2} \n a t1 r t/1={"a":1,"b":1} \n a t1 commit`,
      ['consistent-read'],
    ],
    [
      'a deleted row is not there',
      `${start} \n a t1 w t/1=null \n a t1 commit \n b t2 r t/1={"a":1} \n b t2 commit`,
      ['consistent-read'],
    ],
  ])('%s', (_name, text, expected) => expect(found('postgres', 'repeatable read', text)).toEqual(expected));

  test('a row that satisfies a predicate in every version must be returned', () => {
    const [read] = traceOf('a t1 r t/2={"a":9} @30-31');
    const predicates = [{ table: 't', where: [{ column: 'a', comparison: '>' as const, value: 0 }] }];
    const operations = [...traceOf(start), { ...(read as NonNullable<typeof read>), predicates }];
    const mechanisms = mechanismsOf('postgres', 'read committed');
    expect(verifyAll(mechanisms, operations).violations.map(({ rows }) => rows)).toEqual([['t/1']]);
    const other = operations.map((operation) => ({
      ...operation,
      predicates: operation.predicates.map((predicate) => ({
        ...predicate,
        where: [{ column: 'a', comparison: '>' as const, value: 1 }],
      })),
    }));
    expect(verifyAll(mechanisms, other).violations).toEqual([]);
  });
});

test('one moment must explain all reads of a snapshot: what each read saw makes its interval smaller', () => {
  const text = `
    a t1 r x=0 @10-100
    b t2 w x=1 @20-21
    b t2 commit @30-31
    b t3 w y=1 @40-41
    b t3 commit @50-51
    a t1 r y=1 @110-111
    a t1 commit @120-121`;
  expect(found('postgres', 'repeatable read', text)).toEqual(['consistent-read']);
});

test('memory does not grow with the trace', () => {
  const rounds = (count: number): string =>
    Array.from(
      { length: count },
      (_, i) => `a t${i} r x=${i} \n a t${i} w x=${i + 1} \n a t${i} commit \n b u${i} r x=${i + 1} \n b u${i} commit`,
    ).join('\n');
  for (const count of [10, 2_000]) {
    const { violations, sizes } = verifyAll(mechanismsOf('postgres', 'serializable'), traceOf(rounds(count)), initial);
    expect(violations).toEqual([]);
    expect(sizes.graph).toBeLessThan(8);
    expect(sizes.rows).toBe(2);
  }
});

describe('engines', () => {
  test('are named as people name them', () => {
    expect(mechanismsOf('PostgreSQL', 'Repeatable-Read')).toBe(engines['postgres']?.['repeatable read']);
    expect(mechanismsOf('sqlite', undefined)).toBe(engines['sqlite']?.['serializable']);
    expect(() => mechanismsOf('postgres', undefined)).toThrow('--isolation is needed');
    expect(() => mechanismsOf('postgres', 'chaos')).toThrow('read committed, repeatable read, serializable');
    expect(() => mechanismsOf('dbase', 'x')).toThrow('no engine');
  });

  test('or put together by hand', () => {
    expect(parseMechanisms('cr=first-statement, me, fuw, sc=ssi')).toEqual(engines['postgres']?.['serializable']);
    expect(
      parseMechanisms(
        'cr=row,me=reads,locking-reads=latest,sc=cycle,savepoints=kept,shared=columns,same-writes=left-out,predicates',
      ),
    ).toEqual(engines['mariadb']?.['serializable']);
    for (const wrong of ['cr=never', 'me=no', 'fuw=1', 'sc=x', 'install=x', 'locks=page', '']) {
      expect(() => parseMechanisms(wrong)).toThrow(expect.objectContaining({ code: 'option/mechanisms' }));
    }
  });
});
