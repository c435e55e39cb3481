/** SELECTs that could lock the rows which they read, and what they look for. */
import type { Node } from '@pgsql/types';
import { columnNames, conjunctsOf, operatorOf, someNode } from './plan/tree.ts';

/** Does the statement read rows, and lock none? Whether the engine takes FOR UPDATE there, planning says: not with an aggregate in PostgreSQL. */
export function readsWithoutLock(tree: Node): boolean {
  if (!('SelectStmt' in tree)) return false;
  const { op, fromClause = [], lockingClause } = tree.SelectStmt;
  return op === 'SETOP_NONE' && fromClause.length > 0 && lockingClause === undefined;
}

/** As if FOR UPDATE stood at its end. */
export function withForUpdate(tree: Node): Node {
  if (!('SelectStmt' in tree) || !readsWithoutLock(tree)) return tree;
  const clause: Node = { LockingClause: { strength: 'LCS_FORUPDATE', waitPolicy: 'LockWaitBlock' } };
  return { SelectStmt: { ...tree.SelectStmt, lockingClause: [clause] } };
}

/** What a SELECT looks for: columns of one table that have to be equal to known values, and no other condition. `null`: it asks for something else. */
export function equalityColumns(
  tree: Node,
): { readonly table: readonly string[]; readonly columns: readonly string[] } | null {
  if (!('SelectStmt' in tree)) return null;
  const { fromClause = [], whereClause } = tree.SelectStmt;
  const [from, another] = fromClause;
  if (from === undefined || another !== undefined || !('RangeVar' in from)) return null;
  const { schemaname, relname = '' } = from.RangeVar;
  const columns = conjunctsOf(whereClause).map(equalColumn);
  if (columns.length === 0 || !columns.every((column) => column !== null)) return null;
  return { table: schemaname === undefined ? [relname] : [schemaname, relname], columns: [...new Set(columns)] };
}

function equalColumn(node: Node): string | null {
  if (!('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP' || operatorOf(node.A_Expr) !== '=') return null;
  const sides = [node.A_Expr.lexpr, node.A_Expr.rexpr];
  const columns = sides.flatMap((side) => columnNames(side)?.at(-1) ?? []);
  const others = sides.filter((side) => columnNames(side) === undefined);
  const [column = null] = columns;
  return others.length === 1 && !someNode(others, (each) => 'ColumnRef' in each) ? column : null;
}
