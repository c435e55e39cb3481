/** LOCK TABLE. PostgreSQL 15, `LockTableCommand`: tables, and views with all that they read. */
import type { LockStmt } from '@pgsql/types';
import { assert } from '../base/index.ts';
import { SqlError, tableLockModes } from './model/index.ts';
import type { Relation } from './catalog/relation.ts';
import type { Planning } from './plan/planning.ts';
import type { LockTableStatement, TableLock } from './statement.ts';

export function lockTableStatement(
  { relations = [], mode = tableLockModes.length, nowait = false }: LockStmt,
  planning: Planning,
): LockTableStatement {
  const lockMode = tableLockModes[mode - 1];
  assert(lockMode !== undefined, `lock mode ${mode} is one of PostgreSQL's`);
  const tables = new Set<number>();
  const add = (relation: Relation): void => {
    if (relation.kind === 'table') tables.add(relation.id);
    else if (relation.kind !== 'view')
      throw new SqlError('42809', `cannot lock relation "${relation.name}"`, {
        detail: `This operation is not supported for ${relation.kind === 'sequence' ? 'sequences' : 'this relation'}.`,
      });
    else for (const other of planning.catalog.relations()) if (relation.reads.includes(other.id)) add(other);
  };
  for (const node of relations) add(planning.relation('RangeVar' in node ? node.RangeVar : {}));
  const locks = [...tables].map((table): TableLock => ({ table, mode: lockMode, ifLocked: nowait ? 'error' : 'wait' }));
  return { kind: 'lock', command: 'LOCK TABLE', locks: () => locks, catalogVersion: planning.catalog.version };
}
