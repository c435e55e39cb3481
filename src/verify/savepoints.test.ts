/** What ROLLBACK TO SAVEPOINT takes back. */
import { describe, expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import type { RowImage } from '../trace/trace.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const initial = new Map<string, RowImage>([
  ['x', 0],
  ['y', 0],
]);

function found(text: string, level = 'repeatable read'): string[] {
  return verifyAll(mechanismsOf('postgres', level), traceOf(text), initial).violations.map(({ reason }) => reason);
}

const rolledBack = 'a t1 w x=1 \n a t1 savepoint s \n a t1 w x=2 y=2 \n a t1 rollback-to s';

describe('what was written since a savepoint', () => {
  test.each([
    ['is not seen after the rollback', `${rolledBack} \n a t1 r x=1 y=0 \n a t1 commit`],
    ['is not installed', `${rolledBack} \n a t1 commit \n b t2 r x=1 y=0 \n b t2 commit`],
    ['locks nothing any more', `${rolledBack} \n b t2 w y=3 \n b t2 commit \n a t1 commit`],
    ['can be written again', `${rolledBack} \n a t1 w y=4 \n a t1 commit \n b t2 r x=1 y=4 \n b t2 commit`],
    [
      'stays when the savepoint is released',
      'a t1 savepoint s \n a t1 w x=1 \n a t1 release s \n a t1 r x=1 \n a t1 commit',
    ],
    [
      'is taken back with those of savepoints within',
      'a t1 savepoint s \n a t1 w x=1 \n a t1 savepoint u \n a t1 w x=2 \n a t1 rollback-to s \n a t1 r x=0 \n a t1 commit',
    ],
    [
      'is taken back to the newest savepoint of the name',
      'a t1 savepoint s \n a t1 w x=1 \n a t1 savepoint s \n a t1 w x=2 \n a t1 rollback-to s \n a t1 r x=1 \n a t1 commit',
    ],
    ['takes no snapshot', 'a t1 savepoint s \n b t2 w x=1 \n b t2 commit \n a t1 r x=1 \n a t1 commit'],
  ])('%s', (_name, text) => expect(found(text)).toEqual([]));

  test.each([
    ['is seen by the transaction', `${rolledBack} \n a t1 r x=2 \n a t1 commit`],
    ['is seen by another', `${rolledBack} \n a t1 commit \n b t2 r y=2 \n b t2 commit`],
    ['and what was written before is not', `${rolledBack} \n a t1 commit \n b t2 r x=0 \n b t2 commit`],
    ['locks before it are lost', `${rolledBack} \n b t2 w x=3 \n b t2 commit \n a t1 commit`],
  ])('a violation where what was rolled back %s', (_name, text) =>
    expect(found(text, 'read committed').length).toBeGreaterThan(0),
  );
});
