import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResultColumn } from '../../sql/index.ts';
import type { SqlType, SqlValue } from '../../sql/model/index.ts';
import { types } from '../../sql/model/type.ts';
import { columnFlag, columnType, has } from '../../wire/mysql/index.ts';
import { binaryValue, columnDefinition, formatFloat, parameterDefinition, textValue } from './values.ts';

const colors: SqlType = { name: 'enum', oid: 20_000, labels: ['red', 'orange'] };

function column(type: SqlType, more: Partial<ResultColumn> = {}): ResultColumn {
  return { name: 'c', type, modifier: -1, tableNumber: 1, columnNumber: 1, tableName: 't', isNullable: true, ...more };
}

const numeric = (text: string, scale: number): SqlValue => ({ kind: 'numeric', value: new Decimal(text), scale });
const noon = 1_582_977_600_000_000n; // 2020-02-29 12:00:00

describe('texts', () => {
  test.each<[string, SqlType, SqlValue, number, string | Uint8Array | null]>([
    ['true', types.bool, true, -1, '1'],
    ['false', types.bool, false, -1, '0'],
    ['an integer', types.int4, -7, -1, '-7'],
    ['a large integer', types.uint8, 2n ** 64n - 1n, -1, '18446744073709551615'],
    ['a decimal', types.numeric, numeric('12.5', 2), -1, '12.50'],
    ['a decimal that is no number', types.numeric, numeric('NaN', 0), -1, null],
    ['bytes', types.bytea, Uint8Array.of(0, 255), -1, Uint8Array.of(0, 255)],
    ['a date', types.date, 18_321, -1, '2020-02-29'],
    ['no date of MySQL', types.date, Infinity, -1, '0000-00-00'],
    ['a date after 9999', types.date, 2_932_897, -1, '0000-00-00'],
    ['a time', types.time, 3_661_000_001n, -1, '01:01:01.000001'],
    ['a time without a fraction', types.time, 3_661_000_000n, -1, '01:01:01'],
    ['a negative time above a day', types.time, -(90_000n * 1_000_000n), 0, '-25:00:00'],
    ['a datetime', types.timestamp, noon, -1, '2020-02-29 12:00:00'],
    ['a datetime with a fraction', types.timestamp, noon + 120_000n, -1, '2020-02-29 12:00:00.120000'],
    ['a datetime(3)', types.timestamp, noon + 120_000n, 3, '2020-02-29 12:00:00.120'],
    ['a timestamp, in UTC', types.timestamptz, noon, 0, '2020-02-29 12:00:00'],
    ['an instant before 1970', types.timestamp, -1n, 6, '1969-12-31 23:59:59.999999'],
    ['infinity', types.timestamp, 2n ** 63n - 1n, 0, '0000-00-00 00:00:00'],
    ['a char without its padding', types.bpchar, ' ab  ', 9, ' ab'],
    ['a label', colors, 'red', -1, 'red'],
    ['json', types.json, '{"a": 1}', -1, '{"a": 1}'],
    ['jsonb', types.jsonb, { kind: 'json', value: { a: null } }, -1, '{"a": null}'],
    ['null', types.int4, null, -1, null],
    ['nothing', types.void, '', -1, null],
  ])('%s', (_name, type, value, modifier, text) => {
    expect(textValue(value, column(type, { modifier }))).toEqual(text);
  });

  // What MariaDB 10.11 prints for these.
  test.each([
    [1e15, '1e15'],
    [1e14, '100000000000000'],
    [1e16, '1e16'],
    [123_456_789_012_345_680, '1.2345678901234568e17'],
    [1e-14, '0.00000000000001'],
    [1e-15, '0.000000000000001'],
    [1e-16, '1e-16'],
    [1.5e-15, '0.0000000000000015'],
    [1.2345678901234567e19, '1.2345678901234567e19'],
    [0.1 + 0.2, '0.30000000000000004'],
    [-1e-20, '-1e-20'],
    [1.7976931348623157e308, '1.7976931348623157e308'],
    [0, '0'],
    [-0, '-0'],
    [Infinity, null],
    [NaN, null],
  ])('the double %d', (value, text) => expect(formatFloat(value, 17)).toBe(text));

  test.each([
    [3.14159274, '3.14159'],
    [16777216, '16777200'],
    [1e20, '1e20'],
    [1e-7, '0.0000001'],
    [123456.7, '123457'],
    [1234567, '1234570'],
  ])('the float %d', (value, text) => expect(textValue(Math.fround(value), column(types.float4))).toBe(text));

  test('doubles read back as themselves', () =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(formatFloat(value, 17))).toBe(value);
      }),
    ));
});

