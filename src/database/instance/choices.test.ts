import { describe, expect, test } from 'vitest';
import { InputError } from '../../base/index.ts';
import { withEndLine } from '../../history/index.ts';
import type { Decisions } from '../../mockdb/index.ts';
import { formatChoices, parseChoices } from './choices.ts';

const header = '{"moirai":"choices","version":3}';
const old = '{"moirai":"choices","version":2}';
/** A log as it is written: its lines, and their sum. */
const log = (...lines: string[]): string => withEndLine('choices', `${[header, ...lines].join('\n')}\n`);
const point = { session: 2, attempt: 0, read: 1 };

function decided(schedule: number[], position: number): Decisions {
  const readChoices = [{ ...point, position, admissible: 3 }];
  return {
    session: ([first]) => first as number,
    read: () => 0,
    failure: () => false,
    path: [],
    schedule,
    readChoices,
  };
}

describe('a log of choices', () => {
  test('is a schedule and the reads that do not see the newest write', () => {
    expect(formatChoices(decided([1, 2, 1], 2))).toBe(log('{"schedule":[1,2,1]}', '{"older":[[2,0,1,2]]}'));
    expect(formatChoices(decided([], 0))).toBe(log('{"schedule":[]}', '{"older":[]}'));
  });

  test('decides as it says, waits for whose turn it is, and then for nobody', () => {
    const { decisions, awaited } = parseChoices(formatChoices(decided([2, 1], 1)));
    expect(awaited()).toBe(2);
    expect(decisions.session([1, 2])).toBe(2);
    expect(awaited()).toBe(1);
    expect(decisions.session([1])).toBe(1);
    expect(awaited()).toBeUndefined();
    expect(decisions.session([3, 4])).toBe(3);
    const versions = [1, 2, 3] as never[];
    expect(decisions.read(versions, point)).toBe(1);
    expect(decisions.read(versions, { ...point, read: 2 })).toBe(0);
    expect(decisions.read(versions.slice(0, 1), point)).toBe(0);
  });

  test('counts decisions without a choice, too', () => {
    const { decisions } = parseChoices(formatChoices(decided([1, 1, 2, 1], 0)));
    expect([[1], [1], [1, 2], [1, 2]].map((ready) => decisions.session(ready))).toEqual([1, 1, 2, 1]);
  });

  test('continues with the first session that is there where the one whose turn it is does not come', () => {
    const { decisions, awaited } = parseChoices(formatChoices(decided([2, 1], 0)));
    expect(decisions.session([1, 3])).toBe(1);
    expect(awaited()).toBe(1);
  });

  test('of a replay is the same log', () => {
    const { decisions } = parseChoices(formatChoices(decided([2, 1, 1], 2)));
    for (const ready of [[1, 2], [1], [1, 2]]) decisions.session(ready);
    decisions.read([1, 2, 3] as never[], point);
    expect(formatChoices(decisions)).toBe(formatChoices(decided([2, 1, 1], 2)));
  });
});

describe('a log of choices on disk', () => {
  const written = formatChoices(decided([1, 2, 1, 10, 2], 2));
  const refusal = (text: string): unknown => {
    try {
      return parseChoices(text).isSummed;
    } catch (error) {
      if (error instanceof InputError) return error.code;
      throw error;
    }
  };

  test('of which any byte is changed, or the end is cut, is refused, or says that it is assumed to be whole', () => {
    expect(refusal(written)).toBe(true);
    for (let at = 0; at < written.length; at += 1)
      for (const byte of ['0', '1', ' ', '\n', ',', '"', '\0', String.fromCodePoint(written.charCodeAt(at) ^ 1)]) {
        if (byte === written[at]) continue;
        const changed = `${written.slice(0, at)}${byte}${written.slice(at + 1)}`;
        // The break at its end is none of the bytes that have a sum.
        if (at === written.length - 1 && byte === ' ') continue;
        expect(refusal(changed), `${changed} is read`).toMatch(/^choices\/(?:format|corrupt)$/);
      }
    for (let length = 0; length < written.length - 1; length += 1)
      expect(refusal(written.slice(0, length)), `${length} bytes`).toBe('choices/format');
    expect(refusal(written.slice(0, -1))).toBe(true);
  });

  test('twice, with zeros, or with another line is refused', () => {
    for (const text of [written + written, `${written}\0\0`, `\0${written}`, `${written}{"schedule":[1]}\n`])
      expect(refusal(text), `${text} is read`).toMatch(/^choices\/(?:format|corrupt)$/);
    const lines = ['{"schedule":[1]}', '{"older":[]}'];
    for (const twice of [
      [...lines, lines[0]],
      [lines[1], lines[0]],
      [lines[0], lines[0]],
      [...lines, old],
    ])
      expect(refusal([old, ...twice].join('\n')), `${twice.join()} is read`).toBe('choices/format');
  });

  test('that an older moirai wrote has no sum, and is read', () => {
    const text = `${old}\n{"schedule":[2,1]}\n{"older":[]}\n`;
    expect(refusal(text)).toBe(false);
    expect(refusal(withEndLine('choices', text))).toBe(true);
    expect(refusal(withEndLine('choices', text).replace('[2,', '[3,'))).toBe('choices/corrupt');
    expect(refusal(text.replace('2}', '3}'))).toBe('choices/format');
  });
});

describe('what a replay did', () => {
  const replayed = (schedule: number[], ...ready: number[][]): string | null => {
    const { decisions, departure } = parseChoices(formatChoices(decided(schedule, 0)));
    for (const each of ready) decisions.session(each);
    return departure();
  };

  test('is all that the log says', () => {
    expect(replayed([1, 2, 1], [1], [1, 2], [1])).toBe(null);
    expect(replayed([1], [1], [1])).toBe('1 more than the 1 turns of the log were taken');
  });

  test('is another turn, or not all of them', () => {
    expect(replayed([1, 2, 1], [1], [1])).toBe('turn 2 of 3 was that of session 2, and session 1 took it');
    expect(replayed([1, 2, 1], [1])).toBe('1 of 3 turns were taken');
    expect(replayed([1, 2, 1])).toBe('0 of 3 turns were taken');
  });
});

test.each([
  ['nothing', ''],
  ['another header', '{"moirai":"choices","version":1}'],
  ['no sum', `${header}\n{"schedule":[]}\n{"older":[]}\n`],
  ['no lines', old],
  ['no JSON', `${old}\n{"schedule":[`],
  ['an array', `${old}\n[1]`],
  ['no older', `${old}\n{"schedule":[]}`],
  ['a schedule of text', `${old}\n{"schedule":["1"],"older":[]}`],
  ['a schedule that is none', `${old}\n{"schedule":1,"older":[]}`],
  ['a negative session', `${old}\n{"schedule":[-1],"older":[]}`],
  ['a read of too few numbers', `${old}\n{"schedule":[],"older":[[1,2,3]]}`],
  ['a read of too many', `${old}\n{"schedule":[],"older":[[1,2,3,4,5]]}`],
  ['a read of fractions', `${old}\n{"schedule":[],"older":[[1,2,3,0.5]]}`],
])('%s is refused', (_name, text) => {
  expect(() => parseChoices(text)).toThrow(expect.objectContaining({ code: 'choices/format' }));
});
