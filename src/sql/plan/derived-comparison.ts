/**
 * `id = (SELECT id FROM (SELECT id FROM t ... LIMIT 1) q)`, as MySQL has an UPDATE read its own table: MariaDB does not know the value of such a subquery
 * when it plans an UPDATE or DELETE, and goes over the whole table. A derived table that can be merged into the query around it is no obstacle.
 */
import type { Node, SelectStmt } from '@pgsql/types';
import { isAggregate } from '../expressions/index.ts';
import type { Conjunct } from './conjunct.ts';
import { someNode } from './tree.ts';

/** The same conditions, of which those say nothing of an index. */
export function withoutDerivedComparisons(conjuncts: readonly Conjunct[]): readonly Conjunct[] {
  return conjuncts.map((conjunct) =>
    comparesWithDerived(conjunct.node) ? { ...conjunct, comparisons: [] } : conjunct,
  );
}

function comparesWithDerived(node: Node): boolean {
  return someNode(node, (part) => 'SubLink' in part && readsDerived(part.SubLink.subselect));
}

function readsDerived(query: Node | undefined): boolean {
  if (query === undefined || !('SelectStmt' in query)) return false;
  return someNode(query.SelectStmt.fromClause, isDerivedApart);
}

/** Is it a derived table that cannot be merged? */
export function isDerivedApart(item: Node): boolean {
  const derived = 'RangeSubselect' in item ? item.RangeSubselect.subquery : undefined;
  return derived !== undefined && 'SelectStmt' in derived && !isMergeable(derived.SelectStmt);
}

export function isMergeable(select: SelectStmt): boolean {
  const { op = 'SETOP_NONE', valuesLists, limitCount, limitOffset, distinctClause, groupClause, havingClause } = select;
  const others = [valuesLists, limitCount, limitOffset, distinctClause, groupClause, havingClause];
  if (op !== 'SETOP_NONE' || others.some((clause) => clause !== undefined)) return false;
  return !someNode(select.targetList, (node) => 'FuncCall' in node && isAggregate(node.FuncCall));
}
