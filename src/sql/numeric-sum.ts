/**
 * Exact sums of decimals without a decimal for every step: a Decimal is words of seven digits (`d`) from the exponent `e` down, so one of two
 * words at most is an integer below 10^14 in units of a power of 10^7, and integers of one unit add up as numbers.
 */
import { addNumerics, numericOf, type Numeric } from './numeric.ts';

const wordDigits = 7;
const wordBase = 1e7;
/** Sums beyond it move to `#rest`: another integer below 10^14 still fits a number exactly. */
const partMax = Number.MAX_SAFE_INTEGER - 1e14;

export class NumericSum {
  /** By unit: the sum of integers in units of 10^(7 * unit). */
  readonly #parts = new Map<number, number>();
  #lastUnit = 0;
  #lastPart = 0;
  #rest: Numeric | null = null;
  #scale = 0;

  add(number: Numeric): void {
    const { value, scale } = number;
    if (scale > this.#scale) this.#scale = scale;
    // NaN and infinities have no words.
    const words = value.d as readonly number[] | null;
    if (words === null || words.length > 2) {
      this.#rest = this.#rest === null ? number : addNumerics(this.#rest, number);
      return;
    }
    const unit = Math.floor(value.e / wordDigits) - words.length + 1;
    const [first = 0, second] = words;
    this.#addTo(unit, value.s * (second === undefined ? first : first * wordBase + second));
  }

  #addTo(unit: number, integer: number): void {
    if (unit !== this.#lastUnit) {
      this.#parts.set(this.#lastUnit, this.#lastPart);
      this.#lastUnit = unit;
      this.#lastPart = this.#parts.get(unit) ?? 0;
    }
    const sum = this.#lastPart + integer;
    if (Math.abs(sum) <= partMax) {
      this.#lastPart = sum;
      return;
    }
    this.#lastPart = 0;
    const part = inUnits(sum, unit);
    this.#rest = this.#rest === null ? part : addNumerics(this.#rest, part);
  }

  result(): Numeric {
    this.#parts.set(this.#lastUnit, this.#lastPart);
    let sum = this.#rest ?? numericOf(0);
    for (const [unit, part] of this.#parts) if (part !== 0) sum = addNumerics(sum, inUnits(part, unit));
    return { ...sum, scale: this.#scale };
  }
}

function inUnits(part: number, unit: number): Numeric {
  return numericOf(`${part}e${unit * wordDigits}`);
}
