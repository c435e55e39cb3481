/** Functions of numbers. PostgreSQL manual, tables 9.5 to 9.8. */
import {
  compareNumerics,
  divisionByZero,
  numericOf,
  roundNumeric,
  truncateNumeric,
  unscaled,
  type Numeric,
  SqlError,
  types,
  roundHalfEven,
} from '../model/index.ts';
import { integerOf } from './cast-values.ts';
import {
  exponential,
  logarithm,
  naturalLogarithm,
  powerOfFloats,
  powerOfNumerics,
  squareRoot,
} from './numeric-functions.ts';
import { type Plain, type Signature, strict, volatile } from './signature.ts';

type Whole = number | bigint;

function ceiling(number: Numeric): Numeric {
  return number.value.isFinite() ? numericOf(number.value.ceil()) : number;
}

function floor(number: Numeric): Numeric {
  return number.value.isFinite() ? numericOf(number.value.floor()) : number;
}

/** The floor of the quotient, cut toward zero: `div(-7, 2)` is -3. */
function wholeQuotient(a: Numeric, b: Numeric): Numeric {
  if (!a.value.isFinite() || !b.value.isFinite()) {
    if (a.value.isNaN() || b.value.isNaN()) return numericOf(Number.NaN);
    if (b.value.isZero()) throw divisionByZero();
    if (!a.value.isFinite()) return numericOf(b.value.isFinite() ? a.value.times(b.value.s) : Number.NaN);
    return numericOf(0);
  }
  if (b.value.isZero()) throw divisionByZero();
  const shift = Math.max(a.scale, b.scale);
  return numericOf(unscaled(a.value, shift) / unscaled(b.value, shift));
}

/** What rounding can be asked for: no number has digits beyond. */
function placesOf(scale: number): number {
  return Math.max(-131_073, Math.min(16_383, scale));
}

function commonNumericDivisor(a: Numeric, b: Numeric): Numeric {
  if (!a.value.isFinite() || !b.value.isFinite()) return numericOf(Number.NaN);
  const scale = Math.max(a.scale, b.scale);
  const divisor = commonDivisor(unscaled(a.value, scale), unscaled(b.value, scale));
  return numericOf(`${divisor}e-${scale}`, scale);
}

function commonNumericMultiple(a: Numeric, b: Numeric): Numeric {
  if (!a.value.isFinite() || !b.value.isFinite()) return numericOf(Number.NaN);
  const scale = Math.max(a.scale, b.scale);
  const [x, y] = [unscaled(a.value, scale), unscaled(b.value, scale)];
  if (x === 0n || y === 0n) return numericOf(0, scale);
  const product = (x / commonDivisor(x, y)) * y;
  return numericOf(`${product < 0n ? -product : product}e-${scale}`, scale);
}

