/** 64-bit fingerprints of states, and the set of those seen: open addressing in one typed array, so no limit of `Set` applies. */

/** Murmur3's two 32-bit lanes over the words; writes the low and the high half to `into`. Never both 0, which marks a free slot. */
export function fingerprint(words: Int32Array, count: number, into: Int32Array): void {
  let a = 0x2f0b4a27;
  let b = 0x5bd1e995;
  for (let i = 0; i < count; i += 1) {
    const word = words[i];
    let k = Math.imul(word, 0x239b961b);
    k = (k << 15) | (k >>> 17);
    a ^= Math.imul(k, 0xab0e9789 | 0);
    a = ((a << 19) | (a >>> 13)) + b;
    a = (Math.imul(a, 5) + 0x561ccd1b) | 0;
    k = Math.imul(word, 0x38b34ae5);
    k = (k << 17) | (k >>> 15);
    b ^= Math.imul(k, 0xa1e38b93 | 0);
    b = ((b << 13) | (b >>> 19)) + a;
    b = (Math.imul(b, 5) + 0x32ac3b17) | 0;
  }
  a = mix((a ^ count) + b);
  b = mix(b + a);
  a = (a + b) | 0;
  into[0] = a;
  into[1] = a === 0 && b === 0 ? 1 : b;
}

function mix(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** How probable it is that two different states had one fingerprint, so that one was missed: pairs that were compared, over 2^64. As TLC does. */
export function collisionProbability(states: number, generated: number): number {
  return (states * Math.max(generated - states, states / 2)) / 2 ** 64;
}

/** Grows when it is two thirds full; twice its memory while it does. A class: it has an identity, the states seen so far. */
export class FingerprintSet {
  size = 0;
  #slots: Int32Array;
  #mask: number;

  constructor(capacityLog2 = 16) {
    this.#slots = new Int32Array(2 << capacityLog2);
    this.#mask = (1 << capacityLog2) - 1;
  }

  get bytes(): number {
    return this.#slots.byteLength;
  }

  /** Was it new? */
  add(low: number, high: number): boolean {
    if (this.size * 3 > this.#mask * 2) this.#grow();
    if (!insert(this.#slots, this.#mask, low, high)) return false;
    this.size += 1;
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    const mask = this.#mask * 2 + 1;
    const slots = new Int32Array((mask + 1) * 2);
    for (let i = 0; i < old.length; i += 2) {
      const low = old[i];
      const high = old[i + 1];
      if (low !== 0 || high !== 0) insert(slots, mask, low, high);
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}

function insert(slots: Int32Array, mask: number, low: number, high: number): boolean {
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const found = slots[slot * 2];
    const foundHigh = slots[slot * 2 + 1];
    if (found === low && foundHigh === high) return false;
    if (found === 0 && foundHigh === 0) {
      slots[slot * 2] = low;
      slots[slot * 2 + 1] = high;
      return true;
    }
  }
}
