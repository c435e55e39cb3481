import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../base/index.ts';
import { historyOf, listOf } from './compact-convert.ts';
import { operationKind } from './compact-history.ts';
import type { History } from './history.ts';
import { scanHistoryLines } from './json-lines-scanner.ts';
import { parseHistoryLines } from './json-lines.ts';
import type { transactionFields } from './transaction-line.ts';

/** MOIRAI_HEAVY=1: more texts. */
const numRuns = process.env['MOIRAI_HEAVY'] === '1' ? 100_000 : 3_000;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('scanHistoryLines agrees with parseHistoryLines', () => {
  test('on texts in any layout, in chunks of any size', () => {
    fc.assert(
      fc.property(textArbitrary, fc.array(fc.nat(40)), (text, cuts) => void expectSame(text, cuts)),
      { numRuns },
    );
  });

  test('on texts that are damaged', () => {
    const damaged = fc
      .tuple(
        textArbitrary,
        fc.nat(),
        fc.constantFrom('', '"', '\\', '{', ']', ',', '1', '\u0001', '\u00E9', '\r', '\n', ' '),
      )
      .map(([text, at, put]) => {
        const position = at % (text.length + 1);
        const cut = text.slice(0, position) + put + text.slice(position + (at % 3));
        return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(cut)); // half of a pair has no bytes
      });
    const codes = new Set<string>();
    fc.assert(
      fc.property(damaged, fc.array(fc.nat(40)), (text, cuts) => void codes.add(expectSame(text, cuts))),
      { numRuns },
    );
    expect(codes.size).toBeGreaterThan(5);
  });
});

/** A right value of every field of the table, and wrong ones of every kind: a field that is added is among them. */
const right: Readonly<Record<keyof typeof transactionFields, string>> = {
  session: '"a"',
  operations: '[["w","x",1],["r","x",1]]',
  status: '"aborted"',
  start: '3',
  end: '4',
  id: '"t7"',
  level: '"causal"',
};
const wrong = ['7', '-0', '1.5', '1e2', 'null', 'true', '"x"', '"\\u0061"', '[]', '[1]', '{}', '99999999999999999'];

test.each(Object.keys(right))(
  'agrees on every kind of value of %s, without it, twice, and under another name',
  (name) => {
    const lineOf = (fields: readonly (readonly [string, string])[]): string =>
      `{${fields.map(([field, given]) => `"${field}":${given}`).join(',')}}`;
    const all = Object.entries(right);
    const codes = [
      lineOf(all),
      lineOf(all.toReversed()),
      lineOf(all.filter(([field]) => field !== name)),
      lineOf([...all, ...all.filter(([field]) => field === name)]),
      lineOf(all.map(([field, given]) => [field === name ? `${field}s` : field, given])),
      ...wrong.map((given) => lineOf(all.map(([field, old]) => [field, field === name ? given : old]))),
    ].map((text) => expectSame(`${text}\n`, []));
    expect(new Set(codes).size).toBeGreaterThan(1);
  },
);

test('appends make lists of the reads of their keys', () => {
  const text = [
    '{"session":"a","operations":[["r","x",null],["append","x",3],["append","x","b"]]}',
    '{"session":"b","operations":[["r","x",[3,"b"]],["r","y",[1]],["r","x", [3]]]}',
  ].join('\n');
  const history = scanHistoryLines([bytesOf(text)]);
  const { read, append, listRead } = operationKind;
  expect([...history.kind]).toEqual([listRead, append, append, listRead, read, listRead]);
  expect([0, 3, 5].map((o) => listOf(history, history.value[o] as number))).toEqual([[], [3, 'b'], [3]]);
  expect(history.line).toEqual(Int32Array.of(1, 2));
});

test.each([
  ['not UTF-8', Uint8Array.of(0x7b, 0xff, 0x0a), 'history/encoding', {}],
  ['a line without end', bytesOf(`{}\n${' '.repeat(50)}`), 'history/size', { lineBytesMax: 40 }],
])('refuses %s', (_name, bytes, code, options) => {
  const scan = () => scanHistoryLines([bytesOf('\n'), bytes], options);
  expect(scan).toThrow(expect.objectContaining({ code: code === 'history/size' ? 'history/shape' : code }));
});

test('refuses a line that does not end', () => {
  const scan = () =>
    scanHistoryLines([bytesOf('\n'), bytesOf(' '.repeat(30)), bytesOf(' '.repeat(30))], { lineBytesMax: 40 });
  expect(scan).toThrow(expect.objectContaining({ code: 'history/size', place: { line: 2 } }));
});

