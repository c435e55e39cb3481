import { expect, test } from 'vitest';
import { formatTraceLine, unknownMark } from './trace.ts';
import { parseTrace } from './trace-reader.ts';
import { Rows } from './mirror.ts';
import { agrees, merged } from './state.ts';

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
  const before = new Map([['n', 5]]);
  const after = merged(before, new Map<string, string | number>([['n', unknownMark]]));
  expect(agrees(after, new Map([['n', 6]]))).toBe(true);
  expect(agrees(before, new Map([['n', 6]]))).toBe(false);
});

test.each(['{}', '[["x/1"]]', '[["x/1",[1]]]'])('unknown %s is no list of columns', (unknown) => {
  expect(() => parseTrace(line.replace('[["x/1",["n"]]]', unknown))).toThrow('unknown should be');
});

test('reads of a table that may have been written anywhere are not judged', () => {
  const operation = '{"session":"a","transaction":"t","op":"write","opaque":"writes","tables":["x"],"start":1,"end":2}';
  const [parsed] = parseTrace(operation).operations;
  expect(parsed === undefined ? '' : formatTraceLine(parsed)).toBe(operation);
  const rows = new Rows(new Map());
  expect([rows.isClouded('x/1'), rows.isClouded('y/1')]).toEqual([false, false]);
  rows.cloud(parsed?.mayWrite ?? []);
  expect([rows.isClouded('x/1'), rows.isClouded('y/1')]).toEqual([true, false]);
  rows.cloud(['*']);
  expect(rows.isClouded('y/1')).toBe(true);
});
