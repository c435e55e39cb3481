import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalText, copyValue, sameValue, type Value } from './value.ts';

const jsonValues: fc.Arbitrary<Value> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Value);

describe('copyValue', () => {
  test('copies every value that JSON carries, and shares nothing with it', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(copyValue(value)).toStrictEqual(value);
      }),
    );
    const cart = { items: ['i'] };
    const copy = copyValue(cart);
    cart.items.push('j');
    expect(copy).toEqual({ items: ['i'] });
  });

  test('keeps a member that is called __proto__', () => {
    const poisoned = JSON.parse('{"__proto__":{"admin":true}}') as Value;
    const copy = copyValue(poisoned) as object;
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"admin":true}}');
    expect('admin' in copy).toBe(false);
  });

  test('copies a record without a prototype', () => {
    expect(copyValue(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
  });

  test.each([
    ['undefined', undefined, 'undefined is not a value'],
    ['a number that is none', [Number.NaN], 'NaN at [0] is'],
    ['an infinite number', { a: { b: Infinity } }, 'Infinity at .a.b is'],
    ['minus zero', -0, '-0 is'],
    ['a bigint', [[1n]], 'the bigint 1n at [0][0] is'],
    ['a function', { f: () => 1 }, 'a function at .f is'],
    ['a symbol', Symbol('s'), 'Symbol(s) is'],
    ['a date', { at: new Date(0) }, 'a Date at .at is'],
    ['a map', new Map(), 'a Map is'],
    // oxlint-disable-next-line no-sparse-arrays
    ['a hole', [1, , 2], 'undefined at [1] is'],
  ])('refuses %s', (_name, value, message) => {
    expect(() => copyValue(value)).toThrow(refusal(message));
  });

  test('refuses a value that contains itself', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    expect(() => copyValue(cyclic)).toThrow(refusal('nested deeper than 500 levels'));
  });

  test('takes 500 levels of nesting and no more', () => {
    expect(copyValue(nested(500))).toEqual(nested(500));
    expect(() => copyValue(nested(501))).toThrow(refusal('nested deeper than 500 levels'));
  });
});

describe('sameValue', () => {
  test.each<[string, Value, Value]>([
    ['the order of names', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['nesting', [{ a: [null, true] }], [{ a: [null, true] }]],
  ])('looks through %s', (_name, a, b) => expect(sameValue(a, b)).toBe(true));

  test.each<[string, Value, Value]>([
    ['an array and a record', [], {}],
    ['a number and its text', 1, '1'],
    ['null and an empty record', null, {}],
    ['other lengths', [1], [1, 2]],
    ['a missing name', { a: null }, { b: null }],
    ['an inherited name', { toString: 1 }, { a: 1 }],
  ])('tells %s apart', (_name, a, b) => {
    expect(sameValue(a, b)).toBe(false);
    expect(sameValue(b, a)).toBe(false);
  });

  test('agrees with canonicalText', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', 'b') });
    fc.assert(
      fc.property(small, small, (a, b) => {
        expect(sameValue(a as Value, b as Value)).toBe(canonicalText(a as Value) === canonicalText(b as Value));
      }),
    );
  });
});

test('canonicalText sorts names at every level and stays JSON', () => {
  expect(canonicalText({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
  fc.assert(
    fc.property(jsonValues, (value) => {
      expect(JSON.parse(canonicalText(value))).toEqual(value);
    }),
  );
});

function nested(levels: number): Value {
  let value: Value = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function refusal(message: string): object {
  return expect.objectContaining({
    name: 'InputError',
    code: 'history/value',
    message: expect.stringContaining(message) as string,
  }) as object;
}
