/** The rows of an operation straight from the bytes of a trace: what it read, what it wrote, which columns are unknown. Positions are as in value-scanner.ts. */
import { closeBracket, comma, openBrace, openBracket, plainStringEnd, skipSpace } from '../../history/index.ts';
import { type Image, isColumns, withUnknown } from '../image.ts';
import type { RecentTexts } from './recent-texts.ts';
import { RecentValues } from './recent-values.ts';
import type { ValueScanner } from './value-scanner.ts';

export class RowsScanner {
  /** Of the line at hand: rows that were read, then rows that were written. */
  rows = new Int32Array(64);
  readonly images: Image[] = [];
  count = 0;
  /** How many of them were read. */
  reads = 0;
  #hasWrites = false;
  /** The row and the value that were scanned last. */
  #row = 0;
  #image: Image = null;
  readonly #keys: RecentTexts;
  readonly #values: ValueScanner;
  readonly #recent = new RecentValues(13);

  constructor(keys: RecentTexts, values: ValueScanner) {
    this.#keys = keys;
    this.#values = values;
  }

  /** A line begins. */
  clear(): void {
    this.count = 0;
    this.reads = 0;
    this.#hasWrites = false;
  }

  /** `[[KEY, VALUE], ...]`. */
  readRows(bytes: Uint8Array, begin: number): number {
    // What is written comes after what is read, as the columns have it.
    if (this.#hasWrites) return -1;
    const at = this.#pairs(bytes, begin, true);
    this.reads = this.count;
    return at;
  }

  writtenRows(bytes: Uint8Array, begin: number): number {
    this.#hasWrites = true;
    return this.#pairs(bytes, begin, false);
  }

  /** `[[KEY, [COLUMN, ...]], ...]`, of rows that stand before them; -1 also where there are too many for a search. */
  unknownColumns(bytes: Uint8Array, begin: number): number {
    return this.#hasWrites && this.count - this.reads <= unknownRowsMax ? this.#unknown(bytes, begin) : -1;
  }

  /** `[[KEY, VALUE], ...]`: the position after it, or -1. */
  #pairs(bytes: Uint8Array, begin: number, isRead: boolean): number {
    if (bytes[begin] !== openBracket) return -1;
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] === closeBracket) return at + 1;
    for (;;) {
      at = this.#key(bytes, at);
      if (at < 0) return -1;
      const row = this.#row;
      at = this.#valueOf(row, bytes, at, isRead);
      if (at < 0) return -1;
      at = skipSpace(bytes, at);
      if (bytes[at] !== closeBracket) return -1;
      this.#add(row, this.#image);
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  /** `[KEY,`: the position of what follows, or -1. */
  #key(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    const from = skipSpace(bytes, begin + 1);
    const end = plainStringEnd(bytes, from);
    if (end < 0) return -1;
    this.#row = this.#keys.idOf(bytes, from + 1, end);
    const at = skipSpace(bytes, end + 1);
    return bytes[at] === comma ? skipSpace(bytes, at + 1) : -1;
  }

  #valueOf(row: number, bytes: Uint8Array, begin: number, isRead: boolean): number {
    const isRemembered = isRead && bytes[begin] === openBrace;
    const known = isRemembered ? this.#recent.endOf(row, bytes, begin) : -1;
    if (known >= 0) {
      this.#image = this.#recent.imageOf(row);
      return known;
    }
    const end = this.#values.value(bytes, begin);
    if (end < 0) return -1;
    this.#image = this.#values.image;
    if (isRemembered) this.#recent.set(row, bytes, begin, end, this.#image);
    return end;
  }

  #unknown(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    let at = skipSpace(bytes, begin + 1);
    let last = -1;
    for (;;) {
      at = this.#key(bytes, at);
      if (at < 0) return -1;
      const row = this.#row;
      at = this.#values.nameList(bytes, at);
      if (at < 0) return -1;
      // In the order of the rows: so no key comes twice, and each is of a row.
      const of = this.rows.indexOf(row, this.reads);
      if (of <= last || of >= this.count) return -1;
      last = of;
      for (let i = of; i < this.count; i += 1) {
        const image = this.images[i];
        if (this.rows[i] === row && isColumns(image)) this.images[i] = withUnknown(image, this.#values.names);
      }
      at = skipSpace(bytes, at);
      if (bytes[at] !== closeBracket) return -1;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }

  #add(row: number, image: Image): void {
    if (this.count === this.rows.length) {
      const grown = new Int32Array(2 * this.count);
      grown.set(this.rows);
      this.rows = grown;
    }
    this.rows[this.count] = row;
    this.images[this.count] = image;
    this.count += 1;
  }
}

/** Of more, the reader looks for the rows of unknown columns. */
const unknownRowsMax = 32;
