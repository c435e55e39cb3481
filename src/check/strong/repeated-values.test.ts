import { describe, expect, test } from 'vitest';
import { seeded } from '../../base/index.ts';
import {
  compactOf,
  formatHistory,
  type History,
  INITIAL,
  type Operation,
  parseHistory,
  type Read,
} from '../../history/index.ts';
import { certify, check, type IsolationLevel } from '../../isolation/index.ts';
import { smallHistory, type SmallHistoryOptions } from '../../isolation/small-history.test-support.ts';
import { checkCompact } from '../check-compact.ts';
import { chooseAvoiding } from '../../isolation/nogoods.ts';

/** MOIRAI_HEAVY=1: more histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
const levels = [
  'read-committed',
  'read-atomic',
  'causal',
  'prefix',
  'snapshot-isolation',
  'serializable',
] as const satisfies IsolationLevel[];

describe('where values are written repeatedly, a history is at a level if it is for some choice of writers', () => {
  test.each([
    ['random histories', {}],
    ['random histories of any fate', { statuses: ['committed', 'committed', 'committed', 'unknown', 'aborted'] }],
  ] as [string, Partial<SmallHistoryOptions>][])('%s', { timeout: 600_000 }, (_name, more) => {
    const options: SmallHistoryOptions = {
      transactionsMin: 3,
      transactionsMax: 6,
      operationsMax: 3,
      keysMax: 2,
      ...more,
    };
    const seen = new Map<string, number>();
    let several = 0;
    for (let seed = 0; seed < (heavy ? 20_000 : 600); seed += 1) {
      const history = withRepeatedValues(smallHistory(seeded(seed), options));
      const choices = everyChoice(history);
      if (choices.length < 2 || choices.length > 100) continue;
      several += 1;
      const answers = levels.map((level) => {
        const expected = choices.some((choice) => check(choice, level).kind === 'satisfied') ? 'satisfied' : 'violated';
        const verdict = checkCompact(compactOf(history), level);
        const message = `seed ${seed} at ${level}\n${formatHistory(choices[0] as History)}`;
        expect(verdict.kind, `at ${message}`).toBe(expected);
        const small = check(history, level);
        expect(small.kind, `small, at ${message}`).toBe(expected);
        expect(certify(history, level, small), `small, at ${message}`).toBe(true);
        if (verdict.kind === 'violated' && verdict.evidence !== null)
          expect(certify(verdict.evidence.history, level, verdict.evidence.verdict), `at ${message}`).toBe(true);
        return expected[0];
      });
      seen.set(answers.join(''), (seen.get(answers.join('')) ?? 0) + 1);
    }
    expect(several).toBeGreaterThan(100);
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['ssssss', 'ssssvv', 'ssvvvv', 'svvvvv', 'vvvvvv']));
  });

  test('the choice that is left is found, and shown to be wrong', () => {
    // Each 1 of x may be from a or b; only one of them is before the reader.
    const history = withValues('w x 1 | w x 2 \n w x 3 \n r x 2, w y 1 \n r y 1, r x 3', (v) => (v === 3 ? 1 : v));
    expect(checkCompact(compactOf(history), 'serializable').kind).toBe('satisfied');
    const stale = withValues('w x 1 | w x 2 | r x 3 \n w x 3 ! ', (v) => (v === 3 ? 1 : v));
    expect(checkCompact(compactOf(stale), 'serializable').kind).toBe('violated');
  });

  test('the limit of tries is an answer', () => {
    const history = withValues('w x 1 \n w x 2 \n r x 1', () => 1);
    expect(checkCompact(compactOf(history), 'causal', { writerChoicesMax: 0 })).toEqual({
      kind: 'unknown',
      reason: 'step-limit',
    });
  });
});

describe('chooseAvoiding', () => {
  const reads = [{ candidates: [1, 2] }, { candidates: [1, 2, 3] }, { candidates: [4] }];
  test('takes first candidates where nothing is said', () => expect(chooseAvoiding(reads, [], 9)).toEqual([1, 1, 4]));
  test('continues with what is not forbidden, and says when that is nothing', () => {
    const not = (...pairs: [number, number][]) => pairs.map(([read, writer]) => ({ read, writer }));
    const nogoods = [not([0, 1], [1, 1]), not([1, 2]), not([1, 3], [0, 1])];
    expect(chooseAvoiding(reads, nogoods, 99)).toEqual([2, 1, 4]);
    expect(chooseAvoiding(reads, [...nogoods, not([0, 2])], 99)).toBe('none');
    expect(chooseAvoiding(reads, [...nogoods, not([0, 2])], 3)).toBe('step-limit');
  });
});

/** Values of which there are two; null stays what nobody writes. */
function withRepeatedValues(history: History): History {
  return mapValues(history, (value) => value % 2);
}

