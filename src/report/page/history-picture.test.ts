import { describe, expect, test } from 'vitest';
import { parseHistory } from '../../history/index.ts';
import { check } from '../../isolation/index.ts';
import { historyPicture, violationPicture } from './history-picture.ts';

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
      [['0/0', 0, 'current']],
      [],
      [['1/0', 3, 'own']],
      [],
      [['0/0', 0, 'stale']],
      [[null, null, 'current']],
      [],
    ]);
  });

  test('a read of what was never committed is dirty', () => {
    const reads = pictureOf('w x 1 !\nr x 1').steps.flatMap((step) => step.reads);
    expect(reads).toEqual([{ key: 'x', value: 1, condition: null, from: '0/0', writer: 0, sight: 'dirty' }]);
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

describe('a recorded history', () => {
  function violationOf(text: string, only?: readonly number[]) {
    const history = parseHistory(text);
    const verdict = check(history, 'serializable');
    if (verdict.kind !== 'violated') throw new Error('it is serializable');
    return violationPicture(history, verdict, { message: 'broken', only: only ?? [...history.transactions.keys()] });
  }

  test('a transaction stands below those that it read from, and no read is said to be stale', () => {
    const picture = violationOf('r x 1, r y _\nr x _, r y 1\nw x 1\nw y 1');
    const names = picture.transactions.map(({ name }) => name);
    expect(names.indexOf('2/0')).toBeLessThan(names.indexOf('0/0'));
    expect(names.indexOf('3/0')).toBeLessThan(names.indexOf('1/0'));
    expect(picture.order).toMatch(/no times/);
    const sights = picture.steps.flatMap(({ reads }) => reads.map(({ sight }) => sight));
    expect(sights).toEqual(['current', 'current', 'current', 'current']);
    expect(picture.sessions).toEqual(['0', '1', '2', '3']);
  });

  test('transactions that read from each other are drawn all the same, in session order', () => {
    const { transactions, steps } = violationOf('w x 1, r y 1 | w z 1\nw y 1, r x 1');
    expect(transactions.map(({ name }) => name)).toEqual(['0/0', '0/1', '1/0']);
    expect(steps.filter(({ text }) => text === 'commit')).toHaveLength(3);
  });

  test('of many transactions some are drawn: edges and writers are those of the whole', () => {
    const picture = violationOf('w z 1\nr z 1, r x _, w x 1\nr x _, w x 2\nw q 1', [1, 2]);
    expect(picture.transactions.map(({ name }) => name)).toEqual(['1/0', '2/0']);
    expect(picture.sessions).toEqual(['1', '2']);
    expect(picture.steps[0]?.reads).toEqual([
      { key: 'z', value: 1, condition: null, from: '0/0', writer: null, sight: 'current' },
    ]);
    for (const { relation, steps } of picture.cycle) {
      expect(relation).toBe('rw');
      expect(steps.map((step) => picture.steps[step]?.text)).toEqual(['read x', 'write x']);
    }
    expect(picture.cycle).toHaveLength(2);
  });

  test('of a long transaction the operations on keys of the cycle are drawn', () => {
    const others = Array.from({ length: 20 }, (_, i) => `w k${i} 1`).join(', ');
    const { steps, cycle } = violationOf(`r x _, ${others}, w x 1\nr x _, w x 2`);
    const first = steps.filter(({ transaction }) => transaction === 0);
    expect(first.map(({ text, outcome }) => [text, outcome])).toEqual([
      ['read x', ''],
      ['write x', ''],
      ['commit', '20 operations on other keys left out'],
    ]);
    expect(cycle.flatMap((edge) => edge.steps.map((step) => steps[step]?.text))).toEqual([
      'read x',
      'write x',
      'read x',
      'write x',
    ]);
  });

  test('transactions that all have times stand in the order of their beginnings', () => {
    const history = parseHistory('r x _, w x 1\nr x _, w x 2');
    const [a, b] = history.transactions;
    if (a === undefined || b === undefined) throw new Error('two transactions');
    const timed = {
      ...history,
      transactions: [
        { ...a, start: 5, end: 9 },
        { ...b, start: 1, end: 8 },
      ],
    };
    const verdict = check(timed, 'serializable');
    if (verdict.kind !== 'violated') throw new Error('it is serializable');
    const { transactions, order } = violationPicture(timed, verdict, { message: '', only: [0, 1] });
    expect(transactions.map(({ name }) => name)).toEqual(['1/0', '0/0']);
    expect(order).toMatch(/in which they began/);
  });
});
