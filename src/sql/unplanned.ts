/**
 * A statement that cannot be planned: in PostgreSQL while DDL of other sessions is not committed, in MySQL at any time. Both lock the tables that they find
 * before they look at the rest of the statement: this one does that when it runs, and is planned again when it has waited.
 */
import type { Node, RangeVar } from '@pgsql/types';
import type { Planning } from './plan/planning.ts';
import { someNode } from './plan/tree.ts';
import { engineRules, type SqlError } from './model/index.ts';
import { lockChildren, type ParentEvent } from './plan/child-locks.ts';
import type { QueryStatement } from './statement.ts';

export function unplannedStatement(tree: Node, error: SqlError, planning: Planning): QueryStatement {
  someNode(tree, (node) => {
    const found = 'RangeVar' in node ? planning.findRelation(node.RangeVar) : undefined;
    if (found?.kind === 'table') planning.lock(found.id, 'access share');
    return false;
  });
  const [statement = {}] = Object.values(tree) as { readonly relation?: RangeVar }[];
  const isWritten = ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'].some((kind) => kind in tree);
  const { ddlCommits, hasMetadataLocks } = engineRules[planning.dialect];
  const relation = isWritten ? statement.relation : undefined;
  const found = relation === undefined ? undefined : planning.findRelation(relation);
  if (found?.kind === 'table') {
    planning.lock(found.id, 'row exclusive');
    if (hasMetadataLocks) lockChildren(found, eventsOf(tree), planning);
  }
  return {
    kind: 'query',
    command: '',
    parameterTypes: [],
    columns: null,
    isReadOnly: true,
    commitsAround: 'TruncateStmt' in tree && ddlCommits,
    refusal: error,
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

function eventsOf(tree: Node): ParentEvent[] {
  if ('DeleteStmt' in tree) return ['onDelete'];
  return 'UpdateStmt' in tree ? ['onUpdate'] : [];
}
