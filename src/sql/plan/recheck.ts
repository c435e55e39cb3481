/**
 * The conditions of a statement once more, for a row that has changed while the statement waited for it: EvalPlanQual of PostgreSQL. A subquery that
 * the planner has made a join of (prepjointree.c, `pull_up_sublinks`) is not asked again: the new version is compared with the rows that the old one was
 * joined with, as the other tables of a join keep theirs, and NOT EXISTS, which joined it with none, holds. All other subqueries are asked again.
 */
import type { SelectStmt } from '@pgsql/types';
import type { Frame, Recheck, SubqueryJoin } from '../expression.ts';
import { engineRules, type Row, type RowCondition } from '../model/index.ts';
import { allOf, type Conjunct } from './conjunct.ts';
import { rowsOf } from './cursor.ts';
import { isGrouped } from './grouping.ts';
import { type FromList, type FromNode, rowsOf as rowsOfNode } from './join.ts';
import type { RangeItem } from './namespace.ts';
import { isOneRow } from './open-limit.ts';
import type { Planning } from './planning.ts';
import { newFrame, restore } from './query.ts';
import type { QueryScope } from './scope.ts';
import { integerConstant } from './tree.ts';
import type { SelectPlan } from './tuple.ts';
import { runningOf } from '../execution.ts';

/** Is asked with the rows that satisfied the conditions, as they were found. */
export type RecheckPlan = (frame: Frame) => Recheck;

/**
 * @param findsOne are the rows found by a whole key? Then PostgreSQL looks for the partner of each among the rows of a subquery, from the first on, and otherwise
 *   it makes a hash table of them, which gives the last one first.
 */
export function planRecheck(conjuncts: readonly Conjunct[], findsOne: boolean, planning: Planning): RecheckPlan {
  const ways = findsOne ? [fromFirst, fromLast] : [fromLast, fromFirst];
  const takesLast = ({ openFor }: SubqueryJoin): boolean =>
    openFor !== null && ways[planning.choosePartner(openFor, ways)] === fromLast;
  return recheckOf(conjuncts, () => true, takesLast);
}

/** The same of a whole join: where the changed row of a left join has lost its partner, the other side is NULL, and it never gets another. */
export function planJoinRecheck(list: FromList, planning: Planning): RecheckPlan {
  const recheck = planRecheck(list.conjuncts, false, planning);
  const rejoin = rejoinOf(list.nodes);
  return (frame) => {
    const holds = recheck(frame);
    return (changed) => rejoin(changed) && holds(changed);
  };
}

/** Sets the sides of left joins that match no more to NULL. @returns false: a row is missing. The rows of a full join are not locked. */
function rejoinOf(nodes: readonly FromNode[]): Recheck {
  const steps = nodes.map((node): Recheck => {
    if (node.kind === 'leaf') return ({ rows }) => (rows[node.item.row] ?? null) !== null;
    if (node.kind === 'full') return () => true;
    const holdsLeft = sideOf(node.left, []);
    const holdsRight = sideOf(node.right, node.on);
    const others = node.right.nodes.flatMap(rowsOfNode);
    return (frame) => {
      if (!holdsLeft(frame)) return false;
      if (!holdsRight(frame)) for (const row of others) frame.rows[row] = null;
      return true;
    };
  });
  return (frame) => steps.every((step) => step(frame));
}

function sideOf({ nodes, conjuncts }: FromList, on: readonly Conjunct[]): Recheck {
  const rejoin = rejoinOf(nodes);
  const holds = allOf([...conjuncts, ...on]);
  return (frame) => rejoin(frame) && (holds === null || holds(frame));
}

const [fromFirst, fromLast] = ['from its first row', 'from its last row'] as const;

