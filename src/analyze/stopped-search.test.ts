/** Searches of transactions that end because the time is over, or because there is more than is held: nothing is proven, and what was not searched is named. */
import { expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analyze } from './analyze.ts';
import { argument, application, column, expression, statement, transaction } from './builder.ts';
import { RobustSet } from './robust-set.ts';
import { stepsMaxDefault } from './robustness/find-split.ts';
import { readSchema } from './schema.ts';
import { transactionsOf } from './transactions.ts';

const add = transaction('add', 'read committed', [
  statement('SELECT balance FROM accounts WHERE id = $1', [argument('id')], 'account'),
  statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
    argument('id'),
    expression('+', column('account', 'balance'), argument('amount')),
  ]),
]);
const look = transaction('look', 'read committed', [statement('SELECT balance FROM accounts', [])]);
const accounts = 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)';
const unsafe = application({ schema: accounts, units: { add: [add], look: [look] } });
const safe = application({ schema: accounts, units: { look: [look] } });

test('one that ends before it begins names all transactions, and no level is known', async () => {
  const { anomalies, transactions, evidence } = await analyze(unsafe, {
    isolation: 'read committed',
    signal: AbortSignal.abort(),
  });
  expect(anomalies).toEqual([]);
  expect(transactions.map(({ weakest }) => weakest)).toEqual([null, null]);
  expect(evidence.cut).toEqual(
    expect.arrayContaining([
      'not every set was searched for anomalies of add, look',
      'the weakest safe level is not known of add, look',
    ]),
  );
  expect(conclude(evidence).kind).toBe('unknown');
});

test.each([
  ['that can go wrong', unsafe, false],
  ['that cannot', safe, true],
])('of transactions %s: whenever the time is over, what is left is said', async (_, app, isSafe) => {
  const all = transactionsOf(app, await readSchema(app));
  const levels = all.map(() => 'read committed' as const);
  const answers = new Set<string>();
  for (let looksMax = 0; looksMax < 60; looksMax += 1) {
    let looks = 0;
    const isOver = (): boolean => (looks += 1) > looksMax;
    const set = new RobustSet(all, app.dialect, { stepsMax: stepsMaxDefault, isOver });
    const { found, unsearched } = set.witnesses(levels);
    const answer = unsearched.length > 0 ? 'unknown' : found.length === 0 ? 'robust' : 'not robust';
    expect(answer).not.toBe(isSafe ? 'not robust' : 'robust');
    answers.add(answer);
    expect([null, isSafe ? 'read committed' : 'repeatable read']).toContain(set.weakest()[0]);
  }
  expect(answers).toEqual(new Set(['unknown', isSafe ? 'robust' : 'not robust']));
});

test('for memory: paths beyond the limit are not followed, and their transactions are named', async () => {
  const all = transactionsOf(unsafe, await readSchema(unsafe));
  const cutAt = (accessesMax: number): readonly number[] =>
    new RobustSet(all, 'postgres', { stepsMax: stepsMaxDefault, accessesMax }).cut;
  expect(cutAt(0)).toEqual([0, 1]);
  expect(cutAt(1)).toEqual([1]);
  expect(cutAt(100)).toEqual([]);
});
