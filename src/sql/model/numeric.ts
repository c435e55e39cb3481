/**
 * Exact decimals: the library's number, and the scale with which SQL shows it. Scales follow PostgreSQL's numeric.c: addition keeps the
 * larger, multiplication adds them, division gives at least 16 significant digits.
 */
import { Decimal } from 'decimal.js';
import { SqlError } from './sql-error.ts';

export interface Numeric {
  readonly kind: 'numeric';
  readonly value: Decimal;
  /** Digits after the point. */
  readonly scale: number;
  /** The value times 10^scale, where that is an integer below 10^15; NaN: it is not. Absent: not computed. */
  readonly units?: number;
}

/** PostgreSQL's limits: 131072 digits before the point, 16383 after. */
const digitsMax = 131_072;
const scaleMax = 16_383;
const displayScaleMax = 1000;
const significantDigitsMin = 16;

const Exact = Decimal.clone({
  precision: digitsMax + 2 * scaleMax,
  rounding: Decimal.ROUND_HALF_UP,
  toExpNeg: -9e15,
  toExpPos: 9e15,
  minE: -9e15,
  maxE: 9e15,
});

/** A decimal whose sums and products are exact. Quotients and roots are not for it: see `divide`. */
export function exactDecimal(value: Decimal.Value): Decimal {
  return new Exact(value);
}

/** @throws SqlError 22003 where PostgreSQL's numeric ends */
export function numericOf(value: Decimal.Value | bigint, scale = 0): Numeric {
  const exact = new Exact(typeof value === 'bigint' ? value.toString() : value);
  if (exact.isFinite() && exact.e >= digitsMax) throw new SqlError('22003', 'value overflows numeric format');
  // Zero has no sign in SQL.
  return exact.isZero() ? new CountedNumeric(new Exact(0), scale, 0) : new CountedNumeric(exact, scale);
}

/** Its units are those of its own value and scale: a copy that is spread with others has none. */
class CountedNumeric implements Numeric {
  readonly kind = 'numeric';
  readonly value: Decimal;
  readonly scale: number;
  readonly #units: number;

  constructor(value: Decimal, scale: number, units = unitsOf(value, scale)) {
    this.value = value;
    this.scale = scale;
    this.#units = units;
  }

  get units(): number {
    return this.#units;
  }
}

/** The library's words have seven digits. */
const wordDigits = 7;
const wordBase = 10 ** wordDigits;
const unitsMax = 1e15;

function unitsOf({ d, e, s }: Decimal, scale: number): number {
  // NaN and infinities have no words.
  const words = d as readonly number[] | null;
  if (words === null || words.length > 2) return Number.NaN;
  const [first = 0, second] = words;
  const integer = second === undefined ? first : first * wordBase + second;
  const shift = (Math.floor(e / wordDigits) - words.length + 1) * wordDigits + scale;
  if (shift > 15 || shift < -15) return Number.NaN;
  // Both powers are exact, and so is a quotient that is an integer.
  const units = shift < 0 ? integer / 10 ** -shift : integer * 10 ** shift;
  return Number.isInteger(units) && units < unitsMax ? s * units : Number.NaN;
}

function isSmall({ units }: Numeric): boolean {
  return units !== undefined && !Number.isNaN(units);
}

