/** Reads at read uncommitted: what was last written, and not what was overwritten or taken back. */
import { describe, expect, test } from 'vitest';
import { mechanismsOf } from './engines.ts';
import type { RowImage } from '../trace/trace.ts';
import { traceOf, verifyAll } from './verify.test-support.ts';

const initial = new Map<string, RowImage>([
  ['x', 0],
  ['y', 0],
]);

function found(text: string): string[] {
  return verifyAll(mechanismsOf('mysql', 'read uncommitted'), traceOf(text), initial).violations.map(
    ({ mechanism }) => mechanism,
  );
}

const write = 'a t1 r y=0 \n a t1 w x=1 \n';
const undone = 'a t1 r y=0 \n a t1 savepoint s \n a t1 w x=1 \n a t1 rollback-to s @30-40 \n';

describe('read uncommitted lets a read return', () => {
  test.each([
    ['what an open transaction has written', `${write} b t2 r x=1 \n a t1 commit \n b t2 commit`],
    ['also when that aborts later', `${write} b t2 r x=1 \n a t1 abort \n b t2 commit`],
    [
      'what was there before, while it is written',
      'a t1 w x=1 @10-30 \n b t2 r x=0 @15-20 \n a t1 commit \n b t2 commit',
    ],
    ['what was there before, once it is aborted', `${write} a t1 abort \n b t2 r x=0 \n b t2 commit`],
    ['either, while it aborts', `${write} b t2 r x=1 @50-60 \n b t2 r x=0 @61-62 \n a t1 abort @40-70 \n b t2 commit`],
    [
      'either, while it is taken back',
      `${undone} b t2 r x=1 @35-36 \n b t2 r x=0 @37-38 \n a t1 commit \n b t2 commit`,
    ],
    [
      'what is there again when it was taken back',
      `${undone} b t2 r x=0 @50-55 \n a t1 commit @60-65 \n b t2 commit @70-75`,
    ],
    ['what a client has written that died', `${write} b t2 r x=1 \n b t2 commit`],
    ['or not', `${write} b t2 r x=0 \n b t2 commit`],
    ['a locking read: what is committed', `${write} b t2 r-share x=0 @11-40 \n a t1 abort @30-35 \n b t2 commit`],
  ])('%s', (_name, text) => expect(found(text)).toEqual([]));

  test('and says nothing of what was first read as uncommitted', () => {
    const text = 'a t1 w z=5 \n b t2 r z=5 \n a t1 abort \n b t2 r z=3 \n b t2 commit';
    expect(found(text)).toEqual([]);
  });
});

describe('but not', () => {
  test.each([
    ['what nobody wrote', 'a t1 r x=7 \n a t1 commit'],
    ['what was overwritten and is not committed', `${write} b t2 r x=0 \n a t1 commit \n b t2 commit`],
    ['also if that aborts later', `${write} b t2 r x=0 \n a t1 abort \n b t2 commit`],
    ['what was aborted', `${write} a t1 abort \n b t2 r x=1 \n b t2 commit`],
    ['what was taken back', `${undone} b t2 r x=1 @50-55 \n a t1 commit @60-65 \n b t2 commit @70-75`],
    ['what was taken back, whether or not its client dies', `${undone} b t2 r x=1 @50-55 \n b t2 commit @70-75`],
    [
      'what was committed over, twice',
      'c t0 r y=0 \n a t1 w x=1 \n a t1 commit \n b t2 w x=2 \n b t2 commit \n b t3 r x=1 \n b t3 commit \n c t0 commit',
    ],
    ['what was committed over', 'a t1 w x=1 \n a t1 commit \n b t2 r x=0 \n b t2 commit'],
  ])('%s', (_name, text) => expect(found(text)).toEqual(['consistent-read']));
});
