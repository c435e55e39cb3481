/** Typed arrays that grow: a column of numbers without an object for each. They double, so appending costs constant time on average. */

/** Few: a cycle of three transactions is a history too, and has twenty columns. */
const capacityMin = 32;

export class Int32Column {
  array: Int32Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = capacityMin) {
    this.array = new Int32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.array.length) this.#grow();
    this.array[this.length] = value;
    this.length += 1;
  }

  /** The values so far: a view, for spare room that was never written takes no memory. */
  taken(): Int32Array<ArrayBuffer> {
    return this.array.subarray(0, this.length);
  }

  #grow(): void {
    const grown = new Int32Array(Math.max(capacityMin, 2 * this.array.length));
    grown.set(this.array);
    this.array = grown;
  }
}

export class Float64Column {
  array: Float64Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = capacityMin) {
    this.array = new Float64Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.array.length) this.#grow();
    this.array[this.length] = value;
    this.length += 1;
  }

  taken(): Float64Array<ArrayBuffer> {
    return this.array.subarray(0, this.length);
  }

  #grow(): void {
    const grown = new Float64Array(Math.max(capacityMin, 2 * this.array.length));
    grown.set(this.array);
    this.array = grown;
  }
}

export class Uint8Column {
  array: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = capacityMin) {
    this.array = new Uint8Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.array.length) this.reserve(1);
    this.array[this.length] = value;
    this.length += 1;
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.reserve(count);
    // A loop beats a view and `set` for the few bytes of a name.
    if (count < 64) for (let i = 0; i < count; i += 1) this.array[this.length + i] = bytes[start + i] as number;
    else this.array.set(bytes.subarray(start, end), this.length);
    this.length += count;
  }

  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.array.length) return;
    const grown = new Uint8Array(Math.max(capacityMin, 2 * this.array.length, needed));
    grown.set(this.array);
    this.array = grown;
  }

  taken(): Uint8Array<ArrayBuffer> {
    return this.array.subarray(0, this.length);
  }
}
