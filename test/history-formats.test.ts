import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../src/base/index.ts';
import {
  formatHistory,
  formatHistoryLines,
  type History,
  parseHistory,
  parseHistoryLines,
  relationsOf,
} from '../src/history/index.ts';
import { arbitraryHistory } from './support/history-arbitrary.ts';

const formats = [
  {
    name: 'the notation',
    parse: parseHistory,
    format: formatHistory,
    histories: arbitraryHistory({ notation: true }),
  },
  { name: 'JSON Lines', parse: parseHistoryLines, format: formatHistoryLines, histories: arbitraryHistory() },
] as const;

describe.each(formats)('$name', ({ parse, format, histories }) => {
  test('carries every history', () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect(parse(format(history))).toStrictEqual(history);
      }),
      { numRuns: 1000 },
    );
  });

  test('has one text for each history', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const text = format(history);
        expect(format(parse(text))).toBe(text);
      }),
    );
  });

  test('is parsed, or refused with a place, whatever happens to its text', () => {
    const outcomes = { parsed: 0, refused: 0 };
    fc.assert(
      fc.property(histories, fc.array(mutations, { minLength: 1, maxLength: 4 }), (history, changes) => {
        const text = changes.reduce((changed, mutate) => mutate(changed), format(history));
        const outcome = outcomeOf(() => parse(text));
        outcomes[outcome.kind] += 1;
        if (outcome.kind === 'parsed') expect(parse(format(outcome.history))).toStrictEqual(outcome.history);
        else expect(outcome.place).toEqual(placeWithin(text));
      }),
      { numRuns: 5000 },
    );
    expect(outcomes.parsed).toBeGreaterThan(100);
    expect(outcomes.refused).toBeGreaterThan(100);
  });

  test('is parsed, or refused with a place, when it is any text at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: fragments, maxLength: 12 }), (text) => {
        const outcome = outcomeOf(() => parse(text));
        if (outcome.kind === 'refused') expect(outcome.place).toEqual(placeWithin(text));
      }),
      { numRuns: 3000 },
    );
  });
});

test('JSON Lines carry what the notation says, and back', () => {
  fc.assert(
    fc.property(arbitraryHistory({ notation: true }), (history) => {
      const throughLines = parseHistoryLines(formatHistoryLines(history));
      expect(formatHistory(throughLines)).toBe(formatHistory(history));
      expect(parseHistory(formatHistory(throughLines))).toStrictEqual(history);
    }),
  );
});

test('the notation keeps what a history says about its reads', () => {
  fc.assert(
    fc.property(arbitraryHistory(), (history) => {
      const [before, after] = [history, parseHistory(formatHistory(history))].map((h) => relationsOf(h));
      expect(after?.reads.length).toBe(before?.reads.length);
      expect(after?.phenomena.map(({ kind }) => kind).toSorted()).toEqual(
        before?.phenomena.map(({ kind }) => kind).toSorted(),
      );
    }),
  );
});

test('the histories of these tests have every kind of read and status', () => {
  const seen = new Set<string>();
  for (const history of fc.sample(arbitraryHistory(), { numRuns: 500, seed: 1 })) {
    const { reads, phenomena } = relationsOf(history);
    for (const { from } of reads) seen.add(from === -1 ? 'initial' : 'external');
    for (const { kind } of phenomena) seen.add(kind);
    for (const { status } of history.transactions) seen.add(status);
  }
  expect([...seen].toSorted()).toEqual([
    'G1a',
    'G1b',
    'aborted',
    'committed',
    'external',
    'initial',
    'internal',
    'unknown',
  ]);
});

type Outcome =
  | { readonly kind: 'parsed'; readonly history: History }
  | { readonly kind: 'refused'; readonly place: InputError['place'] };

/** Anything else that is thrown fails the test. */
function outcomeOf(parse: () => History): Outcome {
  try {
    return { kind: 'parsed', history: parse() };
  } catch (error) {
    if (error instanceof InputError) return { kind: 'refused', place: error.place };
    throw error;
  }
}

/** A line of the text, and a column in it or just behind it. */
function placeWithin(text: string): unknown {
  const lines = text.split('\n');
  const isPlace = (place: unknown): boolean => {
    const { line, column } = place as { line: number; column: number };
    const length = lines[line - 1]?.length ?? -1;
    return Number.isInteger(column) && column >= 1 && column <= length + 1;
  };
  return expect.toSatisfy(isPlace);
}

const fragments = fc.constantFrom(
  'r x 1',
  'w x 1',
  'r x _',
  ' <- 0/0',
  '|',
  ',',
  '!',
  '?',
  '-',
  '\n',
  '\r',
  ' ',
  '"',
  '[',
  ']',
  '{',
  '}',
  ':',
  '\\',
  '\\u00',
  'initial ',
  '{"x":1}',
  '1',
  '-0',
  '1e999',
  '9007199254740993',
  'nul',
  '#',
  '\uFEFF',
  '\u2028',
  '\u0000',
  '\ud83d',
  '__proto__',
  '{"session":"a","operations":[',
  '["r","x",1]',
  '["w","x",1]',
  ']}',
  '"id":',
  '"status":',
  '{"moirai":"history","version":1',
  '"initial":',
);

const mutations: fc.Arbitrary<(text: string) => string> = fc.oneof(
  at((text, position) => text.slice(0, position)),
  at((text, position) => text.slice(position)),
  at((text, position) => text.slice(0, position) + text.slice(position + 1)),
  fc.tuple(fc.nat(), fragments).map(([n, added]) => (text: string) => {
    const position = n % (text.length + 1);
    return text.slice(0, position) + added + text.slice(position);
  }),
  fc.tuple(fc.nat(), fc.nat(7)).map(([n, bit]) => (text: string) => {
    const bytes = Buffer.from(text);
    if (bytes.length > 0) bytes[n % bytes.length] = (bytes[n % bytes.length] as number) ^ (1 << bit);
    return bytes.toString();
  }),
  fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => (text: string) => {
    const lines = text.split('\n');
    lines.splice(a % lines.length, 0, lines[b % lines.length] as string);
    return lines.join('\n');
  }),
);

function at(change: (text: string, position: number) => string): fc.Arbitrary<(text: string) => string> {
  return fc.nat().map((n) => (text) => change(text, n % (text.length + 1)));
}
