/**
 * MySQL takes metadata locks on the tables whose foreign keys refer to one that a statement writes to; of theirs too where an action would write to
 * them (`prepare_fk_prelocking_list` in sql_base.cc).
 */
import type { Table } from '../catalog/relation.ts';
import type { Planning } from './planning.ts';

/** What the statement can do to rows that are there. */
export type ParentEvent = 'onDelete' | 'onUpdate';

export function lockChildren(table: Table, events: readonly ParentEvent[], planning: Planning): void {
  const seen = new Set([table.id]);
  const visit = (parent: Table): void => {
    for (const child of planning.catalog.tables()) {
      const keys = child.foreignKeys.filter((key) => key.parent === parent.id);
      if (keys.length === 0 || seen.has(child.id)) continue;
      seen.add(child.id);
      const isWritten = keys.some((key) => events.some((event) => writingActions.has(key[event])));
      planning.lock(child.id, isWritten ? 'row exclusive' : 'access share');
      if (isWritten) visit(child);
    }
  };
  visit(table);
}

const writingActions: ReadonlySet<string> = new Set(['cascade', 'set null', 'set default']);
