/**
 * Where the parts of a JSON text in bytes end. Every function answers -1 where the text is not plain: not ASCII, with an escape, a number
 * that is no integer of up to 15 digits, or no JSON at all. Texts must end with a line feed, which no part of JSON contains.
 */

/** What JSON is made of, as bytes. */
export const lineFeed = 0x0a;
export const quote = 0x22;
export const comma = 0x2c;
export const minus = 0x2d;
export const dot = 0x2e;
export const zero = 0x30;
export const nine = 0x39;
export const colon = 0x3a;
export const openBracket = 0x5b;
const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export const literals = {
  null: encode('null'),
  true: encode('true'),
  false: encode('false'),
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
  if (bytes[begin] !== quote) return -1;
  for (let at = begin + 1; ; at += 1) {
    const byte = bytes[at] as number;
    if (byte === quote) return at;
    if (byte < 0x20 || byte > 0x7e || byte === backslash) return -1;
  }
}

/** The position after an integer of up to 15 digits, other than -0. */
export function integerEnd(bytes: Uint8Array, begin: number): number {
  const isNegative = bytes[begin] === minus;
  const first = isNegative ? begin + 1 : begin;
  let at = first;
  while ((bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at += 1;
  const digits = at - first;
  if (digits === 0 || digits > 15) return -1;
  if (bytes[first] === zero && (digits > 1 || isNegative)) return -1;
  const next = bytes[at];
  return next === dot || next === 0x65 || next === 0x45 ? -1 : at;
}

/** The integer of up to 15 digits between `begin` and `end`. */
export function integerAt(bytes: Uint8Array, begin: number, end: number): number {
  const isNegative = bytes[begin] === minus;
  let value = 0;
  for (let at = isNegative ? begin + 1 : begin; at < end; at += 1) value = value * 10 + (bytes[at] as number) - zero;
  return isNegative ? -value : value;
}

/** The position after a plain string, null, true or false. */
export function scalarEnd(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case quote: {
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
