/**
 * The benchmarks of `examples/analyze` from source to findings. TATP and Voter are serializable at read committed; the rest, which runs for minutes, with
 * MOIRAI_HEAVY=1: what is confirmed, and that it runs again. SmallBank's robust subsets are those of the papers.
 */
import { describe, expect, test } from 'vitest';
import { analyze, type Analysis, witnessProgram } from '../src/analyze/index.ts';
import { RobustSet } from '../src/analyze/robust-set.ts';
import { readSchema } from '../src/analyze/schema.ts';
import { loadTypeScript } from '../src/analyze/source/index.ts';
import { transactionsOf } from '../src/analyze/transactions.ts';
import { conclude } from '../src/evidence/index.ts';
import type { IsolationName } from '../src/sql/index.ts';
import { exploreSql } from '../src/explore/sql/index.ts';
import { type BenchmarkApplication, benchmarkApplications, readApplication } from './support/benchmark-applications.ts';

const ts = await loadTypeScript();

function applicationAt(folder: string): BenchmarkApplication {
  const found = benchmarkApplications.find((one) => one.folder === folder);
  if (found === undefined) throw new Error(`no benchmark is at ${folder}`);
  return found;
}

function analyzed(folder: string): Promise<Analysis> {
  const { dialect } = applicationAt(folder);
  const isolation = dialect === 'mysql' ? 'repeatable read' : 'read committed';
  return analyze(readApplication(applicationAt(folder), ts), { isolation });
}

test.each([
  ['tatp/src', 7],
  ['voter/src', 1],
])('%s is robust', async (folder, count) => {
  const { transactions, anomalies, unitAnomalies, notUnderstood, evidence } = await analyzed(folder);
  expect({ count: transactions.length, anomalies, unitAnomalies, notUnderstood }).toEqual({
    count,
    anomalies: [],
    unitAnomalies: [],
    notUnderstood: [],
  });
  expect(conclude(evidence).kind).toBe('satisfied');
});

describe('the largest subsets of SmallBank that are robust, read from source', () => {
  test.each<[string, IsolationName, readonly string[]]>([
    [
      'smallbank/atomic',
      'read committed',
      ['balance depositChecking', 'balance transactSavings', 'depositChecking transactSavings amalgamate'],
    ],
    ['smallbank/src', 'read committed', ['balance']],
    [
      'smallbank/atomic',
      'repeatable read',
      [
        'balance depositChecking transactSavings amalgamate',
        'balance depositChecking writeCheck',
        'depositChecking transactSavings amalgamate writeCheck',
      ],
    ],
  ])('%s at %s', async (folder, level, expected) => {
    const application = readApplication({ folder, dialect: 'postgres' }, ts);
    const all = transactionsOf(application, await readSchema(application));
    expect(all.flatMap(({ notUnderstood }) => notUnderstood)).toEqual([]);
    const subsets = Array.from({ length: 2 ** all.length - 1 }, (_, bits) =>
      all.filter((_one, at) => ((bits + 1) >> at) % 2 === 1),
    );
    const robust = subsets.filter((subset) => new RobustSet(subset, 'postgres').isRobust(subset.map(() => level)));
    const largest = robust.filter(
      (subset) => !robust.some((other) => other.length > subset.length && subset.every((one) => other.includes(one))),
    );
    expect(largest.map((subset) => subset.map(({ name }) => name).join(' ')).toSorted()).toEqual(expected);
  });
});

describe.runIf(process.env['MOIRAI_HEAVY'] === '1')('what is confirmed', () => {
  test.each<[string, readonly string[]]>([
    ['voter/limited', ['vote']],
    ['twitter/src', []],
    [
      'smallbank/src',
      [
        'amalgamate',
        'balance amalgamate',
        'balance transactSavings depositChecking',
        'depositChecking',
        'transactSavings',
        'writeCheck',
        'writeCheck amalgamate',
        'writeCheck transactSavings',
      ],
    ],
    ['wikipedia/src', ['updatePage > updatePage2']],
    ['seats/src', ['findOpenSeats newReservation', 'newReservation']],
    ['tpcc/src', ['deliver', 'newOrder', 'payment']],
  ])('%s', { timeout: 600_000 }, async (folder, expected) => {
    const { anomalies, unitAnomalies, notUnderstood } = await analyzed(folder);
    expect(notUnderstood).toEqual([]);
    const confirmed: string[] = [];
    for (const { status, transactions, fix } of [...anomalies, ...unitAnomalies]) {
      if (status.kind !== 'confirmed') continue;
      confirmed.push(transactions.join(' '));
      const { dialect } = status.program;
      const isolation = dialect === 'mysql' ? 'repeatable read' : 'read committed';
      const profile = { family: 'engine', engine: dialect, dialect, isolation } as const;
      const again = await exploreSql(witnessProgram(status.program), { profile, schedulesMax: 200 });
      expect(again.violations).toBeGreaterThan(0);
      expect(fix).toMatchObject({ isProven: true });
    }
    expect(confirmed.toSorted()).toEqual(expected);
  });
});
