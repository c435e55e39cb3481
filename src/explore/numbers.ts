/** The keys and values of a program's runs by small numbers, so that what a session read can be compared and looked up. */
import type { Key, Value } from '../history/index.ts';
import { copyAgain } from './plain-copy.ts';
import { isCopyOf, ValueTable } from './value-table.ts';

export class Numbers {
  readonly #initialValues: ReadonlyMap<Key, Value>;
  readonly #keyIds = new Map<Key, number>();
  readonly #keys: Key[] = [];
  #values = new ValueTable();
  /** Per key: the number of its initial value. */
  readonly #initial: number[] = [];

  /** @param initial the values that keys have before the first transaction; the others are `null` */
  constructor(initial: ReadonlyMap<Key, Value>) {
    this.#initialValues = initial;
  }

  keyId(key: Key): number {
    let id = this.#keyIds.get(key);
    if (id === undefined) this.#keyIds.set(key, (id = this.#keys.push(key) - 1));
    return id;
  }

  keyOf(key: number): Key {
    return this.#keys[key] as Key;
  }

  /** Those that have got a number since all were forgotten. */
  get keys(): readonly Key[] {
    return this.#keys;
  }

  /** The number of the initial value of a key. */
  initialOf(key: number): number {
    return (this.#initial[key] ??= this.#values.numberOf(this.#initialValues.get(this.keyOf(key)) ?? null));
  }

  /** @throws InputError `history/value` for what JSON cannot carry */
  valueNumber(value: unknown): number {
    return this.#values.numberOf(value);
  }

  /** A value by its number. */
  copyOf(value: number): Value {
    return copyAgain(this.#values.at(value));
  }

  /** Is this the value with that number? */
  isValue(number: number, value: unknown): boolean {
    return isCopyOf(value, this.#values.at(number));
  }

  /** How many keys and values have numbers. */
  get size(): number {
    return this.#keys.length + this.#values.size;
  }

  /** Numbers them anew, from the next run on. */
  forget(): void {
    this.#keyIds.clear();
    this.#keys.length = 0;
    this.#initial.length = 0;
    this.#values = new ValueTable();
  }
}
