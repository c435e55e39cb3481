import { describe, expect, test } from 'vitest';
import { type CompactHistory, historyOf, parseHistory, parseHistoryLines } from '../index.ts';
import { detectFormat, formatNamed, formatOfName, historyFormats } from './formats.ts';
import type { HistorySource } from './format.ts';

const text = [
  '{"moirai":"history","version":1,"initial":{"7":0.5,"__proto__":1},"sessions":["b","idle"]}',
  '{"session":"a","operations":[["w","x",1],["r","7",0.5,null]],"status":"aborted","end":-1}',
  '{"session":"b","operations":[["r","x","é","b/1"]],"id":"t","start":0,"level":"causal"}',
  '{"session":"b","operations":[["w","x","é"]],"status":"unknown"}',
  '{"session":"b","operations":[["r","__proto__",1]]}',
].join('\n');
const notation = 'w x 1, r y _ | r x 1 !\nw y [2] | -';

const source = (bytes: Uint8Array, name = 'f'): HistorySource => ({
  name,
  chunks: async function* () {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.slice(at, at + 7);
  },
});
const encode = (given: string): Uint8Array => new TextEncoder().encode(given);
const write = (format: string, history: CompactHistory): Uint8Array => {
  const parts = [...(formatNamed(format).write?.(history) ?? [])];
  return Uint8Array.from(parts.flatMap((part) => [...part]));
};

describe('every format that is written', () => {
  test.each(['jsonl', 'binary'])('%s gives back the whole history', async (format) => {
    const history = await formatNamed('jsonl').read([source(encode(text))]);
    expect(historyOf(history)).toStrictEqual(parseHistoryLines(text));
    const bytes = write(format, history);
    expect(detectFormat(bytes, 'f').name).toBe(format);
    expect(historyOf(await formatNamed(format).read([source(bytes)]))).toStrictEqual(parseHistoryLines(text));
  });

  test('notation gives back what it carries', async () => {
    const history = await formatNamed('notation').read([source(encode(notation))]);
    const bytes = write('notation', history);
    expect(detectFormat(bytes, 'f').name).toBe('notation');
    expect(historyOf(await formatNamed('notation').read([source(bytes)]))).toStrictEqual(parseHistory(notation));
  });

  test.each(['jsonl', 'binary'])('%s carries lists', async (format) => {
    const lists = '{"session":"a","operations":[["append","x",1],["r","x",[1]],["r","x",[]],["r","y",[1]]]}';
    const history = await formatNamed('jsonl').read([source(encode(lists))]);
    const again = await formatNamed(format).read([source(write(format, history))]);
    expect(again).toMatchObject({ kind: history.kind, lists: history.lists, value: history.value });
  });
});

describe('a file that moirai writes says where it ends', () => {
  const history = 'w x 1, r y _ | r x 1\nw y [2] | - | w z 12 !';
  const [notationCount, linesCount] = ['transactions 5\n', '"transactions":5'];

  test.each(['jsonl', 'binary', 'notation'] as const)('%s: cut anywhere, it is never read as whole', async (name) => {
    const format = formatNamed(name);
    const bytes = write(name, await formatNamed('notation').read([source(encode(history))]));
    expect(format.marksEnd(bytes)).toBe(true);
    expect((await format.read([source(bytes)])).transactionCount).toBe(5);
    const sumAt = bytes.lastIndexOf(10, bytes.length - 2) + 1;
    // What is whole by its count: a text without the last line, which has the checksum; and a line feed that ends nothing. Before the count a text is as one without it.
    const whole = {
      jsonl: [0, sumAt - 1, sumAt, bytes.length - 1],
      binary: [],
      notation: [0, sumAt, bytes.length - 1],
    };
    for (let length = 0; length < bytes.length; length += 1) {
      if ((whole[name] as number[]).includes(length)) continue;
      const read = format.read([source(bytes.slice(0, length))]);
      const code =
        length < (name === 'notation' ? notationCount.indexOf(' ') : 0) ? 'history/syntax' : 'history/truncated';
      await expect(read, `${length} bytes`).rejects.toThrow(expect.objectContaining({ code }));
    }
  });

  test('one that others wrote says so where it is one list or has counts', () => {
    const marks = (name: string, begin: string): boolean => formatNamed(name).marksEnd(encode(begin));
    expect(marks('jsonl', `{"moirai":"history","version":1,${linesCount},"sessions":[`)).toBe(true);
    expect(marks('jsonl', '{"session":"a","operations":[]}')).toBe(false);
    expect(marks('notation', '# by hand\nw x 1')).toBe(false);
    expect(marks('elle-edn', '; a comment\n [{:type :ok')).toBe(true);
    expect(marks('elle-edn', '{:type :ok')).toBe(false);
    expect(marks('elle-json', '[{"type":"ok"')).toBe(true);
    expect(marks('viper', '{"value":[]}')).toBe(false);
    expect(marks('plume', 'r(0,0,0,0)')).toBe(false);
  });
});

test('a format is known by its name, and for writing by that of the file', () => {
  expect(historyFormats.map(({ name }) => formatNamed(name).name)).toEqual(historyFormats.map(({ name }) => name));
  expect(formatOfName('a/b.history.jsonl').name).toBe('jsonl');
  expect(formatOfName('run.moirai').name).toBe('binary');
  for (const wrong of [
    () => formatNamed('csv'),
    () => formatOfName('run'),
    () => detectFormat(Uint8Array.of(1, 0), 'run'),
  ])
    expect(wrong).toThrow(expect.objectContaining({ code: 'history/format' }));
});

test('one history is one file, unless the format says otherwise', async () => {
  for (const format of historyFormats.filter(({ name }) => ['jsonl', 'binary', 'notation'].includes(name)))
    await expect(format.read([])).rejects.toThrow(expect.objectContaining({ code: 'history/format' }));
});

test('text that is not UTF-8 is refused', async () => {
  const read = formatNamed('notation').read([source(Uint8Array.of(0x77, 0xff))]);
  await expect(read).rejects.toThrow(expect.objectContaining({ code: 'history/encoding' }));
});
