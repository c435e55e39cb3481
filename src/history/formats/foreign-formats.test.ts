import { describe, expect, test } from 'vitest';
import { InputError } from '../../base/index.ts';
import { type CompactHistory, historyOf, operationKind } from '../index.ts';
import { formatHistory } from '../notation.ts';
import { detectFormat, folderFormat, formatNamed, historyFormats } from './formats.ts';
import { samples, type Sample, sourcesOf } from './foreign-samples.test-support.ts';
import { listOf } from '../compact-convert.ts';

/** What a history says, in notation; list operations as `append` and as reads of JSON. */
function told(history: CompactHistory): string {
  const sessions = Array.from({ length: history.sessionCount }, (): string[] => []);
  if (history.lists === null) return formatHistory(historyOf(history)).replaceAll(' null', ' _');
  for (let t = 0; t < history.transactionCount; t += 1) {
    const operations: string[] = [];
    for (let o = history.operationStart[t] as number; o < (history.operationStart[t + 1] as number); o += 1) {
      const key = history.names.key(history.key[o] as number);
      const value = history.value[o] as number;
      operations.push(
        history.kind[o] === operationKind.append
          ? `append ${key} ${JSON.stringify(history.names.value(value))}`
          : history.kind[o] === operationKind.listRead
            ? `r ${key} ${JSON.stringify(listOf(history, value))}`
            : `r ${key} _`,
      );
    }
    sessions[history.session[t] as number]?.push(operations.join(', ') + ['', ' !', ' ?'][history.status[t] as number]);
  }
  return sessions.map((transactions) => transactions.join(' | ')).join('\n');
}

const readSample = (sample: Sample): Promise<CompactHistory> => formatNamed(sample.format).read(sourcesOf(sample));

describe.each(samples)('$format: $name', (sample) => {
  test('gives the history that it stands for', async () => {
    expect(told(await readSample(sample))).toBe(sample.told.join('\n'));
  });

  test('is known by what it begins with', () => {
    const [[name, bytes] = ['', new Uint8Array()]] = Object.entries(sample.files);
    expect(detectFormat(bytes, name).name).toBe(sample.format);
  });

  test('cut at any byte is a history or bad input', async () => {
    const [[name, bytes] = ['', new Uint8Array()]] = Object.entries(sample.files);
    let refused = 0;
    for (let length = 0; length < bytes.length; length += 1) {
      const error = await problemOf(sample, { ...sample.files, [name]: bytes.slice(0, length) });
      if (error !== null) refused += 1;
    }
    expect(refused).toBeGreaterThan(bytes.length / 4);
  });

  test('with any byte changed is a history or bad input', async () => {
    const [[name, bytes] = ['', new Uint8Array()]] = Object.entries(sample.files);
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      for (const byte of [0, 0x22, 0x5d, 0x39, 0xff, (bytes[at] as number) ^ 1])
        if ((await problemOf(sample, { ...sample.files, [name]: bytes.with(at, byte) })) !== null) refused += 1;
    }
    expect(refused).toBeGreaterThan(0);
  });

  test('in pieces of any size is the same', async () => {
    for (const size of [1, 2, 3, 7, 64]) {
      const history = await formatNamed(sample.format).read(sourcesOf(sample, size));
      expect(told(history), `pieces of ${size}`).toBe(sample.told.join('\n'));
    }
  });
});

/** The error, which must be one with a code and a place or an offset. */
async function problemOf(sample: Sample, files: Sample['files']): Promise<InputError | null> {
  try {
    await formatNamed(sample.format).read(sourcesOf({ ...sample, files }));
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error;
  }
}

describe.each([...new Set(samples.map(({ format }) => format))])('%s', (format) => {
  test('is bad input, or no history, when the bytes are any', async () => {
    let seed = 1;
    let refused = 0;
    for (let i = 0; i < 200; i += 1) {
      const bytes = new Uint8Array(i).map(() => (seed = (seed * 48_271) % 2_147_483_647) & (i % 2 === 0 ? 0xff : 0x7f));
      if ((await problemOf({ format, name: '', told: [], files: {} }, { f: bytes })) !== null) refused += 1;
    }
    expect(refused).toBeGreaterThan(100);
  });
});