describe('binary values', () => {
  test.each<[string, SqlType, SqlValue, unknown]>([
    ['true', types.bool, true, 1],
    ['an integer', types.int2, -7, -7],
    ['a large integer', types.int8, 7n, 7n],
    ['a double', types.float8, 1.5, 1.5],
    ['infinity', types.float8, Infinity, null],
    ['a decimal', types.numeric, numeric('1', 2), Buffer.from('1.00')],
    ['a text', types.text, 'é', Buffer.from('é')],
    ['bytes', types.bytea, Uint8Array.of(255), Uint8Array.of(255)],
    ['null', types.text, null, null],
  ])('%s', (_name, type, value, binary) => expect(binaryValue(value, column(type))).toEqual(binary));

  test('dates and times by their parts', () => {
    const date = { kind: 'datetime', year: 2020, month: 2, day: 29 };
    expect(binaryValue(18_321, column(types.date))).toMatchObject({ ...date, hour: 0 });
    expect(binaryValue(noon + 1n, column(types.timestamp))).toMatchObject({ ...date, hour: 12, microsecond: 1 });
    expect(binaryValue(-(90_061n * 1_000_000n), column(types.time))).toEqual({
      kind: 'time',
      isNegative: true,
      days: 1,
      hours: 1,
      minutes: 1,
      seconds: 1,
      microseconds: 0,
    });
  });
});

describe('column definitions', () => {
  test.each<[string, ResultColumn, number, number, number]>([
    ['tinyint(1)', column(types.bool), columnType.tiny, 1, 0],
    ['bigint unsigned', column(types.uint8), columnType.longlong, 20, 0],
    ['decimal(10,2)', column(types.numeric, { modifier: ((10 << 16) | 2) + 4 }), columnType.newdecimal, 12, 2],
    ['varchar(20)', column(types.varchar, { modifier: 24 }), columnType.varString, 80, 0],
    ['char(3)', column(types.bpchar, { modifier: 7 }), columnType.string, 12, 0],
    ['text', column(types.text), columnType.blob, 262_140, 0],
    ['the text of an expression', column(types.text, { tableName: '' }), columnType.varString, 65_532, 0],
    ['datetime(3)', column(types.timestamp, { modifier: 3 }), columnType.datetime, 23, 3],
    ['timestamp', column(types.timestamptz, { modifier: 0 }), columnType.timestamp, 19, 0],
    ['an enum', column(colors), columnType.string, 24, 0],
    ['an array, as its text', column({ name: 'array', oid: 1, element: types.int4 }), columnType.varString, 65_532, 0],
  ])('%s', (_name, given, type, length, decimals) => {
    expect(columnDefinition(given, 'shop')).toMatchObject({ type, length, decimals });
  });

  test('say where a column is from, and whether it can be null', () => {
    const definition = columnDefinition(column(types.int4, { name: 'id', isNullable: false }), 'shop');
    expect(definition).toMatchObject({
      schema: 'shop',
      table: 't',
      originalTable: 't',
      name: 'id',
      originalName: 'id',
    });
    expect(has(definition.flags, columnFlag.notNull)).toBe(true);
    const computed = columnDefinition(column(types.int4, { tableName: '' }), 'shop');
    expect(computed).toMatchObject({ schema: '', table: '', originalName: '' });
    expect(has(computed.flags, columnFlag.notNull)).toBe(false);
  });

  test('tell texts from bytes by their character set', () => {
    expect(columnDefinition(column(types.text), '').characterSet).toBe(45);
    expect(columnDefinition(column(types.bytea), '').characterSet).toBe(63);
    expect(has(columnDefinition(column(types.bytea), '').flags, columnFlag.binary)).toBe(true);
    expect(has(columnDefinition(column(colors), '').flags, columnFlag.enum)).toBe(true);
  });

  test('of parameters', () => {
    expect(parameterDefinition(types.int8)).toMatchObject({ name: '?', type: columnType.longlong });
  });
});
