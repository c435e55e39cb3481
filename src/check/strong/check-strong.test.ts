import { describe, expect, test } from 'vitest';
import { forEveryChoice, seeded } from '../../base/index.ts';
import { type CompactHistory, compactOf, formatHistory, type History, parseHistory } from '../../history/index.ts';
import { certify, check, satisfies } from '../../isolation/index.ts';
import { smallHistory, type SmallHistoryOptions } from '../../isolation/small-history.test-support.ts';
import { checkCompact } from '../check-compact.ts';
import { readsOf } from '../reads.ts';
import { certifyStrongOrder } from './certify-strong-order.ts';

/** MOIRAI_HEAVY=1: more and larger histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
const levels = ['prefix', 'snapshot-isolation', 'serializable', 'strict-serializable'] as const;
const fates = ['committed', 'aborted', 'unknown'] as const;

describe('the levels above causal agree with check, whose verdicts answer to the definition', {
  timeout: 1_200_000,
}, () => {
  test('on every history of up to three transactions of two operations on two keys', () => {
    const seen = new Set<string>();
    let compared = 0;
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { transactionsMax: 3, operationsMax: 2, keysMax: 2 });
      compared += 1;
      if (heavy || compared % 48 === 0) seen.add(expectAgrees(history));
    });
    expect(compared).toBe(75_068);
    expect([...seen].toSorted()).toEqual(['sssu', 'ssvv', 'svvv', 'vvvv']);
  });

  test('on random larger histories', () => {
    const options: SmallHistoryOptions = { transactionsMin: 3, transactionsMax: 8, operationsMax: 5, keysMax: 3 };
    const seen = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 50_000 : 500); seed += 1) {
      const answers = expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`);
      seen.set(answers, (seen.get(answers) ?? 0) + 1);
    }
    expect([...seen.keys()].toSorted()).toEqual(['sssu', 'ssvv', 'svvv', 'vvvv']);
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

  test.runIf(heavy)('on every history of up to three transactions, committed or aborted', () => {
    let compared = 0;
    forEveryChoice((chooser) => {
      const size = { transactionsMax: 3, operationsMax: 2, keysMax: 2 } as const;
      expectAgrees(smallHistory(chooser, { ...size, statuses: ['committed', 'aborted'] }));
      compared += 1;
    });
    expect(compared).toBeGreaterThan(500_000);
  });

  test('on random larger histories of any fates', () => {
    const statuses = ['committed', 'committed', 'unknown', 'aborted'] as const;
    const options = { transactionsMin: 3, transactionsMax: 8, operationsMax: 4, keysMax: 3, statuses };
    for (let seed = 0; seed < (heavy ? 30_000 : 600); seed += 1)
      expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`);
  });

  test('on random histories with times', () => {
    const seen = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 20_000 : 500); seed += 1) {
      const statuses = seed % 3 === 0 ? fates : (['committed'] as const);
      const options = { transactionsMin: 2, transactionsMax: 7, operationsMax: 3, keysMax: 2, lengthMax: 5, statuses };
      const answers = expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`);
      seen.set(answers, (seen.get(answers) ?? 0) + 1);
    }
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['ssss', 'sssv', 'ssvv', 'vvvv']));
    expect(seen.get('sssv')).toBeGreaterThan(20);
  });

  test('when sessions are not chains', () => {
    const options: SmallHistoryOptions = { transactionsMin: 70, transactionsMax: 90, operationsMax: 2, keysMax: 40 };
    for (let seed = 0; seed < (heavy ? 200 : 10); seed += 1) {
      const history = smallHistory(seeded(seed), options);
      const sessions = history.transactions.map((_, t) => String(t));
      const alone = history.transactions.map((transaction, t) => ({ ...transaction, session: t }));
      expectAgrees({ ...history, sessions, transactions: alone }, `seed ${seed}`);
    }
  });
});

/** Histories on which other tools answer wrongly, or differ; s: satisfied, v: violated, for prefix, snapshot-isolation, serializable. */
describe('of histories that tools disagree about', () => {
  test.each([
    ['one write read twice', 'w x 1 \n r x 1, r x 1', 'sss'],
    ['the own write, then another', 'w x 1, r x 1, w x 2', 'sss'],
    ['the initial state after the own write', 'w x 1 | r x _', 'vvv'],
    ['the initial state after a newer one', 'w x 1 \n r x 1 | r x _', 'vvv'],
    ['each overwrites what the other reads', 'r x _, w y 1 \n r y _, w x 1', 'ssv'],
    ['each reads what the other wrote, and misses it', 'r x _, w y 1 \n r y 1, w x 1 | r x 1, r y 1', 'sss'],
    ['not monotonic over two keys', 'w x 1 | w x 2, w y 2 \n r y 2, r x 1', 'vvv'],
    ['not the own write', 'w x 5 \n w x 1, r x 5 <- 0/0', 'vvv'],
    ['write skew', 'w x 1, w y 1 \n r x 1, r y 1, w x 2 \n r x 1, r y 1, w y 2', 'ssv'],
    ['long fork', 'w x 1 \n w y 1 \n r x 1, r y _ \n r x _, r y 1', 'vvv'],
    ['lost update', 'r x _, w x 1 \n r x _, w x 2', 'svv'],
    ['G1a', 'w x 1 ! \n r x 1', 'vvv'],
    ['G1b', 'w x 1, w x 2 \n r x 1', 'vvv'],
    ['a read of the future', 'r x 1, w x 1', 'vvv'],
    ['a read that is not repeatable', 'w x 1 \n r x _, r x 1', 'vvv'],
    ['G1c', 'r y 1, w x 1 \n r x 1, w y 1', 'vvv'],
  ])('%s', (_name, text, expected) => {
    const history = parseHistory(text);
    expect(expectAgrees(history).slice(0, 3)).toBe(expected);
  });
});

