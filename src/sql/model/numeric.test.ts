import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addNumerics,
  compareNumerics,
  divideNumerics,
  formatNumeric,
  multiplyNumerics,
  numericOf,
  parseNumeric,
  remainderOfNumerics,
  roundNumeric,
  subtractNumerics,
  truncateNumeric,
  weightOf,
} from './numeric.ts';
import type { Numeric } from './numeric.ts';
import { NumericSum } from './numeric-sum.ts';

const number = (text: string): Numeric => parseNumeric(text) ?? numericOf(Number.NaN);

describe('scales are PostgreSQL’s', () => {
  test.each([
    ['1.5 + 1', addNumerics, '2.5'],
    ['1.50 - 1.5', subtractNumerics, '0.00'],
    ['1.50 * 2.0', multiplyNumerics, '3.000'],
    ['1 / 3', divideNumerics, '0.33333333333333333333'],
    ['100000 / 3', divideNumerics, '33333.333333333333'],
    ['0.00001 / 3', divideNumerics, '0.000003333333333333333333'],
    ['-5.5 % 2', remainderOfNumerics, '-1.5'],
    ['Infinity / 2', divideNumerics, 'Infinity'],
    ['1 / Infinity', divideNumerics, '0'],
    ['NaN + 1', addNumerics, 'NaN'],
  ])('%s', (sum, compute, wanted) => {
    const [a = '', , b = ''] = sum.split(' ');
    expect(formatNumeric(compute(number(a), number(b)))).toBe(wanted);
  });
});

test.each([
  ['2.5', 0, '3', '2'],
  ['-2.5', 0, '-3', '-2'],
  ['1.005', 2, '1.01', '1.00'],
  ['1250', -2, '1300', '1200'],
  ['0.4', -1, '0', '0'],
  ['1.2', 3, '1.200', '1.200'],
])('%s to %i digits: rounded %s, cut %s', (text, scale, rounded, cut) => {
  expect(formatNumeric(roundNumeric(number(text), scale))).toBe(rounded);
  expect(formatNumeric(truncateNumeric(number(text), scale))).toBe(cut);
});

test.each([divideNumerics, remainderOfNumerics])('%o by zero', (compute) => {
  expect(() => compute(number('1'), number('0.00'))).toThrow(expect.objectContaining({ code: '22012' }));
  expect(formatNumeric(compute(number('NaN'), number('0')))).toBe('NaN');
});

test('the limit of digits is an error', () => {
  expect(() => number('1e131072')).toThrow(expect.objectContaining({ code: '22003' }));
  expect(number('1e131071').value.e).toBe(131_071);
});

test.each([
  ['12345.6', 1, 1],
  ['0.0012', -1, 12],
  ['9999', 0, 9999],
  ['0', 0, 0],
])('%s begins with 10000^%i times %i', (text, weight, digit) => {
  expect(weightOf(number(text).value)).toEqual({ weight, digit });
});

test('quotient and remainder make the dividend again', () => {
  const exact = fc
    .tuple(fc.bigInt(-(10n ** 12n), 10n ** 12n), fc.nat(6))
    .map(([n, scale]) => numericOf(`${n}e-${scale}`, scale));
  fc.assert(
    fc.property(exact, exact, (a, b) => {
      fc.pre(!b.value.isZero());
      const whole = truncateNumeric(subtractNumerics(a, remainderOfNumerics(a, b)), 12);
      const quotient = divideNumerics(whole, b);
      expect(quotient.value.isInteger()).toBe(true);
      expect(addNumerics(multiplyNumerics(quotient, b), remainderOfNumerics(a, b)).value.eq(a.value)).toBe(true);
    }),
    { numRuns: 200, seed: 5 },
  );
});

describe('the ways that make no decimals are those of the library', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), minLength: 1, maxLength: 24 });
  const plain = fc
    .tuple(fc.boolean(), digits, digits)
    .map(([isNegative, whole, fraction]) => number(`${isNegative ? '-' : ''}${whole}.${fraction}`));
  const special = fc.constantFrom('0', '0.00', '-0.0', '0.0000001', '9007199254740993', '1e30', '-1e-20').map(number);
  const any = fc.oneof(plain, special);

  test('comparison', () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(Math.sign(compareNumerics(a, b))).toBe(a.value.comparedTo(b.value) + 0);
      }),
      { seed: 20_261, numRuns: 2000 },
    );
    expect(compareNumerics(number('infinity'), number('1'))).toBe(1);
    expect(compareNumerics(number('nan'), number('infinity'))).toBe(1);
  });

  const cents = fc.integer({ min: -2e15, max: 2e15 }).map((units) => numericOf(`${units}e-2`, 2));

  test('text, of a copy with another scale too', () => {
    const scaled = fc.oneof(any, cents);
    fc.assert(
      fc.property(scaled, fc.integer({ min: 0, max: 20 }), (numeric, scale) => {
        expect(formatNumeric(numeric)).toBe(numeric.value.toFixed(numeric.scale));
        expect(formatNumeric({ ...numeric, scale })).toBe(numeric.value.toFixed(scale));
      }),
      { seed: 20_261, numRuns: 1000 },
    );
  });

  test('comparison of one scale', () => {
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(Math.sign(compareNumerics(a, b))).toBe(a.value.comparedTo(b.value) + 0);
      }),
      { seed: 20_261, numRuns: 500 },
    );
  });

  test('sums', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(any, cents), { minLength: 1, maxLength: 40 }), (numbers) => {
        const sum = new NumericSum();
        for (const each of numbers) sum.add(each);
        expect(formatNumeric(sum.result())).toBe(formatNumeric(numbers.reduce(addNumerics)));
      }),
      { seed: 20_261, numRuns: 500 },
    );
    const many = new NumericSum();
    for (let i = 0; i < 2000; i++) many.add(number('99999999999999.5'));
    expect(formatNumeric(many.result())).toBe('199999999999999000.0');
    many.add(number('infinity'));
    expect(formatNumeric(many.result())).toBe('Infinity');
  });
});
