/**
 * Lines of a format straight from their bytes, by the table of its fields: no object for a line. Plain lines only: ASCII without escapes and integers of
 * up to 15 digits, each field once. Every other line is left to the strict reader, which knows all that is allowed and says what is wrong.
 */
import {
  closeBrace,
  colon,
  comma,
  integerAt,
  integerEnd,
  isAt,
  lineFeed,
  literals,
  openBrace,
  plainStringEnd,
  scalarEnd,
  skipSpace,
} from './json-bytes.ts';
import type { FieldKind, LineFields } from './line-fields.ts';

/** Reads the value of a `list` that begins at `at`. @returns the position after it, or -1 for the strict reader */
export type ListScan = (field: number, bytes: Uint8Array, at: number) => number;

/** The position of each field in its table: what the scanner calls it. */
export function fieldPositions<Fields extends LineFields>(fields: Fields): Readonly<Record<keyof Fields, number>> {
  return Object.fromEntries(Object.keys(fields).map((name, i) => [name, i])) as Record<keyof Fields, number>;
}

/** By field, what the last line says. Of a line that was left to the reader they mean nothing. */
export class LineScanner {
  /** The value, a text without its quotes: `[from, to)`. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** An integer; 1 for true; of words, the position of the word; Infinity for a time that is null. */
  readonly number: Float64Array;
  /** The fields that the line has, a bit each. */
  #seen = 0;
  readonly #names: readonly Uint8Array[];
  readonly #kinds: Uint8Array;
  readonly #words: readonly (readonly Uint8Array[])[];
  readonly #required: number;
  readonly #scanList: ListScan;
  /** By field and 1, what came after it last; 0: what came first. Lines mostly have their fields in one order. */
  readonly #following: Uint8Array;

  constructor(fields: LineFields, scanList: ListScan) {
    const all = Object.entries(fields);
    this.from = new Int32Array(all.length);
    this.to = new Int32Array(all.length);
    this.number = new Float64Array(all.length);
    this.#names = all.map(([name]) => encoded(name));
    this.#kinds = Uint8Array.from(all, ([, { kind }]) => kindCode(kind));
    this.#words = all.map(([, { kind }]) => (typeof kind === 'string' ? [] : kind.map(encoded)));
    this.#required = all.reduce((bits, [, { isRequired }], i) => (isRequired === true ? bits | (1 << i) : bits), 0);
    this.#scanList = scanList;
    this.#following = new Uint8Array(all.length + 1);
  }

  has(field: number): boolean {
    return (this.#seen & (1 << field)) !== 0;
  }

  /** The position after the line that begins at `begin`, or -1 where the reader should read it. The bytes end with a line feed. */
  scan(bytes: Uint8Array, begin: number): number {
    let at = skipSpace(bytes, begin);
    if (bytes[at] !== openBrace) return -1;
    let seen = 0;
    let last = -1;
    do {
      at = skipSpace(bytes, at + 1);
      const field = this.#fieldAt(bytes, at, last);
      if (field < 0 || (seen & (1 << field)) !== 0) return -1;
      seen |= 1 << field;
      last = field;
      at = skipSpace(bytes, at + (this.#names[field] as Uint8Array).length);
      if (bytes[at] !== colon) return -1;
      at = this.#value(field, bytes, skipSpace(bytes, at + 1));
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
    } while (bytes[at] === comma);
    if (bytes[at] !== closeBrace || (seen & this.#required) !== this.#required) return -1;
    this.#seen = seen;
    at = skipSpace(bytes, at + 1);
    return bytes[at] === lineFeed ? at + 1 : -1;
  }

  /** The field whose name is there, with its quotes, or -1. */
  #fieldAt(bytes: Uint8Array, at: number, last: number): number {
    const likely = this.#following[last + 1] as number;
    if (isAt(bytes, at, this.#names[likely] as Uint8Array)) return likely;
    const field = this.#names.findIndex((name) => isAt(bytes, at, name));
    if (field >= 0) this.#following[last + 1] = field;
    return field;
  }

  #value(field: number, bytes: Uint8Array, at: number): number {
    const kind = this.#kinds[field] as number;
    if (kind === code.text) {
      const end = plainStringEnd(bytes, at);
      this.from[field] = at + 1;
      this.to[field] = end;
      return end < 0 ? -1 : end + 1;
    }
    if (kind === code.list) return this.#scanList(field, bytes, at);
    if (kind === code.integer || kind === code.time) return this.#integer(field, bytes, at);
    if (kind === code.words) return this.#word(field, bytes, at);
    return this.#rareValue(kind, field, bytes, at);
  }

  #rareValue(kind: number, field: number, bytes: Uint8Array, at: number): number {
    if (kind === code.any) return scalarEnd(bytes, at);
    const word = kind === code.flag ? literals.true : literals.null;
    if (isAt(bytes, at, word)) {
      this.number[field] = kind === code.flag ? 1 : Infinity;
      return at + word.length;
    }
    if (kind !== code.flag) return this.#integer(field, bytes, at);
    this.number[field] = 0;
    return isAt(bytes, at, literals.false) ? at + literals.false.length : -1;
  }

  #integer(field: number, bytes: Uint8Array, at: number): number {
    const end = integerEnd(bytes, at);
    if (end >= 0) this.number[field] = integerAt(bytes, at, end);
    return end;
  }

  #word(field: number, bytes: Uint8Array, at: number): number {
    const words = this.#words[field] as readonly Uint8Array[];
    for (let i = 0; i < words.length; i += 1) {
      const word = words[i] as Uint8Array;
      if (!isAt(bytes, at, word)) continue;
      this.number[field] = i;
      return at + word.length;
    }
    return -1;
  }
}

const code = { text: 0, integer: 1, flag: 2, list: 3, time: 4, 'time or null': 5, any: 6, words: 7 } as const;

function kindCode(kind: FieldKind): number {
  return code[typeof kind === 'string' ? kind : 'words'];
}

function encoded(word: string | null): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(word));
}
