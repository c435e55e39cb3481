import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Chooser, forEveryChoice, seeded } from '../base/index.ts';
import {
  formatHistory,
  type History,
  type Operation,
  parseHistory,
  type RelationsOptions,
  type Transaction,
} from '../history/index.ts';
import { anomalies } from './anomaly.ts';
import { certify } from './certify.ts';
import { check, strongestLevel } from './check.ts';
import { isolationLevels, isStrongerOrEqual, type IsolationLevel, type Levels } from './level.ts';
import { referenceCheck } from './reference.ts';
import type { Refutation } from './refutation.ts';
import { smallHistory, type SmallHistoryOptions } from './small-history.test-support.ts';
import type { Verdict } from './verdict.ts';

/** MOIRAI_HEAVY=1: more and larger histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
/** A long fork takes four transactions. */
const strongestOfThree = ['never', 'prefix', 'read-atomic', 'read-committed', 'serializable', 'snapshot-isolation'];
const strongLevels = ['prefix', 'snapshot-isolation', 'serializable'] as const;

/** No rule applies, and both orders of two transactions lead to a contradiction. */
const needCases: [IsolationLevel, string][] = [
  [
    'prefix',
    `w p 1, w y 1 \n w q 1, w y 2 \n w s 1, w z 1 \n w t 1, w z 2 \n r p 1, r q 1, w x 1 \n r s 1, r t 1, w x 2
       r y 1, r x 2 \n r y 2, r x 2 \n r z 1, r x 1 \n r z 2, r x 1`,
  ],
  ['snapshot-isolation', 'r y _, w x 1 \n r x _, w y 2 \n r x _, w y 3 \n r y 3, w x 4 \n r y _, w x 5 \n w x 6'],
  [
    'serializable',
    `w p 1, w y 1 \n w q 1, w y 2 \n w s 1, w z 1 \n w t 1, w z 2 \n r p 1, r q 1, r a _ \n r s 1, r t 1, r b _
       r y 1, w b 1 \n r y 2, w b 2 \n r z 1, w a 1 \n r z 2, w a 2`,
  ],
];

describe('check agrees with the definition, with evidence and down the chain of levels', () => {
  test('on every history of up to three transactions of two operations on two keys', () => {
    const sometimes = new Set<string>();
    let [compared, full] = [0, 0];
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { transactionsMax: 3, operationsMax: 2, keysMax: 2 });
      if (!heavy && !isInOrder(history)) return;
      // Of those that fill all three transactions, which are three in four, every twelfth; with MOIRAI_HEAVY=1, all.
      const isFull = history.transactions.flatMap(({ operations }) => operations).length === 6;
      if (!heavy && isFull && (full += 1) % 12 !== 0) return;
      compared += 1;
      sometimes.add(expectLevelsAgree(history));
    });
    expect(compared).toBe(heavy ? 75_068 : 17_387);
    expect([...sometimes].toSorted()).toEqual(strongestOfThree);
  });

  test('on every pair of transactions of any fate that read anything', () => {
    const any: SmallHistoryOptions = { transactionsMax: 2, operationsMax: 2, keysMax: 2, reads: 'any' };
    let compared = 0;
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { ...any, statuses: ['committed', 'aborted', 'unknown'] });
      compared += 1;
      expectLevelsAgree(history, { abortedReads: 'ignored' });
      // It says something of aborted transactions only.
      if (history.transactions.some(({ status }) => status === 'aborted'))
        expectLevelsAgree(history, { abortedReads: 'constrained' });
    });
    expect(compared).toBe(9_468);
  });

  test('on random larger histories', () => {
    const options: SmallHistoryOptions = { transactionsMin: 3, transactionsMax: 6, operationsMax: 4, keysMax: 3 };
    expectForRandom(options, (history) => void expectLevelsAgree(history), heavy ? 20_000 : 700);
  });

  test('on random histories with mixed levels, any fates and constrained reads of aborted transactions', () => {
    const options: SmallHistoryOptions = {
      transactionsMin: 3,
      transactionsMax: 6,
      operationsMax: 3,
      keysMax: 3,
      statuses: ['committed', 'committed', 'aborted', 'unknown'],
      levels: isolationLevels,
      lengthMax: 6,
    };
    const expectMixed = (history: History): void => {
      const levelOf = (t: number): IsolationLevel => history.transactions[t]?.level as IsolationLevel;
      for (const abortedReads of ['ignored', 'constrained'] as const) expectAgrees(history, levelOf, { abortedReads });
    };
    expectForRandom(options, expectMixed, heavy ? 20_000 : 800);
  });

  test('on random histories with times', () => {
    const options: SmallHistoryOptions = { transactionsMin: 2, transactionsMax: 5, operationsMax: 2, keysMax: 2 };
    let strict = 0;
    const expectStrict = (history: History): void => {
      const verdict = expectAgrees(history, 'strict-serializable');
      if (verdict.kind === 'violated' && verdict.anomaly === 'real-time-violation') strict += 1;
    };
    expectForRandom({ ...options, lengthMax: 5 }, expectStrict, heavy ? 20_000 : 700);
    expect(strict).toBeGreaterThan(50);
  });

  test('on contended random histories, some of which need both orders of two transactions tried', () => {
    const [first, count] = heavy ? [0, 40_000] : [7_400, 200];
    let splits = 0;
    for (let seed = first; seed < first + count; seed += 1) {
      const history = contendedHistory(seeded(seed));
      for (const level of strongLevels) {
        const verdict = check(history, level);
        expect(certify(history, level, verdict), `seed ${seed}, ${level}`).toBe(true);
        if (caseSplits(verdict) === 0) continue;
        splits += 1;
        expectAgrees(history, level); // seven transactions: the reference checker takes its time
      }
    }
    expect(splits).toBe(heavy ? 12 : 2);
  });
});

