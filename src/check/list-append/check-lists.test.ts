import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forEveryChoice, seeded, type Chooser } from '../../base/index.ts';
import { type CompactHistory, scanHistoryLines, type History, type Value } from '../../history/index.ts';
import { isolationLevels, referenceCheck, satisfies, type IsolationLevel } from '../../isolation/index.ts';
import { ListCheck } from './check-lists.ts';
import { nameListCycle } from './cycle-anomalies.ts';

/** MOIRAI_HEAVY=1: more histories. */
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

type ListOperation = readonly ['append', string, number] | readonly ['r', string, readonly number[]];

interface ListTransaction {
  readonly session: string;
  readonly operations: readonly ListOperation[];
  readonly status?: 'aborted' | 'unknown';
  readonly start?: number;
  readonly end?: number;
}

function compact(transactions: readonly ListTransaction[]): CompactHistory {
  // A key that nobody appends to is no list: an append that aborted makes it one.
  const keys = new Set(transactions.flatMap(({ operations }) => operations.map(([, key]) => key)));
  const makesLists = { session: 'lists', operations: [...keys].map((key) => ['append', key, 0]), status: 'aborted' };
  const lines = [...transactions, makesLists].map((line) => `${JSON.stringify(line)}\n`);
  return scanHistoryLines([new TextEncoder().encode(lines.join(''))]);
}

const levels = isolationLevels.filter((level) => level !== 'read-uncommitted');

/** One line a transaction: `a: append x 1, r x [1]`, with `!` or `?` at the end, and `@start-end` before. */
function parse(text: string): ListTransaction[] {
  return text.split('\n').map((line) => {
    const [, session = '', start, end, body = '', mark] = /^(\w+)(?:@(\d+)-(\d*))?: (.*?)\s*([!?]?)$/.exec(line) ?? [];
    const operations = body.split(/, (?=append|r )/).map((operation): ListOperation => {
      const [, kind, key = '', value = 'null'] = /^(append|r) (\w+) (.*)$/.exec(operation) ?? [];
      return [kind, key, JSON.parse(value)] as unknown as ListOperation;
    });
    const status = mark === '!' ? 'aborted' : mark === '?' ? 'unknown' : undefined;
    return {
      session,
      operations,
      ...(status === undefined ? {} : { status }),
      ...(start === undefined ? {} : { start: Number(start) }),
      ...(end === undefined || end === '' ? {} : { end: Number(end) }),
    };
  });
}

describe('the definition', () => {
  test.each([2, 3])(
    'every small history of %d transactions has the verdicts of some order of versions',
    (count) => {
      let [histories, satisfied, violated] = [0, 0, 0];
      const look = (chooser: Chooser): void => {
        const transactions = smallHistory(chooser, count);
        const { yes, no } = compare(transactions);
        histories += 1;
        satisfied += yes;
        violated += no;
      };
      if (count === 2) forEveryChoice(look);
      else for (let seed = 0; seed < (isHeavy ? 40_000 : 1_500); seed += 1) look(seeded(seed));
      expect(histories).toBeGreaterThan(1_000);
      expect(satisfied).toBeGreaterThan(histories);
      expect(violated).toBeGreaterThan(histories);
    },
    120_000,
  );

  test('histories that a store of lists made, with stale snapshots', () => {
    let [satisfied, violated] = [0, 0];
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { yes, no } = compare(madeByStore(seeded(seed), 4));
        satisfied += yes;
        violated += no;
      }),
      { numRuns: isHeavy ? 6_000 : 400 },
    );
    expect(Math.min(satisfied, violated)).toBeGreaterThan(300);
  }, 120_000);

  test('where all appends were read, an append is a read and a write of the whole list from snapshot isolation on', () => {
    let [satisfied, violated] = [0, 0];
    for (let seed = 0; seed < 1_500; seed += 1) {
      const transactions = madeByStore(seeded(seed), 4);
      const registers = readModifyWrites([...transactions, finalRead(transactions)]);
      if (registers === null) continue;
      const check = new ListCheck(compact([...transactions, finalRead(transactions)]));
      for (const level of ['snapshot-isolation', 'serializable'] as const) {
        const expected = referenceCheck(registers, level).kind;
        expect(check.check(level).kind, `${level} of ${shown(transactions)}`).toBe(expected);
        if (expected === 'satisfied') satisfied += 1;
        else violated += 1;
      }
    }
    expect(Math.min(satisfied, violated)).toBeGreaterThan(200);
  }, 120_000);
});

