/** INSERT, UPDATE, DELETE and MERGE: what they have in common. */
import type { Node } from '@pgsql/types';
import { notSupported } from '../model/index.ts';
import type { DataModification } from './data-modification.ts';
import { planDelete } from './delete.ts';
import { planInsert } from './insert.ts';
import { planMerge } from './merge.ts';
import type { QueryScope } from './scope.ts';
import { planUpdate } from './update.ts';

/** `scope`: its own, empty still. */
export function planDataModification(node: Node, scope: QueryScope): DataModification {
  if ('MergeStmt' in node) return planMerge(node.MergeStmt, scope);
  scope.planning.writes = true;
  if ('InsertStmt' in node) return planInsert(node.InsertStmt, scope);
  if ('UpdateStmt' in node) return planUpdate(node.UpdateStmt, scope);
  if ('DeleteStmt' in node) return planDelete(node.DeleteStmt, scope);
  throw notSupported(Object.keys(node)[0] ?? 'this statement');
}
