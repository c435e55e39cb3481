import { describe, expect, test } from 'vitest';
import { InputError, seeded } from '../base/index.ts';
import { BinaryHistoryReader, isBinaryHistory, writeBinaryHistory } from './binary-history.ts';
import { historyOf } from './compact-convert.ts';
import type { CompactHistory } from './compact-history.ts';
import { scanHistoryLines } from './json-lines-scanner.ts';

const text = [
  '{"moirai":"history","version":1,"initial":{"y":0.5},"sessions":["b","idle"]}',
  '{"session":"a","operations":[["w","x",1],["r","y",0.5,null]],"status":"aborted","end":-1}',
  '{"session":"b","operations":[["r","x","é"]],"id":"t","start":0,"level":"causal"}',
  '{"session":"b","operations":[["w","x","é"],["w","ключ",{"a":[1]}]],"status":"unknown"}',
].join('\n');
const lists = '{"session":"a","operations":[["append","x",1],["r","x",[1]],["r","x",null]]}';

const compactOf = (lines: string): CompactHistory => scanHistoryLines([new TextEncoder().encode(lines)]);
const written = (lines: string): Uint8Array =>
  new Uint8Array([...writeBinaryHistory(compactOf(lines))].flatMap((part) => [...part]));

function read(bytes: Uint8Array, chunkBytes = 1 << 20): CompactHistory {
  const reader = new BinaryHistoryReader();
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.slice(at, at + chunkBytes));
  return reader.finish();
}

describe('a binary history', () => {
  test.each([1, 3, 8, 13, 64, 1_000_000])('is what was written, in chunks of %d bytes', (chunkBytes) => {
    expect(historyOf(read(written(text), chunkBytes))).toStrictEqual(historyOf(compactOf(text)));
    const { lists: given, line, kind, value } = compactOf(lists);
    expect(read(written(lists), chunkBytes)).toMatchObject({ lists: given, line, kind, value });
    expect(read(written(''), chunkBytes).transactionCount).toBe(0);
  });

  test('is known by its first bytes', () => {
    expect(isBinaryHistory(written(text).subarray(0, 8))).toBe(true);
    expect(isBinaryHistory(new TextEncoder().encode('MOIRAI'))).toBe(false);
    expect(isBinaryHistory(new TextEncoder().encode(text))).toBe(false);
  });

  test('is refused where it is cut, with the offset', () => {
    const bytes = written(text);
    for (let length = 0; length < bytes.length; length += 1)
      expect(() => read(bytes.subarray(0, length))).toThrow(
        expect.objectContaining({
          code: 'history/truncated',
          message: expect.stringContaining(`ends at byte ${length},`),
        }),
      );
  });

  test('is refused where a bit has changed, wherever that is', () => {
    const bytes = written(text);
    const codes = new Set<string>();
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8));
      codes.add(outcome(damaged));
    }
    expect([...codes].toSorted()).toEqual(['history/corrupt', 'history/format', 'history/version', 'read']);
    const padding = [...bytes.keys()].filter((at) => {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ 1;
      return outcome(damaged) === 'read';
    });
    expect(padding.every((at) => bytes[at] === 0)).toBe(true); // between columns
    expect(padding.length).toBeLessThan(8 * 27);
  });

  test('is refused where its columns are of no history, though their sums are right', () => {
    const random = seeded(1);
    const history = compactOf(text);
    const codes = new Set<string>();
    for (let i = 0; i < 2_000; i += 1) {
      const name = (['session', 'status', 'operationStart', 'kind', 'key', 'value', 'from', 'initialValue'] as const)[
        random.choose(8)
      ];
      const column = history[name ?? 'key']?.slice() ?? new Int32Array();
      column[random.choose(column.length)] = random.choose(3) === 0 ? -7 : random.choose(12);
      const bytes = new Uint8Array(
        [...writeBinaryHistory({ ...history, [name ?? 'key']: column })].flatMap((part) => [...part]),
      );
      codes.add(outcome(bytes));
    }
    expect([...codes].toSorted()).toEqual(['history/corrupt', 'read']);
  });

  test('has an end', () => {
    expect(() => read(Uint8Array.of(...written(text), 0))).toThrow(
      expect.objectContaining({ code: 'history/corrupt' }),
    );
  });
});

/** The code, or `read` where it is a history that can be used. */
function outcome(bytes: Uint8Array): string {
  try {
    historyOf(read(bytes));
    return 'read';
  } catch (error) {
    if (error instanceof InputError) return error.code;
    throw error;
  }
}
