/**
 * Texts as dense IDs: 0, 1, 2, ... in the order in which they were first met. Bytes in one array and an open-addressing table beside it:
 * a scanner looks names up without making strings, and a JavaScript Map would end at 16.7 million entries.
 */
import { InputError } from '../base/index.ts';
import { Int32Column, Uint8Column } from './growing-column.ts';

/** Positions are 32-bit integers. */
const bytesMax = 2 ** 31 - 1;

/** Text i is the bytes `[starts[i], starts[i + 1])`. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
}

export function textAt({ bytes, starts }: Texts, id: number): string {
  return decoded(bytes.subarray(starts[id], starts[id + 1]));
}

export class TextPool {
  readonly #bytes = new Uint8Column();
  readonly #starts = new Int32Column();
  readonly #hashes = new Int32Column();
  /** ID + 1; 0 where nothing is. At most half full. */
  #table = new Int32Array(64);

  constructor() {
    this.#starts.push(0);
  }

  get size(): number {
    return this.#hashes.length;
  }

  /** The ID of the UTF-8 bytes `[start, end)`. */
  ofBytes(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const slot = this.#slotOf(bytes, start, end, hash);
    const found = this.#table[slot] as number;
    return found === 0 ? this.#add(bytes, start, end, hash, slot) : found - 1;
  }

  of(text: string): number {
    const bytes = encoded(text);
    return this.ofBytes(bytes, 0, bytes.length);
  }

  /** The ID of a text that is in the pool, else -1. */
  find(text: string): number {
    const bytes = encoded(text);
    const slot = this.#slotOf(bytes, 0, bytes.length, hashOf(bytes, 0, bytes.length));
    return (this.#table[slot] as number) - 1;
  }

  text(id: number): string {
    return textAt(this.columns(), id);
  }

  columns(): Texts {
    return { bytes: this.#bytes.taken(), starts: this.#starts.taken() };
  }

  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#table.length - 1;
    let slot = hash & mask;
    for (let entry = this.#table[slot] as number; entry !== 0; entry = this.#table[slot] as number) {
      if (this.#hashes.array[entry - 1] === hash && this.#equals(entry - 1, bytes, start, end)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#starts.array[id] as number;
    const length = (this.#starts.array[id + 1] as number) - own;
    if (length !== end - start) return false;
    const { array } = this.#bytes;
    for (let i = 0; i < length; i += 1) if (array[own + i] !== bytes[start + i]) return false;
    return true;
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const id = this.size;
    if (this.#bytes.length + end - start > bytesMax)
      throw new InputError('history/size', 'its names and values that are no integers take more than 2 GiB');
    this.#table[slot] = id + 1;
    this.#bytes.append(bytes, start, end);
    this.#starts.push(this.#bytes.length);
    this.#hashes.push(hash);
    if (2 * this.size > this.#table.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const table = new Int32Array(4 * this.#table.length);
    const mask = table.length - 1;
    for (let id = 0; id < this.size; id += 1) {
      let slot = (this.#hashes.array[id] as number) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = id + 1;
    }
    this.#table = table;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Half of a surrogate pair alone, which JSON allows, has no UTF-8: such a text is its 16-bit units after a byte that UTF-8 never has. */
const unitsFollow = 0xff;

function encoded(text: string): Uint8Array {
  if (!/\p{Surrogate}/u.test(text)) return encoder.encode(text);
  const bytes = new Uint8Array(1 + 2 * text.length);
  bytes[0] = unitsFollow;
  for (let i = 0; i < text.length; i += 1) {
    bytes[1 + 2 * i] = text.charCodeAt(i) & 0xff;
    bytes[2 + 2 * i] = text.charCodeAt(i) >> 8;
  }
  return bytes;
}

function decoded(bytes: Uint8Array): string {
  if (bytes[0] !== unitsFollow) return decoder.decode(bytes);
  let text = '';
  for (let i = 1; i < bytes.length; i += 2)
    text += String.fromCharCode((bytes[i] as number) + 256 * (bytes[i + 1] as number));
  return text;
}

/** FNV-1a over the bytes, then mixed so that the low bits depend on all. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