/** Compares all levels with the definition. @returns how many are satisfied and violated */
function compare(transactions: readonly ListTransaction[]): { yes: number; no: number } {
  const check = new ListCheck(compact(transactions));
  const reference = referenceOf(transactions);
  let [yes, no] = [0, 0];
  for (const level of levels) {
    const verdict = check.check(level);
    if (verdict.kind === 'unknown') {
      const isOpen = level === 'snapshot-isolation' && reference.unread > 1;
      expect(isOpen, `${level} is unknown of ${shown(transactions)}`).toBe(true);
      continue;
    }
    expect(verdict.kind, `${level} of ${shown(transactions)}`).toBe(reference.isAt(level) ? 'satisfied' : 'violated');
    if (verdict.kind === 'satisfied') yes += 1;
    else no += 1;
    if (verdict.kind === 'satisfied')
      expect(reference.allows([...verdict.commitOrder], level), `${level} order of ${shown(transactions)}`).toBe(true);
  }
  return { yes, no };
}

interface Reference {
  readonly isAt: (level: IsolationLevel) => boolean;
  readonly allows: (order: readonly number[], level: IsolationLevel) => boolean;
  /** Appends that no read shows. */
  readonly unread: number;
}

/**
 * The definition: a commit order, for all keys the list that it makes of the appends, all reads prefixes of that; and then that of registers,
 * where a read saw the last element, with the base of own appends read where they began.
 */
function referenceOf(transactions: readonly ListTransaction[]): Reference {
  const registers = transactions.map((transaction) => registersOf(transaction));
  const unread = transactions
    .flatMap(({ operations }) => operations)
    .filter(
      ([kind, key, value]) =>
        kind === 'append' &&
        !transactions.some(({ operations }) =>
          operations.some(([other, k, list]) => other === 'r' && k === key && list.includes(value)),
        ),
    ).length;
  const history: History | null = registers.includes(null)
    ? null
    : {
        sessions: [...new Set(transactions.map(({ session }) => session))],
        initial: new Map(),
        transactions: transactions.map(({ session, start, end }, t) => ({
          id: `t${t}`,
          session: [...new Set(transactions.map((other) => other.session))].indexOf(session),
          status: 'committed',
          operations: registers[t] ?? [],
          ...(start === undefined ? {} : { start }),
          ...(end === undefined ? {} : { end }),
        })),
      };
  const allows = (order: readonly number[], level: IsolationLevel): boolean =>
    history !== null && makesTheLists(transactions, order) && satisfies(history, order, level);
  const orders = permutations(transactions.map((_, t) => t));
  return { allows, isAt: (level) => orders.some((order) => allows(order, level)), unread };
}

/** `null`: a read does not end with what the transaction appended before. */
function registersOf({ operations }: ListTransaction): History['transactions'][number]['operations'] | null {
  const found: { kind: 'read' | 'write'; key: string; value: Value }[] = [];
  const own = new Map<string, number[]>();
  for (const [i, [kind, key, value]] of operations.entries()) {
    const before = own.get(key) ?? [];
    if (kind === 'append') {
      const later = operations.slice(i).find(([other, k]) => other === 'r' && k === key);
      if (before.length === 0 && later?.[0] === 'r' && later[2].includes(value))
        found.push({ kind: 'read', key, value: later[2][later[2].indexOf(value) - 1] ?? null });
      found.push({ kind: 'write', key, value });
      own.set(key, [...before, value]);
    } else if (before.length > 0) {
      if (JSON.stringify(value.slice(-before.length)) !== JSON.stringify(before)) return null;
    } else found.push({ kind: 'read', key, value: value.at(-1) ?? null });
  }
  return found;
}

