/** The operators of a dialect, by name: the one door to them for all that compares or computes. */
import type { Dialect } from '../model/index.ts';
import type { Expression, Scope } from '../expression.ts';
import { callOperator } from './call.ts';
import { mysqlOperator } from './mysql-operators.ts';
import { operatorTable } from './operators.ts';

/** @throws SqlError 42883, 42725 */
export function applyOperator(
  operator: string,
  operands: readonly Expression[],
  scope: Scope,
  position: number,
): Expression {
  const name = operator === '!=' ? '<>' : operator;
  return (
    ownOperator[scope.dialect](name, operands, scope) ?? callOperator(operatorTable, name, operands, scope, position)
  );
}

/** What a dialect has beside the table, or instead of it. */
const ownOperator: Readonly<Record<Dialect, (...call: Parameters<typeof mysqlOperator>) => Expression | undefined>> = {
  postgres: () => undefined,
  mysql: (...call) => mysqlOperator(...call),
};
