import type { Decimal } from 'decimal.js';
import { describe, expect, test } from 'vitest';
import type { SqlType, SqlValue } from '../../sql/model/index.ts';
import { types } from '../../sql/model/type.ts';
import { type BinaryValue, columnType, type WireDateTime, type WireTime } from '../../wire/mysql/index.ts';
import { clientValue, convert } from './parameters.ts';

const signed = (type: number) => ({ type, isUnsigned: false });
const colors: SqlType = { name: 'enum', oid: 20_000, labels: ['red', 'orange'] };
const text = (value: string) => Buffer.from(value);
const date: WireDateTime = {
  kind: 'datetime',
  year: 2020,
  month: 2,
  day: 29,
  hour: 0,
  minute: 0,
  second: 0,
  microsecond: 0,
};
const noon: WireDateTime = { ...date, hour: 12 };
const noonMicroseconds = 1_582_977_600_000_000n;
const hour: WireTime = { kind: 'time', isNegative: false, days: 0, hours: 1, minutes: 0, seconds: 0, microseconds: 5 };

describe('a value becomes one of the type that is expected', () => {
  test.each<[string, BinaryValue, number, SqlType, SqlValue | undefined]>([
    ['double to int4', 7, columnType.double, types.int4, 7],
    ['double to int8', 7, columnType.double, types.int8, 7n],
    ['double to text', 7.5, columnType.double, types.text, '7.5'],
    ['double to bool', 1, columnType.double, types.bool, true],
    ['tiny to bool', 0, columnType.tiny, types.bool, false],
    ['longlong to int4', 7n, columnType.longlong, types.int4, 7],
    ['longlong to float8', 7n, columnType.longlong, types.float8, 7],
    ['float to float8, in its own digits', Math.fround(0.1), columnType.float, types.float8, 0.1],
    ['text to int4', text('12'), columnType.varString, types.int4, 12],
    ['text to int8', text('-9007199254740993'), columnType.varString, types.int8, -9_007_199_254_740_993n],
    ['text to bool', text('1'), columnType.varString, types.bool, true],
    ['text to date', text('2020-02-29'), columnType.varString, types.date, 18_321],
    ['text to datetime', text('2020-02-29 12:00:00'), columnType.varString, types.timestamp, noonMicroseconds],
    ['text to bytes', text('é'), columnType.varString, types.bytea, text('é')],
    ['text to a label', text('orange'), columnType.varString, colors, 'orange'],
    ['text to json', text('[1]'), columnType.varString, types.json, '[1]'],
    ['number to a label', 2, columnType.double, colors, 'orange'],
    ['bytes to bytes', text('a'), columnType.blob, types.bytea, text('a')],
    ['bytes to text', text('é'), columnType.blob, types.text, 'é'],
    ['text that is none to bytes', Buffer.of(0, 255), columnType.varString, types.bytea, Buffer.of(0, 255)],
    ['datetime to timestamptz', noon, columnType.datetime, types.timestamptz, noonMicroseconds],
    ['datetime to date', date, columnType.datetime, types.date, 18_321],
    ['date to datetime', date, columnType.date, types.timestamp, noonMicroseconds - 43_200_000_000n],
    ['datetime to time', noon, columnType.datetime, types.time, 43_200_000_000n],
    ['datetime to text', noon, columnType.datetime, types.varchar, '2020-02-29 12:00:00'],
    ['time to time', hour, columnType.time, types.time, 3_600_000_005n],
    ['negative time to text', { ...hour, isNegative: true }, columnType.time, types.text, '-01:00:00.000005'],
    ['null to anything', null, columnType.null, types.int4, null],
    ['a half to int4: not', 1.5, columnType.double, types.int4, undefined],
    ['a decimal half to int4: not', text('1.5'), columnType.newdecimal, types.int4, undefined],
    ['a large number to int4: not', 5_000_000_000, columnType.double, types.int4, undefined],
    ['a negative number to unsigned: not', -1, columnType.double, types.uint8, undefined],
    ['words to int4: not', text('abc'), columnType.varString, types.int4, undefined],
    ['noon to date: not', noon, columnType.datetime, types.date, undefined],
  ])('%s', (_name, value, type, target, expected) => {
    expect(convert(clientValue(value, signed(type)), target)).toEqual(expected);
  });

  test('decimals keep their digits', () => {
    const value = convert(clientValue(text('1.50'), signed(columnType.newdecimal)), types.numeric);
    expect(value).toMatchObject({ kind: 'numeric', scale: 2 });
    expect(convert(clientValue(0.1, signed(columnType.double)), types.numeric)).toEqual({
      kind: 'numeric',
      value: expect.toSatisfy((decimal: Decimal) => decimal.eq('0.1')),
      scale: 1,
    });
  });

  test('unsigned integers', () => {
    const large = clientValue(4_294_967_295, { type: columnType.long, isUnsigned: true });
    expect(large).toEqual({ type: types.int8, value: 4_294_967_295n });
    const largest = clientValue(2n ** 64n - 1n, { type: columnType.longlong, isUnsigned: true });
    expect([largest.type, convert(largest, types.uint8), convert(largest, types.int8)]).toEqual([
      types.uint8,
      2n ** 64n - 1n,
      undefined,
    ]);
  });
});

describe('a value that is none', () => {
  test.each<[string, () => unknown, number, string]>([
    [
      'a zero date',
      () => clientValue({ ...date, month: 0, day: 0 }, signed(columnType.date)),
      1292,
      "DATE value: '2020-0-0'",
    ],
    ['30 February', () => clientValue({ ...date, day: 30 }, signed(columnType.date)), 1292, "DATE value: '2020-2-30'"],
    [
      'a text as date',
      () => convert(clientValue(text('soon'), signed(columnType.varString)), types.date),
      1292,
      "DATE value: 'soon'",
    ],
    [
      'a text as double',
      () => convert(clientValue(text('x'), signed(columnType.varString)), types.float8),
      1366,
      "DOUBLE value: 'x'",
    ],
    ['a text as decimal', () => clientValue(text('x'), signed(columnType.newdecimal)), 1366, "DECIMAL value: 'x'"],
    [
      'no label',
      () => convert(clientValue(text('blue'), signed(columnType.varString)), colors),
      1366,
      "enum value: 'blue'",
    ],
  ])('%s', (_name, make, mysqlNumber, message) => {
    expect(make).toThrow(
      expect.objectContaining({ message: `Incorrect ${message}`, detail: expect.objectContaining({ mysqlNumber }) }),
    );
  });
});
