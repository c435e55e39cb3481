/** Arithmetic and bits. Integers overflow with 22003, as int.c and int8.c do it. */
import {
  addNumerics,
  divideNumerics,
  divisionByZero,
  multiplyNumerics,
  negateNumeric,
  remainderOfNumerics,
  subtractNumerics,
  type Numeric,
  SqlError,
  types,
  type SqlType,
} from '../model/index.ts';
import { integerOf } from './cast-values.ts';
import { type Plain, type Signature, strict } from './signature.ts';
import { powerOfFloats, powerOfNumerics } from './numeric-functions.ts';

type Whole = number | bigint;

/** The wider of two integer types computes. */
const integerPairs: readonly (readonly [string, string, SqlType])[] = [
  ['int2', 'int2', types.int2],
  ['int4', 'int4', types.int4],
  ['int8', 'int8', types.int8],
  ['int2', 'int4', types.int4],
  ['int4', 'int2', types.int4],
  ['int2', 'int8', types.int8],
  ['int8', 'int2', types.int8],
  ['int4', 'int8', types.int8],
  ['int8', 'int4', types.int8],
];

const integerTable: Record<string, Plain> = {};
for (const [a, b, type] of integerPairs) {
  const isWide = type.name === 'int8';
  const widen = (value: Whole): Whole => (isWide ? BigInt(value) : value);
  const add = (name: string, compute: (x: number, y: number) => number): void => {
    // The closures compute with bigints as they do with numbers; only division differs.
    integerTable[`${name}(${a}, ${b}) ${type.name}`] = (x: Whole, y: Whole) =>
      integerOf(compute(widen(x) as number, widen(y) as number), type);
  };
  add('+', (x, y) => x + y);
  add('-', (x, y) => x - y);
  add('*', (x, y) => product(x, y));
  add('/', (x, y) => quotient(x, y));
}

for (const type of [types.int2, types.int4, types.int8]) {
  const { name } = type;
  const pair = `(${name}, ${name}) ${name}`;
  Object.assign(integerTable, {
    [`%${pair}`]: (x: Whole, y: Whole) => remainder(x, y),
    [`mod${pair}`]: (x: Whole, y: Whole) => remainder(x, y),
    [`&${pair}`]: (x: number, y: number) => x & y,
    [`|${pair}`]: (x: number, y: number) => x | y,
    [`#${pair}`]: (x: number, y: number) => x ^ y,
    [`-(${name}) ${name}`]: (x: number) => integerOf(-x || (typeof x === 'bigint' ? -x : 0), type),
    [`+(${name}) ${name}`]: (x: Whole) => x,
    [`~(${name}) ${name}`]: (x: number) => ~x,
    [`@(${name}) ${name}`]: (x: number) => integerOf(x < 0 ? -x : x, type),
    [`abs(${name}) ${name}`]: (x: number) => integerOf(x < 0 ? -x : x, type),
    [`<<(${name}, int4) ${name}`]: (x: Whole, by: number) => shift(x, by, type, true),
    [`>>(${name}, int4) ${name}`]: (x: Whole, by: number) => shift(x, by, type, false),
  });
}

/** int4 products may leave the exact doubles, but not by so much that the range check would miss it. */
function product(x: number, y: number): number {
  const result = x * y;
  return typeof result === 'number' ? result || 0 : result;
}

function quotient(x: number, y: number): number {
  if (!y) throw divisionByZero();
  const result = x / y;
  return typeof result === 'number' ? Math.trunc(result) || 0 : result;
}

function remainder(x: Whole, y: Whole): Whole {
  if (!y) throw divisionByZero();
  const result = (x as number) % (y as number);
  return typeof result === 'number' ? result || 0 : result;
}

/** C shifts by the low bits of the count. */
function shift(x: Whole, by: number, type: SqlType, isLeft: boolean): Whole {
  if (typeof x === 'bigint') {
    const bits = BigInt(by & 63);
    return isLeft ? BigInt.asIntN(64, x << bits) : x >> bits;
  }
  const shifted = isLeft ? x << (by & 31) : x >> (by & 31);
  return type.name === 'int2' ? (shifted << 16) >> 16 : shifted;
}

type Compute = (x: number, y: number) => number;

/** float.c: a result that leaves the range is an error, unless an operand was infinite. */
function checked(compute: Compute, canUnderflow: boolean, round: (value: number) => number): Plain {
  return (x: number, y: number) => {
    const exact = compute(x, y);
    const result = round(exact);
    if (!Number.isFinite(result) && !Number.isNaN(result) && Number.isFinite(x) && Number.isFinite(y)) throw overflow();
    if (canUnderflow && result === 0 && x !== 0 && Number.isFinite(y)) {
      throw new SqlError('22003', 'value out of range: underflow');
    }
    return result;
  };
}

function overflow(): SqlError {
  return new SqlError('22003', 'value out of range: overflow');
}

const floatTable: Record<string, Plain> = {};
for (const [a, b] of [
  ['float4', 'float4'],
  ['float8', 'float8'],
  ['float4', 'float8'],
  ['float8', 'float4'],
] as const) {
  const result = a === 'float4' && b === 'float4' ? 'float4' : 'float8';
  const round = result === 'float4' ? Math.fround : (value: number) => value;
  const pair = `(${a}, ${b}) ${result}`;
  const multiply = checked((x, y) => x * y, true, round) as Compute;
  const divide = checked((x, y) => x / y, true, round) as Compute;
  floatTable[`+${pair}`] = checked((x, y) => x + y, false, round);
  floatTable[`-${pair}`] = checked((x, y) => x - y, false, round);
  floatTable[`*${pair}`] = (x: number, y: number) => (y === 0 ? x * y : multiply(x, y));
  floatTable[`/${pair}`] = (x: number, y: number) => {
    if (y === 0 && !Number.isNaN(x)) throw divisionByZero();
    return divide(x, y);
  };
}
for (const name of ['float4', 'float8']) {
  floatTable[`-(${name}) ${name}`] = (x: number) => -x;
  floatTable[`+(${name}) ${name}`] = (x: number) => x;
  floatTable[`@(${name}) ${name}`] = (x: number) => Math.abs(x);
  floatTable[`abs(${name}) ${name}`] = (x: number) => Math.abs(x);
}

const numericTable = strict({
  '+(numeric, numeric) numeric': addNumerics,
  '-(numeric, numeric) numeric': subtractNumerics,
  '*(numeric, numeric) numeric': multiplyNumerics,
  '/(numeric, numeric) numeric': divideNumerics,
  '%(numeric, numeric) numeric': remainderOfNumerics,
  'mod(numeric, numeric) numeric': remainderOfNumerics,
  '-(numeric) numeric': negateNumeric,
  '+(numeric) numeric': (x: Numeric) => x,
  '@(numeric) numeric': absolute,
  'abs(numeric) numeric': absolute,
  '^(numeric, numeric) numeric': powerOfNumerics,
  '^(float8, float8) float8': powerOfFloats,
});

function absolute({ value, scale }: Numeric): Numeric {
  return { kind: 'numeric', value: value.abs(), scale };
}

export const numberOperators: readonly Signature[] = [...strict({ ...integerTable, ...floatTable }), ...numericTable];
