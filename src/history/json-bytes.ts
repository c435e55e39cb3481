/**
 * Where the parts of a JSON text in bytes end. Every function answers -1 where the text is not plain: not ASCII, with an escape, a number
 * that is no integer of up to 15 digits, or no JSON at all. Texts must end with a line feed, which no part of JSON contains.
 */

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export const literals = {
  null: encode('null'),
  true: encode('true'),
  false: encode('false'),
  append: encode('"append"'),
  committed: encode('"committed"'),
  aborted: encode('"aborted"'),
  unknown: encode('"unknown"'),
};

export function skipSpace(bytes: Uint8Array, begin: number): number {
  let at = begin;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d) at += 1;
  return at;
}

export function isAt(bytes: Uint8Array, at: number, literal: Uint8Array): boolean {
  for (let i = 0; i < literal.length; i += 1) if (bytes[at + i] !== literal[i]) return false;
  return true;
}

/** The position of the closing quote of the string that begins at `begin`. */
export function plainStringEnd(bytes: Uint8Array, begin: number): number {
  if (bytes[begin] !== 0x22) return -1;
  for (let at = begin + 1; ; at += 1) {
    const byte = bytes[at] as number;
    if (byte === 0x22) return at;
    if (byte < 0x20 || byte > 0x7e || byte === 0x5c) return -1;
  }
}

/** The position after an integer of up to 15 digits, other than -0. */
export function integerEnd(bytes: Uint8Array, begin: number): number {
  const isNegative = bytes[begin] === 0x2d;
  const first = isNegative ? begin + 1 : begin;
  let at = first;
  while ((bytes[at] as number) >= 0x30 && (bytes[at] as number) <= 0x39) at += 1;
  const digits = at - first;
  if (digits === 0 || digits > 15) return -1;
  if (bytes[first] === 0x30 && (digits > 1 || isNegative)) return -1;
  const next = bytes[at];
  return next === 0x2e || next === 0x65 || next === 0x45 ? -1 : at;
}

/** The position after a plain string, null, true or false. */
export function scalarEnd(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case 0x22: {
      const end = plainStringEnd(bytes, at);
      return end < 0 ? -1 : end + 1;
    }
    case 0x6e:
      return isAt(bytes, at, literals.null) ? at + 4 : -1;
    case 0x74:
      return isAt(bytes, at, literals.true) ? at + 4 : -1;
    case 0x66:
      return isAt(bytes, at, literals.false) ? at + 5 : -1;
    default:
      return -1;
  }
}

/** A value may hold arrays and objects this deep; deeper ones are for JSON.parse. */
const depthMax = 20;

/** The position after any value that is made of plain ones. */
export function valueEnd(bytes: Uint8Array, begin: number, depth = 0): number {
  const open = bytes[begin];
  if (open !== 0x5b && open !== 0x7b) {
    const number = integerEnd(bytes, begin);
    return number >= 0 ? number : scalarEnd(bytes, begin);
  }
  if (depth === depthMax) return -1;
  const close = open === 0x5b ? 0x5d : 0x7d;
  let at = skipSpace(bytes, begin + 1);
  if (bytes[at] === close) return at + 1;
  for (;;) {
    if (close === 0x7d) {
      const nameEnd = plainStringEnd(bytes, at);
      if (nameEnd < 0) return -1;
      at = skipSpace(bytes, nameEnd + 1);
      if (bytes[at] !== 0x3a) return -1;
      at = skipSpace(bytes, at + 1);
    }
    at = valueEnd(bytes, at, depth + 1);
    if (at < 0) return -1;
    at = skipSpace(bytes, at);
    if (bytes[at] === close) return at + 1;
    if (bytes[at] !== 0x2c) return -1;
    at = skipSpace(bytes, at + 1);
  }
}
