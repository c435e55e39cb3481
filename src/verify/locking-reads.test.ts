/** Reads with a lock: rows that are not there, and rows that were replaced under the same key. */
import { expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

function found(engine: string, isolation: string, text: string): string[] {
  const initial = new Map([
    ['x', 0],
    ['y', null],
  ]);
  const { violations } = verifyAll(mechanismsOf(engine, isolation), traceOf(text), initial);
  return violations.map(({ mechanism }) => mechanism);
}

const insertedByAnother = 'a t1 r-update y=null \n b t2 w y=1 \n b t2 commit \n a t1 commit';
const lookedForByBoth = 'a t1 r-update y=null \n b t2 r-update y=null \n b t2 commit \n a t1 commit';

test.each([
  ['postgres', 'read committed', []],
  ['postgres', 'repeatable read', []],
  ['mysql', 'read committed', []],
  // The gap in which it would be is locked.
  ['mysql', 'repeatable read', ['mutual-exclusion']],
  ['mysql', 'serializable', ['mutual-exclusion']],
])('a row that is not there: %s %s', (engine, isolation, expected) => {
  expect(found(engine, isolation, insertedByAnother)).toEqual(expected);
  expect(found(engine, isolation, lookedForByBoth)).toEqual([]);
});

const replaced = 'b t2 begin @0-5 \n b t2 w x=null @10-15 \n b t2 w x=1 @20-25 \n b t2 commit @50-60';
const updated = 'b t2 begin @0-5 \n b t2 w x=2 @10-15 \n b t2 w x=1 @20-25 \n b t2 commit @50-60';
const rolledBack =
  'b t2 begin @0-5 \n b t2 savepoint s @6-7 \n b t2 w x=null @10-15 \n b t2 rollback-to s @16-18 \n b t2 w x=1 @20-25 \n b t2 commit @50-60';
const waits = '\n a t1 r-update x=null @30-70 \n a t1 commit @80-90';
const later = '\n a t1 r-update x=null @61-70 \n a t1 commit @80-90';
const plain = '\n a t1 r x=null @30-70 \n a t1 commit @80-90';

test.each([
  ['waits for who deletes it and inserts another', 'postgres', replaced + waits, []],
  ['begins after that', 'postgres', replaced + later, ['consistent-read']],
  ['waits for an update', 'postgres', updated + waits, ['consistent-read']],
  ['waits for an update, the deletion was rolled back', 'postgres', rolledBack + waits, ['consistent-read']],
  ['reads without a lock', 'postgres', replaced + plain, ['consistent-read']],
  ['waits in an engine where a key is one row', 'mysql', replaced + waits, ['consistent-read']],
])('a row that was there before and after is missed: a statement %s (%s)', (_name, engine, text, expected) => {
  expect(found(engine, 'read committed', text)).toEqual(expected);
});
