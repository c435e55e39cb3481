import { describe, expect, test } from 'vitest';
import { InputError } from '../base/index.ts';
import { type CompactHistory, historyOf } from '../history/index.ts';
import { checkedSum } from '../history/end-sum.ts';
import { formatNamed } from '../history/formats/formats.ts';
import { formatLastMark } from './record.ts';
import { parseHistoryLines } from '../history/json-lines.ts';
import { parseHistory } from '../history/notation.ts';
import { crc32 } from '../base/crc32.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const sourceOf = (bytes: Uint8Array, size = 7) => ({
  name: 'f',
  chunks: async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
  },
});
const read = async (form: 'jsonl' | 'notation', bytes: Uint8Array, size?: number): Promise<CompactHistory> =>
  formatNamed(form).read([sourceOf(bytes, size)]);
const history = parseHistory('initial {"z":4}\nw x 1, w y "é" | r x 2 <- 1/0\nr y _ where "n > 3", r z 4 | w x 2 !');
const texts = { jsonl: parseHistoryLines, notation: parseHistory } as const;

async function written(form: 'jsonl' | 'notation'): Promise<Uint8Array> {
  const { compactOf } = await import('../history/index.ts');
  return Buffer.concat([...(formatNamed(form).write?.(compactOf(history)) ?? [])]);
}

/** The code of the refusal, or the history. */
async function outcome(parse: () => unknown): Promise<unknown> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof InputError) return error.code;
    throw error;
  }
}

describe.each(['jsonl', 'notation'] as const)('a history as %s', (form) => {
  test('with any bit flipped is refused, or is the same history', async () => {
    const bytes = await written(form);
    const whole = historyOf(await read(form, bytes));
    const [refused, same] = [new Set<unknown>(), new Set<number>()];
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      const ofPieces = await outcome(async () => historyOf(await read(form, flipped, 50)));
      const ofText = await outcome(() => texts[form](new TextDecoder().decode(flipped)));
      for (const found of [ofPieces, ofText])
        if (typeof found === 'string') refused.add(found);
        else {
          expect(found).toStrictEqual(whole);
          same.add(bit >> 3);
        }
    }
    expect(refused).toContain('history/corrupt');
    // Only in its last line.
    const lastLine = bytes.lastIndexOf(10, bytes.length - 2);
    for (const at of same) expect(at).toBeGreaterThan(lastLine);
  });

  test('without the sum is read as it is', async () => {
    const bytes = await written(form);
    const cut = bytes.subarray(0, bytes.lastIndexOf(10, bytes.length - 2) + 1);
    expect(historyOf(await read(form, cut))).toStrictEqual(historyOf(await read(form, bytes)));
  });

  test('is refused where lines follow the last', async () => {
    const more = { jsonl: '{"session":"0","operations":[]}\n', notation: '-\n' }[form];
    const longer = Buffer.concat([await written(form), encode(more)]);
    expect(await outcome(() => read(form, longer))).toMatch(/history\/header/);
    expect(await outcome(() => texts[form](longer.toString()))).toMatch(/history\/header/);
  });
});

test.each([1, 3, 64, 128, 129, 5_000])('the sum of pieces of %d bytes is that of the whole', async (size) => {
  const trace = encode(`{"moirai":"trace","version":1,"marks":true}\n${'{"session":"a"}\n'.repeat(40)}`);
  const whole = Buffer.concat([trace, encode(`${formatLastMark(crc32(trace))}\n`)]);
  const check = async (bytes: Uint8Array): Promise<unknown> =>
    outcome(async () => {
      for await (const _ of checkedSum('trace', sourceOf(bytes, size).chunks()));
      return 'right';
    });
  expect(await check(whole)).toBe('right');
  expect(await check(whole.subarray(0, -1))).toBe('right');
  expect(await check(trace)).toBe('right');
  for (const at of [0, 100, trace.length - 2]) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] as number) ^ 4;
    expect(await check(flipped)).toBe('trace/corrupt');
  }
});