/** Every list that was read is a prefix of what appends in this order make. */
function makesTheLists(transactions: readonly ListTransaction[], order: readonly number[]): boolean {
  const lists = new Map<string, number[]>();
  for (const t of order)
    for (const [kind, key, value] of transactions[t]?.operations ?? [])
      if (kind === 'append') lists.set(key, [...(lists.get(key) ?? []), value]);
  return transactions.every(({ operations }) =>
    operations.every(
      ([kind, key, value]) =>
        kind === 'append' || JSON.stringify((lists.get(key) ?? []).slice(0, value.length)) === JSON.stringify(value),
    ),
  );
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

/** Two operations each on two keys; reads see any order of any of the elements that somebody appends. */
function smallHistory(chooser: Chooser, count: number): ListTransaction[] {
  const kinds = Array.from({ length: count }, () => [chooser.choose(4), chooser.choose(4)]);
  const elements = new Map<string, number[]>();
  kinds.flat().forEach((kind, i) => {
    const key = kind % 2 === 0 ? 'x' : 'y';
    if (kind < 2) elements.set(key, [...(elements.get(key) ?? []), i + 1]);
  });
  return kinds.map((pair, t) => ({
    session: chooser.choose(3) === 0 ? 's' : `s${t}`,
    start: count === 2 ? t : chooser.choose(4),
    end: 4,
    operations: pair.map((kind, i): ListOperation => {
      const key = kind % 2 === 0 ? 'x' : 'y';
      if (kind < 2) return ['append', key, 2 * t + i + 1];
      const left = [...(elements.get(key) ?? [])];
      const seen: number[] = [];
      for (let next = chooser.choose(left.length + 1); next < left.length; next = chooser.choose(left.length + 1))
        seen.push(...left.splice(next, 1));
      return ['r', key, seen];
    }),
  }));
}

/** Transactions one after another; a read may see an older version, at random. */
function madeByStore(chooser: Chooser, count: number): ListTransaction[] {
  const lists = new Map<string, number[]>([
    ['x', []],
    ['y', []],
  ]);
  let element = 0;
  return Array.from({ length: count }, (_, t) => {
    const own = new Set<string>();
    const age = chooser.choose(3);
    const operations = Array.from({ length: 1 + chooser.choose(3) }, (): ListOperation => {
      const key = chooser.choose(2) === 0 ? 'x' : 'y';
      const list = lists.get(key) ?? [];
      if (chooser.choose(2) === 0) {
        element += 1;
        own.add(key);
        list.push(element);
        return ['append', key, element];
      }
      return ['r', key, own.has(key) ? [...list] : list.slice(0, Math.max(0, list.length - chooser.choose(age + 1)))];
    });
    const start = Math.max(0, 2 * t - chooser.choose(5));
    return { session: `s${chooser.choose(3)}`, operations, start, end: 2 * t + 1 };
  });
}

function finalRead(transactions: readonly ListTransaction[]): ListTransaction {
  const appended = (key: string): number[] =>
    transactions.flatMap(({ operations }) =>
      operations.flatMap(([kind, k, v]) => (kind === 'append' && k === key ? [v] : [])),
    );
  return {
    session: 'last',
    operations: ['x', 'y'].map((key): ListOperation => ['r', key, appended(key)]),
    start: 99,
    end: 100,
  };
}

/** Each append reads the whole list and writes it with its element; `null`: a read saw the middle of a transaction. */
function readModifyWrites(transactions: readonly ListTransaction[]): History | null {
  const full = new Map(
    transactions.at(-1)?.operations.map(([, key, list]) => [key, list as readonly number[]] as const) ?? [],
  );
  const sessions = [...new Set(transactions.map(({ session }) => session))];
  const text = (list: readonly number[]): Value => (list.length === 0 ? null : [...list]);
  const history: History = {
    sessions,
    initial: new Map(),
    transactions: transactions.map(({ session, operations }, t) => ({
      id: `t${t}`,
      session: sessions.indexOf(session),
      status: 'committed',
      operations: operations.flatMap(([kind, key, value]) => {
        if (kind === 'r') return [{ kind: 'read' as const, key, value: text(value) }];
        const list = full.get(key) ?? [];
        const at = list.indexOf(value);
        return [
          { kind: 'read' as const, key, value: text(list.slice(0, at)) },
          { kind: 'write' as const, key, value: text(list.slice(0, at + 1)) },
        ];
      }),
    })),
  };
  return history;
}

function shown(transactions: readonly ListTransaction[]): string {
  return transactions.map((transaction) => JSON.stringify(transaction)).join('\n');
}

describe("Elle's anomalies", () => {
  test('are cycles of their shape, rule out their levels, and every violation has some', () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 3_000; seed += 1) {
      const chooser = seeded(seed);
      const transactions = madeByStore(chooser, 5).map((transaction): ListTransaction => {
        const status = (['aborted', 'unknown'] as const)[chooser.choose(12)];
        return status === undefined ? transaction : { ...transaction, status };
      });
      const check = new ListCheck(compact(transactions));
      const verdicts = levels.map((level) => check.check(level).kind);
      const first = verdicts.indexOf('violated');
      expect(
        new Set(first < 0 ? [] : verdicts.slice(first)).size,
        `levels of ${shown(transactions)}`,
      ).toBeLessThanOrEqual(1);
      const found = check.anomalies();
      expect(found.length > 0, `names of ${shown(transactions)}`).toBe(
        check.check('strict-serializable').kind === 'violated',
      );
      for (const { name, cycle, read } of found) {
        seen.add(name);
        const after = [...cycle.slice(1), ...cycle.slice(0, 1)];
        expect(cycle.map(({ to }) => to)).toEqual(after.map(({ from }) => from));
        if (name !== 'lost-update' && read === undefined) expect(nameListCycle(cycle)).toBe(name);
        expect(check.check(ruledOut(name)).kind, `${name} in ${shown(transactions)}`).toBe('violated');
      }
    }
    expect([...seen].toSorted()).toEqual(expect.arrayContaining(['G-single', 'G1a', 'G1b', 'G2-item', 'lost-update']));
  }, 60_000);

  test.each([
    ['G0', 'read-committed', 'a: append x 1, append y 1\nb: append x 2, append y 2\nc: r x [1,2], r y [2,1]'],
    ['G1c', 'read-committed', 'a: append x 1, r y [1]\nb: append y 1, r x [1]'],
    ['G1c-process', 'read-committed', 'a: r x [1]\na: append y 1\nb: r y [1]\nb: append x 1'],
    ['G1a', 'read-committed', 'a: append x 1 !\nb: r x [1]'],
    ['dirty-update', 'read-committed', 'a: append x 1 !\nb: append x 2\nc: r x [1,2]'],
    ['G1b', 'read-committed', 'a: append x 1, append x 2\nb: r x [1]'],
    ['internal', 'read-committed', 'a: append x 1, r x []'],
    ['future-read', 'read-committed', 'a: r x [1], append x 1'],
    ['duplicate-elements', 'read-committed', 'a: append x 1\nb: r x [1,1]'],
    ['incompatible-order', 'read-committed', 'a: append x 1\nb: append x 2\nc: r x [1,2]\nd: r x [2]'],
    ['G-single', 'read-atomic', 'a: append x 1, append y 1\nb: r x [], r y [1]'],
    ['lost-update', 'snapshot-isolation', 'a: r x [], append x 1\nb: r x [], append x 2\nc: r x [1,2]'],
    ['lost-update', 'snapshot-isolation', 'a: r x [], append x 1\nb: r x [], append x 2'],
    ['G-nonadjacent', 'prefix', 'a: append x 1\nb: append y 1\nc: r x [1], r y []\nd: r x [], r y [1]'],
    ['G2-item', 'serializable', 'a: r x [], append y 1\nb: r y [], append x 1'],
    ['G-single-process', 'read-atomic', 'a: append x 1\na: r x []\nc: r x [1]'],
    ['G-single-realtime', 'strict-serializable', 'a@1-2: append x 1\nb@3-4: r x []\nc@5-6: r x [1]'],
    ['G2-item-process', 'serializable', 'a: append y 1\na: r x []\nb: append x 1, r y []'],
  ])('%s rules out %s', (name, weakest, text) => {
    const check = new ListCheck(compact(parse(text)));
    expect(check.anomalies().map((anomaly) => anomaly.name)).toContain(name);
    expect(levels.find((level) => check.check(level).kind === 'violated')).toBe(weakest);
    const verdict = check.check(weakest as IsolationLevel);
    expect(verdict.kind === 'violated' && (verdict.cycle.length > 1 || verdict.read !== undefined)).toBe(true);
  });

  test('a history without any has none', () => {
    const check = new ListCheck(compact(parse('a@1-2: append x 1\nb@3-4: r x [1], append x 2, r x [1,2]')));
    expect(check.anomalies()).toEqual([]);
    expect(check.check('strict-serializable')).toEqual({ kind: 'satisfied', commitOrder: Int32Array.of(0, 1) });
  });
});

