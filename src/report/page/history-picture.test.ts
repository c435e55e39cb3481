import { describe, expect, test } from 'vitest';
import { parseHistory } from '../../history/index.ts';
import { historyPicture } from './history-picture.ts';

function pictureOf(text: string, older: readonly string[] = []) {
  return historyPicture({
    message: 'broken',
    history: parseHistory(text),
    older: new Set(older),
    replay: 'moirai ...',
  });
}

describe('a history of keys', () => {
  test('has a step for each operation and one for the end of each transaction', () => {
    const { steps, transactions, sessions } = pictureOf('w x 1\nr x 1 !');
    expect(steps.map(({ session, transaction, text, ends }) => [session, transaction, text, ends])).toEqual([
      [0, 0, 'write x', null],
      [0, 0, 'commit', 'committed'],
      [1, 1, 'read x', null],
      [1, 1, 'abort', 'aborted'],
    ]);
    expect(transactions.map(({ name, status }) => [name, status])).toEqual([
      ['0/0', 'committed'],
      ['1/0', 'aborted'],
    ]);
    expect(sessions).toEqual(['0', '1']);
  });

  test('names the step that wrote what a read saw, and how it stood then', () => {
    const text = 'w x 1\nr x 1, w x 2, r x 2\nr x 1, r y _';
    const sights = pictureOf(text, ['2 0']).steps.map(({ reads }) =>
      reads.map(({ from, writer, sight }) => [from, writer, sight]),
    );
    expect(sights).toEqual([
      [],
      [],
      [[0, 0, 'current']],
      [],
      [[1, 3, 'own']],
      [],
      [[0, 0, 'stale']],
      [[null, null, 'current']],
      [],
    ]);
  });

  test('a read of what was never committed is dirty', () => {
    const reads = pictureOf('w x 1 !\nr x 1').steps.flatMap((step) => step.reads);
    expect(reads).toEqual([{ key: 'x', value: 1, condition: null, from: 0, writer: 0, sight: 'dirty' }]);
  });

  test('the cycle names the steps that make each of its edges', () => {
    const { cycle, cause } = pictureOf('r x _, w x 1\nr x _, w x 2');
    expect(cause).toEqual([expect.stringMatching(/^lost update: /)]);
    expect(cycle).toEqual([
      { from: 0, to: 1, relation: 'rw', text: '0/0 reads x = null, which 1/0 overwrites', steps: [0, 4] },
      { from: 1, to: 0, relation: 'rw', text: '1/0 reads x = null, which 0/0 overwrites', steps: [3, 1] },
    ]);
  });

  test('without an anomaly it says so, and has no cycle', () => {
    const { cycle, cause, replay } = pictureOf('w x 1\nr x 1');
    expect(cycle).toEqual([]);
    expect(cause).toEqual(['this run is serializable: no isolation level prevents it, the fault is in the program']);
    expect(replay).toBe('moirai ...');
  });

  test('keeps what was stored before, of the keys that it touches', () => {
    const history = {
      ...parseHistory('r x 5'),
      initial: new Map([
        ['x', 5],
        ['y', 6],
      ]),
    };
    const { initial, steps } = historyPicture({ message: '', history, older: new Set(), replay: null });
    expect(initial).toEqual([['x', 5]]);
    expect(steps[0]?.reads[0]?.from).toBeNull();
  });
});