describe('a refutation tries both orders of two transactions where no rule applies', () => {
  test.each(needCases)('at %s', (level, text) => {
    const history = parseHistory(text);
    const verdict = check(history, level);
    expect(caseSplits(verdict)).toBeGreaterThan(0);
    expect(certify(history, level, verdict)).toBe(true);
    const weaker = isolationLevels[isolationLevels.indexOf(level) - 1] as IsolationLevel;
    expect(check(history, weaker).kind).toBe('satisfied');
  });
});

describe('check gives up with an answer', () => {
  test.each(needCases)('after its limit of steps, at %s', (level, text) => {
    const history = parseHistory(text);
    expect(check(history, level, { stepsMax: 0 })).toEqual({ kind: 'unknown', reason: 'step-limit' });
  });

  test('where strict-serializable needs times that are missing', () => {
    const unknown: Verdict = { kind: 'unknown', reason: 'missing-times' };
    expect(check(parseHistory('w x 1 \n r x 1'), 'strict-serializable')).toEqual(unknown);
    expect(check(parseHistory('r x _, w x 1 \n r x _, w x 2'), 'strict-serializable').kind).toBe('violated');
  });
});

test('the end of a transaction of unknown fate is not missing', () => {
  const { transactions, ...rest } = parseHistory('w x 1 ? \n r x 1');
  const timed = transactions.map((transaction, t) => ({ ...transaction, start: t, ...(t === 1 ? { end: 5 } : {}) }));
  expect(check({ ...rest, transactions: timed }, 'strict-serializable').kind).toBe('satisfied');
});

describe('strongestLevel', () => {
  test.each([
    ['w x 1 ! \n r x 1', 'read-uncommitted'],
    ['w x 1 | r x _', 'read-committed'],
    ['r x _, w x 1 \n r x _, w x 2', 'prefix'],
    ['w x 1 \n r x 1', 'serializable'],
  ])('of %j is %s', (text, level) => expect(strongestLevel(parseHistory(text))).toBe(level));

  test('is strict-serializable where the times allow it', () => {
    const { transactions, ...rest } = parseHistory('w x 1 \n r x 1');
    const timed = transactions.map((transaction, t) => ({ ...transaction, start: t, end: t }));
    expect(strongestLevel({ ...rest, transactions: timed })).toBe('strict-serializable');
  });
});

