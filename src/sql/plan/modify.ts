/** INSERT, UPDATE and DELETE: what they have in common. */
import type { Node } from '@pgsql/types';
import type { Frame } from '../expression.ts';
import { notSupported } from '../sql-error.ts';
import type { Waiting } from '../storage.ts';
import { planDelete } from './delete.ts';
import { planInsert } from './insert.ts';
import type { Running } from './planning.ts';
import type { OutputColumn, Values } from './query.ts';
import type { QueryScope } from './scope.ts';
import { planUpdate } from './update.ts';

export interface DataModification {
  readonly command: 'INSERT' | 'UPDATE' | 'DELETE';
  /** `null`: without RETURNING. */
  readonly columns: readonly OutputColumn[] | null;
  readonly run: (outer: Frame | null, running: Running) => Waiting<ModificationOutcome>;
}

export interface ModificationOutcome {
  /** Of RETURNING. */
  readonly rows: Values[];
  /** Rows written; MySQL's count differs. */
  readonly rowCount: number;
  /** Rows that matched, changed or not. */
  readonly foundRows: number;
  /** The first number that an identity column was given; 0 for none. */
  readonly insertId: bigint;
}

/** `scope`: its own, empty still. */
export function planDataModification(node: Node, scope: QueryScope): DataModification {
  scope.planning.writes = true;
  if ('InsertStmt' in node) return planInsert(node.InsertStmt, scope);
  if ('UpdateStmt' in node) return planUpdate(node.UpdateStmt, scope);
  if ('DeleteStmt' in node) return planDelete(node.DeleteStmt, scope);
  throw notSupported(Object.keys(node)[0] ?? 'this statement');
}
