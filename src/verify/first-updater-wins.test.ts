/** Where the first updater wins: a key that was deleted may be inserted again, whatever the snapshot. */
import { expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

function found(isolation: string, text: string): string[] {
  const initial = new Map([['x', null]]);
  return verifyAll(mechanismsOf('postgres', isolation), traceOf(text), initial).violations.map(
    ({ mechanism }) => mechanism,
  );
}

const snapshot = 'c t3 r y=0 \n';
const inserted = 'a t1 w x=1 \n a t1 commit \n';
const deleted = 'b t2 w x=null \n b t2 commit \n';
const updated = 'b t2 w x=2 \n b t2 commit \n';
const insertedAgain = 'c t3 w x=3 \n c t3 commit';

test('inserted, deleted and inserted again, the last by a transaction whose snapshot saw none of it', () => {
  expect(found('repeatable read', snapshot + inserted + deleted + insertedAgain)).toEqual([]);
});

test('not deleted in between', () => {
  expect(found('repeatable read', snapshot + inserted + insertedAgain)).toEqual(['first-updater-wins']);
  const both = found('repeatable read', snapshot + inserted + updated + insertedAgain);
  expect(new Set(both)).toEqual(new Set(['first-updater-wins']));
});

test('deleted in between, perhaps, by a statement that says only that it may have written the table', () => {
  const opaque = traceOf(snapshot + inserted + deleted + insertedAgain).map((operation) =>
    operation.writes.some(({ image }) => image === null) ? { ...operation, writes: [], mayWrite: ['*'] } : operation,
  );
  expect(verifyAll(mechanismsOf('postgres', 'repeatable read'), opaque).violations).toEqual([]);
});

test('who inserts a key again that its snapshot still has sees two rows', () => {
  const snapshotOf1 = 'a t1 w x=1 \n a t1 commit \n c t3 r y=0 \n';
  const reads = (x: number): string => `${snapshotOf1} ${deleted} c t3 w x=3 \n c t3 r x=${x} \n c t3 commit`;
  expect(found('repeatable read', reads(1))).toEqual([]);
  expect(found('serializable', reads(1))).toContain('consistent-read');
  expect(found('repeatable read', reads(3))).toEqual([]);
  expect(found('repeatable read', reads(2))).toEqual(['consistent-read']);
  const updates = 'c t3 w x=3 \n c t3 r x=1 \n c t3 commit';
  expect(found('repeatable read', snapshotOf1 + updates)).toEqual(['consistent-read']);
});
