import { describe, expect, test } from 'vitest';
import { type Chooser, forEveryChoice, seeded } from '../base/index.ts';
import {
  compactOf,
  formatHistory,
  type History,
  type Operation,
  parseHistory,
  type Transaction,
} from '../history/index.ts';
import { certify, check, type IsolationLevel, satisfies } from '../isolation/index.ts';
import { smallHistory, type SmallHistoryOptions } from '../isolation/small-history.test-support.ts';
import { verdictInWhole } from './part-evidence.ts';
import { checkCompact, type CompactCheckOptions } from './check-compact.ts';

/** MOIRAI_HEAVY=1: more and larger histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
const levels = ['read-uncommitted', 'read-committed', 'read-atomic', 'causal'] as const;
const fates = ['committed', 'aborted', 'unknown'] as const;

describe('checkCompact agrees with check, whose verdicts answer to the definition', { timeout: 600_000 }, () => {
  test('on every history of up to three transactions of two operations on two keys', () => {
    const seen = new Set<string>();
    let compared = 0;
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { transactionsMax: 3, operationsMax: 2, keysMax: 2 });
      compared += 1;
      if (heavy || compared % 72 === 0) seen.add(expectAgrees(history));
    });
    expect(compared).toBe(75_068);
    expect([...seen].toSorted()).toEqual(['ssss', 'sssv', 'ssvv', 'svvv']);
  });

  test('on every pair of transactions of any fate that read anything', () => {
    let compared = 0;
    forEveryChoice((chooser) => {
      const any = { transactionsMax: 2, operationsMax: 2, keysMax: 2, reads: 'any', statuses: fates } as const;
      const history = smallHistory(chooser, any);
      compared += 1;
      if (heavy || compared % 4 === 0) expectAgrees(history);
    });
    expect(compared).toBe(9_468);
  });

  test.runIf(heavy)(
    'on every history of up to three transactions, committed or aborted',
    { timeout: 1_200_000 },
    () => {
      let compared = 0;
      forEveryChoice((chooser) => {
        const options = {
          transactionsMax: 3,
          operationsMax: 2,
          keysMax: 2,
          statuses: ['committed', 'aborted'],
        } as const;
        expectAgrees(smallHistory(chooser, options));
        compared += 1;
      });
      expect(compared).toBeGreaterThan(500_000);
    },
  );

  test('on random larger histories', () => {
    const options: SmallHistoryOptions = { transactionsMin: 3, transactionsMax: 8, operationsMax: 5, keysMax: 3 };
    const seen = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 100_000 : 700); seed += 1) {
      const answers = expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`);
      seen.set(answers, (seen.get(answers) ?? 0) + 1);
    }
    expect([...seen.keys()].toSorted()).toEqual(['ssss', 'sssv', 'ssvv', 'svvv']);
    for (const count of seen.values()) expect(count).toBeGreaterThan(heavy ? 10 : 5);
  });

  test('on random larger histories of any fates that read anything', () => {
    const options: SmallHistoryOptions = {
      transactionsMin: 3,
      transactionsMax: 8,
      operationsMax: 4,
      keysMax: 3,
      statuses: ['committed', 'committed', 'unknown', 'aborted'],
    };
    for (let seed = 0; seed < (heavy ? 50_000 : 700); seed += 1) {
      expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`);
      if (seed % 3 === 0) expectAgrees(smallHistory(seeded(seed), { ...options, reads: 'any' }), `seed ${seed}`);
    }
  });

  test('on random histories of some sixty transactions that go wrong here and there', () => {
    const seen = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 2_000 : 40); seed += 1) {
      const answers = expectAgrees(storeHistory(seeded(seed)), `seed ${seed}`, { clocksMax: 60 * (1 + (seed % 6)) });
      seen.set(answers, (seen.get(answers) ?? 0) + 1);
    }
    expect([...seen.keys()].toSorted()).toEqual(['ssss', 'sssv', 'ssvv', 'svvv']);
  });

  test('whatever part of the clocks is in memory at a time, and whether sessions are chains or not', () => {
    const options: SmallHistoryOptions = { transactionsMin: 5, transactionsMax: 9, operationsMax: 4, keysMax: 3 };
    const ways = [{ clocksMax: 18 }, { clocksMax: 1 }, { sessionsMax: 0 }, { sessionsMax: 0, clocksMax: 18 }];
    for (let seed = 0; seed < (heavy ? 5_000 : 100); seed += 1) {
      const small = smallHistory(seeded(seed), options);
      for (const way of ways) expectAgrees(small, `seed ${seed}`, way);
    }
    for (let seed = 0; seed < (heavy ? 1_000 : 20); seed += 1)
      expectAgrees(storeHistory(seeded(seed)), `seed ${seed}`, { sessionsMax: 0, clocksMax: 300 });
  });
});

/** Histories on which other tools answer wrongly, or differ; s: satisfied, v: violated, for pl-2, read-committed, read-atomic, causal. */
describe('of histories that tools disagree about', () => {
  test.each([
    ['one write read twice', 'w x 1 \n r x 1, r x 1', 'ssss'],
    ['the own write, then another', 'w x 1, r x 1, w x 2', 'ssss'],
    ['the initial state after the own write', 'w x 1 | r x _', 'ssvv'],
    ['the initial state after a newer one', 'w x 1 \n r x 1 | r x _', 'sssv'],
    ['a cycle of wr and overwritten reads', 'r x _, w y 1 \n r y _, w x 1', 'ssss'],
    ['each overwrites what the other reads, and both are seen', 'w x 1, w y 1 \n r x _, r y 1', 'ssvv'],
    ['not monotonic over two keys', 'w x 1 | w x 2, w y 2 \n r y 2, r x 1', 'svvv'],
    ['not the own write', 'w x 5 \n w x 1, r x 5 <- 0/0', 'vvvv'],
    ['write skew', 'w x 1, w y 1 \n r x 1, r y 1, w x 2 \n r x 1, r y 1, w y 2', 'ssss'],
    ['long fork', 'w x 1 \n w y 1 \n r x 1, r y _ \n r x _, r y 1', 'ssss'],
    ['lost update', 'r x _, w x 1 \n r x _, w x 2', 'ssss'],
    ['G1a', 'w x 1 ! \n r x 1', 'vvvv'],
    ['G1b', 'w x 1, w x 2 \n r x 1', 'vvvv'],
    ['a read of the future', 'r x 1, w x 1', 'vvvv'],
    ['a read that is not repeatable', 'w x 1 \n r x _, r x 1', 'ssvv'],
    ['G0 as far as reads show it', 'w x 1, w y 1 \n w x 2, w y 2 \n r x 1, r y 2, r x 1', 'svvv'],
    ['G1c', 'r y 1, w x 1 \n r x 1, w y 1', 'vvvv'],
    ['a session that reads its own future', 'r x 1 | w x 1', 'svvv'],
  ])('%s', (_name, text, expected) => {
    const history = parseHistory(text);
    const answers = (['pl-2', 'read-committed', 'read-atomic', 'causal'] as const).map(
      (level) => checkCompact(compactOf(history), level).kind[0],
    );
    expect(answers.join('')).toBe(expected);
    expectAgrees(history);
  });
});

