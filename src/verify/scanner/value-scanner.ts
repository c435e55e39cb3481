/**
 * Values straight from the bytes of a trace. Every function answers with the position after what it has read, or -1 where that is more than
 * plain ASCII and numbers of up to 15 digits; what it was is in a field.
 */
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  dot,
  isAt,
  literals,
  minus,
  nine,
  openBrace,
  openBracket,
  plainStringEnd,
  skipSpace,
  zero,
} from '../../history/index.ts';
import type { Scalar } from '../../trace/index.ts';
import { Columns, type Image, type Shape } from '../image.ts';
import { RecentTexts } from './recent-texts.ts';

export class ValueScanner {
  /** The last value. */
  image: Image = null;
  /** The last list of names. */
  names: string[] = [];
  readonly #emptyShape: Shape;
  /** Columns, tables and comparisons. */
  readonly #names = new RecentTexts(10);
  readonly #texts = new RecentTexts(14);

  constructor(emptyShape: Shape) {
    this.#emptyShape = emptyShape;
  }

  /** A scalar, or columns of scalars. */
  value(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBrace) return this.scalar(bytes, begin);
    let shape = this.#emptyShape;
    const values: Scalar[] = [];
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] !== closeBrace)
      for (;;) {
        const columnEnd = plainStringEnd(bytes, at);
        if (columnEnd < 0) return -1;
        const column = this.#names.textOf(bytes, at + 1, columnEnd);
        if (shape.positionOf(column) >= 0) return -1;
        shape = shape.with(column);
        at = skipSpace(bytes, columnEnd + 1);
        if (bytes[at] !== colon) return -1;
        at = this.scalar(bytes, skipSpace(bytes, at + 1));
        if (at < 0) return -1;
        values.push(this.image as Scalar);
        at = skipSpace(bytes, at);
        if (bytes[at] === closeBrace) break;
        if (bytes[at] !== comma) return -1;
        at = skipSpace(bytes, at + 1);
      }
    this.image = new Columns(shape, values);
    return at + 1;
  }

  /** A string, a number, a truth value or null. */
  scalar(bytes: Uint8Array, at: number): number {
    switch (bytes[at]) {
      case 0x22: {
        const end = plainStringEnd(bytes, at);
        if (end < 0) return -1;
        this.image = this.#texts.textOf(bytes, at + 1, end);
        return end + 1;
      }
      case 0x6e:
        this.image = null;
        return isAt(bytes, at, literals.null) ? at + 4 : -1;
      case 0x74:
        this.image = true;
        return isAt(bytes, at, literals.true) ? at + 4 : -1;
      case 0x66:
        this.image = false;
        return isAt(bytes, at, literals.false) ? at + 5 : -1;
      default:
        return this.#number(bytes, at);
    }
  }

  /** Digits, perhaps with a point among them. */
  #number(bytes: Uint8Array, begin: number): number {
    const isNegative = bytes[begin] === minus;
    const first = isNegative ? begin + 1 : begin;
    let [at, value, point] = [first, 0, -1];
    for (;;) {
      const byte = bytes[at];
      if (byte >= zero && byte <= nine) value = 10 * value + byte - zero;
      else if (byte === dot && point < 0) point = at;
      else break;
      at += 1;
    }
    const whole = (point < 0 ? at : point) - first;
    const decimals = point < 0 ? 0 : at - point - 1;
    if (whole === 0 || whole + decimals > 15 || (point >= 0 && decimals === 0)) return -1;
    if (bytes[first] === zero && whole > 1) return -1;
    if (bytes[at] === 0x65 || bytes[at] === 0x45) return -1;
    // Both are exact, so the quotient is the double that is nearest to the decimal.
    if (decimals > 0) value /= powersOfTen[decimals];
    this.image = isNegative ? -value : value;
    return at;
  }

  /** A string that is a name. */
  name(bytes: Uint8Array, begin: number): number {
    const end = plainStringEnd(bytes, begin);
    if (end < 0) return -1;
    this.image = this.#names.textOf(bytes, begin + 1, end);
    return end + 1;
  }

  /** `[NAME, ...]`. */
  nameList(bytes: Uint8Array, begin: number): number {
    if (bytes[begin] !== openBracket) return -1;
    this.names = [];
    let at = skipSpace(bytes, begin + 1);
    if (bytes[at] === closeBracket) return at + 1;
    for (;;) {
      at = this.name(bytes, at);
      if (at < 0) return -1;
      this.names.push(this.image as string);
      at = skipSpace(bytes, at);
      if (bytes[at] === closeBracket) return at + 1;
      if (bytes[at] !== comma) return -1;
      at = skipSpace(bytes, at + 1);
    }
  }
}

const powersOfTen = Array.from({ length: 16 }, (_, i) => 10 ** i);
