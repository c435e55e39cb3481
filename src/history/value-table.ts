/**
 * Dense IDs of pairs of a key and a value: in a history where each value is written once, a pair names a version. Integers are kept as
 * such; every other value is kept as its canonical text. Two equal values of one key have one ID, and no others have.
 */
import { Float64Column, Int32Column } from './growing-column.ts';
import { textAt, type TextPool, type Texts } from './text-pool.ts';
import { canonicalText, type Value } from './value.ts';

/** Codes from here on, two apart because doubles are, stand for texts; below is the integer itself. */
const textCodeMin = 2 ** 53;

/** By value ID: its key, and the integer or the code of its text. */
export interface ValueColumns {
  readonly keys: Int32Array;
  readonly codes: Float64Array;
}

export function valueAt({ codes }: ValueColumns, texts: Texts, id: number): Value {
  const code = codes[id] as number;
  return code < textCodeMin ? code : (JSON.parse(textAt(texts, (code - textCodeMin) / 2)) as Value);
}

/** Is it a code that `valueAt` understands, with so many texts? */
export function isValueCode(code: number, textCount: number): boolean {
  const text = (code - textCodeMin) / 2;
  return Number.isSafeInteger(code) || (Number.isSafeInteger(text) && text >= 0 && text < textCount);
}

export class ValueTable {
  readonly #texts: TextPool;
  readonly #keys = new Int32Column();
  readonly #codes = new Float64Column();
  /** Pairs of ID + 1, 0 where nothing is, and the hash: what is passed over on the way is mostly not looked up. At most half full. */
  #table = new Int32Array(2 * capacityMin);

  constructor(texts: TextPool) {
    this.#texts = texts;
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
    const table = this.#table;
    const mask = table.length - 2;
    const hash = hashOf(key, code);
    let slot = (hash << 1) & mask;
    for (let entry = table[slot] as number; entry !== 0; entry = table[slot] as number) {
      if (table[slot + 1] === hash && this.#codes.array[entry - 1] === code && this.#keys.array[entry - 1] === key)
        return entry - 1;
      slot = (slot + 2) & mask;
    }
    const id = this.size;
    table[slot] = id + 1;
    table[slot + 1] = hash;
    this.#keys.push(key);
    this.#codes.push(code);
    if (4 * this.size > table.length) this.#rehash();
    return id;
  }

  valueOf(id: number): Value {
    return valueAt(this.columns(), this.#texts.columns(), id);
  }

  columns(): ValueColumns {
    return { keys: this.#keys.taken(), codes: this.#codes.taken() };
  }

  #codeOf(value: Value): number {
    if (Number.isSafeInteger(value)) return value as number;
    return textCodeMin + 2 * this.#texts.of(canonicalText(value));
  }

  #rehash(): void {
    const old = this.#table;
    const table = new Int32Array(2 * old.length);
    const mask = table.length - 2;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue;
      let slot = ((old[from + 1] as number) << 1) & mask;
      while (table[slot] !== 0) slot = (slot + 2) & mask;
      table[slot] = old[from] as number;
      table[slot + 1] = old[from + 1] as number;
    }
    this.#table = table;
  }
}

const capacityMin = 32;

function hashOf(key: number, code: number): number {
  const high = Math.floor(code / 0x1_0000_0000);
  let hash = Math.imul((code | 0) ^ Math.imul(high, 0x27d4eb2f), 0x2c1b3c6d) ^ Math.imul(key + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x297a2d39);
  return hash ^ (hash >>> 15);
}
