/** Accounts from which transactions withdraw: what the tests of the analysis run. */
import { analyze, type Analysis } from './analyze.ts';
import type { Step, UnitStep } from './application.ts';
import { application, argument, branch, column, expression, statement, transaction } from './builder.ts';
import type { IsolationName } from '../sql/index.ts';

export const schema =
  'CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance int NOT NULL CHECK (balance >= 0))';
export const read = (id: string, result: string): Step =>
  statement('SELECT balance FROM accounts WHERE id = $1', [argument(id)], result);

export function analyzed(
  units: Readonly<Record<string, readonly UnitStep[]>>,
  isolation: IsolationName = 'read committed',
  limits: { readonly stepsMax?: number; readonly schedulesMax?: number; readonly timeMaxMs?: number } = {},
): Promise<Analysis> {
  return analyze(application({ schema, units }), { isolation, ...limits });
}

export const withdraw = (level: IsolationName | null): UnitStep =>
  transaction('withdraw', level, [
    read('id', 'account'),
    branch(expression('>=', column('account', 'balance'), argument('amount')), [
      statement('UPDATE accounts SET balance = $2 WHERE id = $1', [
        argument('id'),
        expression('-', column('account', 'balance'), argument('amount')),
      ]),
    ]),
  ]);