/** No rule applies, and both orders of two transactions lead to a contradiction. */
describe('a search refutes what rules do not', () => {
  test.each([
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
  ] as const)('at %s', (level, text) => {
    const compact = compactOf(parseHistory(text));
    expect(checkCompact(compact, level).kind).toBe('violated');
    expect(checkCompact(compact, level, { engine: 'search' }).kind).toBe('violated');
    expect(checkCompact(compact, level, { engine: 'frontier' }).kind).toBe('violated');
    expect(checkCompact(compact, level, { stepsMax: 0 })).toEqual({ kind: 'unknown', reason: 'step-limit' });
    expect(checkCompact(compact, level, { strongClocksMax: 1 })).toEqual({ kind: 'unknown', reason: 'step-limit' });
    expectAgrees(parseHistory(text));
  });
});

describe('a violation planted in a valid history of 3,000 transactions is found, and shown by few', () => {
  test.each([
    ['lost update', ['r p _, w p 1', 'r p _, w p 2'], 'snapshot-isolation', 2],
    ['write skew', ['r p _, r q _, w p 1', 'r p _, r q _, w q 1'], 'serializable', 2],
    ['long fork', ['w p 1', 'w q 1', 'r p 1, r q _', 'r p _, r q 1'], 'prefix', 4],
    ['cycle of three', ['r p _, w q 1', 'r q _, w s 1', 'r s _, w p 1'], 'serializable', 3],
  ] as const)('%s', (anomaly, planted, level, size) => {
    const verdict = checkCompact(withPlanted(planted), level);
    expect(verdict.kind).toBe('violated');
    if (verdict.kind !== 'violated' || verdict.evidence === null) return expect.fail('there is evidence');
    expect(verdict.evidence.transactions.length).toBe(size);
    expect(certify(verdict.evidence.history, level, verdict.evidence.verdict)).toBe(true);
    if (anomaly !== 'cycle of three') expect(verdict.anomaly).toBe(anomaly.replace(' ', '-'));
    const weaker = levels[levels.indexOf(level) - 1];
    if (weaker !== undefined) expect(checkCompact(withPlanted(planted), weaker).kind).toBe('satisfied');
  });
});

/** Eight sessions that update counters one after another; each planted transaction is in a session of its own. */
function withPlanted(planted: readonly string[]): CompactHistory {
  const sessions: string[][] = Array.from({ length: 8 }, () => []);
  for (let t = 0; t < 3_000; t += 1)
    sessions[(t * 5) % 8]?.push(
      `r k${t % 50} ${t < 50 ? '_' : t - 50}, w k${t % 50} ${t}, w b${t % 7} ${t}, r c${(t * 3) % 11} _`,
    );
  return compactOf(parseHistory([...sessions.map((session) => session.join(' | ')), ...planted].join('\n')));
}

/** @returns the first letters of the answers */
function expectAgrees(history: History, name = ''): string {
  const compact = compactOf(history);
  const reads = readsOf(compact);
  const answers = levels.map((level) => {
    const message = `${name} ${level}\n${formatHistory(history)}`;
    const verdict = checkCompact(compact, level);
    expect(verdict.kind, `at ${message}`).toBe(check(history, level).kind);
    if (verdict.kind === 'satisfied') {
      expect(satisfies(history, [...verdict.commitOrder], level), `at ${message}`).toBe(true);
      expect(certifyStrongOrder(compact, reads, level, verdict.commitOrder), `at ${message}`).toBe(true);
    } else if (verdict.kind === 'violated') {
      const { evidence } = verdict;
      if (evidence === null) return expect.fail(`no evidence at ${message}`);
      expect(certify(evidence.history, level, evidence.verdict), `at ${message}`).toBe(true);
    }
    return verdict.kind[0];
  });
  return answers.join('');
}