/** @returns the code of the error, or '' */
function expectSame(text: string, cuts: readonly number[]): string {
  const [expected, actual] = [
    outcomeOf(() => parseHistoryLines(text)),
    outcomeOf(() => historyOf(scanHistoryLines(chunksOf(text, cuts)))),
  ];
  if (!('code' in expected)) {
    expect(actual, `of ${text}`).toEqual(expected);
    return '';
  }
  // What reads saw is for the checks.
  if (expected.code === 'history/thin-air-read' || expected.code === 'history/duplicate-write')
    expect(actual).toHaveProperty('history');
  else expect(actual, `of ${text}`).toEqual(expected);
  return expected.code;
}

function outcomeOf(read: () => History): { history: History } | { code: string; line: number | undefined } {
  try {
    const history = read();
    // That a key starts as null need not be said.
    return { history: { ...history, initial: new Map([...history.initial].filter(([, value]) => value !== null)) } };
  } catch (error) {
    if (error instanceof InputError) return { code: error.code, line: error.place?.line };
    throw error;
  }
}

function chunksOf(text: string, cuts: readonly number[]): Uint8Array[] {
  const bytes = bytesOf(text);
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of cuts) {
    chunks.push(bytes.slice(at, at + size));
    at += size;
  }
  return [...chunks, bytes.slice(at)];
}

const word = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'x', 'y', 'key/7') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      'é',
      '"',
      '\\',
      '\n',
      '\u007F',
      '😀',
      '\ud800',
      '\ud801',
      '\uFEFF',
      'a/0',
      '__proto__',
    ),
  },
);
const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 3 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      'v',
      '1',
      'é',
      0.5,
      1e21,
      999_999_999_999_999,
      -1_000_000_000_000_000,
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>([], [1, 'a'], [[1], 2], [1, null], { b: 1, a: [2] }, {}) },
);
const writer = fc.constantFrom<unknown>(null, 'a/0', 'a/1', 'b/0', 't1', 'é/0');
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('r', 'w'), word, value) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('r'), word, value, writer) },
);
const oddOperation = fc.constantFrom<unknown>(['x', 'k', 1], ['r', 'x'], ['w', 'x', 1, null], ['r', 1, 1], 'r', [
  'r',
  'x',
  1,
  2,
]);
const transaction = fc.record(
  {
    session: fc.oneof({ weight: 8, arbitrary: word }, { weight: 1, arbitrary: fc.constantFrom<unknown>(1, null) }),
    operations: fc.array(fc.oneof({ weight: 30, arbitrary: operation }, { weight: 1, arbitrary: oddOperation }), {
      maxLength: 4,
    }),
    status: fc.constantFrom('committed', 'aborted', 'unknown', 'committed', 'lost'),
    start: fc.oneof(fc.nat(9), fc.constantFrom<unknown>(-5, 1e15, 1e16, 0.5, '1')),
    end: fc.oneof(fc.integer({ min: 5, max: 20 }), fc.constantFrom<unknown>(0, 2 ** 53)),
    id: fc.constantFrom<unknown>('t1', 't2', 'a/0', 'b/1', 'é', 7),
    level: fc.constantFrom<unknown>('causal', 'é', 7),
    note: fc.constantFrom<unknown>('n', 'é', { a: [1, { b: null }] }, 12.5, [], 'x\\'),
    moirai: fc.constant('history'),
  },
  { requiredKeys: ['session', 'operations'] },
);
const header = fc.record(
  {
    moirai: fc.constantFrom<unknown>('history', 'history', 'history', 'trace'),
    version: fc.constantFrom(1, 1, 1, 2),
    initial: fc.dictionary(word, value, { maxKeys: 2 }),
    sessions: fc.uniqueArray(word, { maxLength: 2 }),
  },
  { requiredKeys: ['moirai', 'version'] },
);

/** Rare fields are taken out of most lines, or most texts would be refused for them. */
const line = fc
  .tuple(transaction, fc.nat(7), fc.boolean(), fc.constantFrom('', ' ', '\t'))
  .map(([fields, rare, isReversed, space]) => {
    const few = Object.entries(fields).filter(
      ([name], i) => i === rare || ['session', 'operations', 'status'].includes(name),
    );
    const kept = few.filter(([name, given]) => (name !== 'moirai' && given !== 'lost') || rare === 0);
    const text = JSON.stringify(Object.fromEntries(isReversed ? kept.toReversed() : kept));
    return space === ''
      ? text
      : `${space}${text.replaceAll(/([[\]{},:])(?=(?:[^"\\]|"(?:[^"\\]|\\.)*")*$)/g, `$1${space}`)}`;
  });
const textArbitrary = fc
  .tuple(
    fc.option(header),
    fc.array(line, { maxLength: 5 }),
    fc.constantFrom('\n', '\r\n', '\n\n', '\n \n'),
    fc.constantFrom('', '\uFEFF'),
    fc.boolean(),
  )
  .map(([first, lines, feed, mark, ends]) => {
    const all = first === null ? lines : [JSON.stringify(first), ...lines];
    return mark + all.join(feed) + (ends ? feed : '');
  });