/** A level that the anomaly rules out, whatever else is in the history. */
function ruledOut(name: string): IsolationLevel {
  if (name.endsWith('-realtime')) return 'strict-serializable';
  if (name.startsWith('G2-item')) return 'serializable';
  return /^(?:lost-update|G-single|G-nonadjacent)/.test(name) ? 'snapshot-isolation' : 'read-committed';
}

describe('what is not known', () => {
  test('without times strict-serializable is open where serializable holds', () => {
    const check = new ListCheck(compact(parse('a: append x 1\nb: r x [1]')));
    expect(check.check('strict-serializable')).toEqual({ kind: 'unknown', reason: 'missing-times' });
  });

  test('of unknown fate is a member who was seen, in the middle of a list too, and it need not have ended', () => {
    const seen = new ListCheck(compact(parse('a@1-: append x 1, append y 1 ?\nb@2-3: append x 2\nc@4-5: r x [1,2]')));
    expect(seen.check('strict-serializable')).toMatchObject({ kind: 'satisfied', commitOrder: Int32Array.of(0, 1, 2) });
    const stale = new ListCheck(compact(parse('a: append x 1, append y 1 ?\nb: append x 2\nc: r x [1,2], r y []')));
    expect(stale.check('serializable').kind).toBe('violated');
    const unseen = new ListCheck(compact(parse('a: append x 1, append y 1 ?\nc: r y []')));
    expect(unseen.check('serializable')).toMatchObject({ kind: 'satisfied', commitOrder: Int32Array.of(1) });
  });

  test('many unread appends after many reads take few edges, and a reader is not before itself', () => {
    const readers = Array.from({ length: 150 }, (_, i) => `r${i}: r x [0]`);
    const appends = Array.from({ length: 150 }, (_, i) => `w${i}: append x ${i + 1}`);
    const text = ['first: append x 0', ...readers, ...appends, 'both: r x [0], append x 999'].join('\n');
    const lists = parse(text);
    const check = new ListCheck(
      scanHistoryLines([new TextEncoder().encode(lists.map((t) => JSON.stringify(t)).join('\n'))]),
    );
    expect(check.check('serializable').kind).toBe('satisfied');
    const lost = parse(`${text}\nboth2: r x [0], append x 1000`);
    const violated = new ListCheck(
      scanHistoryLines([new TextEncoder().encode(lost.map((t) => JSON.stringify(t)).join('\n'))]),
    );
    expect(violated.check('snapshot-isolation')).toMatchObject({ kind: 'violated', elle: 'lost-update' });
    expect(violated.check('serializable').kind).toBe('violated');
    expect(violated.check('prefix').kind).toBe('satisfied');
  });

  test('an element that no transaction appended rules out read-committed, and the rest is judged without the read', () => {
    const text =
      'a: append x 1\nb: r x [1, 7]\nc: r x [], r y [], append x 2\nd: r x [], append y 1, append x 3\ne: r x [1, 2, 3]';
    const check = new ListCheck(compact(parse(text)));
    expect(check.check('read-uncommitted').kind).toBe('satisfied');
    for (const level of ['pl-2', 'read-committed', 'serializable'] as const)
      expect(check.check(level)).toMatchObject({
        kind: 'violated',
        anomaly: 'thin-air-read',
        cycle: [],
        read: { operation: 1, by: 1, from: 1, key: 0 },
      });
    expect(check.thinAirCount).toBe(1);
    const rest = new ListCheck(compact(parse(text)), { thinAirReads: 'ignored' });
    expect(rest.check('prefix').kind).toBe('satisfied');
    expect(rest.check('snapshot-isolation')).toMatchObject({ kind: 'violated', elle: 'lost-update' });
  });

  test('what an aborted transaction read is no evidence', () => {
    const check = new ListCheck(compact(parse('a: append x 1\nb: r x [7] !')));
    expect(check.check('serializable').kind).toBe('satisfied');
  });

  test('an element that two transactions appended is bad input', () => {
    const twice = (): ListCheck => new ListCheck(compact(parse('a: append x 1\nb: append x 1')));
    expect(twice).toThrow(expect.objectContaining({ code: 'history/duplicate-write', place: { line: 2 } }));
  });

  test.each([
    ['r","x",5', 'violated'],
    ['r","x",[1]', 'violated'],
    ['r","x",[]', 'satisfied'],
    ['r","x",null', 'satisfied'],
  ])('a key that nothing wrote, beside lists: ["%s] is %s', (read, expected) => {
    const text = `{"session":"a","operations":[["append","y",1],["${read}]]}\n`;
    const history = scanHistoryLines([new TextEncoder().encode(text)]);
    expect(new ListCheck(history).check('read-committed').kind).toBe(expected);
    const ignoring = new ListCheck(history, { thinAirReads: 'ignored' });
    expect(ignoring.check('serializable').kind).toBe('satisfied');
    expect(ignoring.thinAirCount).toBe(expected === 'violated' ? 1 : 0);
  });

  test('registers beside lists leave open what is not violated', () => {
    const text =
      '{"session":"a","operations":[["append","x",1],["w","y",1]]}\n{"session":"b","operations":[["r","x",[1]]]}\n';
    const check = new ListCheck(scanHistoryLines([new TextEncoder().encode(text)]));
    expect(check.check('serializable')).toEqual({ kind: 'unknown', reason: 'not-searched' });
  });
});
