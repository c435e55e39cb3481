/** Variance: exactly as numeric.c computes it, and for doubles by Youngs and Cramer's updates as float.c does. */
import { divideNumerics, numericOf, type Numeric, type SqlValue } from '../model/index.ts';
import { squareRootToScale } from './numeric-functions.ts';

/** Of a sample the divisor is one less. */
export type Sample = 'all' | 'sample';

/** `spread` is N times the sum of squares less the square of the sum. `null`: too few values. */
export function varianceOfNumerics(spread: Numeric, count: bigint, sample: Sample): Numeric | null {
  if (count === 0n || (sample === 'sample' && count === 1n)) return null;
  if (!spread.value.isFinite()) return numericOf(Number.NaN);
  if (spread.value.lte(0)) return numericOf(0);
  const divisor = count * (sample === 'sample' ? count - 1n : count);
  return divideNumerics(spread, numericOf(divisor));
}

export function deviation(variance: Numeric): Numeric {
  return variance.value.isZero() || !variance.value.isFinite() ? variance : squareRootToScale(variance, variance.scale);
}

export function varianceOfFloats(
  sample: Sample,
  isDeviation: boolean,
): { readonly add: (values: readonly SqlValue[]) => void; readonly finish: () => SqlValue } {
  let count = 0;
  let sum = 0;
  let squares = 0;
  return {
    add: ([value = null]) => {
      if (value === null) return;
      count += 1;
      const number = value as number;
      sum += number;
      if (count > 1) {
        const distance = number * count - sum;
        squares += (distance * distance) / (count * (count - 1));
      } else if (!Number.isFinite(number)) {
        squares = Number.NaN;
      }
    },
    finish: () => {
      const divisor = sample === 'sample' ? count - 1 : count;
      if (divisor <= 0) return null;
      const variance = squares / divisor;
      return isDeviation ? Math.sqrt(variance) : variance;
    },
  };
}
