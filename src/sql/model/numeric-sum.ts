/** Exact sums of decimals without a decimal for every step: integers in units of one power of ten add up as numbers. */
import { addNumerics, numericOf, type Numeric } from './numeric.ts';

/** Sums beyond it move to `#rest`: another integer below 10^15 still fits a number exactly. */
const partMax = Number.MAX_SAFE_INTEGER - 1e15;

export class NumericSum {
  /** By scale: the sum in units of 10^-scale. */
  readonly #parts = new Map<number, number>();
  #lastScale = 0;
  #lastPart = 0;
  #rest: Numeric | null = null;
  #scale = 0;

  add(number: Numeric): void {
    const { units, scale } = number;
    if (scale > this.#scale) this.#scale = scale;
    if (units === undefined || Number.isNaN(units))
      this.#rest = this.#rest === null ? number : addNumerics(this.#rest, number);
    else this.#addUnits(units, scale);
  }

  #addUnits(units: number, scale: number): void {
    if (scale !== this.#lastScale) {
      this.#parts.set(this.#lastScale, this.#lastPart);
      this.#lastScale = scale;
      this.#lastPart = this.#parts.get(scale) ?? 0;
    }
    const sum = this.#lastPart + units;
    if (Math.abs(sum) <= partMax) {
      this.#lastPart = sum;
      return;
    }
    this.#lastPart = 0;
    const part = inUnits(sum, scale);
    this.#rest = this.#rest === null ? part : addNumerics(this.#rest, part);
  }

  result(): Numeric {
    this.#parts.set(this.#lastScale, this.#lastPart);
    let sum = this.#rest ?? numericOf(0);
    for (const [scale, part] of this.#parts) if (part !== 0) sum = addNumerics(sum, inUnits(part, scale));
    return numericOf(sum.value, this.#scale);
  }
}

function inUnits(part: number, scale: number): Numeric {
  return numericOf(`${part}e-${scale}`, scale);
}
