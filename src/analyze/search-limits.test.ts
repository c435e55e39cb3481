import { describe, expect, test } from 'vitest';
import { conclude } from '../evidence/index.ts';
import { analyze } from './analyze.ts';
import type { UnitStep } from './application.ts';
import { application, argument, column, expression, statement, transaction } from './builder.ts';
import { analyzed, withdraw } from './withdrawals.test-support.ts';

describe('a search that ends at its limit', () => {
  test('for a split: nothing is proven, and the answer says so', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw('repeatable read')] }, undefined, {
      stepsMax: 1,
    });
    const reason = 'the search for a witness ended after 1 step';
    expect(anomalies).toMatchObject([{ transactions: ['withdraw'], status: { kind: 'possible', reason }, fix: null }]);
    expect(conclude(evidence).kind).toBe('unknown');
  });

  test('parts without a table in common are searched one by one', async () => {
    const parts = Array.from({ length: 40 }, (_, at) => `items_${at}`);
    const added = (table: string): UnitStep =>
      statement(`UPDATE ${table} SET amount = amount + $2 WHERE id = $1`, [argument('id'), argument('by')]);
    const { transactions, evidence } = await analyze(
      application({
        schema: parts.map((table) => `CREATE TABLE ${table} (id int PRIMARY KEY, amount int)`).join(';\n'),
        units: Object.fromEntries(parts.map((table) => [table, [added(table)]])),
      }),
      { isolation: 'read committed', stepsMax: 10 },
    );
    expect(new Set(transactions.map(({ weakest }) => weakest))).toEqual(new Set(['read committed']));
    expect(conclude(evidence).kind).toBe('satisfied');
  });

  test('for all witnesses: those that are not tried are possible, and named', async () => {
    const { anomalies, evidence } = await analyzed({ withdraw: [withdraw(null)] }, undefined, { timeMaxMs: 0 });
    const reason = 'no witness was tried: stopped by --max-time';
    expect(anomalies).toMatchObject([{ transactions: ['withdraw'], status: { kind: 'possible', reason } }]);
    expect(conclude(evidence)).toMatchObject({ kind: 'unknown' });
  });

  test('for rows and arguments: the schedules of all that are tried count together', async () => {
    const register = transaction('register', 'read committed', [
      statement('SELECT count(*) AS n FROM accounts WHERE balance > 1000000', [], 'rich'),
      statement('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [
        argument('id'),
        // Amounts on both sides of it: others do what these did.
        expression('*', column('rich', 'n'), expression('if', expression('>', argument('amount'), 50), 2, 1)),
      ]),
    ]);
    const { anomalies } = await analyzed({ register: [register] }, undefined, { schedulesMax: 4 });
    const reason = 'the search for a witness ended after 4 schedules';
    expect(anomalies).toMatchObject([{ status: { kind: 'possible', reason } }]);
  });
});
