import { describe, expect, test } from 'vitest';
import { forEveryChoice, seeded } from '../../base/index.ts';
import { compactOf, formatHistory, type History } from '../../history/index.ts';
import { certify, check, satisfies } from '../../isolation/index.ts';
import { smallHistory, type SmallHistoryOptions } from '../../isolation/small-history.test-support.ts';
import { checkCompact } from '../check-compact.ts';

/** MOIRAI_HEAVY=1: more and larger histories. */
const heavy = process.env['MOIRAI_HEAVY'] === '1';
const levels = ['prefix', 'snapshot-isolation', 'serializable', 'strict-serializable'] as const;

describe('the levels above causal agree with check, whose verdicts answer to the definition', {
  timeout: 1_200_000,
}, () => {
  test('on every history of up to three transactions of two operations on two keys', () => {
    const seen = new Set<string>();
    let compared = 0;
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { transactionsMax: 3, operationsMax: 2, keysMax: 2 });
      compared += 1;
      if (heavy || compared % 8 === 0) seen.add(expectAgrees(history));
    });
    expect(compared).toBe(75_068);
    expect([...seen].toSorted()).toEqual(['sssu', 'ssvv', 'svvv', 'vvvv']);
  });

  test('on random larger histories', () => {
    const options: SmallHistoryOptions = { transactionsMin: 3, transactionsMax: 8, operationsMax: 5, keysMax: 3 };
    const seen = new Map<string, number>();
    for (let seed = 0; seed < (heavy ? 50_000 : 1_000); seed += 1) {
      const answers = expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`);
      seen.set(answers, (seen.get(answers) ?? 0) + 1);
    }
    expect([...seen.keys()].toSorted()).toEqual(['sssu', 'ssvv', 'svvv', 'vvvv']);
  });
});

/** @returns the first letters of the answers */
function expectAgrees(history: History, name = ''): string {
  const compact = compactOf(history);
  const answers = levels.map((level) => {
    const message = `${name} at ${level}\n${formatHistory(history)}`;
    const verdict = checkCompact(compact, level);
    const small = check(history, level);
    expect(verdict.kind, message).toBe(small.kind);
    if (verdict.kind === 'satisfied') {
      expect(satisfies(history, [...verdict.commitOrder], level), message).toBe(true);
    } else if (verdict.kind === 'violated' && verdict.evidence !== null) {
      const { evidence } = verdict;
      expect(certify(evidence.history, level, evidence.verdict), message).toBe(true);
    } else if (verdict.kind === 'violated') expect.fail(`no evidence ${message}`);
    return verdict.kind[0];
  });
  return answers.join('');
}