describe('checkCompact', () => {
  test('shows a long cycle without a small history', () => {
    const length = 150;
    const sessions = Array.from({ length }, (_, i) => `r k${i} 1, w k${(i + 1) % length} 1`);
    const verdict = checkCompact(compactOf(parseHistory(sessions.join('\n'))), 'pl-2');
    expect(verdict).toMatchObject({ kind: 'violated', anomaly: 'G1c', evidence: null });
    expect(verdict.kind === 'violated' && verdict.cycle.length).toBe(length);
  });

  test('shows the shortest cycle near the first that it meets', () => {
    const chain = Array.from(
      { length: 20 },
      (_, i) => `r k${i} 1, w k${(i + 1) % 20} 1${i === 3 ? ', r a 1, w b 1' : ''}`,
    );
    const verdict = checkCompact(compactOf(parseHistory([...chain, 'r b 1, w a 1'].join('\n'))), 'read-committed');
    expect(verdict.kind === 'violated' && verdict.evidence?.history.transactions.map(({ id }) => id)).toEqual([
      '3/0',
      '20/0',
    ]);
  });
});

/**
 * Five sessions on a store that executes one transaction after another, where some transactions read from a state some steps old, and a few
 * of them not even all from the same.
 */
function storeHistory(chooser: Chooser): History {
  const states: Map<string, number>[] = [new Map()];
  const [staleShare, splitShare] = [chooser.choose(12) + 1, chooser.choose(60) + 4];
  const sessions = ['a', 'b', 'c', 'd', 'e'];
  const indexes = sessions.map(() => 0);
  let written = 0;
  const transactions = Array.from({ length: 60 }, (): Transaction => {
    const session = chooser.choose(sessions.length);
    const behind = (): number => (chooser.choose(staleShare) === 0 ? chooser.choose(Math.min(states.length, 8)) : 0);
    const state = new Map(states.at(-1));
    let snapshot = states.at(-1 - behind()) ?? state;
    const own = new Map<string, number>();
    const operations = Array.from({ length: 1 + chooser.choose(6) }, (): Operation => {
      const key = `k${chooser.choose(8)}`;
      if (chooser.choose(splitShare) === 0) snapshot = states.at(-1 - behind()) ?? state;
      if (chooser.choose(2) === 0) return { kind: 'read', key, value: own.get(key) ?? snapshot.get(key) ?? null };
      written += 1;
      own.set(key, written);
      state.set(key, written);
      return { kind: 'write', key, value: written };
    });
    states.push(state);
    const index = indexes[session] ?? 0;
    indexes[session] = index + 1;
    return { id: `${sessions[session]}/${index}`, session, status: 'committed', operations };
  });
  return { sessions, transactions, initial: new Map() };
}

/** @returns the first letters of the answers */
function expectAgrees(history: History, name = '', options: CompactCheckOptions = {}): string {
  const compact = compactOf(history);
  const message = (level: string): string => `${name} ${level}\n${formatHistory(history)}`;
  const answers = levels.map((level) => {
    const verdict = checkCompact(compact, level, options);
    expect(verdict.kind, `at ${message(level)}`).toBe(check(history, level).kind);
    expectCertified(history, level, verdict, message(level));
    return verdict.kind[0];
  });
  return answers.join('');
}

function expectCertified(
  history: History,
  level: IsolationLevel,
  verdict: ReturnType<typeof checkCompact>,
  message: string,
): void {
  if (verdict.kind === 'satisfied') {
    expect(satisfies(history, [...verdict.commitOrder], level), `at ${message}`).toBe(true);
  } else if (verdict.kind === 'violated' && verdict.evidence !== null) {
    const { evidence } = verdict;
    expect(certify(evidence.history, level, evidence.verdict), `at ${message}`).toBe(true);
    expect(certify(history, level, verdictInWhole(evidence)), `in the whole, at ${message}`).toBe(true);
    for (const [part, whole] of evidence.transactions.entries()) {
      const [a, b] = [evidence.history.transactions[part], history.transactions[whole]];
      expect({ ...a, operations: [], session: 0 }, `at ${message}`).toEqual({ ...b, operations: [], session: 0 });
    }
  }
}
