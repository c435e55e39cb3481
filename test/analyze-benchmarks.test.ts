/**
 * The benchmarks of `examples/analyze` from source to findings. TATP and Voter are serializable at read committed; the rest, which runs for minutes, with
 * MOIRAI_HEAVY=1: what is confirmed, and that it runs again. The robust subsets of SmallBank and TPC-C are those of the papers.
 */
import { describe, expect, test } from 'vitest';
import { analyze, type Analysis } from '../src/analyze/index.ts';
import { RobustSet } from '../src/analyze/robust-set.ts';
import { stepsMaxDefault } from '../src/analyze/robustness/find-split.ts';
import { readSchema, type Schema } from '../src/analyze/schema.ts';
import { loadTypeScript } from '../src/analyze/source/index.ts';
import { rowChangesOf, type RowChanges } from '../src/analyze/templates.ts';
import { analyzedSteps, type AnalyzedTransaction, transactionsOf } from '../src/analyze/transactions.ts';
import { conclude } from '../src/evidence/index.ts';
import type { IsolationName } from '../src/sql/index.ts';
import { expectReplay } from './support/replayed-anomaly.ts';
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

const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

function whereHeavy<Row>(rows: readonly Row[]): readonly Row[] {
  return isHeavy ? rows : [];
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

/** As published templates have it, every row is there: none that a transaction names is yet to be inserted. */
function everyRowIsThere(transactions: readonly AnalyzedTransaction[]): RowChanges {
  return { ...rowChangesOf(transactions), inserted: new Set() };
}

async function transactionsOfBenchmark(folder: string): Promise<[readonly AnalyzedTransaction[], Schema]> {
  const application = readApplication({ folder, dialect: 'postgres' }, ts);
  const schema = await readSchema(application);
  const all = transactionsOf(application, schema);
  expect(all.flatMap(({ notUnderstood }) => notUnderstood)).toEqual([]);
  return [all, schema];
}

function robustSetOf(transactions: readonly AnalyzedTransaction[]): RobustSet {
  return new RobustSet(transactions, 'postgres', { stepsMax: stepsMaxDefault }, everyRowIsThere(transactions));
}

describe('the largest subsets of SmallBank and TPC-C that are robust, read from source', () => {
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
    ...whereHeavy<[string, IsolationName, readonly string[]]>([
      ['tpcc/keyed', 'read committed', ['newOrder payment', 'payment orderStatus stockLevel']],
      ['tpcc/keyed', 'repeatable read', ['newOrder payment orderStatus deliver stockLevel']],
    ]),
  ])('%s at %s', async (folder, level, expected) => {
    const [all] = await transactionsOfBenchmark(folder);
    const subsets = Array.from({ length: 2 ** all.length - 1 }, (_, bits) =>
      all.filter((_one, at) => ((bits + 1) >> at) % 2 === 1),
    );
    const robust = subsets.filter((subset) => robustSetOf(subset).isRobust(subset.map(() => level)));
    const largest = robust.filter(
      (subset) => !robust.some((other) => other.length > subset.length && subset.every((one) => other.includes(one))),
    );
    expect(largest.map((subset) => subset.map(({ name }) => name).join(' ')).toSorted()).toEqual(expected);
  });
});

/**
 * What the papers promote, a read that counts as a write, is on PostgreSQL an UPDATE that leaves the row as it is: a transaction with an older snapshot may change a row that
 * SELECT FOR UPDATE has locked, once the lock is gone (PostgreSQL 15 answers UPDATE 1).
 */
describe('the weakest levels of SmallBank and TPC-C, read from source', () => {
  const [weak, snapshot, strong] = ['read committed', 'repeatable read', 'serializable'] as const;
  type Levels = Readonly<Record<string, IsolationName>>;
  const tpcc: Levels = {
    newOrder: weak,
    payment: weak,
    orderStatus: snapshot,
    deliver: snapshot,
    stockLevel: snapshot,
  };
  const smallBank: Levels = {
    amalgamate: strong,
    balance: strong,
    depositChecking: weak,
    transactSavings: strong,
    writeCheck: strong,
  };
  const promoted: Levels = {
    amalgamate: weak,
    balance: snapshot,
    depositChecking: weak,
    transactSavings: weak,
    writeCheck: snapshot,
  };
  const locked = '$& FOR UPDATE';
  const updated = 'UPDATE $1 SET bal = bal WHERE custid = $$1 RETURNING bal';

  test.each<[string, string, string, string, Levels]>([
    ...whereHeavy<[string, string, string, string, Levels]>([['tpcc/keyed', 'no transaction', '-', '-', tpcc]]),
    ['smallbank/atomic', 'no transaction', '-', '-', smallBank],
    ['smallbank/atomic', 'writeCheck', 'savings', updated, promoted],
    ['smallbank/atomic', 'balance', 'checking', updated, promoted],
    ['smallbank/atomic', 'writeCheck', 'savings', locked, smallBank],
  ])('%s, where %s reads %s by: %s', async (folder, name, table, replacement, expected) => {
    const [all, schema] = await transactionsOfBenchmark(folder);
    const withSql = (one: AnalyzedTransaction, read: RegExp): AnalyzedTransaction => {
      const steps = JSON.parse(JSON.stringify(one.steps), (key, value: unknown) =>
        key === 'sql' && typeof value === 'string' ? value.replace(read, replacement) : value,
      ) as typeof one.steps;
      expect(steps).not.toEqual(one.steps);
      return { ...one, ...analyzedSteps(steps, one.place, schema), steps };
    };
    const changed = all.map((one) => {
      if (one.name === name) return withSql(one, new RegExp(`SELECT bal FROM (${table}) WHERE custid = \\$1`));
      // The papers have no locks: what its SELECT FOR UPDATE holds counts between transactions at read committed only.
      const isLocking = one.name === 'amalgamate' && replacement === updated;
      return isLocking ? withSql(one, /SELECT bal FROM (\w+) WHERE custid = \$1 FOR UPDATE/) : one;
    });
    const weakest = robustSetOf(changed).weakest();
    expect(Object.fromEntries(all.map((one, at) => [one.name, weakest[at]]))).toEqual(expected);
  });
});

describe.runIf(isHeavy)('what is confirmed', () => {
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
    for (const anomaly of [...anomalies, ...unitAnomalies]) {
      if (anomaly.status.kind !== 'confirmed') continue;
      confirmed.push(anomaly.transactions.join(' '));
      await expectReplay(anomaly);
    }
    expect(confirmed.toSorted()).toEqual(expected);
  });
});
