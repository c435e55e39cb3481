/** The operators of a dialect, by name: the one door to them for all that compares or computes. */
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
  const own = scope.dialect === 'mysql' ? mysqlOperator(name, operands, scope) : undefined;
  return own ?? callOperator(operatorTable, name, operands, scope, position);
}