const numerics = strict({
  'gcd(numeric, numeric) numeric': commonNumericDivisor,
  'lcm(numeric, numeric) numeric': commonNumericMultiple,
  'width_bucket(float8, float8, float8, int4) int4': (operand: number, low: number, high: number, count: number) => {
    if ([operand, low, high].some(Number.isNaN)) {
      throw new SqlError('2201G', 'operand, lower bound, and upper bound cannot be NaN');
    }
    if (!Number.isFinite(low) || !Number.isFinite(high)) {
      throw new SqlError('2201G', 'lower and upper bounds must be finite');
    }
    return bucketOfFloats(operand, low, high, count);
  },
  'ceil(numeric) numeric': ceiling,
  'ceiling(numeric) numeric': ceiling,
  'floor(numeric) numeric': floor,
  'round(numeric) numeric': (x: Numeric) => roundNumeric(x, 0),
  'round(numeric, int4) numeric': (x: Numeric, scale: number) => roundNumeric(x, placesOf(scale)),
  'trunc(numeric) numeric': (x: Numeric) => truncateNumeric(x, 0),
  'trunc(numeric, int4) numeric': (x: Numeric, scale: number) => truncateNumeric(x, placesOf(scale)),
  'div(numeric, numeric) numeric': wholeQuotient,
  'sign(numeric) numeric': ({ value }: Numeric) =>
    numericOf(value.isNaN() ? Number.NaN : value.isZero() ? 0 : value.isNegative() ? -1 : 1),
  'sqrt(numeric) numeric': squareRoot,
  'exp(numeric) numeric': exponential,
  'ln(numeric) numeric': naturalLogarithm,
  'log(numeric) numeric': (x: Numeric) => logarithm(numericOf(10), x),
  'log10(numeric) numeric': (x: Numeric) => logarithm(numericOf(10), x),
  'log(numeric, numeric) numeric': logarithm,
  'power(numeric, numeric) numeric': powerOfNumerics,
  'pow(numeric, numeric) numeric': powerOfNumerics,
  'scale(numeric) int4': ({ value, scale }: Numeric) => (value.isFinite() ? scale : null),
  'min_scale(numeric) int4': ({ value }: Numeric) => (value.isFinite() ? value.decimalPlaces() : null),
  'trim_scale(numeric) numeric': ({ value }: Numeric) =>
    numericOf(value, value.isFinite() ? Math.max(0, value.decimalPlaces()) : 0),
  'width_bucket(numeric, numeric, numeric, int4) int4': bucket,
});

function bucketOfFloats(operand: number, low: number, high: number, count: number): number {
  if (count <= 0) throw new SqlError('2201G', 'count must be greater than zero');
  if (low === high) throw new SqlError('2201G', 'lower bound cannot equal upper bound');
  const [from, to] = low < high ? [operand - low, high - low] : [low - operand, low - high];
  if (from < 0) return 0;
  return from >= to
    ? Number(integerOf(count + 1, types.int4))
    : Math.min(Math.floor(count * (from / to)), count - 1) + 1;
}

/** Which of `count` equal parts from `low` to `high`; 0 below, count + 1 above. */
function bucket(operand: Numeric, low: Numeric, high: Numeric, count: number): number {
  if (count <= 0) throw new SqlError('2201G', 'count must be greater than zero');
  if ([operand, low, high].some(({ value }) => value.isNaN()))
    throw new SqlError('2201G', 'operand, lower bound, and upper bound cannot be NaN');
  if (!low.value.isFinite() || !high.value.isFinite())
    throw new SqlError('2201G', 'lower and upper bounds must be finite');
  const direction = compareNumerics(low, high);
  if (direction === 0) throw new SqlError('2201G', 'lower bound cannot equal upper bound');
  const sign = direction < 0 ? 1 : -1;
  if (compareNumerics(operand, low) * sign < 0) return 0;
  if (compareNumerics(operand, high) * sign >= 0) return Number(integerOf(count + 1, types.int4));
  const share = operand.value.minus(low.value).times(count);
  const width = high.value.minus(low.value);
  return Number(divideFloor(share.abs().toFixed(), width.abs().toFixed())) + 1;
}

function divideFloor(a: string, b: string): bigint {
  const [x, y] = [numericOf(a), numericOf(b)];
  const shift = Math.max(x.value.decimalPlaces(), y.value.decimalPlaces(), 0);
  return unscaled(x.value, shift) / unscaled(y.value, shift);
}

type Real = (x: number) => number;

/** float.c: NaN goes through; an infinite result of a finite argument is an overflow. */
function real(compute: Real): Real {
  return (x: number) => {
    const result = compute(x);
    if (!Number.isNaN(x) && Number.isFinite(x) && !Number.isFinite(result)) {
      throw new SqlError('22003', 'value out of range: overflow');
    }
    return result;
  };
}

/** Outside its domain a function gives NaN in C and an error in SQL. */
function within(compute: Real, isInside: (x: number) => boolean): Real {
  return (x: number) => {
    if (!Number.isNaN(x) && !isInside(x)) throw new SqlError('22003', 'input is out of range');
    return compute(x);
  };
}

