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

  /** The value itself, which must not change. */
  at(number: number): Value {
    return this.#values[number] as Value;
  }
}

/** Would `copyValue` make `known` of it? `false` may also be said of what takes a closer look. */
export function isCopyOf(value: unknown, known: Value): boolean {
  if (typeof known !== 'object' || known === null) return Object.is(value, known);
  if (typeof value !== 'object' || value === null) return false;
  if (isArray(known))
    return (
      Array.isArray(value) &&
      value.length === known.length &&
      known.every((part, i) => isCopyOf(value[i] as unknown, part))
    );
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  const names = Object.keys(known);
  const given = Object.keys(value);
  return (
    names.length === given.length &&
    names.every(
      (name, i) => given[i] === name && isCopyOf((value as Record<string, unknown>)[name], known[name] as Value),
    )
  );
}

const isArray = (value: Value): value is readonly Value[] => Array.isArray(value);
