/** Where InnoDB locks, writes or reads less than the statement says: each of these was seen on a real MariaDB or MySQL. */
import { describe, expect, test } from 'vitest';
import type { RowImage, TraceOperation } from '../trace/trace.ts';
import { mechanismsOf } from './engines.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const row = (k: number, v: number): RowImage => new Map(Object.entries({ k, v }));
const initial = new Map([
  ['t/1', row(1, 1)],
  ['t/2', row(2, 2)],
]);

/** `change` is for the operations of session a that read rows. */
function found(level: string, text: string, change: Partial<TraceOperation> = {}, engine = 'mysql'): string[] {
  const operations = traceOf(text).map(
    (operation): TraceOperation =>
      operation.session === 'a' && operation.reads.length > 0 ? { ...operation, ...change } : operation,
  );
  return verifyAll(mechanismsOf(engine, level), operations, initial).violations.map(({ mechanism }) => mechanism);
}

const byIndex: Partial<TraceOperation> = {
  predicates: [{ table: 't', where: [{ column: 'k', comparison: '=', value: 1 }] }],
};
const more: Partial<TraceOperation> = { mayReadMore: true };

describe('a shared lock, where a secondary index may have the columns', () => {
  const read = 'a t1 r-share t/1={"k":1} \n';
  const written = (image: string): string => `${read} b t2 w t/1=${image} \n b t2 commit \n a t1 commit`;

  test.each([
    ['lets another column be changed', '{"v":7}', []],
    ['and the same value be written', '{"k":1,"v":7}', []],
    ['but none that was read', '{"k":7}', ['mutual-exclusion']],
    ['nor the row be deleted', 'null', ['mutual-exclusion']],
  ])('%s', (_name, image, expected) => {
    for (const change of [byIndex, more]) expect(found('repeatable read', written(image), change)).toEqual(expected);
  });

  test('a row that is looked up by its key is locked whole', () => {
    expect(found('repeatable read', written('{"v":7}'))).toEqual(['mutual-exclusion']);
  });

  test('another may lock the row for an update', () => {
    const text = `${read} b t2 r-update t/1={"k":1,"v":1} \n b t2 commit \n a t1 commit`;
    expect(found('repeatable read', text, byIndex)).toEqual([]);
    expect(found('repeatable read', text)).toEqual(['mutual-exclusion']);
  });

  test('an exclusive lock is on the row, whatever the index', () => {
    expect(found('repeatable read', written('{"v":7}').replace('share', 'update'), byIndex)).toEqual([
      'mutual-exclusion',
    ]);
  });

  test('at serializable it orders nothing either', () => {
    const text = `a t1 begin \n a t1 r t/1={"k":1} \n b t2 w t/1={"v":7} \n b t2 w t/2={"v":7} \n b t2 commit
      a t1 w t/2={"v":8} \n a t1 commit`;
    expect(found('serializable', text, byIndex)).toEqual([]);
    expect(found('serializable', text)).toContain('mutual-exclusion');
  });

  test('and a later read of the same row does not make up for it', () => {
    const text = `a t1 begin \n a t1 r t/1={"k":1} @10-15 \n b t2 w t/1={"v":7} @20-25 \n b t2 commit @30-35
      c t3 w t/1={"v":1} @40-45 \n c t3 commit @50-55 \n a t1 r t/1={"k":1,"v":1} @60-65 \n a t1 commit @70-75`;
    expect(found('serializable', text.replace('a t1 begin', 'a t1 begin @1-2'), byIndex)).toEqual([]);
  });
});

