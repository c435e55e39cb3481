/** Queries contain queries: what plans them is handed down with the scopes, so that the parts of a query need not know the whole. */
import type { Node, SelectStmt } from '@pgsql/types';
import type { Subquery } from '../expression.ts';
import type { SqlType } from '../model/index.ts';
import type { DataModification } from './data-modification.ts';
import type { PlannedQuery } from './query.ts';
import type { QueryScope } from './scope.ts';

export interface Planners {
  /** `scope`: the query's own, empty still. `expected`: types for literals and parameters in the select list. */
  readonly query: (select: SelectStmt, scope: QueryScope, expected?: readonly (SqlType | undefined)[]) => PlannedQuery;
  /** A SELECT inside an expression of `scope`. */
  readonly subquery: (select: Node, scope: QueryScope) => Subquery;
  /** `scope`: the statement's own, empty still. */
  readonly modification: (statement: Node, scope: QueryScope) => DataModification;
}
