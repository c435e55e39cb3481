/**
 * Records that live in columns, a typed array for each field, and are named by their position: no object for each, nothing for the garbage
 * collector to walk. What is released is given out again first, so memory is that of the most that lived at once.
 */

const capacityMin = 16;

/** A stack of numbers. */
export class IntStack {
  #items = new Int32Array(capacityMin);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: number): void {
    if (this.#length === this.#items.length) this.#items = grownInts(this.#items, 2 * this.#length);
    this.#items[this.#length] = item;
    this.#length += 1;
  }

  /** Only where there is one. */
  pop(): number {
    this.#length -= 1;
    return this.#items[this.#length];
  }
}

/** Which positions are taken. A table of records extends it with its columns and says how they grow. */
export abstract class Slots {
  readonly #free = new IntStack();
  #used = 0;
  #capacity = 0;

  /** How many records are in use. */
  get size(): number {
    return this.#used - this.#free.length;
  }

  /** A position; its fields hold what the last record left there. O(1) on average. */
  protected take(): number {
    if (this.#free.length > 0) return this.#free.pop();
    if (this.#used === this.#capacity) {
      this.#capacity = Math.max(capacityMin, 2 * this.#capacity);
      this.grow(this.#capacity);
    }
    this.#used += 1;
    return this.#used - 1;
  }

  protected give(slot: number): void {
    this.#free.push(slot);
  }

  protected abstract grow(capacity: number): void;
}

export function grownInts(array: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(capacity);
  grown.set(array);
  return grown;
}

export function grownFloats(array: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(capacity);
  grown.set(array);
  return grown;
}

export function grownBytes(array: Uint8Array, capacity: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(capacity);
  grown.set(array);
  return grown;
}

/** No record. */
export const none = -1;

/** A queue of numbers: a ring that grows. */
export class IntQueue {
  #ring = new Int32Array(capacityMin);
  #first = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The first, or `none`. */
  get head(): number {
    return this.#length === 0 ? none : this.#ring[this.#first];
  }

  push(value: number): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#ring[(this.#first + this.#length) & (this.#ring.length - 1)] = value;
    this.#length += 1;
  }

  shift(): void {
    this.#first = (this.#first + 1) & (this.#ring.length - 1);
    this.#length -= 1;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let i = 0; i < this.#length; i += 1) yield this.#ring[(this.#first + i) & (this.#ring.length - 1)];
  }

  #grow(): void {
    const grown = new Int32Array(2 * this.#ring.length);
    for (let i = 0; i < this.#length; i += 1) grown[i] = this.#ring[(this.#first + i) & (this.#ring.length - 1)];
    this.#ring = grown;
    this.#first = 0;
  }
}
