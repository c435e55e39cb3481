/** Bags of members' words to small numbers; exact, in one typed array. */
export class BagTable {
  size = 0;
  readonly key: Int32Array;
  #isOrdered = false;
  readonly #members: number;
  readonly #width: number;
  #slots: Int32Array;

  constructor(members: number, width: number) {
    this.#members = members;
    this.#width = width;
    this.key = new Int32Array(members * width);
    this.#slots = new Int32Array(1024 * (members * width + 1));
  }

  /** From now on it matters which member has which words: what was stored without is forgotten. */
  keepOrder(): void {
    if (this.#isOrdered) return;
    this.#isOrdered = true;
    this.size = 0;
    this.#slots.fill(0);
  }

  /** What was stored for `key`, which this sorts; -1 when it is new. */
  find(): number {
    if (!this.#isOrdered) this.#sort();
    return this.#slots[this.#slotOf(this.#slots, this.key)] - 1;
  }

  /** Stores `value` for the key that `find` just missed. */
  add(value: number): void {
    const stride = this.key.length + 1;
    this.size += 1;
    if (this.size * 2 * stride > this.#slots.length) this.#grow();
    const slot = this.#slotOf(this.#slots, this.key);
    this.#slots[slot] = value + 1;
    this.#slots.set(this.key, slot + 1);
  }

  #grow(): void {
    const stride = this.key.length + 1;
    const slots = new Int32Array(this.#slots.length * 2);
    for (let from = 0; from < this.#slots.length; from += stride) {
      if (this.#slots[from] === 0) continue;
      const entry = this.#slots.subarray(from, from + stride);
      slots.set(entry, this.#slotOf(slots, entry.subarray(1)));
    }
    this.#slots = slots;
  }

  #slotOf(slots: Int32Array, key: Int32Array): number {
    const width = key.length;
    const count = slots.length / (width + 1);
    let hash = 0;
    for (let i = 0; i < width; i += 1) {
      hash = Math.imul(hash ^ key[i], 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    let index = (hash >>> 0) % count;
    for (;;) {
      const slot = index * (width + 1);
      if (slots[slot] === 0) return slot;
      let i = 0;
      while (i < width && slots[slot + 1 + i] === key[i]) i += 1;
      if (i === width) return slot;
      index = index + 1 === count ? 0 : index + 1;
    }
  }

  /** Insertion sort of the members' words: the order of transactions in a bag says nothing. */
  #sort(): void {
    const { key } = this;
    const width = this.#width;
    for (let member = 1; member < this.#members; member += 1) {
      for (let at = member * width; at > 0 && this.#isLess(at, at - width); at -= width) {
        for (let i = 0; i < width; i += 1) {
          const word = key[at + i];
          key[at + i] = key[at - width + i];
          key[at - width + i] = word;
        }
      }
    }
  }

  #isLess(a: number, b: number): boolean {
    for (let i = 0; i < this.#width; i += 1) {
      const difference = this.key[a + i] - this.key[b + i];
      if (difference !== 0) return difference < 0;
    }
    return false;
  }
}