describe('an update that changes nothing', () => {
  const other = 'b t2 w t/1={"k":5} \n b t2 commit \n';
  const begun = 'a t1 r t/1={"k":1} \n';

  test('leaves the row to the snapshot', () => {
    const text = `${begun} ${other} a t1 w t/1={"k":5} \n a t1 r t/1={"k":1,"v":1} \n a t1 commit`;
    expect(found('repeatable read', text)).toEqual([]);
    expect(found('repeatable read', text, {}, 'tidb')).not.toEqual([]);
  });

  test('of which the value is not known', () => {
    const operations = traceOf(`${begun} ${other} a t1 w t/1={"k":0} \n a t1 r t/1={"k":1} \n a t1 commit`).map(
      (operation): TraceOperation =>
        operation.session === 'a' && operation.kind === 'write'
          ? { ...operation, writes: [{ key: 't/1', image: new Map([['k', '\u0003']]) }] }
          : operation,
    );
    expect(verifyAll(mechanismsOf('mysql', 'repeatable read'), operations, initial).violations).toEqual([]);
  });

  test('only if the row may have been the same', () => {
    const text = `${begun} ${other} a t1 w t/1={"k":6} \n a t1 r t/1={"k":1} \n a t1 commit`;
    expect(found('repeatable read', text)).toEqual(['consistent-read']);
  });

  test('still shows nothing but the snapshot', () => {
    const text = `${begun} ${other} a t1 w t/1={"k":5} \n a t1 r t/1={"k":5,"v":9} \n a t1 commit`;
    expect(found('repeatable read', text)).toEqual(['consistent-read']);
  });

  test.each([
    ['is no update where the first one wins', '1', []],
    ['as one that changes something is', '7', ['first-updater-wins']],
  ])('%s', (_name, value, expected) => {
    const text = `${begun} b t2 r t/2={"k":2} \n b t2 w t/1={"k":${value}} \n b t2 commit \n a t1 w t/1={"v":9} \n a t1 commit`;
    expect(found('snapshot isolation', text, {}, 'mariadb')).toEqual(expected);
  });

  test('locks it', () => {
    const text = `a t1 w t/1={"k":1} \n b t2 w t/1={"k":6} \n b t2 commit \n a t1 commit`;
    expect(found('repeatable read', text)).toEqual(['mutual-exclusion']);
  });

  test('does not put a row into a condition that the snapshot does not have there', () => {
    const text = `a t1 r t/2={"k":2} \n b t2 w t/3={"k":1} \n b t2 commit \n a t1 w t/3={"k":1} \n a t1 r t/1={"k":1} \n a t1 commit`;
    const operations = traceOf(text).map((operation) =>
      operation.reads.some(({ key }) => key === 't/1') ? { ...operation, ...byIndex } : operation,
    );
    expect(verifyAll(mechanismsOf('mysql', 'repeatable read'), operations, initial).violations).toEqual([]);
  });
});

describe('an update that changes nothing and names no row', () => {
  const text = (after: string): string =>
    `a t1 r t/1={"k":1} \n b t2 w t/1={"k":5} \n b t2 commit \n a t1 w \n c t3 w t/1={"k":6} \n c t3 commit \n a t1 r ${after} \n a t1 commit`;
  const run = (engine: string, after: string): string[] => {
    const operations = traceOf(text(after)).map(
      (operation): TraceOperation =>
        operation.session === 'a' && operation.kind === 'write' ? { ...operation, mayReadMore: true } : operation,
    );
    return verifyAll(mechanismsOf(engine, 'repeatable read'), operations, initial).violations.map(
      ({ mechanism }) => mechanism,
    );
  };

  test.each([
    ['mysql', '{"k":1}', []],
    ['mysql', '{"k":5}', []],
    ['mysql', '{"k":6}', ['consistent-read']],
    ['mysql', '{"k":7}', ['consistent-read']],
    ['mariadb', '{"k":1}', []],
    ['mariadb', '{"k":5}', ['consistent-read']],
  ])('%s: the row may be read as it was then, %s', (engine, image, expected) => {
    expect(run(engine, `t/1=${image}`)).toEqual(expected);
  });

  test('below repeatable read what it met changes nothing: a row that a condition does not return', () => {
    const missing = 'a t1 r t/2={"k":2} \n a t1 w \n a t1 r t/2={"k":2} \n a t1 commit';
    const operations = traceOf(missing).map(
      (operation, i): TraceOperation => ({ ...operation, ...(i === 1 ? more : i === 2 ? byIndex : {}) }),
    );
    const mechanisms = (level: string): string[] =>
      verifyAll(mechanismsOf('mysql', level), operations, initial).violations.map(({ mechanism }) => mechanism);
    expect(mechanisms('read committed')).toEqual(['consistent-read']);
    expect(mechanisms('repeatable read')).toEqual([]);
  });
});

