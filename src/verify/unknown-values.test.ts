import { expect, test } from 'vitest';
import { formatTraceLine } from '../trace/record.ts';
import { unknownMark } from '../trace/trace.ts';
import { parseTrace } from '../trace/reader.ts';
import { agrees, merged, Shape, toImage } from './image.ts';
import { Names } from './operation-table.ts';
import { RowTable } from './row-table.ts';
import { TransactionTable } from './transaction-table.ts';

const line =
  '{"session":"a","transaction":"t","op":"write","writes":[["x/1",{"v":1}]],"unknown":[["x/1",["n"]]],"start":1,"end":2}';

test('columns of a write whose values are not known survive the format', () => {
  const [operation] = parseTrace(line).operations;
  expect(operation?.writes).toEqual([
    {
      key: 'x/1',
      image: new Map<string, unknown>([
        ['v', 1],
        ['n', unknownMark],
      ]),
    },
  ]);
  expect(operation === undefined ? '' : formatTraceLine(operation)).toBe(line);
});

test('they agree with every value, and hide the one before', () => {
  const empty = new Shape();
  const before = toImage(new Map([['n', 5]]), empty);
  const after = merged(before, toImage(new Map([['n', unknownMark]]), empty));
  expect(agrees(after, toImage(new Map([['n', 6]]), empty))).toBe(true);
  expect(agrees(before, toImage(new Map([['n', 6]]), empty))).toBe(false);
});

test.each(['{}', '[["x/1"]]', '[["x/1",[1]]]'])('unknown %s is no list of columns', (unknown) => {
  expect(() => parseTrace(line.replace('[["x/1",["n"]]]', unknown))).toThrow('unknown should be');
});

test('reads of a table that may have been written anywhere are not judged', () => {
  const operation = '{"session":"a","transaction":"t","op":"write","opaque":"writes","tables":["x"],"start":1,"end":2}';
  const [parsed] = parseTrace(operation).operations;
  expect(parsed === undefined ? '' : formatTraceLine(parsed)).toBe(operation);
  const keys = new Names();
  const rows = new RowTable(keys, new TransactionTable(), () => undefined);
  for (const key of ['x/1', 'y/1']) rows.meet(keys.of(key));
  expect([...rows.isClouded.subarray(0, 2)]).toEqual([0, 0]);
  rows.cloud(0, parsed?.mayWrite ?? []);
  expect([...rows.isClouded.subarray(0, 2)]).toEqual([1, 0]);
  rows.meet(keys.of('x/2'));
  expect(rows.isClouded[2]).toBe(1);
  rows.cloud(0, ['*']);
  expect(rows.isClouded[1]).toBe(1);
});
