/** LIMIT without ORDER BY: SQL does not say which rows stay, so a server may keep others. The session is notified where rows were cut. */
import type { SelectStmt } from '@pgsql/types';
import { accessWays } from './access.ts';
import { isGrouped } from './grouping.ts';
import type { FromList } from './join.ts';
import { newFrame, type PlannedQuery } from './query.ts';
import type { QueryScope } from './scope.ts';
import type { SelectPlan } from './tuple.ts';

/** May other rows stay, and would they give another answer? Not of one row, nor of `SELECT 1 ... LIMIT 1`. */
export function isOpen(select: SelectStmt, plan: SelectPlan, list: FromList, scope: QueryScope): boolean {
  if (plan.limit === null || plan.sortKeys.length > 0 || list.nodes.length === 0) return false;
  const isOneGroup = isGrouped(select) && select.groupClause === undefined;
  const isConstant = plan.targets.every(({ expression, sets }) => expression.isRowFree && sets.length === 0);
  return !isOneGroup && !isOneRow(list, scope) && (!isConstant || select.lockingClause !== undefined);
}

/** Is a unique key of the one table given? */
export function isOneRow({ nodes, conjuncts }: FromList, { dialect }: QueryScope): boolean {
  const [leaf, another] = nodes;
  if (leaf === undefined || another !== undefined || leaf.kind !== 'leaf' || leaf.item.table === null) return false;
  const ways = accessWays(leaf.item.table, leaf.item.row, conjuncts, () => false, dialect);
  return ways.some((way) => way?.isPoint === true);
}

/** Whether more rows are there is not looked up: that would be a read of its own. */
export function notingLimit(planned: PlannedQuery, { limit }: SelectPlan): PlannedQuery {
  const { locking } = planned;
  return {
    ...planned,
    get isCorrelated() {
      return planned.isCorrelated;
    },
    *rows(outer, running) {
      let left = limit?.count(newFrame(0, running, outer)) ?? Infinity;
      for (const row of planned.rows(outer, running)) {
        left -= 1;
        if (left === 0) running.onOpenRows?.('limit');
        yield row;
      }
    },
    locking:
      locking === null
        ? null
        : function* lockRows(outer, running) {
            const rows = yield* locking(outer, running);
            if (rows.length === limit?.count(newFrame(0, running, outer))) running.onOpenRows?.('limit');
            return rows;
          },
  };
}