describe('a read that failed', () => {
  const text = `a t1 begin \n a t1 r-failed \n b t2 w t/1={"k":5} \n b t2 commit \n a t1 r t/1={"k":IMAGE} \n a t1 commit`;

  test.each(['1', '5'])('may have taken the snapshot, or not: %s', (image) => {
    expect(found('repeatable read', text.replace('IMAGE', image))).toEqual([]);
  });

  test('but there is only one snapshot', () => {
    const both = text.replace('a t1 commit', 'a t1 r t/1={"k":5} \n a t1 commit').replace('IMAGE', '1');
    expect(found('repeatable read', both)).toEqual(['consistent-read']);
  });
});

test('what may have read and written anything may have taken the snapshot', () => {
  const text = 'a t1 begin \n a t1 w \n b t2 w t/1={"k":5} \n b t2 commit \n a t1 r t/1={"k":1} \n a t1 commit';
  const run = (mayWrite: readonly string[]): number => {
    const operations = traceOf(text).map(
      (operation): TraceOperation =>
        operation.session === 'a' && operation.kind === 'write' ? { ...operation, mayWrite } : operation,
    );
    return verifyAll(mechanismsOf('mysql', 'repeatable read'), operations, initial).violations.length;
  };
  expect(run(['*'])).toBe(0);
  expect(run(['u'])).toBe(1);
});

describe('at read uncommitted', () => {
  test('what a statement had written before it failed may be seen, and is gone', () => {
    const failing = 'b t2 begin @1-2 \n b t2 w-failed @10-20 \n b t2 commit @30-35 \n';
    const read = (times: string): string => `${failing} a t1 r t/1={"k":9} ${times} \n a t1 commit @50-55`;
    expect(found('read uncommitted', read('@15-25'))).toEqual([]);
    expect(found('read uncommitted', read('@21-25'))).toEqual(['consistent-read']);
    expect(found('read committed', read('@15-25'))).toEqual(['consistent-read']);
  });

  test('so may what INSERT IGNORE had written before it met another unique key', () => {
    const run = (level: string, change: Partial<TraceOperation>, times: string): number => {
      const text = `b t2 begin @1-2 \n b t2 w @10-20 \n b t2 commit @30-35 \n a t1 r t/1={"k":9} ${times} \n a t1 commit @50-55`;
      const operations = traceOf(text).map((operation) =>
        operation.kind === 'write' ? { ...operation, ...change } : operation,
      );
      return verifyAll(mechanismsOf('mysql', level), operations, initial).violations.length;
    };
    expect(run('read uncommitted', more, '@15-25')).toBe(0);
    expect(run('read uncommitted', more, '@21-25')).toBe(1);
    expect(run('read committed', more, '@15-25')).toBe(1);
    // A statement that says all that it read had nothing to take back.
    expect(run('read uncommitted', {}, '@15-25')).toBe(1);
  });

  test('a row may be missing while a statement replaces it, and is there afterwards', () => {
    const replacing =
      'c t3 w t/1={"k":1} @1-2 \n c t3 commit @3-4 \n b t2 w t/1={"k":9} @10-20 \n b t2 commit @30-35 \n';
    const read = (times: string): string => `${replacing} a t1 r t/1=null ${times} \n a t1 commit @50-55`;
    expect(found('read uncommitted', read('@15-25'))).toEqual([]);
    expect(found('read uncommitted', read('@21-25'))).toEqual(['consistent-read']);
    expect(found('read committed', read('@15-25'))).toEqual(['consistent-read']);
  });

  test('a row may be missing where another has changed it and not committed', () => {
    const text = `b t2 w t/1={"k":9} \n a t1 r t/7={"k":1} \n b t2 abort \n a t1 commit`;
    expect(found('read uncommitted', `c t3 w t/7={"k":1} \n c t3 commit \n ${text}`, byIndex)).toEqual([]);
    expect(found('read committed', `c t3 w t/7={"k":1} \n c t3 commit \n ${text}`, byIndex)).toEqual([
      'consistent-read',
    ]);
  });
});

test('without locks on ranges a row that is changed meanwhile may move behind the scan', () => {
  const text = `c t3 w t/7={"k":1} @1-2 \n c t3 commit @3-4 \n b t2 w t/1={"v":9} @11-12 \n a t1 r-update t/7={"k":1} @13-30
    b t2 commit @15-19 \n a t1 commit @35-40`;
  expect(found('read committed', text, byIndex)).toEqual([]);
  expect(found('repeatable read', text, byIndex)).toEqual(['consistent-read']);
});
