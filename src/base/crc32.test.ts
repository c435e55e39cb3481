import { expect, test } from 'vitest';
import { crc32, crc32ByTable } from './crc32.ts';

const bytes = new TextEncoder().encode('123456789');

test.each([
  ["Node's", crc32],
  ['by table', crc32ByTable],
])('%s gives the check value of the definition, also in pieces', (_name, sum) => {
  expect(sum(bytes)).toBe(0xcbf4_3926);
  for (let at = 0; at <= bytes.length; at += 1)
    expect(sum(bytes.subarray(at), sum(bytes.subarray(0, at)))).toBe(0xcbf4_3926);
  expect(sum(new Uint8Array())).toBe(0);
});
