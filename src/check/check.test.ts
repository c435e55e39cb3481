import { expect, test } from 'vitest';
import { forEveryChoice, seeded } from '../base/index.ts';
import { formatHistory, type History, parseHistory } from '../history/index.ts';
import { anomalies, certify, check, explain, type IsolationLevel, isolationLevels } from '../isolation/index.ts';
import { smallHistory } from '../isolation/small-history.test-support.ts';
import { checkHistory, strongestLevelOf, weakestViolationOf } from './check.ts';

const fates = ['committed', 'committed', 'unknown', 'aborted'] as const;

/** Every verdict is that of the checker of small histories, whose verdicts answer to the definition, and its evidence proves it. */
function expectAgrees(history: History, name: string, levels: readonly IsolationLevel[] = isolationLevels): string {
  const answers = levels.map((level) => {
    const verdict = checkHistory(history, level);
    const message = `${name} at ${level}\n${formatHistory(history)}`;
    expect(verdict.kind, `of ${message}`).toBe(check(history, level).kind);
    expect(certify(history, level, verdict), `of ${message}`).toBe(true);
    if (verdict.kind === 'violated') expect(explain(history, verdict), `of ${message}`).not.toEqual([]);
    return verdict.kind[0];
  });
  return answers.join('');
}

test('every small history', () => {
  let compared = 0;
  const seen = new Set<string>();
  forEveryChoice((chooser) => {
    const any = { transactionsMax: 2, operationsMax: 2, keysMax: 2, reads: 'any', statuses: fates } as const;
    const history = smallHistory(chooser, any);
    compared += 1;
    if (compared % 100 === 0) seen.add(expectAgrees(history, `history ${compared}`));
  });
  expect([...seen]).toEqual(expect.arrayContaining(['svvvvvvv', 'sssssssu']));
});

test('histories that are explained by a part of them', () => {
  const answers = new Set<string>();
  for (let seed = 0; seed < 12; seed += 1) {
    const keysMax = 10 * (1 + (seed % 4));
    const options = { transactionsMin: 32, transactionsMax: 40, operationsMax: 2, keysMax };
    const levels = ['read-committed', 'causal', 'snapshot-isolation', 'serializable'] as const;
    answers.add(expectAgrees(smallHistory(seeded(seed), options), `seed ${seed}`, levels));
  }
  expect([...answers]).toEqual(expect.arrayContaining(['svvv', 'vvvv', 'ssss']));
});

test('repeated values: the chosen writers are evidence', () => {
  const history = parseHistory('w x 1 \n w x 2 \n r x 1, w y 1 \n r x 2, r y 1');
  const repeated: History = {
    ...history,
    transactions: history.transactions.map((transaction) => ({
      ...transaction,
      operations: transaction.operations.map((each) => (each.key === 'x' ? { ...each, value: 1 } : each)),
    })),
  };
  const verdict = checkHistory(repeated, 'serializable');
  expect(verdict).toMatchObject({ kind: 'satisfied', writers: [{ by: 2 }, { by: 3 }] });
  expect(certify(repeated, 'serializable', verdict)).toBe(true);
});

test('a cycle that is too long for a part is evidence as it is', () => {
  const length = 150;
  const sessions = Array.from({ length }, (_, i) => `r k${i} 1, w k${(i + 1) % length} 1`);
  const history = parseHistory(sessions.join('\n'));
  const verdict = checkHistory(history, 'causal');
  expect(verdict).toMatchObject({ kind: 'violated', anomaly: 'G1c' });
  expect(verdict.kind === 'violated' && verdict.cycle.length).toBe(length);
  expect(certify(history, 'causal', verdict)).toBe(true);
});

test('an order that no part of 100 transactions refutes has a proof about the whole', () => {
  const length = 110;
  // Each reads the initial value of a key that the one before it writes: no level but serializable forbids it.
  const sessions = Array.from({ length }, (_, s) => `r k${s} _, w k${(s + 1) % length} 1`);
  const history = parseHistory(['w m 1 | r m 1', ...sessions].join('\n'));
  const verdict = checkHistory(history, 'serializable');
  expect(verdict).toMatchObject({ kind: 'violated', anomaly: 'G2-item' });
  expect(verdict.kind === 'violated' && verdict.cycle.length).toBe(length);
  expect(certify(history, 'serializable', verdict)).toBe(true);
  expect(verdict.kind === 'violated' && explain(history, verdict).length).toBe(length);
});

test('the weakest violation of every example of an anomaly is at the level that forbids it', () => {
  for (const [name, { example, forbiddenBy }] of Object.entries(anomalies)) {
    const history = parseHistory(example);
    const found = weakestViolationOf(history);
    // Without its times the example of a real-time violation is serializable.
    expect(found?.level ?? 'strict-serializable', `of ${name}`).toBe(forbiddenBy);
    if (found !== null) expect(certify(history, found.level, found.verdict), `of ${name}`).toBe(true);
  }
  // Two transactions wrote what the reads saw.
  const repeated = parseHistory('w x 1 \n w x 1 \n r x 1, r x _');
  expect(weakestViolationOf(repeated)?.level).toBe(
    isolationLevels.find((level) => check(repeated, level).kind === 'violated'),
  );
});

test('levels of each transaction, the strongest level, and a limit of time', () => {
  const skew = parseHistory('r x _, w y 1 \n r y _, w x 1');
  expect(checkHistory(skew, 'serializable')).toMatchObject({ kind: 'violated', anomaly: 'write-skew' });
  expect(checkHistory(skew, () => 'snapshot-isolation').kind).toBe('satisfied');
  expect(strongestLevelOf(skew)).toBe('snapshot-isolation');
  expect(checkHistory(skew, 'serializable', { timeoutMs: 0 })).toEqual({ kind: 'unknown', reason: 'time-limit' });
});

test('a level that is none, from plain JavaScript: what is meant, and which there are', () => {
  const history = parseHistory('w x 1');
  expect(() => checkHistory(history, 'Snapshot Isolation' as IsolationLevel)).toThrow(
    /did you mean snapshot-isolation/,
  );
  expect(() => checkHistory(history, undefined as never)).toThrow(/unknown isolation level "undefined"; levels: /);
});
