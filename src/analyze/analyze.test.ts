import { describe, expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analyze, type Analysis } from './analyze.ts';
import { application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import type { Step, UnitStep } from './application.ts';
import type { IsolationName } from '../sql/index.ts';

const schema =
  'CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance int NOT NULL CHECK (balance >= 0))';
const read = (id: string, result: string): Step =>
  statement('SELECT balance FROM accounts WHERE id = $1', [argument(id)], result);

function analyzed(
  units: Readonly<Record<string, readonly UnitStep[]>>,
  isolation: IsolationName = 'read committed',
  limits: { readonly stepsMax?: number; readonly schedulesMax?: number } = {},
): Promise<Analysis> {
  return analyze(application({ schema, units }), { isolation, ...limits });
}

const withdraw = (level: IsolationName | null): UnitStep =>
  transaction('withdraw', level, [
    read('id', 'account'),
    branch(expression('>=', column('account', 'balance'), argument('amount')), [
      statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
        argument('id'),
        expression('-', column('account', 'balance'), argument('amount')),
      ]),
    ]),
  ]);

describe('a withdrawal that reads, then writes', () => {
  test('at read committed: a lost update of two of it, confirmed, and mended by a lock', async () => {
    const { anomalies, transactions, evidence } = await analyzed({ withdraw: [withdraw(null)] });
    expect(anomalies).toMatchObject([
      {
        name: 'lost-update',
        transactions: ['withdraw'],
        status: { kind: 'confirmed', anomaly: 'internal' },
        fix: { changes: [{ kind: 'lock' }], isProven: true },
      },
    ]);
    expect(transactions).toMatchObject([
      { level: 'read committed', weakest: 'repeatable read', changes: [{ kind: 'lock' }] },
    ]);
    expect(conclude(evidence).kind).toBe('violated');
  });

  test('at repeatable read: robust', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw('repeatable read')] });
    expect(anomalies).toEqual([]);
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('in one statement: robust at read committed', async () => {
    const { evidence } = await analyzed({
      withdraw: [
        statement('UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2', [
          argument('id'),
          argument('amount'),
        ]),
      ],
    });
    expect(conclude(evidence).kind).toBe('satisfied');
  });
});

test('write skew of a pair at repeatable read', async () => {
  const drain = (from: string, name: string): UnitStep =>
    transaction(name, null, [
      read('a', 'first'),
      read('b', 'second'),
      branch(expression('>=', expression('+', column('first', 'balance'), column('second', 'balance')), 150), [
        statement('UPDATE accounts SET balance = 0 WHERE id = $1', [argument(from)]),
      ]),
    ]);
  const { anomalies, transactions } = await analyzed({ drain: [drain('a', 'drain')] }, 'repeatable read');
  expect(anomalies).toMatchObject([{ name: 'write-skew', status: { kind: 'confirmed' } }]);
  expect(transactions).toMatchObject([{ weakest: 'serializable' }]);
  expect(anomalies[0]?.fix?.changes.length).toBeGreaterThan(0);
});

test('what is not understood is listed, and nothing is proven', async () => {
  const { notUnderstood, evidence, transactions } = await analyzed({
    odd: [statement('SELECT pg_advisory_lock(1)')],
    other: [statement('SELECT * FROM nowhere')],
  });
  expect(notUnderstood.map(({ reason }) => reason)).toEqual([
    'the function pg_advisory_lock',
    'the schema has no table nowhere',
  ]);
  expect(transactions.map(({ weakest }) => weakest)).toEqual([null, null]);
  expect(conclude(evidence).kind).toBe('unknown');
});

test('a schema that does not run', async () => {
  const broken = application({ schema: 'CREATE TABLE', units: {} });
  await expect(analyze(broken, { isolation: 'read committed' })).rejects.toThrow('the schema does not run');
});

describe('a search that ends at its limit', () => {
  test('for a split: nothing is proven, and the answer says so', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw('repeatable read')] }, undefined, {
      stepsMax: 1,
    });
    const reason = 'the search for a witness ended after 1 step';
    expect(anomalies).toMatchObject([{ transactions: ['withdraw'], status: { kind: 'possible', reason }, fix: null }]);
    expect(conclude(evidence).kind).toBe('unknown');
  });

  test('for rows and arguments: the schedules of all that are tried count together', async () => {
    const register = transaction('register', 'read committed', [
      statement('SELECT count(*) AS n FROM accounts WHERE balance > 1000000', [], 'rich'),
      statement('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [argument('id'), column('rich', 'n')]),
    ]);
    const { anomalies } = await analyzed({ register: [register] }, undefined, { schedulesMax: 2 });
    const reason = 'the search for a witness ended after 4 schedules';
    expect(anomalies).toMatchObject([{ status: { kind: 'possible', reason } }]);
  });
});
