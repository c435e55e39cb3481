import { describe, expect, test } from 'vitest';
import { type Chooser, seeded, unlimited } from '../../base/index.ts';
import {
  type CompactHistory,
  compactOf,
  formatHistory,
  type History,
  type Operation,
  parseHistory,
  type Transaction,
} from '../../history/index.ts';
import { certify, nameCycle } from '../../isolation/index.ts';
import { checkCompact } from '../check-compact.ts';
import { commitOrder } from '../commit-order.ts';
import { readsOf } from '../reads.ts';
import { sessionOrder } from '../session-order.ts';
import { certifyStrongOrder } from './certify-strong-order.ts';
import { checkStrong } from './check-strong.ts';
import { orderProof } from './order-proof.ts';

/** MOIRAI_HEAVY=1: more histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
const levels = ['prefix', 'snapshot-isolation', 'serializable', 'strict-serializable'] as const;

describe('the two searches and the guess before them', { timeout: 3_600_000 }, () => {
  test('agree on histories that are too large for the definition', () => {
    const seen = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 10_000 : 150); seed += 1) {
      const history = storeHistory(seeded(seed));
      const answers = levels.map((level) => expectEnginesAgree(history, level, `seed ${seed}`)).join('');
      seen.set(answers, (seen.get(answers) ?? 0) + 1);
    }
    expect([...seen.keys()].toSorted()).toEqual(['ssss', 'sssv', 'ssvv', 'svvv', 'vvvv']);
  });

  test('what contradicts itself without a choice has a proof that the definition accepts', () => {
    const rules = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 10_000 : 50); seed += 1) {
      const history = storeHistory(seeded(seed));
      const compact = compactOf(history);
      const reads = readsOf(compact);
      const sessions = sessionOrder(compact, reads);
      const problem = { history: compact, reads, sessions, forced: null };
      const order = commitOrder(problem);
      if (order.length < sessions.member.length) continue;
      for (const level of ['serializable', 'strict-serializable'] as const) {
        const outcome = checkStrong(compact, reads, sessions, order, level);
        if (outcome.kind !== 'violated' || outcome.problem === null) continue;
        const proof = orderProof(problem, outcome.problem, unlimited);
        expect(proof !== null || level === 'strict-serializable', `${level}, seed ${seed}`).toBe(true);
        if (proof === null) continue;
        const verdict = { kind: 'violated', anomaly: nameCycle(proof.cycle), ...proof } as const;
        expect(certify(history, level, verdict), `${level}, seed ${seed}\n${formatHistory(history)}`).toBe(true);
        for (const { why } of proof.refutation.steps) rules.set(why.rule, (rules.get(why.rule) ?? 0) + 1);
      }
    }
    expect([...rules.keys()].toSorted()).toEqual(['axiom', 'hidden', 'so', 'wr']);
  });

  test('agree on choices that forbid each other', () => {
    const seen = { satisfied: 0, violated: 0 };
    for (let seed = 0; seed < (heavy ? 1_000 : 40); seed += 1) {
      const history = forkHistory(seeded(seed), 8, 70);
      const reads = readsOf(history);
      const sessions = sessionOrder(history, reads);
      const order = commitOrder({ history, reads, sessions, forced: null });
      for (const level of ['prefix', 'serializable'] as const) {
        const [search, frontier] = (['search', 'frontier'] as const).map((engine) => {
          const outcome = checkStrong(history, reads, sessions, order, level, { engine });
          if (outcome.kind === 'satisfied')
            expect(certifyStrongOrder(history, reads, level, outcome.commitOrder), `seed ${seed}`).toBe(true);
          if (outcome.kind === 'violated') expect(outcome.problem).toBe(null);
          return outcome.kind;
        });
        expect(search, `${level}, seed ${seed}`).toBe(frontier);
        if (search === 'satisfied' || search === 'violated') seen[search] += 1;
      }
    }
    expect(seen.satisfied).toBeGreaterThan(20);
    expect(seen.violated).toBeGreaterThan(0);
  });
});

/**
 * Pairs of blind writers of a key, each with a reader: whichever is first, its reader is before the other. Further reads, from a writer to the
 * reader of another pair, make cycles of some choices and not of others: which choices go together is as hard as it gets.
 */
