import { describe, expect, test } from 'vitest';
import { forEveryChoice, seeded } from '../base/index.ts';
import { compactOf, type CompactHistory, CompactHistoryBuilder, type History, parseHistory } from '../history/index.ts';
import { satisfies } from '../isolation/index.ts';
import { smallHistory } from '../isolation/small-history.test-support.ts';
import { certifyCommitOrder, type CertifiedLevel } from './certify-order.ts';
import { checkCompact } from './check-compact.ts';
import { readsOf } from './reads.ts';

const levels = ['read-committed', 'read-atomic', 'causal'] as const;

describe('certifyCommitOrder agrees with the definition', () => {
  test('on every order of every history of up to three transactions of two operations, some aborted', () => {
    const seen = new Set<string>();
    let compared = 0;
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { transactionsMax: 3, operationsMax: 2, keysMax: 2 });
      compared += 1;
      if (compared % 20 === 0) for (const answers of answersOn(history)) seen.add(answers);
    });
    expect([...seen].toSorted()).toEqual([
      'false false false',
      'true false false',
      'true true false',
      'true true true',
    ]);
  });

  test('on random orders of larger histories', () => {
    let orders = 0;
    for (let seed = 0; seed < 300; seed += 1) {
      const random = seeded(seed);
      const statuses = ['committed', 'committed', 'committed', 'unknown', 'aborted'] as const;
      const history = smallHistory(random, {
        transactionsMin: 3,
        transactionsMax: 5,
        operationsMax: 4,
        keysMax: 2,
        statuses,
      });
      orders += answersOn(history).length;
    }
    expect(orders).toBeGreaterThan(1_000);
  });
});

test.each(['pl-2', ...levels] as const)('an order of other transactions is refused at %s', (level) => {
  const history = compactOf(parseHistory('w x 1 | r x 1 \n w x 2 !'));
  const certified = (...order: number[]): boolean => certifyCommitOrder(history, level, Int32Array.from(order));
  expect(certified(0, 1)).toBe(true);
  expect([certified(0), certified(0, 1, 2), certified(0, 0), certified(1, 0), certified(0, 1, 7)]).toEqual(
    Array(5).fill(false),
  );
});

test.each([1, 2, 3, 4])('what checkCompact says of a history of 3,000 transactions is certified (%d)', (seed) => {
  const history = replicatedHistory(seed, 3_000);
  for (const level of levels) {
    const verdict = checkCompact(history, level);
    expect(verdict.kind, `at ${level}`).toBe('satisfied');
    expect(verdict.kind === 'satisfied' && certifyCommitOrder(history, level, verdict.commitOrder), `at ${level}`).toBe(
      true,
    );
  }
});

/** For each order of the members: the answers at the three levels, which must be those of the definition. */
function answersOn(history: History): string[] {
  const compact = compactOf(history);
  const { isMember } = readsOf(compact);
  const members = [...history.transactions.keys()].filter((t) => isMember[t] === 1);
  return permutations(members).map((order) => {
    const answers = levels.map((level: CertifiedLevel & (typeof levels)[number]) => {
      const answer = certifyCommitOrder(compact, level, Int32Array.from(order));
      expect(answer).toBe(satisfies(history, order, level));
      return answer;
    });
    return answers.join(' ');
  });
}

function permutations(elements: readonly number[]): number[][] {
  if (elements.length === 0) return [[]];
  return elements.flatMap((first) => permutations(elements.filter((e) => e !== first)).map((rest) => [first, ...rest]));
}

/** Ten sessions; each reads from one state that is up to 40 transactions old, but not older than what its session has seen: causal. */
function replicatedHistory(seed: number, count: number): CompactHistory {
  const random = seeded(seed);
  const builder = new CompactHistoryBuilder();
  const states: Int32Array[] = [new Int32Array(50).fill(-1)];
  const seen = new Int32Array(10);
  for (let t = 0; t < count; t += 1) {
    const session = random.choose(10);
    const snapshot = Math.max(seen[session] as number, states.length - 1 - random.choose(40));
    const state = (states.at(-1) as Int32Array).slice();
    const own = new Map<number, number>();
    for (let o = random.choose(8); o >= 0; o -= 1) {
      const key = builder.key(`k${random.choose(50)}`);
      if (random.choose(2) === 0) {
        own.set(key, t * 10 + o);
        state[key] = t * 10 + o;
        builder.write(key, builder.integer(key, t * 10 + o));
      } else {
        const value = own.get(key) ?? (states[snapshot] as Int32Array)[key] ?? -1;
        builder.read(key, value < 0 ? builder.nullValue(key) : builder.integer(key, value));
      }
    }
    builder.endTransaction(builder.session(`s${session}`));
    states.push(state);
    seen[session] = states.length - 1;
  }
  return builder.finish();
}
