/** Which locks ROLLBACK TO releases, and where InnoDB begins anew. */
import { describe, expect, test } from 'vitest';
import type { RowImage } from '../trace/trace.ts';
import { mechanismsOf } from './engines.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const initial = new Map<string, RowImage>([
  ['x', 0],
  ['y', 0],
]);

function found(engine: string, level: string, text: string): string[] {
  return verifyAll(mechanismsOf(engine, level), traceOf(text), initial).violations.map(({ mechanism }) => mechanism);
}

const begun = 'a t1 r y=0 \n a t1 savepoint s \n a t1 w x=1 \n';
const other = 'b t2 w x=2 \n b t2 commit \n';

describe('a lock that was taken since the savepoint', () => {
  test.each([
    ['postgres', 'read committed', []],
    ['mysql', 'read committed', ['mutual-exclusion']],
    ['mysql', 'serializable', ['mutual-exclusion']],
  ])('after the rollback, at %s %s', (engine, level, expected) => {
    expect(found(engine, level, `${begun} a t1 rollback-to s \n ${other} a t1 commit`)).toEqual(expected);
  });

  test('is held until the rollback', () => {
    const text = `${begun} ${other} a t1 rollback-to s \n a t1 commit`;
    for (const engine of ['postgres', 'mysql'])
      expect(found(engine, 'read committed', text)).toEqual(['mutual-exclusion']);
  });

  test('is held until the error that made it necessary: PostgreSQL', () => {
    const text = `${begun} a t1 w-failed \n ${other} a t1 rollback-to s \n a t1 commit`;
    expect(found('postgres', 'read committed', text)).toEqual([]);
  });

  test('and one from before it through such an error', () => {
    const text = `a t1 w x=1 \n a t1 savepoint s \n a t1 w-failed \n a t1 rollback-to s \n ${other} a t1 commit`;
    expect(found('postgres', 'read committed', text)).toEqual(['mutual-exclusion']);
  });

  test('on a row that was inserted goes with it: InnoDB', () => {
    const text = `a t1 r y=0 \n a t1 savepoint s \n a t1 w z=1 \n a t1 rollback-to s \n b t2 w z=2 \n b t2 commit \n a t1 commit`;
    expect(found('mysql', 'read committed', text)).toEqual([]);
  });

  test('says nothing of the order of what is written later', () => {
    const text = `${begun} a t1 rollback-to s \n ${other} a t1 w x=3 \n a t1 commit \n b t3 r x=3 \n b t3 commit`;
    expect(found('postgres', 'read committed', text)).toEqual([]);
  });
});

describe('where the savepoint is older than the first statement, InnoDB begins anew', () => {
  const first = 'a t1 begin \n a t1 savepoint s \n a t1 r x=0 \n a t1 w y=1 \n a t1 rollback-to s \n';
  test.each([
    ['without its locks', `${first} b t2 w y=2 \n b t2 commit \n a t1 commit`],
    ['with another snapshot', `${first} b t2 w x=2 \n b t2 commit \n a t1 r x=2 y=0 \n a t1 commit`],
    [
      'each time',
      `${first} b t2 w x=2 \n b t2 commit \n a t1 r x=2 \n b t3 w x=3 \n b t3 commit \n a t1 rollback-to s \n a t1 r x=3 \n a t1 commit`,
    ],
  ])('%s', (_name, text) => expect(found('mysql', 'repeatable read', text)).toEqual([]));

  test('and keeps the snapshot that it takes then', () => {
    const text = `${first} a t1 r y=0 \n b t2 w x=2 \n b t2 commit \n a t1 r x=2 \n a t1 commit`;
    expect(found('mysql', 'repeatable read', text)).toEqual(['consistent-read']);
  });

  test('perhaps, after a statement that names no row: either snapshot will do, but only one', () => {
    const unsure = 'a t1 r \n a t1 savepoint s \n a t1 r y=0 \n b t2 w x=2 \n b t2 commit \n a t1 rollback-to s \n';
    for (const image of [0, 2])
      expect(found('mysql', 'repeatable read', `${unsure} a t1 r x=${image} \n a t1 commit`)).toEqual([]);
    const both = `${unsure} a t1 r x=0 \n a t1 r x=2 \n a t1 commit`;
    expect(found('mysql', 'repeatable read', both)).toEqual(['consistent-read']);
  });

  test('PostgreSQL does not', () => {
    const text = `${first} b t2 w x=2 \n b t2 commit \n a t1 r x=2 \n a t1 commit`;
    expect(found('postgres', 'repeatable read', text)).toEqual(['consistent-read']);
  });
});
