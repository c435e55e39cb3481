import { expect, test } from 'vitest';
import { applyModifier, modifierOf, precisionAndScale } from './type-modifier.ts';
import { typeTitle } from './type-title.ts';
import { arrayOf, isSameType, typeByName, typeOfOid, types } from './type.ts';
import type { SqlType } from './type.ts';
import { formatText, parseText } from './text-format.ts';

test.each([
  ['integer', 23],
  ['bigint', 20],
  ['character varying', 1043],
  ['double precision', 701],
  ['bool', 16],
  ['timestamp with time zone', 1184],
  ['int4[]', 1007],
  ['_text', 1009],
  ['jsonb', 3802],
])('%s has number %i', (name, oid) => {
  const type = typeByName(name);
  expect(type?.oid).toBe(oid);
  expect(typeOfOid(oid)).toBe(type);
});

test.each(['serial', 'uint8', 'nosuch', '_nosuch', ''])('%s is no type of PostgreSQL', (name) =>
  expect(typeByName(name)).toBeUndefined(),
);

test('the array of a type is one object, and an enum’s has the next number', () => {
  expect(arrayOf(types.int4)).toBe(arrayOf(types.int4));
  const mood: SqlType = { name: 'enum', oid: 16_400, labels: ['sad', 'happy'], title: 'mood' };
  expect(arrayOf(mood)).toBe(arrayOf(mood));
  expect(arrayOf(mood).oid).toBe(16_401);
  expect(isSameType(arrayOf(mood), { ...arrayOf({ ...mood }) })).toBe(true);
  expect(isSameType(types.text, types.varchar)).toBe(false);
});

test.each([
  [types.varchar, [20], 24, 'character varying(20)'],
  [types.bpchar, [3], 7, 'character(3)'],
  [types.numeric, [10, 2], 655_366, 'numeric(10,2)'],
  [types.numeric, [5], 327_684, 'numeric(5,0)'],
  [types.timestamptz, [3], 3, 'timestamp(3) with time zone'],
  [types.int4, [], -1, 'integer'],
  [arrayOf(types.numeric), [4, 1], 262_149, 'numeric(4,1)[]'],
])('the modifier of $name', (type, numbers, modifier, title) => {
  expect(modifierOf(type, numbers)).toBe(modifier);
  expect(typeTitle(type, modifier)).toBe(title);
});

test('a negative scale comes back', () => {
  expect(precisionAndScale(modifierOf(types.numeric, [3, -2]))).toEqual({ precision: 3, scale: -2 });
});

test.each([
  [types.varchar, [0], '22023'],
  [types.numeric, [1001], '22023'],
  [types.numeric, [10, 1001], '22023'],
])('a modifier that is out of range', (type, numbers, code) =>
  expect(() => modifierOf(type, numbers)).toThrow(expect.objectContaining({ code })),
);

test.each([
  [types.varchar, [3], 'abc  ', false, 'abc'],
  [types.varchar, [3], 'abcd', true, 'abc'],
  [types.varchar, [2], '😀😀', false, '😀😀'],
  [types.bpchar, [4], 'ab', false, 'ab  '],
  [types.numeric, [4, 1], '12.25', false, '12.3'],
  [types.numeric, [2, -2], '1250', false, '1300'],
  [types.timestamp, [0], '2020-01-01 00:00:00.5', false, '2020-01-01 00:00:01'],
  [arrayOf(types.varchar), [1], '{ab,c}', true, '{a,c}'],
])('%o(%o) of %s', (type, numbers, text, isExplicit, result) => {
  const value = applyModifier(parseText(text, type), type, modifierOf(type, numbers), isExplicit);
  expect(value === null ? null : formatText(value, type, 'postgres')).toBe(result);
});

test.each([
  [types.varchar, [3], 'abcd', '22001'],
  [types.numeric, [3, 1], '100', '22003'],
  [types.numeric, [3, 1], 'Infinity', '22003'],
])('%o(%o) refuses %s', (type, numbers, text, code) => {
  const refused = (): unknown => applyModifier(parseText(text, type), type, modifierOf(type, numbers), false);
  expect(refused).toThrow(expect.objectContaining({ code }));
});
