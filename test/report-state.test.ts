/** What the page computes of a run: the committed values and what each session has seen, step by step. */
import { describe, expect, test } from 'vitest';
import { overwritersOf, stateAt, writersOf } from '../page/state-at.ts';
import { parseHistory } from '../src/history/index.ts';
import { historyPicture, type RunPicture } from '../src/report/index.ts';

function pictureOf(text: string): RunPicture {
  return historyPicture({ message: '', history: parseHistory(text), older: new Set(), replay: null });
}

/** `committed | session 0 | session 1` of each key, `*` not committed, `!` outdated. */
function states(run: RunPicture, at: number): string[] {
  return stateAt(run, at).map(({ key, committed, seen }) => {
    const sights = seen.map((each) =>
      each === null
        ? '.'
        : `${JSON.stringify(each.value)}${each.isUncommitted ? '*' : ''}${each.isOutdated ? '!' : ''}`,
    );
    return `${key}: ${[JSON.stringify(committed), ...sights].join(' | ')}`;
  });
}

describe('step by step', () => {
  test('a write is its own until the commit, then what others have seen is outdated', () => {
    const run = pictureOf('r x _\nw x 1');
    expect([-1, 0, 1, 2, 3].map((at) => states(run, at))).toEqual([
      ['x: null | . | .'],
      ['x: null | null | .'],
      ['x: null | null | .'],
      ['x: null | null | 1*'],
      ['x: 1 | null! | 1'],
    ]);
    expect(stateAt(run, 3).map(({ isChanged }) => isChanged)).toEqual([true]);
    expect(stateAt(run, 2).map(({ isChanged }) => isChanged)).toEqual([false]);
  });

  test('an aborted transaction leaves nothing', () => {
    const run = pictureOf('w x 1 !\nr x _');
    expect(states(run, 0)).toEqual(['x: null | 1* | .']);
    expect(states(run, 1)).toEqual(['x: null | . | .']);
  });
});

test('the writer of what a step read, and those that overwrote it', () => {
  const run = pictureOf('w x 1\nw x 2\nr x 1\nr x 2\nw x 3');
  const read = (transaction: number): number => run.steps.findIndex((step) => step.transaction === transaction);
  expect([...writersOf(run, read(2))]).toEqual([read(0)]);
  expect([...overwritersOf(run, read(2))]).toEqual([read(1), read(4)]);
  expect([...writersOf(run, read(3))]).toEqual([read(1)]);
  expect([...overwritersOf(run, read(3))]).toEqual([read(4)]);
});
