/** How many expressions the reader evaluates: of one unit, and of all, so that many large units do not take minutes. */

/** Thrown where a unit takes more than that, or is too deep. */
export class TooLarge extends Error {}

/** Of all units, in the largest units. */
const largestUnits = 5;
/** What each unit has, whatever the units before it took: this part of the largest unit. */
const leastPart = 1 / 40;

export class StepLimit {
  readonly #unitMax: number;
  #ofAll: number;
  #ofUnit: number;
  #left: number;

  /** @param unitMax of one unit */
  constructor(unitMax: number) {
    this.#unitMax = unitMax;
    this.#ofAll = unitMax * largestUnits;
    this.#ofUnit = unitMax;
    this.#left = unitMax;
  }

  /** Begins another unit: it may take its part of what the units before it left. */
  restart(): void {
    this.#ofAll -= this.#ofUnit - this.#left;
    const part = Math.max(this.#ofAll / largestUnits, this.#unitMax * leastPart);
    this.#ofUnit = Math.min(this.#unitMax, Math.floor(part));
    this.#left = this.#ofUnit;
  }

  /** @throws TooLarge */
  take(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    const isFirst = this.#ofUnit === this.#unitMax;
    const rest = isFirst ? '' : ', and units before it took most of what all units may take';
    throw new TooLarge(`a unit is too large: it has too many paths${rest}`);
  }
}
