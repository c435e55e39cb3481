/** CRC-32 (ISO 3309, as zlib and gzip have it): of files that are written and read in pieces. Against damage by accident. */
import * as zlib from 'node:zlib';

/** @param before the sum of the bytes that stand before them */
export const crc32: (bytes: Uint8Array, before?: number) => number =
  // Node has it from 20.15 on.
  (zlib as { crc32?: typeof zlib.crc32 }).crc32 ?? crc32ByTable;

/** A byte at a time. */
export function crc32ByTable(bytes: Uint8Array, before = 0): number {
  let sum = ~before;
  for (const byte of bytes) sum = (table[(sum ^ byte) & 0xff] as number) ^ (sum >>> 8);
  return ~sum >>> 0;
}

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let entry = byte;
  for (let bit = 0; bit < 8; bit += 1) entry = (entry & 1) === 0 ? entry >>> 1 : (entry >>> 1) ^ 0xedb8_8320;
  return entry;
});
