/** Roots, powers and logarithms, with the scales of PostgreSQL's numeric.c: at least 16 significant digits. */
import { Decimal } from 'decimal.js';
import {
  divisionByZero,
  exactDecimal,
  formatNumeric,
  notSupported,
  numericOf,
  roundNumeric,
  weightOf,
  type Numeric,
  SqlError,
} from '../model/index.ts';

const significantDigits = 16;
const scaleMax = 1000;
/** Guard digits beyond what is shown. */
const guard = 20;

/** The library turns rounding off while it computes; where it was stopped, rounding is still off until an exponential ends. */
export function resetDecimals(): void {
  new Decimal(1).exp();
}

function limited(scale: number, ...least: readonly number[]): number {
  return Math.min(Math.max(scale, ...least, 0), scaleMax);
}

/** The library computes to significant digits; `whole` of them stand before the point. */
function withDigits(scale: number, whole: number, compute: (exact: (value: Decimal) => Decimal) => Decimal): Numeric {
  const Wide = Decimal.clone({
    precision: Math.max(1, scale + Math.max(0, Math.ceil(whole)) + guard),
    toExpNeg: -9e15,
    toExpPos: 9e15,
    minE: -9e15,
    maxE: 9e15,
  });
  const result = withinPrecision(() => compute((value) => new Wide(value)));
  return roundNumeric(numericOf(exactDecimal(result), scale), scale);
}

/** The library knows ln(10) to a thousand digits. */
function withinPrecision(compute: () => Decimal): Decimal {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof Error) || !/Precision limit exceeded/.test(error.message)) throw error;
    resetDecimals();
    throw notSupported('a logarithm or power to more than a thousand digits');
  }
}

export function squareRoot(number: Numeric): Numeric {
  const { value } = number;
  if (value.isNaN()) return number;
  if (value.isNegative() && !value.isZero()) {
    throw new SqlError('2201F', 'cannot take square root of a negative number');
  }
  if (!value.isFinite()) return number;
  const { weight } = weightOf(value);
  const rootWeight = weight >= 0 ? weight * 2 + 1 : 1 - Math.trunc((1 - weight * 4) / 2);
  const scale = limited(significantDigits - rootWeight, number.scale);
  return withDigits(scale, value.e / 2 + 2, (wide) => wide(value).sqrt());
}

export function squareRootToScale({ value }: Numeric, scale: number): Numeric {
  return withDigits(scale, value.e / 2 + 2, (wide) => wide(value).sqrt());
}

export function exponential(number: Numeric): Numeric {
  const { value } = number;
  if (value.isNaN() || (!value.isFinite() && !value.isNegative())) return number;
  if (!value.isFinite()) return numericOf(0);
  const digits = Number(value) * Math.LOG10E;
  if (digits > 131_072) throw new SqlError('22003', 'value overflows numeric format');
  const scale = limited(significantDigits - Math.trunc(Math.max(-2000, Math.min(2000, digits))), number.scale);
  if (digits < -scale - 2) return numericOf(0, scale);
  return withDigits(scale, Math.ceil(digits) + 2, (wide) => wide(value).exp());
}

export function naturalLogarithm(number: Numeric): Numeric {
  const { value } = number;
  checkLogarithm(number);
  if (!value.isFinite()) return number;
  const scale = limited(significantDigits - logarithmWeight(value), number.scale);
  return withDigits(scale, 8, (wide) => wide(value).ln());
}

export function logarithm(base: Numeric, number: Numeric): Numeric {
  checkLogarithm(base);
  checkLogarithm(number);
  if (base.value.isNaN() || number.value.isNaN()) return numericOf(Number.NaN);
  if (!base.value.isFinite()) return number.value.isFinite() ? numericOf(0) : numericOf(Number.NaN);
  if (!number.value.isFinite()) return number;
  if (base.value.eq(1)) throw divisionByZero();
  const weight = logarithmWeight(number.value) - logarithmWeight(base.value);
  const scale = limited(significantDigits - weight, base.scale, number.scale);
  return withDigits(scale, 20, (wide) => wide(number.value).ln().div(wide(base.value).ln()));
}

