import { describe, expect, test } from 'vitest';
import { CompactHistoryBuilder } from './compact-builder.ts';
import { compactOf, historyOf, listOf, subHistory } from './compact-convert.ts';
import { fromUnrecorded, operationKind, sessionLists } from './compact-history.ts';
import { INITIAL, type History } from './history.ts';
import { formatHistory, parseHistory } from './notation.ts';

const everything: History = {
  sessions: ['b', 'idle', 'a'],
  transactions: [
    { id: 'a/0', session: 2, status: 'aborted', operations: [{ kind: 'write', key: 'x', value: 1 }], end: -1 },
    { id: 't', session: 0, status: 'committed', operations: [{ kind: 'read', key: 'y', value: 0, from: INITIAL }] },
    { id: 'b/1', session: 0, status: 'unknown', operations: [], start: 0, end: 7, level: 'prefix' },
    {
      id: 'u',
      session: 2,
      status: 'committed',
      operations: [
        { kind: 'read', key: 'ключ', value: null },
        { kind: 'write', key: 'ключ', value: { b: [0.5, '"'], a: 2 ** 60 } },
        { kind: 'write', key: 'x', value: '1' },
        { kind: 'read', key: 'x', value: 1, from: 0 },
      ],
    },
  ],
  initial: new Map<string, number>([
    ['y', 0],
    ['z', 1],
  ]),
};

describe('a history as columns', () => {
  test('is the same history', () => {
    expect(historyOf(compactOf(everything))).toStrictEqual(everything);
    const empty = { sessions: [], transactions: [], initial: new Map() };
    expect(historyOf(compactOf(empty))).toStrictEqual(empty);
  });

  test('has a value ID for each pair of a key and a value', () => {
    const { value, initialValue, valueCount, names } = compactOf(
      parseHistory('w x 1, w y 1 | r x 1 <- 0/0, r y _, w x "1"'),
    );
    expect([...value]).toEqual([0, 1, 0, initialValue[1], 3]);
    expect(Array.from({ length: valueCount }, (_, v) => names.value(v))).toEqual([1, 1, null, '1', null]);
  });

  test('takes no room for what no transaction has', () => {
    const { from, start, end, lists, line } = compactOf(parseHistory('w x 1 | r x 1'));
    expect({ from, start, end, lists, line }).toEqual({ from: null, start: null, end: null, lists: null, line: null });
    expect(compactOf(parseHistory('w x 1 | r x 1 <- 0/0')).from).toEqual(Int32Array.of(fromUnrecorded, 0));
  });

  test('knows the transactions of each session', () => {
    const { start, transaction } = sessionLists(compactOf(everything));
    expect([...start]).toEqual([0, 2, 2, 4]);
    expect([...transaction]).toEqual([1, 2, 0, 3]);
  });
});

describe('a part of a history', () => {
  const history = compactOf(
    parseHistory('w x 1 | w y 2 | w x 3 \n r x 1 <- 0/0, r y 2 | r x 3 <- 0/2, r y _, r x 1 <- 0/0'),
  );

  test('keeps IDs, and loses reads whose recorded writers are not in it', () => {
    const part = historyOf(subHistory(history, [4, 2]));
    expect(part.transactions.map(({ id }) => id)).toEqual(['0/2', '1/1']);
    expect(part.transactions[1]?.operations).toEqual([
      { kind: 'read', key: 'x', value: 3, from: 0 },
      { kind: 'read', key: 'y', value: null, from: INITIAL },
    ]);
  });

  test('keeps the operations that it is told to', () => {
    const part = subHistory(history, [0, 3], (o) => history.kind[o] === operationKind.write);
    expect(formatHistory(historyOf(part))).toBe(formatHistory(parseHistory('w x 1 \n -')));
  });
});

describe('the builder', () => {
  test('makes list reads of the reads of keys that are appended to', () => {
    const builder = new CompactHistoryBuilder();
    const [a, x, y] = [builder.session('a'), builder.key('x'), builder.key('y')];
    builder.read(x, builder.value(x, null));
    builder.read(y, builder.value(y, [5]));
    builder.append(x, builder.integer(x, 5));
    builder.read(x, builder.value(x, [5, 'b']));
    builder.endTransaction(a);
    const history = builder.finish();
    expect([...history.kind]).toEqual([
      operationKind.listRead,
      operationKind.read,
      operationKind.append,
      operationKind.listRead,
    ]);
    expect([0, 3].map((o) => listOf(history, history.value[o] as number))).toEqual([[], [5, 'b']]);
    expect(history.lists?.element[0]).toBe(history.value[2]);
    expect(listOf(subHistory(history, [0]), 1)).toEqual([5, 'b']);
    expect(() => historyOf(history)).toThrow(expect.objectContaining({ code: 'history/append' }));
  });

  test.each([
    ['written', (builder: CompactHistoryBuilder, x: number) => builder.write(x, builder.integer(x, 1))],
    ['read', (builder: CompactHistoryBuilder, x: number) => builder.read(x, builder.integer(x, 1))],
  ])('refuses a list that is %s as a whole', (_what, add) => {
    const builder = new CompactHistoryBuilder();
    const x = builder.key('x');
    builder.append(x, builder.integer(x, 1));
    add(builder, x);
    builder.endTransaction(builder.session('a'), { line: 7 });
    expect(() => builder.finish()).toThrow(expect.objectContaining({ code: 'history/append', place: { line: 7 } }));
  });

  test.each([
    ['the ID of another', ['t', 't'], 3],
    ['the default ID of a later one', ['a/1', undefined], 3],
    ['the default ID of an earlier one', [undefined, 'a/0'], 3],
  ])('refuses %s', (_what, ids, line) => {
    const builder = new CompactHistoryBuilder();
    ids.forEach((id, i) => builder.endTransaction(builder.session('a'), { id, line: i + 2 }));
    expect(() => builder.finish()).toThrow(expect.objectContaining({ code: 'history/duplicate-id', place: { line } }));
  });

  test('takes an ID that is the own default, or the default of one that has another', () => {
    const builder = new CompactHistoryBuilder();
    for (const id of ['a/1', 't', 'a/2']) builder.endTransaction(builder.session('a'), { id });
    expect(historyOf(builder.finish()).transactions.map(({ id }) => id)).toEqual(['a/1', 't', 'a/2']);
  });

  test('finds writers by ID, however late, and refuses those that are not there', () => {
    const build = (writer: string) => {
      const builder = new CompactHistoryBuilder();
      const x = builder.key('x');
      builder.read(x, builder.integer(x, 1), builder.writer(writer));
      builder.endTransaction(builder.session('a'), { line: 1 });
      builder.endTransaction(builder.session('b/0'), { line: 2 });
      builder.endTransaction(builder.session('a'), { id: 't', line: 3 });
      return builder.finish();
    };
    expect(build('b/0/0').from?.[0]).toBe(1);
    expect(build('t').from?.[0]).toBe(2);
    for (const missing of ['a/1', 'a/2', 'a/00', 'b/0/1', 'c/0', 'u'])
      expect(() => build(missing)).toThrow(
        expect.objectContaining({ code: 'history/unknown-writer', place: { line: 1 } }),
      );
  });
});