function withValues(text: string, map: (value: number) => number): History {
  return mapValues(parseHistory(text), map);
}

function mapValues(history: History, map: (value: number) => number): History {
  const transactions = history.transactions.map((transaction) => ({
    ...transaction,
    operations: transaction.operations.map((o) => (typeof o.value === 'number' ? { ...o, value: map(o.value) } : o)),
  }));
  return { ...history, transactions };
}

/** All histories that record of each read one of the writers that it may have seen. */
function everyChoice(history: History): History[] {
  let choices: History[] = [history];
  history.transactions.forEach(({ operations }, by) => {
    operations.forEach((operation, o) => {
      const isOwn = operations.slice(0, o).some((own) => own.kind === 'write' && own.key === operation.key);
      if (operation.kind === 'write' || isOwn || choices.length > 100) return;
      const writers = history.transactions.flatMap((other, t) =>
        t !== by &&
        other.operations.some((w) => w.kind === 'write' && w.key === operation.key && w.value === operation.value)
          ? [t]
          : [],
      );
      const candidates = operation.value === null ? [INITIAL] : writers;
      if (candidates.length === 0) return; // of its own future
      choices = choices.flatMap((choice) => candidates.map((from) => withFrom(choice, by, o, from)));
    });
  });
  return choices;
}

function withFrom(history: History, by: number, o: number, from: number): History {
  const transactions = history.transactions.map((transaction, t) => {
    if (t !== by) return transaction;
    const operations = transaction.operations.map((op, i) => (i === o ? ({ ...op, from } as Read) : op));
    return { ...transaction, operations };
  });
  return { ...history, transactions };
}

describe('a limit of time', () => {
  /** 600 serial transactions in 8 sessions that write 3 values to 10 keys: the choices of writers are too many to try. */
  function crowded(): History {
    const chooser = seeded(1);
    const store = new Map<string, number>();
    const transactions = Array.from({ length: 600 }, (_, t) => ({
      id: String(t),
      session: chooser.choose(8),
      status: 'committed' as const,
      operations: Array.from({ length: 4 }, (): Operation => {
        const key = `k${chooser.choose(10)}`;
        if (chooser.choose(2) === 0) return { kind: 'read', key, value: store.get(key) ?? 0 };
        store.set(key, 1 + chooser.choose(3));
        return { kind: 'write', key, value: store.get(key) as number };
      }),
    }));
    const initial = new Map(Array.from({ length: 10 }, (_, k) => [`k${k}`, 0] as const));
    return { sessions: Array.from({ length: 8 }, (_, s) => String(s)), transactions, initial };
  }

  test.each(['read-committed', 'causal', 'serializable'] as const)('is an answer at %s', (level) => {
    const serial = crowded();
    // Session by session, so that their order is not known.
    const transactions = serial.transactions.toSorted((a, b) => a.session - b.session);
    const history = compactOf({ ...serial, transactions });
    expect(checkCompact(history, level, { timeoutMs: 0 })).toEqual({ kind: 'unknown', reason: 'time-limit' });
    const start = performance.now();
    expect(checkCompact(history, level, { timeoutMs: 300 })).toEqual({ kind: 'unknown', reason: 'time-limit' });
    expect(performance.now() - start).toBeLessThan(30_000); // it took minutes
  });

  test.each(['serializable', 'read-committed'] as const)(
    'a serial history in its order is %s at the first try',
    (level) => {
      const history = crowded();
      const once = { writerChoicesMax: 1 };
      expect(checkCompact(compactOf(history), level, once).kind).toBe('satisfied');
      const small = { ...history, transactions: history.transactions.slice(0, 30) };
      expect(check(small, level, once)).toMatchObject({ kind: 'satisfied' });
      expect(check(small, 'strict-serializable', once)).toEqual({ kind: 'unknown', reason: 'missing-times' });
    },
  );
});