function checkLogarithm({ value }: Numeric): void {
  if (value.isNaN()) return;
  if (value.isZero()) throw new SqlError('2201E', 'cannot take logarithm of zero');
  if (value.isNegative()) throw new SqlError('2201E', 'cannot take logarithm of a negative number');
}

/** The decimal weight of the logarithm: numeric.c, `estimate_ln_dweight`. */
function logarithmWeight(value: Decimal): number {
  if (value.gte('0.9') && value.lte('1.1')) {
    const distance = value.minus(1);
    return distance.isZero() ? 0 : distance.e;
  }
  const approximate = Math.abs(Math.log(Number(value.toPrecision(8).split('e')[0])));
  const natural =
    Number.isFinite(approximate) && value.e < 300 && value.e > -300
      ? Math.abs(Math.log(Number(value)))
      : Math.abs(value.e * Math.LN10);
  return Math.trunc(Math.log10(natural));
}

/** @throws SqlError 2201F, 22003, 22012 */
export function powerOfNumerics(base: Numeric, exponent: Numeric): Numeric {
  const special = specialPower(base, exponent);
  if (special !== undefined) return special;
  const [x, y] = [base.value, exponent.value];
  if (x.isZero() && y.isNegative()) throw new SqlError('2201F', 'zero raised to a negative power is undefined');
  if (x.isNegative() && !y.isInteger()) {
    throw new SqlError('2201F', 'a negative number raised to a non-integer power yields a complex result');
  }
  if (x.isZero())
    return numericOf(y.isZero() ? 1 : 0, limited(significantDigits, base.scale, y.isInteger() ? 0 : exponent.scale));
  const digits = powerDigits(x.abs(), y);
  if (digits > 131_072) throw new SqlError('22003', 'value overflows numeric format');
  // Larger exponents go by logarithms (numeric.c, `power_var`).
  const isInt4 = y.isInteger() && y.gte(-2_147_483_648) && y.lte(2_147_483_647);
  const scale = isInt4
    ? limited(significantDigits, base.scale)
    : limited(significantDigits - Math.trunc(digits), base.scale, exponent.scale);
  if (digits < -scale - 2) return numericOf(0, scale);
  return withDigits(scale, Math.ceil(digits) + 4, (wide) => wide(x).pow(wide(y)));
}

/** How many digits x ^ y has before its point, estimated; below 0: zeros behind it. */
function powerDigits(x: Decimal, y: Decimal): number {
  const distance = x.minus(1);
  // Close to 1 a float has lost the distance, by which a large exponent is multiplied.
  if (distance.isZero()) return 0;
  if (distance.e < -8) return Number(y.times(distance)) * Math.LOG10E;
  const mantissa = Number(x.toExponential().split('e')[0]?.slice(0, 18) ?? '1');
  return Number(y) * (x.e + Math.log10(mantissa));
}

function specialPower(base: Numeric, exponent: Numeric): Numeric | undefined {
  const [x, y] = [base.value, exponent.value];
  if (x.isFinite() && y.isFinite()) return undefined;
  if (x.isNaN()) return y.isZero() ? numericOf(1) : base;
  if (y.isNaN()) return x.eq(1) ? numericOf(1) : exponent;
  const power = powerOfFloats(Number(formatNumeric(base)), Number(formatNumeric(exponent)));
  return numericOf(power);
}

/** float.c, `dpow`. @throws SqlError 2201F, 22003 */
export function powerOfFloats(x: number, y: number): number {
  if (x === 1 || y === 0) return 1;
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === 0 && y < 0) throw new SqlError('2201F', 'zero raised to a negative power is undefined');
  if (x < 0 && Number.isFinite(y) && !Number.isInteger(y)) {
    throw new SqlError('2201F', 'a negative number raised to a non-integer power yields a complex result');
  }
  if (Math.abs(x) === 1 && !Number.isFinite(y)) return 1;
  const result = x ** y;
  if (!Number.isFinite(result) && Number.isFinite(x) && Number.isFinite(y)) {
    throw new SqlError('22003', 'value out of range: overflow');
  }
  if (result === 0 && x !== 0 && Number.isFinite(x) && Number.isFinite(y)) {
    throw new SqlError('22003', 'value out of range: underflow');
  }
  return result;
}