function positive(compute: Real): Real {
  return (x: number) => {
    if (x === 0) throw new SqlError('2201E', 'cannot take logarithm of zero');
    if (x < 0) throw new SqlError('2201E', 'cannot take logarithm of a negative number');
    return compute(x);
  };
}

function exponentialOfFloat(x: number): number {
  const result = Math.exp(x);
  if (Number.isFinite(x) && !Number.isFinite(result)) throw new SqlError('22003', 'value out of range: overflow');
  if (Number.isFinite(x) && result === 0) throw new SqlError('22003', 'value out of range: underflow');
  return result;
}

const reals = strict({
  'ceil(float8) float8': Math.ceil,
  'ceiling(float8) float8': Math.ceil,
  'floor(float8) float8': Math.floor,
  'round(float8) float8': (x: number) => (Number.isFinite(x) ? signedZero(roundHalfEven(x), x) : x),
  'trunc(float8) float8': Math.trunc,
  'sign(float8) float8': (x: number) => (x > 0 ? 1 : x < 0 ? -1 : 0),
  'sqrt(float8) float8': (x: number) => {
    if (x < 0) throw new SqlError('2201F', 'cannot take square root of a negative number');
    return Math.sqrt(x);
  },
  'cbrt(float8) float8': Math.cbrt,
  'exp(float8) float8': exponentialOfFloat,
  'ln(float8) float8': positive(Math.log),
  'log(float8) float8': positive(Math.log10),
  'log10(float8) float8': positive(Math.log10),
  'power(float8, float8) float8': powerOfFloats,
  'pow(float8, float8) float8': powerOfFloats,
  'degrees(float8) float8': real((x) => x / (Math.PI / 180)),
  'radians(float8) float8': real((x) => x * (Math.PI / 180)),
  'pi() float8': () => Math.PI,
  'sin(float8) float8': within(Math.sin, Number.isFinite),
  'cos(float8) float8': within(Math.cos, Number.isFinite),
  'tan(float8) float8': within(Math.tan, Number.isFinite),
  'cot(float8) float8': within((x) => 1 / Math.tan(x), Number.isFinite),
  'asin(float8) float8': within(Math.asin, (x) => Math.abs(x) <= 1),
  'acos(float8) float8': within(Math.acos, (x) => Math.abs(x) <= 1),
  'atan(float8) float8': Math.atan,
  'atan2(float8, float8) float8': Math.atan2,
  'sinh(float8) float8': Math.sinh,
  'cosh(float8) float8': Math.cosh,
  'tanh(float8) float8': Math.tanh,
});

function signedZero(result: number, x: number): number {
  return result === 0 && x < 0 ? -0 : result;
}

const integers = strict({
  'factorial(int8) numeric': (n: bigint) => {
    if (n < 0n) throw new SqlError('22003', 'factorial of a negative number is undefined');
    if (n > 32_177n) throw new SqlError('22003', 'value overflows numeric format');
    let result = 1n;
    for (let i = 2n; i <= n; i += 1n) result *= i;
    return numericOf(result);
  },
});
const built: Record<string, Plain> = {};
for (const type of [types.int4, types.int8]) {
  built[`gcd(${type.name}, ${type.name}) ${type.name}`] = (a: Whole, b: Whole) =>
    integerOf(commonDivisor(BigInt(a), BigInt(b)), type);
  built[`lcm(${type.name}, ${type.name}) ${type.name}`] = (a: Whole, b: Whole) => {
    const [x, y] = [BigInt(a), BigInt(b)];
    if (x === 0n || y === 0n) return integerOf(0, type);
    const product = (x / commonDivisor(x, y)) * y;
    return integerOf(product < 0n ? -product : product, type);
  };
}

function commonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x < 0n ? -x : x;
}

export const mathFunctions: readonly Signature[] = [
  ...numerics,
  ...reals,
  ...integers,
  ...strict(built),
  ...volatile({ 'setseed(float8) void': () => null }),
];
