import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../base/index.ts';
import { linesOf, partAt, scanJsonLine } from './json-text.ts';

describe('scanJsonLine', () => {
  test('accepts exactly what JSON.parse accepts', () => {
    const outcomes = { accepted: 0, refused: 0 };
    const changes = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.constantFrom('', ...'0123456789.-+eE"\\,:[]{} \tnrtu\u0001\u00a0'.split('')),
    );
    const texts = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.array(changes, { maxLength: 2 }))
      .map(([json, edits]) => edits.reduce((text, edit) => changed(text, ...edit), json));
    fc.assert(
      fc.property(texts, (text) => {
        const isJson = accepts(() => JSON.parse(text), SyntaxError);
        expect(accepts(() => scanJsonLine({ text, number: 1 }), InputError)).toBe(isJson);
        outcomes[isJson ? 'accepted' : 'refused'] += 1;
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(500);
  });

  test('knows where every part stands', () => {
    const text = ' {"a" : [ 10, {"b":"}"} ], "\\u0063":null, "a\\"":-1.5e3} ';
    const tree = scanJsonLine({ text, number: 1 });
    const partOf = (...path: (string | number)[]): string => {
      const { at, end } = partAt(tree, path);
      return text.slice(at, end);
    };
    expect(partOf('a', 0)).toBe('10');
    expect(partOf('a', 1)).toBe('{"b":"}"}');
    expect(partOf('a', 1, 'b')).toBe('"}"');
    expect(partOf('c')).toBe('null');
    expect(partOf('a"')).toBe('-1.5e3');
    expect(partOf()).toBe(text.trim());
    expect(partOf('a', 7, 'b')).toBe('[ 10, {"b":"}"} ]');
  });

  test('refuses a member that comes twice: JSON.parse would take the last', () => {
    expect(() => scanJsonLine({ text: '{"a":1,"a":2}', number: 1 })).toThrow('"a" comes twice');
  });
});

test('linesOf counts from 1 and leaves out line ends and a byte order mark', () => {
  expect(linesOf('\uFEFFa\r\n\nb')).toEqual([
    { text: 'a', number: 1 },
    { text: '', number: 2 },
    { text: 'b', number: 3 },
  ]);
});

function changed(text: string, at: number, removed: number, added: string): string {
  const position = at % (text.length + 1);
  return text.slice(0, position) + added + text.slice(position + removed);
}

function accepts(body: () => unknown, Refusal: typeof SyntaxError | typeof InputError): boolean {
  try {
    body();
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
