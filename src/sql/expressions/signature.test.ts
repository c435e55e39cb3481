import { expect, expectTypeOf, test } from 'vitest';
import type { Interval, SqlArray, SqlValue } from '../model/index.ts';
import type { FunctionOf } from './signature-types.ts';
import { nullable, strict } from './signature.ts';

type Fits<Function, Text extends string> = Function extends FunctionOf<Text, never> ? 'fits' : 'does not';

/** What the compiler says: this test fails when the sources are type-checked. */
test('a function has the types of its signature, and no more parameters', () => {
  expectTypeOf<FunctionOf<'f(text, int4, bool) int8', never>>().toEqualTypeOf<
    (...values: [string, number, boolean]) => bigint | null
  >();
  expectTypeOf<FunctionOf<'-(interval) interval', null>>().toEqualTypeOf<
    (...values: [Interval | null]) => Interval | null
  >();
  expectTypeOf<FunctionOf<'f() text[]', never>>().toEqualTypeOf<() => SqlArray | null>();
  expectTypeOf<FunctionOf<'f(text, variadic any) anyelement', never>>().toEqualTypeOf<
    (...values: [string, ...never[]]) => SqlValue
  >();
  expectTypeOf<Fits<(text: string) => number, 'f(text) int4'>>().toEqualTypeOf<'fits'>();
  expectTypeOf<Fits<() => number, 'f(text) int4'>>().toEqualTypeOf<'fits'>();
  expectTypeOf<Fits<(text: string, at: number) => number, 'f(text) int4'>>().toEqualTypeOf<'does not'>();
  expectTypeOf<Fits<(bytes: Uint8Array) => number, 'f(text) int4'>>().toEqualTypeOf<'does not'>();
  expectTypeOf<Fits<(text: string) => bigint, 'f(text) int4'>>().toEqualTypeOf<'does not'>();
  expectTypeOf<Fits<(text: string) => number, 'f(txt) int4'>>().toEqualTypeOf<'does not'>();
  expectTypeOf<Fits<(text: string) => number, 'f(text) int'>>().toEqualTypeOf<'does not'>();
  expectTypeOf<Fits<(text: string) => number, 'f(text)int4'>>().toEqualTypeOf<'does not'>();
});

test('a signature is read as it is written', () => {
  const [first, second] = [
    ...strict({ 'repeat(text, int4) text': (text, count) => text.repeat(count) }),
    ...nullable({ 'concat(variadic any) text': () => '' }),
  ];
  expect(first).toMatchObject({ name: 'repeat', parameters: [{ name: 'text' }, { name: 'int4' }], isStrict: true });
  expect(second).toMatchObject({ name: 'concat', parameters: ['any'], isVariadic: true, isStrict: false });
});
