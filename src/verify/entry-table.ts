/**
 * Rows of operations with what was read or written there: those of one operation side by side. Room is given out in powers of two, and what
 * was released is used again for as many.
 */
import type { Image } from './image.ts';
import { grownBytes, grownInts, IntStack } from './slots.ts';

export class EntryTable {
  row = new Int32Array(capacityMin);
  /** Of a read: has the transaction written the row itself, so that no snapshot decides what is seen? */
  isOwn = new Uint8Array(capacityMin);
  /** Of what was released, too, until it is used again. */
  readonly image: Image[] = [];
  /** By the logarithm of their size. */
  readonly #free: IntStack[] = [];
  #used = 0;

  /** The first of so many entries, one after another. O(1) on average */
  take(count: number): number {
    if (count === 0) return 0;
    const size = sizeLog(count);
    const free = this.#free[size];
    if (free !== undefined && free.length > 0) return free.pop();
    const first = this.#used;
    this.#used += 1 << size;
    if (this.#used > this.row.length) this.#grow(Math.max(2 * this.row.length, this.#used));
    while (this.image.length < this.#used) this.image.push(null);
    return first;
  }

  give(first: number, count: number): void {
    if (count === 0) return;
    const size = sizeLog(count);
    while (this.#free.length <= size) this.#free.push(new IntStack());
    this.#free[size].push(first);
  }

  set(entry: number, row: number, image: Image): void {
    this.row[entry] = row;
    this.isOwn[entry] = 0;
    this.image[entry] = image;
  }

  #grow(capacity: number): void {
    this.row = grownInts(this.row, capacity);
    this.isOwn = grownBytes(this.isOwn, capacity);
  }
}

const capacityMin = 64;

function sizeLog(count: number): number {
  return count === 1 ? 0 : 32 - Math.clz32(count - 1);
}
