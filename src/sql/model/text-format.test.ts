import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBinary, parseBinary } from './binary-format.ts';
import { comparatorOf } from './compare.ts';
import { formatText, parseText } from './text-format.ts';
import { arrayOf, typeByName, types } from './type.ts';
import type { SqlType } from './type.ts';
import type { SqlValue } from './value.ts';
import { anyValue } from './value.test-support.ts';

describe('what is read is printed in the one form', () => {
  test.each([
    ['bool', 'yes', 't'],
    ['int4', ' +7 ', '7'],
    ['numeric', '1e-3', '0.001'],
    ['numeric', '.50', '0.50'],
    ['float8', '1e15', '1e+15'],
    ['float8', '100000', '100000'],
    ['float4', '0.1', '0.1'],
    ['float4', '1.5e10', '1.5000001e+10'],
    ['date', '20200229', '2020-02-29'],
    ['date', 'Feb 29, 2020', '2020-02-29'],
    ['date', '0044-03-15 BC', '0044-03-15 BC'],
    ['date', 'infinity', 'infinity'],
    ['time', '3:04 PM', '15:04:00'],
    ['timestamp', '2020-01-01T10:20:30.5', '2020-01-01 10:20:30.5'],
    ['timestamptz', '2020-01-01 00:00:00-05', '2020-01-01 05:00:00+00'],
    ['interval', '1 year -2 days 3:04', '1 year -2 days +03:04:00'],
    ['interval', '-1 day', '-1 days'],
    ['uuid', 'A0EEBC999C0B4EF8BB6D6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['bytea', 'a\\\\b', '\\x615c62'],
    ['jsonb', '{"b":1,"aa":[1.50,null]}', '{"b": 1, "aa": [1.50, null]}'],
    ['jsonb', '{"__proto__":{"a":1}}', '{"__proto__": {"a": 1}}'],
    ['int4[]', '{ 1 , NULL }', '{1,NULL}'],
    ['text[]', '{"a b","NULL",""}', '{"a b","NULL",""}'],
  ])('%s %s', (name, text, shown) => {
    const type = typeNamed(name);
    const value = parseText(text, type);
    expect(value === null ? null : formatText(value, type, 'postgres')).toBe(shown);
  });
});

describe('what cannot be read has PostgreSQL’s code and words', () => {
  test.each([
    ['int4', 'x', '22P02', 'invalid input syntax for type integer: "x"'],
    ['int4', '3000000000', '22003', 'value "3000000000" is out of range for type integer'],
    ['numeric', '1.2.3', '22P02', 'invalid input syntax for type numeric: "1.2.3"'],
    ['float8', '1e999', '22003', '"1e999" is out of range for type double precision'],
    ['bool', 'maybe', '22P02', 'invalid input syntax for type boolean: "maybe"'],
    ['date', 'x', '22007', 'invalid input syntax for type date: "x"'],
    ['date', '2021-02-29', '22008', 'date/time field value out of range: "2021-02-29"'],
    ['timestamp', '2020-01-01 25:00', '22008', 'date/time field value out of range: "2020-01-01 25:00"'],
    ['interval', 'x', '22007', 'invalid input syntax for type interval: "x"'],
    ['uuid', '1', '22P02', 'invalid input syntax for type uuid: "1"'],
    ['jsonb', '{', '22P02', 'invalid input syntax for type json'],
    ['int4[]', '1', '22P02', 'malformed array literal: "1"'],
    ['int4[]', '{1', '22P02', 'malformed array literal: "{1"'],
    ['int4[]', '{{1}}', '0A000', 'an array of more than one dimension is not supported by moirai'],
    ['record', '(1,2)', '0A000', 'input of anonymous composite types is not implemented'],
  ])('%s %s', (name, text, code, message) =>
    expect(() => parseText(text, typeNamed(name))).toThrow(expect.objectContaining({ code, message })),
  );

  test('an enum has its labels', () => {
    const mood: SqlType = { name: 'enum', oid: 16_400, labels: ['sad', 'happy'], title: 'mood' };
    expect(parseText('sad', mood)).toBe('sad');
    const wrong = { code: '22P02', message: 'invalid input value for enum mood: "blue"' };
    expect(() => parseText('blue', mood)).toThrow(expect.objectContaining(wrong));
    expect(comparatorOf(mood, 'postgres')('sad', 'happy')).toBeLessThan(0);
  });
});

describe('both formats keep every value', () => {
  const scalars =
    'bool int2 int4 int8 numeric float4 float8 text varchar bytea date time timestamp timestamptz interval uuid json jsonb oid'.split(
      ' ',
    );
  test.each([...scalars, ...scalars.map((name) => `${name}[]`)])('%s', (name) => {
    const type = typeNamed(name);
    fc.assert(
      fc.property(anyValue(type), (value) => {
        const text = formatText(value, type, 'postgres');
        expect(textOf(parseText(text, type), type)).toBe(text);
        expect(textOf(parseBinary(formatBinary(value, type), type), type)).toBe(text);
      }),
      { numRuns: 60, seed: 7 },
    );
  });
});

test('binary: what is cut off or too long is refused', () => {
  for (const type of [
    types.int4,
    types.int8,
    types.float8,
    types.date,
    types.interval,
    types.uuid,
    arrayOf(types.int4),
  ]) {
    expect(() => parseBinary(Uint8Array.of(1, 2, 3), type)).toThrow(expect.objectContaining({ code: '22P03' }));
  }
  expect(() => parseBinary(Uint8Array.of(9, 123), types.jsonb)).toThrow(expect.objectContaining({ code: '22P03' }));
});

test('MySQL shows truth as a number, and instants without a zone', () => {
  expect(formatText(true, types.bool, 'mysql')).toBe('1');
  expect(formatText(0n, types.timestamptz, 'mysql')).toBe('1970-01-01 00:00:00');
  expect(formatText(1e20, types.float8, 'mysql')).toBe('100000000000000000000');
});

function typeNamed(name: string): SqlType {
  const type = typeByName(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

function textOf(value: SqlValue, type: SqlType): string | null {
  return value === null ? null : formatText(value, type, 'postgres');
}
