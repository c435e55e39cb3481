import { describe, expect, test } from 'vitest';
import { parseTrace } from '../../trace/index.ts';
import { tracePicture } from './trace-picture.ts';

type Line = readonly [session: string, transaction: string, rest: object, start: number, end: number | null];

async function pictureOf(lines: readonly Line[], rows: readonly string[] = ['x']) {
  const text = lines.map(([session, transaction, rest, start, end]) =>
    JSON.stringify({ session, transaction, ...rest, start, end }),
  );
  const { operations, header } = parseTrace(`${text.join('\n')}\n`);
  return tracePicture({
    message: 'broken',
    cause: [],
    operations,
    roleOf: ({ kind }) => (kind === 'read' ? 'the read' : null),
    rows,
    base: header.base,
  });
}

const write = (value: unknown, key = 'x'): object => ({ op: 'write', writes: [[key, value]] });
const read = (value: unknown, key = 'x'): object => ({ op: 'read', reads: [[key, value]] });
const commit = { op: 'commit' };

describe('operations with times', () => {
  test('one that no other overlaps is a row, others a row for each of their times', async () => {
    const { steps } = await pictureOf([
      ['a', 't1', write(1), 10, 20],
      ['a', 't1', commit, 30, 50],
      ['b', 't2', read(1), 40, 60],
    ]);
    expect(steps.map(({ session, part, time, text }) => [session, part, time, text])).toEqual([
      [0, 'whole', '10-20', 'write x'],
      [0, 'begin', '30', 'commit'],
      [1, 'begin', '40', 'read x'],
      [0, 'end', '50', 'commit'],
      [1, 'end', '60', 'read x'],
    ]);
    expect(steps.map(({ role }) => role)).toEqual([null, null, null, null, 'the read']);
    expect(steps.map(({ ends }) => ends)).toEqual([null, null, null, 'committed', null]);
  });

  test('intervals that touch overlap', async () => {
    const { steps } = await pictureOf([
      ['a', 't1', write(1), 10, 20],
      ['b', 't2', write(2), 20, 30],
    ]);
    expect(steps.map(({ part, time }) => [part, time])).toEqual([
      ['begin', '10'],
      ['begin', '20'],
      ['end', '20'],
      ['end', '30'],
    ]);
  });

  test('without an answer it never ends', async () => {
    const { steps, transactions } = await pictureOf([
      ['a', 't1', commit, 10, null],
      ['b', 't2', write(2), 20, 30],
    ]);
    expect(steps.map(({ time, outcome }) => [time, outcome])).toEqual([
      ['10', ''],
      ['20-30', ''],
      ['never', 'no answer came'],
    ]);
    expect(transactions.map(({ name, status }) => [name, status])).toEqual([
      ['t1', 'unknown'],
      ['t2', 'unknown'],
    ]);
  });
});

describe('whose write a read saw', () => {
  const sightsOf = async (lines: readonly Line[]): Promise<unknown[]> =>
    (await pictureOf(lines)).steps.flatMap(({ reads }) => reads.map(({ from, sight }) => [from, sight]));

  test('that of the only one of its value', async () => {
    expect(
      await sightsOf([
        ['a', 't1', write({ n: 1, m: 5 }), 10, 20],
        ['b', 't2', write({ n: 2 }), 30, 40],
        ['c', 't3', read({ n: 1 }), 50, 60],
      ]),
    ).toEqual([['t1', 'current']]);
  });

  test('its own, if it has written it before', async () => {
    expect(
      await sightsOf([
        ['a', 't1', write(1), 10, 20],
        ['b', 't2', write(1), 30, 40],
        ['b', 't2', read(1), 50, 60],
      ]),
    ).toEqual([['t2', 'own']]);
  });

  test.each([
    ['two have written it', write(1)],
    ['another value is written', write(3)],
    ['another column is written', write({ m: 1 })],
  ])('it is not known where %s', async (_, other) => {
    expect(
      await sightsOf([
        ['a', 't1', other, 10, 20],
        ['b', 't2', other, 30, 40],
        ['c', 't3', read(1), 50, 60],
      ]),
    ).toEqual([[null, 'unknown']]);
  });
});

test('the versions of a row stand in the order of their commits', async () => {
  const { tables, steps } = await pictureOf([
    ['a', 't1', write(1), 10, 15],
    ['b', 't2', write(2), 20, 25],
    ['b', 't2', commit, 30, 35],
    ['a', 't1', commit, 40, 45],
    ['c', 't3', write(3), 50, 55],
    ['c', 't3', { op: 'abort' }, 60, 65],
    ['d', 't4', write(7, 'y'), 70, 75],
  ]);
  expect(tables).toHaveLength(1);
  expect(tables[0]?.rows.map(({ cells }) => cells)).toEqual([
    ['2', 't2', '20-25', '30-35'],
    ['1', 't1', '10-15', '40-45'],
  ]);
  expect(steps.find(({ text }) => text === 'abort')?.ends).toBe('aborted');
});
