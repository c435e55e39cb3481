import { expect, test } from 'vitest';
import { copyAgain, copyPlain, OPAQUE } from './plain-copy.ts';

const plain = {
  nothing: undefined,
  null: null,
  'a bigint': 1n,
  'a text': 'text',
  'a list': [1, [undefined]],
  'a record': { a: { b: [] } },
};

test.each(Object.entries(plain))('%s is copied', (_name, value) => {
  const copy = copyPlain(value);
  expect(copy).toEqual(value);
  expect(copyAgain(copy)).toEqual(value);
  if (typeof value === 'object' && value !== null) {
    expect(copy).not.toBe(value);
    expect(copyAgain(copy)).not.toBe(copy);
  }
});

const circle: unknown[] = [];
circle.push(circle);

test.each([
  ['a map', new Map()],
  ['a date inside', { at: [new Date(0)] }],
  ['a function', () => 1],
  ['an accessor', Object.defineProperty({}, 'x', { get: () => 1, enumerable: true })],
  ['a hole', Object.assign([1], { length: 2 })],
  ['a name that is a symbol', { [Symbol('x')]: 1 }],
  ['a name beside the elements', Object.assign([1], { extra: 2 })],
  ['a prototype of its own', Object.create({ x: 1 })],
  ['itself inside', circle],
])('%s is not plain', (_name, value) => expect(copyPlain(value)).toBe(OPAQUE));

test('a name that is __proto__ stays one in a copy of a value', () => {
  const value: unknown = JSON.parse('{"__proto__":{"x":1}}');
  expect(JSON.stringify(copyAgain(value))).toBe('{"__proto__":{"x":1}}');
  expect(copyPlain(value)).toBe(OPAQUE);
});