const numericText = /^\s*([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?\s*$/;

/** `12.50`, `1e-3`, `NaN`, `-Infinity`; `undefined`: not a number. */
export function parseNumeric(text: string): Numeric | undefined {
  const match = numericText.exec(text);
  if (match === null) return parseSpecial(text.trim().toLowerCase());
  const [, sign = '', digits = '', exponent = '0'] = match;
  if (Math.abs(Number(exponent)) > digitsMax) throw new SqlError('22003', 'value overflows numeric format');
  const point = digits.indexOf('.');
  const fraction = point === -1 ? 0 : digits.length - point - 1;
  const scale = Math.max(0, fraction - Number(exponent));
  if (scale > scaleMax) return roundNumeric(numericOf(`${sign}${digits}e${exponent}`, scale), scaleMax);
  return numericOf(`${sign === '-' ? '-' : ''}${digits}e${exponent}`, scale);
}

function parseSpecial(word: string): Numeric | undefined {
  if (word === 'nan') return numericOf(Number.NaN);
  const infinite = /^([+-]?)inf(?:inity)?$/.exec(word);
  return infinite === null ? undefined : numericOf(infinite[1] === '-' ? -Infinity : Infinity);
}

export function formatNumeric(number: Numeric): string {
  const { value, scale, units } = number;
  if (units !== undefined && isSmall(number)) return formatUnits(units, scale);
  return value.isFinite() ? value.toFixed(scale) : value.toString();
}

function formatUnits(units: number, scale: number): string {
  if (scale === 0) return String(units);
  const digits = String(Math.abs(units)).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${units < 0 ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** NaN is equal to itself and above everything: PostgreSQL manual, 8.1.2. */
export function compareNumerics(a: Numeric, b: Numeric): number {
  if (a.scale === b.scale && a.units !== undefined && b.units !== undefined && isSmall(a) && isSmall(b))
    return a.units === b.units ? 0 : a.units < b.units ? -1 : 1;
  if (a.value.isNaN()) return b.value.isNaN() ? 0 : 1;
  if (b.value.isNaN()) return -1;
  return a.value.isFinite() && b.value.isFinite() ? compareDecimals(a.value, b.value) : a.value.comparedTo(b.value);
}

/** As `comparedTo` of finite numbers, which makes a copy of one of them. */
function compareDecimals(a: Decimal, b: Decimal): number {
  const [x, y] = [a.d, b.d];
  const [isZero, isOtherZero] = [x[0] === 0, y[0] === 0];
  if (isZero || isOtherZero) return isZero ? (isOtherZero ? 0 : -b.s) : a.s;
  if (a.s !== b.s) return a.s;
  if (a.e !== b.e) return a.e > b.e ? a.s : -a.s;
  const length = Math.min(x.length, y.length);
  for (let i = 0; i < length; i++) {
    if (x[i] !== y[i]) return (x[i] ?? 0) > (y[i] ?? 0) ? a.s : -a.s;
  }
  return x.length === y.length ? 0 : x.length > y.length ? a.s : -a.s;
}

/** Half away from zero; a negative scale rounds before the point and shows none after it. */
export function roundNumeric(number: Numeric, scale: number): Numeric {
  if (!number.value.isFinite()) return number;
  return numericOf(shiftRound(number.value, scale, Decimal.ROUND_HALF_UP), Math.max(0, scale));
}

export function truncateNumeric(number: Numeric, scale: number): Numeric {
  if (!number.value.isFinite()) return number;
  return numericOf(shiftRound(number.value, scale, Decimal.ROUND_DOWN), Math.max(0, scale));
}

function shiftRound(value: Decimal, scale: number, rounding: Decimal.Rounding): Decimal {
  if (scale >= 0) return value.toDecimalPlaces(scale, rounding);
  const unit = new Exact(10).pow(-scale);
  // The quotient by a power of ten is exact.
  return new Exact(`${value.toFixed()}e${scale}`).toDecimalPlaces(0, rounding).times(unit);
}

export function addNumerics(a: Numeric, b: Numeric): Numeric {
  return numericOf(a.value.plus(b.value), Math.max(a.scale, b.scale));
}

export function subtractNumerics(a: Numeric, b: Numeric): Numeric {
  return numericOf(a.value.minus(b.value), Math.max(a.scale, b.scale));
}

export function multiplyNumerics(a: Numeric, b: Numeric): Numeric {
  const product = numericOf(a.value.times(b.value), a.scale + b.scale);
  return product.scale > scaleMax ? roundNumeric(product, scaleMax) : product;
}

/** @throws SqlError 22012 */
export function divideNumerics(a: Numeric, b: Numeric): Numeric {
  if (!a.value.isFinite() || !b.value.isFinite()) return divideSpecial(a, b);
  if (b.value.isZero()) throw divisionByZero();
  return divideToScale(a, b, divisionScale(a, b));
}

/** The quotient, rounded half away from zero at `scale`. */
export function divideToScale(a: Numeric, b: Numeric, scale: number): Numeric {
  const shift = Math.max(a.scale, b.scale);
  const dividend = unscaled(a.value, shift) * 10n ** BigInt(scale);
  const divisor = unscaled(b.value, shift);
  const [top, bottom] = divisor < 0n ? [-dividend, -divisor] : [dividend, divisor];
  const magnitude = top < 0n ? -top : top;
  const quotient = (2n * magnitude + bottom) / (2n * bottom);
  return numericOf(`${top < 0n ? '-' : ''}${quotient}e-${scale}`, scale);
}

/** The value times 10^scale: a whole number, when scale covers its digits. */
export function unscaled(value: Decimal, scale: number): bigint {
  return BigInt(new Exact(`${value.toFixed()}e${scale}`).toFixed(0, Decimal.ROUND_DOWN));
}

function divideSpecial(a: Numeric, b: Numeric): Numeric {
  if (a.value.isNaN() || b.value.isNaN()) return numericOf(Number.NaN);
  if (b.value.isZero()) throw divisionByZero();
  if (!a.value.isFinite()) return numericOf(b.value.isFinite() ? a.value.times(b.value.s) : Number.NaN);
  return numericOf(0);
}

export function divisionByZero(): SqlError {
  return new SqlError('22012', 'division by zero');
}

/** numeric.c, `select_div_scale`: weights count digits of base 10000. */
function divisionScale(a: Numeric, b: Numeric): number {
  const first = weightOf(a.value);
  const second = weightOf(b.value);
  const weight = first.weight - second.weight - (first.digit <= second.digit ? 1 : 0);
  const scale = Math.max(significantDigitsMin - weight * 4, a.scale, b.scale, 0);
  return Math.min(scale, displayScaleMax);
}

/** The first digit of base 10000 and the power of 10000 that it counts; zero for zero. */
export function weightOf(value: Decimal): { readonly weight: number; readonly digit: number } {
  if (value.isZero()) return { weight: 0, digit: 0 };
  const weight = Math.floor(value.e / 4);
  const leading =
    value
      .abs()
      .toExponential(Math.max(0, value.sd() - 1))
      .split('e')[0] ?? '0';
  const digit = Math.floor(Number(`${leading}e${value.e - weight * 4}`));
  return { weight, digit };
}

/** The remainder has the sign of the dividend. @throws SqlError 22012 */
export function remainderOfNumerics(a: Numeric, b: Numeric): Numeric {
  if (a.value.isNaN() || b.value.isNaN()) return numericOf(Number.NaN);
  if (b.value.isZero()) throw divisionByZero();
  if (!a.value.isFinite()) return numericOf(Number.NaN);
  const scale = Math.max(a.scale, b.scale);
  if (!b.value.isFinite()) return { kind: 'numeric', value: a.value, scale };
  return numericOf(`${unscaled(a.value, scale) % unscaled(b.value, scale)}e-${scale}`, scale);
}

export function negateNumeric({ value, scale }: Numeric): Numeric {
  return numericOf(value.negated(), scale);
}
