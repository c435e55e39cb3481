/** Where the planning of a statement begins. */
import type { Node, SelectStmt } from '@pgsql/types';
import type { DataModification } from './data-modification.ts';
import { planDataModification } from './modify.ts';
import type { Planners } from './planners.ts';
import type { Planning } from './planning.ts';
import type { PlannedQuery } from './query.ts';
import { QueryScope } from './scope.ts';
import { planQuery, planSubquery } from './select.ts';

const planners: Planners = { query: planQuery, subquery: planSubquery, modification: planDataModification };

/** A scope for a statement of its own. */
export function rootScope(planning: Planning): QueryScope {
  return new QueryScope(planning, null, planners);
}

export function planSelect(select: SelectStmt, planning: Planning): PlannedQuery {
  return planQuery(select, rootScope(planning));
}

/** INSERT, UPDATE, DELETE and MERGE. */
export function planModification(statement: Node, planning: Planning): DataModification {
  return planDataModification(statement, rootScope(planning));
}
