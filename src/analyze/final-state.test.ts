/** Internal or external: does an anomaly change the final state, or only what the transactions read? */
import { expect, test } from 'vitest';
import type { IsolationName } from '../sql/index.ts';
import { analyze } from './analyze.ts';
import type { Step, UnitStep } from './application.ts';
import { abort, application, argument, branch, column, expression, statement, transaction } from './builder.ts';

const schema = `CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
  CREATE TABLE points (account int PRIMARY KEY, amount int NOT NULL)`;
const [id, amount] = [argument('id'), argument('amount')];
const readBoth: readonly Step[] = [
  statement('SELECT balance FROM accounts WHERE id = $1', [id], 'account'),
  statement('SELECT amount FROM points WHERE account = $1', [id], 'point'),
];
const payInto = 'UPDATE accounts SET balance = balance + $2 WHERE id = $1';
const addPoints = 'UPDATE points SET amount = amount + $2 WHERE account = $1';

async function found(units: Readonly<Record<string, readonly Step[]>>, isolation: IsolationName) {
  const named = Object.entries(units).map(([name, steps]): readonly [string, readonly UnitStep[]] => [
    name,
    [transaction(name, null, steps)],
  ]);
  const { anomalies } = await analyze(application({ schema, units: Object.fromEntries(named) }), { isolation });
  return anomalies.map(({ transactions, status }) => [
    ...transactions,
    status.kind === 'confirmed' ? status.anomaly : status.kind,
  ]);
}

test('two that each look at a total and take from a part of it: with enough for both, the state is that of a serial order', async () => {
  const total = expression('+', column('account', 'balance'), column('point', 'amount'));
  const spend = (update: string): readonly Step[] => [
    ...readBoth,
    branch<Step>(expression('<', total, amount), [abort()], []),
    statement(update.replace('+', '-'), [id, amount]),
  ];
  expect(await found({ pay: spend(payInto), redeem: spend(addPoints) }, 'repeatable read')).toEqual([
    ['pay', 'redeem', 'internal'],
  ]);
});

test('one that only reads', async () => {
  const add = [statement(payInto, [id, amount]), statement(addPoints, [id, amount])];
  expect(await found({ add, report: readBoth }, 'read committed')).toEqual([['report', 'add', 'external']]);
});
