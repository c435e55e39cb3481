/**
 * What the threads of one search share. The fingerprints are one table: a free slot is claimed by compare-and-exchange of its low
 * half, and a thread that finds a claimed slot waits until its high half is there. States lie in the memory of the thread that
 * found them, which all may read.
 */

/** The table's fingerprints have no half that is 0. */
export function sharedInsert(slots: Int32Array, low: number, high: number): boolean {
  const mask = (slots.length >>> 1) - 1;
  const lo = low === 0 ? 1 : low;
  const hi = high === 0 ? 1 : high;
  for (let slot = lo & mask; ; slot = (slot + 1) & mask) {
    let found = Atomics.load(slots, slot * 2);
    if (found === 0) {
      found = Atomics.compareExchange(slots, slot * 2, 0, lo);
      if (found === 0) {
        Atomics.store(slots, slot * 2 + 1, hi);
        return true;
      }
    }
    if (found !== lo) continue;
    let foundHigh = Atomics.load(slots, slot * 2 + 1);
    while (foundHigh === 0) foundHigh = Atomics.load(slots, slot * 2 + 1);
    if (foundHigh === hi) return false;
  }
}

/** A table of twice the size, or four times while it is small. No thread may use the old one meanwhile. */
export function grownTable(old: Int32Array): Int32Array {
  const slots = sharedWords(old.length * (old.length < 1 << 25 ? 4 : 2));
  const mask = (slots.length >>> 1) - 1;
  for (let i = 0; i < old.length; i += 2) {
    const low = old[i];
    if (low === 0) continue;
    let slot = low & mask;
    while (slots[slot * 2] !== 0) slot = (slot + 1) & mask;
    slots[slot * 2] = low;
    slots[slot * 2 + 1] = old[i + 1];
  }
  return slots;
}

export function sharedWords(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * 4));
}

/** States in a chunk. */
export const chunkStates = 1 << 16;

/** The chunks of every thread's states; a state is known everywhere as `index * threads + thread`. */
export class SharedStates {
  readonly stride: number;
  readonly #chunks: Int32Array[][];

  constructor(words: number, threads: number) {
    this.stride = words + 1;
    this.#chunks = Array.from({ length: threads }, () => []);
  }

  get bytes(): number {
    return this.#chunks.flat().length * chunkStates * this.stride * 4;
  }

  addChunk(thread: number, chunk: Int32Array): void {
    this.#chunks[thread]?.push(chunk);
  }

  chunkCount(thread: number): number {
    return this.#chunks[thread]?.length ?? 0;
  }

  load(thread: number, index: number, into: Int32Array): void {
    const chunk = this.#chunkOf(thread, index);
    const at = (index % chunkStates) * this.stride;
    for (let i = 0; i < this.stride - 1; i += 1) into[i] = chunk[at + i];
  }

  store(thread: number, index: number, state: Int32Array, predecessor: number): void {
    const chunk = this.#chunkOf(thread, index);
    const at = (index % chunkStates) * this.stride;
    for (let i = 0; i < this.stride - 1; i += 1) chunk[at + i] = state[i];
    chunk[at + this.stride - 1] = predecessor;
  }

  /** From an initial state to this one. */
  pathTo(state: number): Int32Array[] {
    const threads = this.#chunks.length;
    const path: Int32Array[] = [];
    for (let at = state; at >= 0; ) {
      const index = Math.floor(at / threads);
      const words = new Int32Array(this.stride - 1);
      this.load(at % threads, index, words);
      path.push(words);
      at = this.#chunkOf(at % threads, index)[(index % chunkStates) * this.stride + this.stride - 1];
    }
    return path.toReversed();
  }

  #chunkOf(thread: number, index: number): Int32Array {
    return this.#chunks[thread]?.[Math.floor(index / chunkStates)];
  }
}