describe('wrong types and unknown things are bad input with a line', () => {
  test.each([
    ['plume', 'w(1,2,0,1)\nw(1,x,0,1)', 'history/syntax', 2],
    ['plume', 'w(1,2,0,1)\nw(1,3,1,1)', 'history/field', 2],
    ['plume', 'r(1,2,0,-1)', 'history/field', 1],
    ['awdit', 'w 0 1\n-----\nw 0', 'history/syntax', 3],
    ['dbcop-hist', '[x:=1]\n[x==1 y:2]', 'history/syntax', 2],
    ['dbcop-hist', '[x:=?]', 'history/syntax', 1],
    ['dbcop-hist', '[x:=1', 'history/truncated', 1],
    ['dbcop-json', '[[{"events":[{"Add":1}],"committed":true}]]', 'history/field', 1],
    ['dbcop-json', '[\n{"committed":true}]', 'history/field', 2],
    ['dbcop-json', '[[{"events":[{"Write":{"variable":0,"version":null}}],"committed":true}]]', 'history/field', 1],
    ['dbcop-json', '[[{"events":[],"committed":1}]]', 'history/field', 1],
    ['viper', '{"value":[["x",1,2]]}', 'history/field', 1],
    ['viper', '{"value":[["r",1]]}', 'history/field', 1],
    ['viper', '{"value":[["range",1,2,[]]]}', 'history/field', 1],
    ['viper', '{"value":7}', 'history/field', 1],
    ['chronos', '[{"tid":1,"sid":1,"sts":{"p":2,"l":0},"cts":{"p":1,"l":0},"ops":[]}]', 'history/field', 1],
    ['chronos', '[{"tid":1,"sid":1,"sts":{"p":"a","l":0},"cts":{"p":1,"l":0},"ops":[]}]', 'history/field', 1],
    ['chronos', '[\n{"tid":1,"sid":1,"sts":{"p":1},"cts":{"p":1},"ops":[{"t":"x","k":1}]}]', 'history/field', 2],
    ['elle-json', '[{"type":"ok","value":[["inc","x",1]]}]', 'history/field', 1],
    ['elle-json', '[{"type":"maybe","value":[]}]', 'history/field', 1],
    ['elle-json', '[{"type":"ok","value":7}]', 'history/field', 1],
    ['elle-json', '[{"type":"ok","value":[]},]', 'history/syntax', 1],
    ['elle-json', '[{"type":"ok","value":[]}', 'history/truncated', 1],
    ['elle-edn', '{:type :ok\n :value [[:inc :x 1]]}', 'history/field', 1],
    ['elle-edn', '{:type :ok :value [[:w :x]]}', 'history/field', 1],
    ['elle-edn', '{:type :ok :value [[:w :x 1]]\n', 'history/truncated', 2],
    ['elle-edn', '{:type :ok :value [[:w :x 1])}', 'history/syntax', 1],
    ['elle-edn', '\n{:type :ok :value}', 'history/syntax', 2],
    ['elle-edn', '{:type :ok :value #{1}}', 'history/field', 1],
    ['elle-edn', '7', 'history/field', 1],
    ['elle-edn', '{:type :invoke :process 1 :value []}\n{:type :invoke :process 1 :value []}', 'history/field', 2],
  ])('%s: %s', async (format, text, code, line) => {
    const error = await problemOf({ format, name: '', told: [], files: {} }, { f: new TextEncoder().encode(text) });
    expect(error).toMatchObject({ code, place: { line } });
  });
});

test('a folder has the format of its files', () => {
  const names = ['T10.log', 'T2.log', 'T2.debug', 'readme'];
  expect(folderFormat(names)).toMatchObject({ format: { name: 'cobra' }, files: ['T2.log', 'T10.log'] });
  expect(folderFormat(['J1.log'])?.format.name).toBe('viper');
  expect(folderFormat(['a.history', 'b.jsonl'])).toBeNull();
});

test('every format of other tools has a sample', () => {
  const sampled = new Set(['binary', 'jsonl', 'notation', ...samples.map(({ format }) => format)]);
  expect(historyFormats.map(({ name }) => name).filter((name) => !sampled.has(name))).toEqual([]);
});
