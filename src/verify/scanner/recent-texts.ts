/** Strings of bytes, without making one for bytes that came not long ago: a table in which a newer text takes the place of an older one. */
import type { Names } from '../operation-table.ts';
import { none } from '../slots.ts';

export class RecentTexts {
  readonly #mask: number;
  readonly #texts: string[] = [];
  readonly #hashes: Int32Array;
  readonly #ids: Int32Array;
  readonly #names: Names | null;

  /**
   * @param sizeLog so many texts are remembered, as a power of two
   * @param names gives texts their numbers
   */
  constructor(sizeLog: number, names: Names | null = null) {
    const size = 1 << sizeLog;
    this.#mask = size - 1;
    for (let i = 0; i < size; i += 1) this.#texts.push('');
    this.#hashes = new Int32Array(size);
    this.#ids = new Int32Array(size).fill(none);
    this.#names = names;
  }

  /** The text of the ASCII bytes `[from, to)`. */
  textOf(bytes: Uint8Array, from: number, to: number): string {
    return to - from > lengthMax ? decoded(bytes, from, to) : this.#texts[this.#slotOf(bytes, from, to)];
  }

  /** Its number. */
  idOf(bytes: Uint8Array, from: number, to: number): number {
    if (to - from > lengthMax) return this.#names?.of(decoded(bytes, from, to)) ?? none;
    const slot = this.#slotOf(bytes, from, to);
    const known = this.#ids[slot];
    if (known !== none || this.#names === null) return known;
    const id = this.#names.of(this.#texts[slot]);
    this.#ids[slot] = id;
    return id;
  }

  #slotOf(bytes: Uint8Array, from: number, to: number): number {
    let hash = 0x811c9dc5 ^ (to - from);
    for (let at = Math.max(from, to - hashedMax); at < to; at += 1) hash = Math.imul(hash ^ bytes[at], 0x01000193);
    hash ^= hash >>> 15;
    const slot = hash & this.#mask;
    const known = this.#texts[slot];
    if (this.#hashes[slot] === hash && known.length === to - from) {
      let at = 0;
      while (at < known.length && known.charCodeAt(at) === bytes[from + at]) at += 1;
      if (at === known.length) return slot;
    }
    this.#texts[slot] = decoded(bytes, from, to);
    this.#hashes[slot] = hash;
    this.#ids[slot] = none;
    return slot;
  }
}

/** Longer texts are not remembered. */
const lengthMax = 256;

/** What tells texts apart mostly stands at their ends. */
const hashedMax = 24;

const decoder = new TextDecoder();

/** Of short ones a decoder costs more than all else, and longer ones would be made of parts. */
const joinedMax = 12;

function decoded(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > joinedMax) return decoder.decode(bytes.subarray(from, to));
  let text = '';
  for (let at = from; at < to; at += 1) text += String.fromCharCode(bytes[at]);
  return text;
}