function recheckOf(
  conjuncts: readonly Conjunct[],
  isJoined: (conjunct: Conjunct) => boolean,
  takesLast: (join: SubqueryJoin) => boolean,
): RecheckPlan {
  const joinOf = (conjunct: Conjunct): SubqueryJoin | undefined =>
    isJoined(conjunct) ? conjunct.expression.join : undefined;
  const others = allOf(conjuncts.filter((each) => joinOf(each) === undefined));
  const joins = conjuncts.flatMap((each) => joinOf(each) ?? []).map((join) => ({ join, last: takesLast(join) }));
  return (frame) => {
    const rechecks = joins.map(({ join, last }) => join.of(frame, last));
    return (changed) => (others === null || others(changed)) && rechecks.every((holds) => holds(changed));
  };
}

/** Whether another version of one of the rows of a join still satisfies the conditions. */
export function matchesBeside(
  rows: Frame['rows'],
  at: number,
  recheck: RecheckPlan,
  frame: Frame,
): (version: Row) => boolean {
  return (version) => {
    restore(frame, rows, []);
    const holds = recheck(frame);
    frame.rows[at] = version;
    return holds(frame);
  };
}

/** The condition of a scan that locks. */
export function rechecked(
  condition: RowCondition,
  { row }: RangeItem,
  recheck: RecheckPlan,
  frame: Frame,
): RowCondition {
  return {
    ...condition,
    stillMatches: (version, found) => {
      frame.rows[row] = found;
      const holds = recheck(frame);
      frame.rows[row] = version;
      return holds(frame);
    },
  };
}

/** EXISTS as PostgreSQL joins it: prepjointree.c, `convert_EXISTS_sublink_to_join`. `undefined`: it asks the subquery for each row. FROM does not look out. */
export function existsJoin(
  select: SelectStmt,
  list: FromList,
  { source, targets, rowCount }: SelectPlan,
  scope: QueryScope,
): SubqueryJoin | undefined {
  const { conjuncts } = list;
  const isJoined =
    engineRules[scope.dialect].joinsSubqueries &&
    isPlainForExists(select) &&
    targets.every(({ sets }) => sets.length === 0) &&
    conjuncts.some(({ reachesOut }) => reachesOut) &&
    conjuncts.every(({ expression }) => expression.isVolatile !== true);
  if (!isJoined) return undefined;
  // A subquery within is joined with the query around, too, where it looks at that alone.
  const looksOutAlone = ({ uses }: Conjunct): boolean => uses.size === 0;
  const recheck = recheckOf(conjuncts, looksOutAlone, () => false);
  return {
    openFor: tableOfSeveral(list, scope),
    of: (outer, takesLast) => {
      const frame = newFrame(rowCount(), runningOf(outer), outer);
      let partner: Frame['rows'] | null = null;
      for (const _ of rowsOf(source, frame)) {
        partner = [...frame.rows];
        if (!takesLast) break;
      }
      if (partner === null) return () => false;
      restore(frame, partner, []);
      const holds = recheck(frame);
      return (changed) => holds({ ...frame, outer: changed });
    },
  };
}

/** prepjointree.c, `simplify_EXISTS_query`: what it leaves out of a subquery gives the same answer, and nothing else may be there. */
function isPlainForExists(select: SelectStmt): boolean {
  const { limitCount, limitOffset, lockingClause, withClause, havingClause } = select;
  const isLimited = limitCount !== undefined && (integerConstant(limitCount) ?? 0) < 1;
  const others = [limitOffset, lockingClause, withClause, havingClause];
  const { groupClause: _, ...ungrouped } = select;
  return !isLimited && others.every((clause) => clause === undefined) && !isGrouped(ungrouped);
}

/** By an equality they are joined by a hash table, or one by one; rows that satisfy it can differ by other conditions on the row around. */
function tableOfSeveral(list: FromList, scope: QueryScope): string | null {
  const [leaf] = list.nodes;
  if (leaf?.kind !== 'leaf' || isOneRow(list, scope)) return null;
  const outward = list.conjuncts.filter(({ reachesOut, uses }) => reachesOut && uses.size > 0);
  return outward.some(isEquality) && !outward.every(isEquality) ? leaf.item.name : null;
}

function isEquality({ comparisons }: Conjunct): boolean {
  return comparisons.some(({ kind, uses }) => kind === '=' && uses.size === 0);
}
