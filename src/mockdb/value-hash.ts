/** A 53-bit hash of a sequence of values; two independent 32-bit FNV-1a-like streams with different primes. */
import type { Value } from '../history/index.ts';

const numberBytes = new DataView(new ArrayBuffer(8));

export class ValueHash {
  #a = 0x811c9dc5;
  #b = 0x9747b28c;

  digest(): number {
    return (this.#a >>> 0) * 2 ** 21 + ((this.#b ^ (this.#b >>> 16)) & 0x1fffff);
  }

  addNumber(value: number): void {
    if ((value | 0) === value) return this.#add(value);
    numberBytes.setFloat64(0, value);
    this.#add(numberBytes.getInt32(0));
    this.#add(numberBytes.getInt32(4));
  }

  addValue(value: Value): void {
    switch (typeof value) {
      case 'number':
        this.#add(1);
        return this.addNumber(value);
      case 'string':
        return this.#addText(2, value);
      case 'boolean':
        return this.#add(value ? 3 : 4);
      default:
        return this.#addObject(value);
    }
  }

  #addObject(value: Exclude<Value, string | number | boolean>): void {
    if (value === null) return this.#add(5);
    if (Array.isArray(value)) {
      this.#add(6);
      this.#add(value.length);
      for (const part of value as readonly Value[]) this.addValue(part);
      return;
    }
    this.#add(7);
    const named = value as { readonly [name: string]: Value };
    for (const name of Object.keys(named).toSorted()) {
      this.#addText(8, name);
      this.addValue(named[name] as Value);
    }
    this.#add(9);
  }

  #addText(kind: number, text: string): void {
    this.#add(kind);
    this.#add(text.length);
    for (let i = 0; i < text.length; i += 1) this.#add(text.charCodeAt(i));
  }

  #add(word: number): void {
    this.#a = Math.imul(this.#a ^ word, 0x01000193);
    this.#a ^= this.#a >>> 15;
    this.#b = Math.imul(this.#b ^ word, 0x5bd1e995);
    this.#b ^= this.#b >>> 13;
  }
}
