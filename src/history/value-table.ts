/**
 * Dense IDs of pairs of a key and a value: in a history where each value is written once, a pair names a version. Integers are kept as
 * such; every other value is kept as its canonical text. Two equal values of one key have one ID, and no others have.
 */
import { Float64Column, Int32Column } from './growing-column.ts';
import type { TextPool } from './text-pool.ts';
import { canonicalText, type Value } from './value.ts';

/** Codes from here on, two apart because doubles are, stand for texts; below is the integer itself. */
const textCodeMin = 2 ** 53;

export class ValueTable {
  readonly #texts: TextPool;
  readonly #keys: Int32Column;
  readonly #codes: Float64Column;
  /** ID + 1; 0 where nothing is. At most half full. */
  #table: Int32Array;

  constructor(texts: TextPool, keys = new Int32Column(), codes = new Float64Column()) {
    this.#texts = texts;
    this.#keys = keys;
    this.#codes = codes;
    let capacity = 1_024;
    while (capacity < 2 * keys.length) capacity *= 2;
    this.#table = this.#filled(capacity);
  }

  get size(): number {
    return this.#keys.length;
  }

  of(key: number, value: Value): number {
    return this.ofCode(key, this.#codeOf(value));
  }

  /** @param integer a safe integer, not -0 */
  ofInteger(key: number, integer: number): number {
    return this.ofCode(key, integer);
  }

  /** @param text ID of the canonical text of a value that is no safe integer */
  ofText(key: number, text: number): number {
    return this.ofCode(key, textCodeMin + 2 * text);
  }

  ofCode(key: number, code: number): number {
    const mask = this.#table.length - 1;
    let slot = hashOf(key, code) & mask;
    for (let entry = this.#table[slot] as number; entry !== 0; entry = this.#table[slot] as number) {
      if (this.#codes.array[entry - 1] === code && this.#keys.array[entry - 1] === key) return entry - 1;
      slot = (slot + 1) & mask;
    }
    const id = this.size;
    this.#table[slot] = id + 1;
    this.#keys.push(key);
    this.#codes.push(code);
    if (2 * this.size > this.#table.length) this.#table = this.#filled(2 * this.#table.length);
    return id;
  }

  keyOf(id: number): number {
    return this.#keys.array[id] as number;
  }

  valueOf(id: number): Value {
    const code = this.#codes.array[id] as number;
    return code < textCodeMin ? code : (JSON.parse(this.#texts.text((code - textCodeMin) / 2)) as Value);
  }

  /** What a file keeps of it. */
  columns(): { readonly keys: Int32Array; readonly codes: Float64Array } {
    return { keys: this.#keys.taken(), codes: this.#codes.taken() };
  }

  #codeOf(value: Value): number {
    if (Number.isSafeInteger(value)) return value as number;
    return textCodeMin + 2 * this.#texts.of(canonicalText(value));
  }

  #filled(capacity: number): Int32Array {
    const table = new Int32Array(capacity);
    const mask = capacity - 1;
    for (let id = 0; id < this.size; id += 1) {
      let slot = hashOf(this.#keys.array[id] as number, this.#codes.array[id] as number) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = id + 1;
    }
    return table;
  }
}

function hashOf(key: number, code: number): number {
  const high = Math.floor(code / 0x1_0000_0000);
  let hash = Math.imul((code | 0) ^ Math.imul(high, 0x27d4eb2f), 0x2c1b3c6d) ^ Math.imul(key + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x297a2d39);
  return hash ^ (hash >>> 15);
}
