import { describe, expect, test } from 'vitest';
import type { Decisions } from '../mockdb/index.ts';
import { formatChoices, parseChoices } from './choices.ts';

const header = '{"moirai":"choices","version":2}';
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
    expect(formatChoices(decided([1, 2, 1], 2))).toBe(`${header}\n{"schedule":[1,2,1]}\n{"older":[[2,0,1,2]]}\n`);
    expect(formatChoices(decided([], 0))).toBe(`${header}\n{"schedule":[]}\n{"older":[]}\n`);
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

  test('goes on with the first who is there where the one whose turn it is does not come', () => {
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

test.each([
  ['nothing', ''],
  ['another header', '{"moirai":"choices","version":1}'],
  ['no lines', header],
  ['no JSON', `${header}\n{"schedule":[`],
  ['an array', `${header}\n[1]`],
  ['no older', `${header}\n{"schedule":[]}`],
  ['a schedule of text', `${header}\n{"schedule":["1"],"older":[]}`],
  ['a schedule that is none', `${header}\n{"schedule":1,"older":[]}`],
  ['a negative session', `${header}\n{"schedule":[-1],"older":[]}`],
  ['a read of too few numbers', `${header}\n{"schedule":[],"older":[[1,2,3]]}`],
  ['a read of too many', `${header}\n{"schedule":[],"older":[[1,2,3,4,5]]}`],
  ['a read of fractions', `${header}\n{"schedule":[],"older":[[1,2,3,0.5]]}`],
])('%s is refused', (_name, text) => {
  expect(() => parseChoices(text)).toThrow(expect.objectContaining({ code: 'choices/format' }));
});
