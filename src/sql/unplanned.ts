/**
 * A statement that cannot be planned while DDL of other sessions is not committed. PostgreSQL locks the tables that it finds before it looks
 * at the rest of the statement: this one does that when it runs, and is planned again when it has waited.
 */
import type { Node, RangeVar } from '@pgsql/types';
import type { Planning } from './plan/planning.ts';
import { someNode } from './plan/tree.ts';
import type { SqlError } from './model/index.ts';
import type { QueryStatement } from './statement.ts';

export function unplannedStatement(tree: Node, error: SqlError, planning: Planning): QueryStatement {
  someNode(tree, (node) => {
    const found = 'RangeVar' in node ? planning.findRelation(node.RangeVar) : undefined;
    if (found?.kind === 'table') planning.lock(found.id, 'access share');
    return false;
  });
  const [statement = {}] = Object.values(tree) as { readonly relation?: RangeVar }[];
  const isWritten = ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'].some((kind) => kind in tree);
  const relation = isWritten ? statement.relation : undefined;
  const found = relation === undefined ? undefined : planning.findRelation(relation);
  if (found?.kind === 'table') planning.lock(found.id, 'row exclusive');
  return {
    kind: 'query',
    command: '',
    parameterTypes: [],
    columns: null,
    isReadOnly: true,
    catalogVersion: planning.catalog.version,
    isShareable: false,
    accesses: [],
    locks: () => planning.locks,
    // oxlint-disable-next-line require-yield
    *run() {
      throw error;
    },
  };
}