/** @returns the strongest level at which the history is */
function expectLevelsAgree(history: History, options?: RelationsOptions): IsolationLevel | 'never' {
  let strongest: IsolationLevel | undefined;
  let weakestViolated: IsolationLevel | undefined;
  for (const level of isolationLevels) {
    if (weakestViolated !== undefined && level !== 'serializable' && !heavy) continue;
    const verdict = expectAgrees(history, level, options);
    if (verdict.kind === 'satisfied') {
      if (weakestViolated !== undefined)
        expect.fail(`at ${level}, not at ${weakestViolated}:\n${formatHistory(history)}`);
      strongest = level;
    }
    if (verdict.kind !== 'violated') continue;
    weakestViolated ??= level;
    const { forbiddenBy } = anomalies[verdict.anomaly];
    if (isStrongerOrEqual(forbiddenBy, weakestViolated)) continue;
    expect.fail(`${verdict.anomaly} in a history that is at a level which forbids it:\n${formatHistory(history)}`);
  }
  return strongest === 'read-uncommitted' ? 'never' : (strongest ?? 'never');
}

/** An assertion costs more than a check: only what differs is asserted. */
function expectAgrees(history: History, level: Levels, options?: RelationsOptions): Verdict {
  const verdict = check(history, level, options);
  const { kind } = referenceCheck(history, level, options);
  const agrees = verdict.kind === kind || (verdict.kind === 'unknown' && verdict.reason === 'missing-times');
  if (!agrees || !certify(history, level, verdict, options)) {
    expect.fail(
      `${JSON.stringify(verdict)}; by the definition ${kind}, at ${levelNames(history, level)}:\n${formatHistory(history)}`,
    );
  }
  return verdict;
}

function levelNames(history: History, level: Levels): string {
  return typeof level === 'string' ? level : history.transactions.map((_, t) => level(t)).join(' ');
}

function expectForRandom(options: SmallHistoryOptions, property: (history: History) => void, runs: number): void {
  const histories = fc
    .array(fc.nat(5_039), { minLength: 30, maxLength: 90 })
    .map((path) => smallHistory(choosing(path), options));
  fc.assert(fc.property(histories, property), { numRuns: runs, seed: 1 });
}

/** A path of any numbers, so that it shrinks. */
function choosing(path: readonly number[]): Chooser {
  let next = 0;
  return { choose: (options) => (path[next++] ?? 0) % options };
}

/** Of the histories that differ in the order of their sessions, this takes at least one. */
function isInOrder({ sessions, transactions }: History): boolean {
  const kinds = sessions.map((_, session) => {
    const own = transactions.filter((t) => t.session === session);
    return `${own.length} ${own.map((t) => t.operations.map((operation) => operation.kind).join()).join('|')}`;
  });
  return kinds.every((kind, i) => i === 0 || kind <= (kinds[i - 1] as string));
}

function caseSplits(verdict: Verdict): number {
  const count = (refutation?: Refutation): number =>
    refutation?.end.kind === 'cases' ? 1 + count(refutation.end.before) + count(refutation.end.after) : 0;
  return verdict.kind === 'violated' ? count(verdict.refutation) : 0;
}

/** Seven transactions, each in a session of its own, that write one of two keys after they read what few others wrote. */
function contendedHistory(chooser: Chooser): History {
  const keys = ['x', 'y'];
  const written = Array.from({ length: 7 }, (_, t) => ({ key: keys[chooser.choose(2)] as string, value: t + 1 }));
  const transactions = written.map(({ key, value }, t): Transaction => {
    const reads = keys
      .filter(() => chooser.choose(2) === 0)
      .map((read): Operation => {
        const seen = written.filter((write, other) => write.key === read && other !== t && other <= 2 * t);
        const values = [null, ...seen.map((write) => write.value)];
        return { kind: 'read', key: read, value: values[chooser.choose(values.length)] ?? null };
      });
    return { id: String(t), session: t, status: 'committed', operations: [...reads, { kind: 'write', key, value }] };
  });
  return { sessions: written.map((_, t) => String(t)), transactions, initial: new Map() };
}
