import { similarKey } from '../base/index.ts';
import { describe, expect, test } from 'vitest';
import { endOf, judge, violationOf } from './invariant.ts';
import { canJudgeAgain, isRepeatable } from './invariant-text.ts';
import { program } from './program.ts';
import { inEveryOrder } from './serial-orders.ts';

test('true holds; false, a sentence and a throw do not', async () => {
  expect(violationOf(true)).toBe(null);
  expect(violationOf(false)).toBe('the invariant does not hold');
  expect(violationOf('sold twice')).toBe('sold twice');
  const tested = program({
    sessions: { a: () => 1 },
    invariant: () => {
      throw new Error('sold twice');
    },
  });
  const end = endOf({}, new Map(), () => ({}));
  expect(await judge(tested, end)).toEqual({ kind: 'fails', message: 'Error: sold twice', mistake: null });
});

test('undefined is a forgotten return and no verdict', async () => {
  const forgetful = (({ final }: { final: Record<string, number> }) => {
    void ((final['x'] ?? 0) >= 0);
  }) as unknown as () => boolean;
  const tested = program({ sessions: { a: () => 1 }, invariant: forgetful });
  const end = endOf({}, new Map(), () => ({ x: 1 }));
  await expect(judge(tested, end)).rejects.toMatchObject({
    code: 'program/invariant-undefined',
    message: expect.stringContaining('is a return missing?') as unknown,
  });
});

test.each([
  [1, 'returned 1:'],
  [0, 'returned 0:'],
  [null, 'returned null:'],
  ['', 'returned an empty sentence:'],
  [[], 'type object'],
  [{ ok: true }, 'type object'],
])('%j is no verdict either', (returned, what) => {
  expect(() => violationOf(returned)).toThrow(what);
});

test.each([
  ['stok', 'stock'],
  ['sotck', 'stock'],
  ['Sold_Out', 'sold-out'],
  ['user/anne', 'user/ann'],
  ['order/1/totl', 'order/1/total'],
  ['seat', 'seat/1'],
])('"%s" is taken for a misspelling of "%s"', (name, key) => {
  expect(similarKey(name, ['x', key, 'another'])).toBe(key);
});

test.each([
  ['y', 'x'],
  ['lock', 'stock'],
  ['log/2', 'log/1'],
  ['item12', 'item3'],
  ['order/b', 'order/a'],
  ['stock/negative', 'stock'],
  ['seat/1', 'seat/10'],
  ['', 'x'],
])('"%s" is another key than "%s"', (name, key) => {
  expect(similarKey(name, [key])).toBeNull();
});

describe('an invariant is judged again', () => {
  test.each([
    '({ final }) => final.stock >= 0',
    '({ final: { stock, paid = 0 } }) => stock + paid === 2',
    '({ results }) => { let total = 0; for (const each of Object.values(results)) total += each; return total === 2; }',
    '({ final }) => { const seen = new Set(); seen.add(final.a); const out = {}; out.b = 1; return seen.size === 1; }',
    'async (end) => (await end.query("SELECT n FROM a JOIN b ON b.a = a.id WHERE id = 1")).n >= 0 // n = 1',
    'async (end) => (await end.query(`UPDATE a SET n = ${end.n}`)).n >= 0',
    'function held({ final }) { let n = 0; n++; return final.a <= n && final.b !== n; }',
    'invariant({ final }) { return Object.entries(final).every(([key, value]) => value === 1 || key == "x"); }',
  ])('where it keeps to itself: %s', (text) => {
    expect(isRepeatable(text)).toBe(true);
  });

  test.each([
    '({ final }) => seen.push(final.stock) > 0',
    '({ final }) => { outcomes.all[final.stock] = true; return true; }',
    '({ final }) => { count += 1; return final.stock >= 0; }',
    '({ final }) => `${(count = final.stock)}` !== "0"',
    '({ final }) => { ++count; return final.stock >= 0; }',
    '({ final }) => { console.log(final); return final.stock >= 0; }',
    '({ final }) => { expect(final).toMatchSnapshot(); return true; }',
    '({ final }) => { let at = 0; while (final[at]) at = final[at]; return true; }',
    '({ final }) => { for (let i = final.head; i !== final.tail; i += 1); return true; }',
  ])('not where others notice, or it may not end: %s', (text) => {
    expect(isRepeatable(text)).toBe(false);
  });
});

describe('what an invariant compares lies outside it', () => {
  test.each([
    '({ final }) => final.state !== OVERSOLD',
    '({ final }) => { if (LIMIT <= final.stock) return false; return true; }',
    'async (c) => withPg(c, async (q) => (await q("SELECT state FROM item"))[0].state !== OVERSOLD)',
    '({ final }) => final.stock <= 2 * limits.stock',
    '({ final }) => !CLOSED.includes(final.state)',
    '({ final }) => ["open", SOLD].includes(final.state)',
    '({ final }) => { expect(final.state).toBe(OPEN); return true; }',
    '({ final }) => { switch (final.state) { case OVERSOLD: return false; default: return true; } }',
  ])('it is not judged again: %s', (text) => {
    expect(isRepeatable(text)).toBe(true);
    expect(canJudgeAgain(text)).toBe(false);
  });

  test.each([
    '({ final }) => final.stock >= 0 && final.state !== "oversold"',
    '({ final: { stock }, results }) => stock <= 2 && results.ann.sold !== results.ben.sold',
    'async (end) => withPg(end, async (q) => (await q("SELECT n FROM item WHERE n > LIMIT")).every((r) => r.n >= 0 && r.s === null))',
    'function held({ final }) { for (const each of final.list) { if (each.n > 3) return false; } return countOf(final) === 2; }',
    '({ final }) => { const max = 3; return new Set(final.list).size <= max && Math.max(final.a, final.b) < Infinity; }',
    '({ final }) => { expect(final.list).toEqual({ length: 2 }); return final.list.map((x) => x.id).includes(3); }',
  ])('it does not: %s', (text) => {
    expect(canJudgeAgain(text)).toBe(true);
  });
});

describe('what fails in runs in which sessions go one after another', () => {
  const outcomeOf = async (sessions: number, fails: (order: readonly number[]) => boolean) => {
    const orders: string[] = [];
    const { kind } = await inEveryOrder(sessions, (order) => {
      orders.push(order.join(''));
      return Promise.resolve(fails(order) ? { kind: 'fails', failure: order } : { kind: 'fine' });
    });
    return { kind, orders: orders.length, distinct: new Set(orders).size };
  };

  test.each([
    [1, 1],
    [2, 2],
    [4, 24],
    [5, 120],
  ])('in every order of %i sessions, is wrong by itself', async (sessions, orders) => {
    expect(await outcomeOf(sessions, () => true)).toEqual({ kind: 'fails', orders, distinct: orders });
  });

  test('in orders that begin with one of five is not, and is found in few runs', async () => {
    for (const first of [0, 1, 2, 3, 4]) {
      const { kind, orders } = await outcomeOf(5, (order) => order[0] === first);
      expect({ kind, isFew: orders <= 2 }).toEqual({ kind: 'fine', isFew: true });
    }
  });

  test('of six sessions has more orders than are tried', async () => {
    expect(await outcomeOf(6, () => true)).toEqual({ kind: 'fine', orders: 0, distinct: 0 });
  });
});
