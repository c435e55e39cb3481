/**
 * `x IN (SELECT c FROM u WHERE c = 4)` holds for no other x than 4. PostgreSQL makes the subquery a join, in which x, c and 4 are one class of equals
 * (`src/backend/optimizer/README`, "EquivalenceClasses"), and so looks x up first.
 */
import type { Node } from '@pgsql/types';
import { columnNames, conjunctsOf, operatorOf, treeText } from './tree.ts';

/** The constant or parameter that the only column of the subquery equals in each row; `undefined`: the subquery is no plain join, or does not say. */
export function impliedConstant(subselect: Node): Node | undefined {
  if (!('SelectStmt' in subselect)) return undefined;
  const {
    targetList,
    fromClause: _,
    whereClause,
    op = 'SETOP_NONE',
    limitOption: _o,
    ...others
  } = subselect.SelectStmt;
  const [target, another] = targetList ?? [];
  const column = target !== undefined && 'ResTarget' in target ? target.ResTarget.val : undefined;
  if (column === undefined || another !== undefined || columnNames(column) === undefined) return undefined;
  if (op !== 'SETOP_NONE' || Object.keys(others).length > 0) return undefined;
  return conjunctsOf(whereClause)
    .map((node) => equalTo(column, node))
    .find((value) => value !== undefined);
}

function equalTo(column: Node, node: Node): Node | undefined {
  if (!('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP' || operatorOf(node.A_Expr) !== '=') return undefined;
  const { lexpr: left, rexpr: right } = node.A_Expr;
  if (left === undefined || right === undefined) return undefined;
  const text = treeText(column);
  const value = treeText(left) === text ? right : treeText(right) === text ? left : undefined;
  return value !== undefined && ('A_Const' in value || 'ParamRef' in value) ? value : undefined;
}
