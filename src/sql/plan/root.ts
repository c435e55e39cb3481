/** Where the planning of a statement begins. */
import type { Node, SelectStmt } from '@pgsql/types';
import type { DataModification } from './data-modification.ts';
import { planDataModification } from './modify.ts';
import type { Planning } from './planning.ts';
import type { PlannedQuery } from './query.ts';
import { QueryScope, type Planners } from './scope.ts';
import { openQuery, planQuery, planSubquery } from './select.ts';

const planners: Planners = {
  query: planQuery,
  open: openQuery,
  subquery: planSubquery,
  modification: planDataModification,
};

/** A scope for a statement of its own. */
export function rootScope(planning: Planning): QueryScope {
  return new QueryScope(planning, null, planners);
}

export function planSelect(select: SelectStmt, planning: Planning): PlannedQuery {
  const scope = rootScope(planning);
  const planned = planQuery(select, scope);
  readConstantsFirst(scope);
  return planned;
}

/** INSERT, UPDATE, DELETE and MERGE. */
export function planModification(statement: Node, planning: Planning): DataModification {
  const scope = rootScope(planning);
  const planned = planDataModification(statement, scope);
  readConstantsFirst(scope);
  return planned;
}

function readConstantsFirst({ constants, planning }: QueryScope): void {
  const step = constants.prelude();
  if (step !== null) planning.prelude.unshift(step);
}
