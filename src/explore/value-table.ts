/** Values by small numbers: equal texts have equal numbers, so that what a session read can be looked up. */
import { copyValue, type Value } from '../history/index.ts';

export class ValueTable {
  readonly #numbers = new Map<string, number>();
  readonly #values: Value[] = [];

  get size(): number {
    return this.#values.length;
  }

  /** The number of a value; the order of names counts. @throws InputError `history/value` for what JSON cannot carry */
  numberOf(value: unknown): number {
    const copy = copyValue(value);
    const text = JSON.stringify(copy);
    let number = this.#numbers.get(text);
    if (number === undefined) this.#numbers.set(text, (number = this.#values.push(copy) - 1));
    return number;
  }

  /** The value itself, which nobody may change. */
  at(number: number): Value {
    return this.#values[number] as Value;
  }
}
