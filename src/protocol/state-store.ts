/** All states found, in the order they were found, each with its predecessor: the queue of the search and the memory of its traces. */

const chunkLog2 = 16;
const chunkMask = (1 << chunkLog2) - 1;

/** A class: it has an identity, the search that it belongs to. A state's position is its ordinal. */
export class StateStore {
  readonly words: number;
  size = 0;
  readonly #chunks: Int32Array[] = [];

  constructor(words: number) {
    this.words = words;
  }

  get bytes(): number {
    return (this.#chunks.length << chunkLog2) * (this.words + 1) * 4;
  }

  append(state: Int32Array, predecessor: number): number {
    const ordinal = this.size;
    const stride = this.words + 1;
    if ((ordinal & chunkMask) === 0) this.#chunks.push(new Int32Array(stride << chunkLog2));
    const chunk = this.#chunks[ordinal >>> chunkLog2];
    const at = (ordinal & chunkMask) * stride;
    for (let i = 0; i < stride - 1; i += 1) chunk[at + i] = state[i];
    chunk[at + stride - 1] = predecessor;
    this.size = ordinal + 1;
    return ordinal;
  }

  load(ordinal: number, into: Int32Array): void {
    const stride = this.words + 1;
    const chunk = this.#chunks[ordinal >>> chunkLog2];
    const at = (ordinal & chunkMask) * stride;
    for (let i = 0; i < stride - 1; i += 1) into[i] = chunk[at + i];
  }

  /** Each state as its words and its predecessor, in order; for `restore`. */
  parts(): Int32Array[] {
    const stride = this.words + 1;
    return this.#chunks.map((chunk, i) =>
      chunk.subarray(0, Math.min(1 << chunkLog2, this.size - (i << chunkLog2)) * stride),
    );
  }

  /** Appends what `parts` gave, cut anywhere between two states. */
  restore(parts: Iterable<Int32Array>, visit: (state: Int32Array) => void): void {
    const stride = this.words + 1;
    const state = new Int32Array(this.words);
    for (const part of parts) {
      for (let at = 0; at + stride <= part.length; at += stride) {
        for (let i = 0; i < this.words; i += 1) state[i] = part[at + i];
        this.append(state, part[at + stride - 1]);
        visit(state);
      }
    }
  }

  /** -1 for an initial state. */
  predecessor(ordinal: number): number {
    const stride = this.words + 1;
    return this.#chunks[ordinal >>> chunkLog2][(ordinal & chunkMask) * stride + stride - 1];
  }

  /** From an initial state to this one. */
  pathTo(ordinal: number): Int32Array[] {
    const path: Int32Array[] = [];
    for (let at = ordinal; at >= 0; at = this.predecessor(at)) {
      const state = new Int32Array(this.words);
      this.load(at, state);
      path.push(state);
    }
    return path.toReversed();
  }
}