function forkHistory(chooser: Chooser, pairs: number, links: number): CompactHistory {
  const transactions: string[][] = [];
  const choices: { readonly head: string[]; readonly tail: string[] }[] = [];
  for (let i = 0; i < pairs; i += 1) {
    const [a, b, readsA, readsB] = [[`w k${i} 1`], [`w k${i} 2`], [`r k${i} 1`], [`r k${i} 2`]];
    transactions.push(a, b, readsA, readsB);
    choices.push({ head: b, tail: readsA }, { head: a, tail: readsB });
  }
  for (let link = 0; link < links; link += 1) {
    const [from, to] = [chooser.choose(2 * pairs), chooser.choose(2 * pairs)];
    if (from >> 1 === to >> 1) continue;
    choices[from]?.head.push(`w e${link} 1`);
    choices[to]?.tail.push(`r e${link} 1`);
  }
  return compactOf(parseHistory(transactions.map((operations) => operations.join(', ')).join('\n')));
}

/** @returns the first letter of the answer */
function expectEnginesAgree(history: History, level: (typeof levels)[number], name: string): string {
  const compact = compactOf(history);
  const reads = readsOf(compact);
  const kinds = (['all', 'search', 'frontier'] as const).map((engine) => {
    const verdict = checkCompact(compact, level, { engine });
    const message = `${name}, ${engine} at ${level}\n${formatHistory(history)}`;
    if (verdict.kind === 'satisfied')
      expect(certifyStrongOrder(compact, reads, level, verdict.commitOrder), `at ${message}`).toBe(true);
    if (verdict.kind === 'violated') {
      const { evidence } = verdict;
      expect(evidence !== null && certify(evidence.history, level, evidence.verdict), `at ${message}`).toBe(true);
    }
    return verdict.kind;
  });
  expect(new Set(kinds).size, `${kinds.join(' ')}: ${name} at ${level}\n${formatHistory(history)}`).toBe(1);
  return (kinds[0] as string)[0] as string;
}

/**
 * Sessions on a store that executes one transaction after another, on few keys, where some reads see a state some steps old: of the whole
 * transaction, or of one read. Most writes nobody reads. Times overlap.
 */
function storeHistory(chooser: Chooser): History {
  const states: Map<string, number>[] = [new Map()];
  const sessions = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, 3 + chooser.choose(4));
  const keys = 2 + chooser.choose(5);
  const [staleShare, splitShare] = [chooser.choose(30) + 1, chooser.choose(200) + 20];
  const indexes = sessions.map(() => 0);
  const ends = sessions.map(() => 0);
  let written = 0;
  const transactions = Array.from({ length: 12 + chooser.choose(20) }, (_, step): Transaction => {
    const session = chooser.choose(sessions.length);
    const behind = (): number => chooser.choose(Math.min(states.length, 6));
    const state = new Map(states.at(-1));
    let snapshot = chooser.choose(staleShare) === 0 ? (states.at(-1 - behind()) ?? state) : new Map(state);
    const own = new Map<string, number>();
    const operations = Array.from({ length: 1 + chooser.choose(4) }, (): Operation => {
      const key = `k${chooser.choose(keys)}`;
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
    const start = Math.max(ends[session] as number, 10 * step - chooser.choose(20));
    const end = Math.max(start, 10 * step) + chooser.choose(20);
    ends[session] = end;
    const id = `${sessions[session]}/${index}`;
    return { id, session, status: 'committed', operations, start, end };
  });
  return { sessions, transactions, initial: new Map() };
}
