/**
 * What was last read of rows, as bytes and as an image: a row that is read again mostly holds what it held, and then its value need not be
 * parsed again, nor made again. A table of fixed size, in which a newer row takes the place of an older one.
 */
import type { Image } from '../image.ts';
import { none } from '../slots.ts';

export class RecentValues {
  readonly #mask: number;
  readonly #rows: Int32Array;
  readonly #lengths: Uint16Array;
  readonly #bytes: Uint8Array;
  readonly #images: Image[] = [];

  /** @param sizeLog so many values are remembered, as a power of two */
  constructor(sizeLog: number) {
    const size = 1 << sizeLog;
    this.#mask = size - 1;
    this.#rows = new Int32Array(size).fill(none);
    this.#lengths = new Uint16Array(size);
    this.#bytes = new Uint8Array(size * lengthMax);
    for (let i = 0; i < size; i += 1) this.#images.push(null);
  }

  /** The position after the text that begins at `begin`, where it is the one that the row had last; else -1. */
  endOf(row: number, bytes: Uint8Array, begin: number): number {
    const slot = row & this.#mask;
    const length = this.#lengths[slot];
    if (this.#rows[slot] !== row || begin + length > bytes.length) return -1;
    const first = slot * lengthMax;
    const known = this.#bytes;
    // From the end on: there texts differ first.
    for (let i = length - 1; i >= 0; i -= 1) if (known[first + i] !== bytes[begin + i]) return -1;
    return begin + length;
  }

  /** The image of the row's last text. */
  imageOf(row: number): Image {
    return this.#images[row & this.#mask];
  }

  /** @param bytes of which the text is `[from, to)`: one that is the beginning of no other, an object */
  set(row: number, bytes: Uint8Array, from: number, to: number, image: Image): void {
    if (to - from > lengthMax) return;
    const slot = row & this.#mask;
    const first = slot * lengthMax;
    for (let at = from; at < to; at += 1) this.#bytes[first + at - from] = bytes[at];
    this.#rows[slot] = row;
    this.#lengths[slot] = to - from;
    this.#images[slot] = image;
  }
}

/** Longer texts are not remembered. */
const lengthMax = 256;
