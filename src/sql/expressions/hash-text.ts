/** PostgreSQL's hash of a text, which programs make keys of advisory locks with: Bob Jenkins's lookup3 as in `src/common/hashfn.c`. */

/** Both halves, each of 32 bits. @param seed 0: none */
export function hashBytes(bytes: Uint8Array, seed = 0n): { readonly high: number; readonly low: number } {
  const start = (0x9e3779b9 + bytes.length + 3_923_095) | 0;
  let state: State = [start, start, start];
  if (seed !== 0n)
    state = mixed([start + Number(BigInt.asIntN(32, seed >> 32n)), start + Number(BigInt.asIntN(32, seed)), start]);
  let at = 0;
  for (; bytes.length - at >= 12; at += 12) {
    const [a, b, c] = state;
    state = mixed([a + wordAt(bytes, at), b + wordAt(bytes, at + 4), c + wordAt(bytes, at + 8)]);
  }
  const [a, b, c] = state;
  // The lowest byte of the last word is kept for the length.
  const [, high, low] = finished([a + wordAt(bytes, at), b + wordAt(bytes, at + 4), c + (wordAt(bytes, at + 8) << 8)]);
  return { high, low };
}

type State = readonly [a: number, b: number, c: number];

/** Little-endian; bytes past the end are 0. */
function wordAt(bytes: Uint8Array, at: number): number {
  const byte = (i: number): number => bytes[at + i] ?? 0;
  return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
}

function rotated(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function mixed([first, second, third]: State): State {
  let [a, b, c] = [first | 0, second | 0, third | 0];
  for (const [ca, ab, bc] of [
    [4, 6, 8],
    [16, 19, 4],
  ] as const) {
    a = (a - c) ^ rotated(c, ca);
    c = (c + b) | 0;
    b = (b - a) ^ rotated(a, ab);
    a = (a + c) | 0;
    c = (c - b) ^ rotated(b, bc);
    b = (b + a) | 0;
  }
  return [a, b, c];
}

function finished([first, second, third]: State): State {
  let [a, b, c] = [first | 0, second | 0, third | 0];
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  c = ((c ^ b) - rotated(b, 24)) | 0;
  return [a, b, c];
}
