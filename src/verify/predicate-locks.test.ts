/** Locks on what a condition has scanned. */
import { describe, expect, test } from 'vitest';
import { engines } from './engines.ts';
import type { Mechanisms } from './mechanisms.ts';
import type { RowImage, TraceOperation } from '../trace/trace.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const above10 = [{ table: 't', where: [{ column: 'n', comparison: '>' as const, value: 10 }] }];
const initial = new Map<string, RowImage>([
  ['t/1', new Map([['n', 11]])],
  ['t/2', new Map([['n', 5]])],
]);

/** Reads of `a` have the condition n > 10. */
function found(mechanisms: Mechanisms | undefined, text: string): string[] {
  const operations = traceOf(text).map(
    (operation): TraceOperation =>
      operation.session === 'a' && operation.kind === 'read' ? { ...operation, predicates: above10 } : operation,
  );
  return verifyAll(mechanisms as Mechanisms, operations, initial).violations.map(({ mechanism }) => mechanism);
}

const mysql = engines['mysql']?.['repeatable read'];
const read = 'a t1 r-update t/1={"n":11}';
const insert = 'b t2 w t/9={"n":12}';

describe('a locking read by a condition, in InnoDB at repeatable read', () => {
  test.each([
    ['an insert into its range before it ends', `${read} \n ${insert} \n b t2 commit \n a t1 commit`],
    ['also where the writer ends last', `${read} \n ${insert} \n a t1 commit \n b t2 commit`],
    ['also where the insert was there first', `${insert} \n ${read} \n a t1 commit \n b t2 commit`],
    ['also where the writer rolls back', `${read} \n ${insert} \n b t2 abort \n a t1 commit`],
    ['a row that is moved into its range', `${read} \n b t2 w t/2={"n":20} \n b t2 commit \n a t1 commit`],
  ])('excludes %s', (_name, text) => expect(found(mysql, text)).toEqual(['mutual-exclusion']));

  test.each([
    ['an insert elsewhere', `${read} \n b t2 w t/9={"n":9} \n b t2 commit \n a t1 commit`],
    ['an insert into another table', `${read} \n b t2 w u/9={"n":12} \n b t2 commit \n a t1 commit`],
    ['an insert of which it is not known', `${read} \n b t2 w t/9={"m":12} \n b t2 commit \n a t1 commit`],
    ['a delete', `${read} \n b t2 w t/2=null \n b t2 commit \n a t1 commit`],
    ['an insert that waited', `${read} @1-2 \n b t2 w t/9={"n":12} @3-9 \n a t1 commit @8-10 \n b t2 commit @11-12`],
    ['an insert of its own', `${read} \n a t1 w t/9={"n":12} \n a t1 commit`],
    [
      'an insert after an error that may have released it',
      `${read} \n a t1 w-failed t/7={"n":1} \n ${insert} \n b t2 commit \n a t1 abort`,
    ],
    [
      'an insert that a savepoint took back',
      `b t2 savepoint s \n ${insert} \n b t2 rollback-to s \n ${read} \n a t1 commit \n b t2 commit`,
    ],
    ['a read whose client died', `${read} \n a t3 w t/5={"n":1} \n ${insert} \n b t2 commit \n a t3 commit`],
  ])('lets pass %s', (_name, text) => expect(found(mysql, text)).toEqual([]));
});

test.each([
  ['mysql', 'read committed', read, false],
  ['mysql', 'serializable', read.replace('-update', ''), true],
  ['mysql', 'repeatable read', read.replace('-update', ''), false],
  ['sqlserver', 'serializable', read.replace('-update', ''), true],
  ['sqlserver', 'repeatable read', read.replace('-update', ''), false],
  ['postgres', 'serializable', read, false],
  ['tidb', 'repeatable read', read, false],
])('ranges are locked by %s at %s: %s', (engine, level, reads, isLocked) => {
  const text = `${reads} \n ${insert} \n b t2 commit \n a t1 commit`;
  expect(found(engines[engine]?.[level], text).includes('mutual-exclusion')).toBe(isLocked);
});

test('a plain read that commits by itself locks nothing', () => {
  const text = 'b t2 w t/1={"n":12} @1-2 \n a t1 r t/1={"n":11} @3-4 \n a t1 commit @3-4 \n b t2 commit @5-6';
  expect(found(engines['mysql']?.['serializable'], text)).toEqual([]);
  expect(found(engines['mysql']?.['serializable'], text.replace('commit @3-4', 'commit @4-4'))).not.toEqual([]);
});
