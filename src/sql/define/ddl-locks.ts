/**
 * The locks that a DDL statement takes, by its form: PostgreSQL 15, manual of each command, and `AlterTableGetLockLevel`. Names that cannot be found
 * lock nothing here: the statement itself refuses them.
 */
import { engineRules, type IndexId, SqlError, type TableId, type TableLockMode } from '../model/index.ts';
import type { AlterTableCmd, AlterTableStmt, Constraint, DropStmt, Node, RangeVar, SelectStmt } from '@pgsql/types';
import type { Table } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { planSelect } from '../plan/root.ts';
import { stringsOf } from '../plan/tree.ts';
import type { TableLock } from '../statement.ts';
import { rangeOf } from './drop.ts';
import { tableInSteps } from './metadata-steps.ts';

export function ddlLocks(node: Node, planning: Planning): TableLock[] {
  if (engineRules[planning.dialect].hasMetadataLocks) return metadataLocks(node, planning);
  if ('IndexStmt' in node) {
    const mode = node.IndexStmt.concurrent === true ? 'share update exclusive' : 'share';
    return lockOf(node.IndexStmt.relation, mode, planning);
  }
  if ('CreateStmt' in node)
    return (node.CreateStmt.tableElts ?? []).flatMap((element) => {
      if ('Constraint' in element) return parentLocks(element.Constraint, planning);
      return 'ColumnDef' in element ? columnParentLocks(element.ColumnDef.constraints, planning) : [];
    });
  if ('AlterTableStmt' in node) return alterLocks(node.AlterTableStmt, planning);
  if ('RenameStmt' in node) {
    const { renameType, relation } = node.RenameStmt;
    if (renameType !== 'OBJECT_INDEX') return lockOf(relation, 'access exclusive', planning);
    const index = indexNamed(relation?.relname, planning);
    // The table is not locked.
    return index === undefined ? [] : [{ table: index.id, mode: 'share update exclusive', ifLocked: 'wait' }];
  }
  if ('AlterSeqStmt' in node) return sequenceLock(node.AlterSeqStmt.sequence, 'share row exclusive', planning);
  if ('DropStmt' in node) return dropLocks(node.DropStmt, planning);
  if ('ViewStmt' in node && node.ViewStmt.query !== undefined && 'SelectStmt' in node.ViewStmt.query)
    return [...queryLocks(node.ViewStmt.query.SelectStmt, planning)];
  if ('CommentStmt' in node && node.CommentStmt.objtype === 'OBJECT_TABLE')
    return lockOf(commented(node.CommentStmt.object), 'share update exclusive', planning);
  return [];
}

/** MySQL's DDL locks the tables that it changes exclusively: some in steps, while it runs (`metadata-steps.ts`). */
function metadataLocks(node: Node, planning: Planning): TableLock[] {
  const exclusive = (range: RangeVar | undefined): TableLock[] => lockOf(range, 'access exclusive', planning);
  const withChildren = (range: RangeVar | undefined): TableLock[] => {
    const [own] = exclusive(range);
    if (own === undefined) return [];
    const refers = ({ id, foreignKeys }: Table): boolean =>
      id !== own.table && foreignKeys.some(({ parent }) => parent === own.table);
    const children = planning.catalog.tables().filter(refers);
    return [own, ...children.map(({ id }): TableLock => ({ table: id, mode: 'exclusive', ifLocked: 'wait' }))];
  };
  if (tableInSteps(node, planning) !== undefined) return [];
  if ('RenameStmt' in node) return withChildren(node.RenameStmt.relation);
  if (!('DropStmt' in node)) return [];
  const { objects = [], removeType } = node.DropStmt;
  if (removeType !== 'OBJECT_TABLE') return [];
  return objects.flatMap((object) => ('List' in object ? exclusive(rangeOf(stringsOf(object.List.items))) : []));
}

/** What a query of CREATE TABLE AS or CREATE VIEW reads. */
export function queryLocks(query: SelectStmt, planning: Planning): readonly TableLock[] {
  try {
    planSelect(query, planning);
  } catch (error) {
    if (error instanceof SqlError) return [];
    throw error;
  }
  return planning.locks;
}

function commented(object: Node | undefined): RangeVar | undefined {
  return object !== undefined && 'List' in object ? rangeOf(stringsOf(object.List.items)) : undefined;
}

function lockOf(range: RangeVar | undefined, mode: TableLockMode, planning: Planning): TableLock[] {
  const found = range === undefined ? undefined : planning.findRelation(range);
  return found?.kind === 'table' ? [{ table: found.id, mode, ifLocked: 'wait' }] : [];
}

function sequenceLock(range: RangeVar | undefined, mode: TableLockMode, planning: Planning): TableLock[] {
  const found = range === undefined ? undefined : planning.findRelation(range);
  return found?.kind === 'sequence' ? [{ table: found.id, mode, ifLocked: 'wait' }] : [];
}

/** The triggers of a foreign key are on both tables. */
function parentLocks({ contype, pktable }: Constraint, planning: Planning): TableLock[] {
  return contype === 'CONSTR_FOREIGN' ? lockOf(pktable, 'share row exclusive', planning) : [];
}

function columnParentLocks(constraints: readonly Node[] | undefined, planning: Planning): TableLock[] {
  return (constraints ?? []).flatMap((each) => ('Constraint' in each ? parentLocks(each.Constraint, planning) : []));
}

const weaker: Partial<Record<NonNullable<AlterTableCmd['subtype']>, TableLockMode>> = {
  AT_SetStatistics: 'share update exclusive',
  AT_SetRelOptions: 'share update exclusive',
  AT_ResetRelOptions: 'share update exclusive',
  AT_ClusterOn: 'share update exclusive',
  AT_DropCluster: 'share update exclusive',
  AT_ValidateConstraint: 'share update exclusive',
  AT_EnableTrig: 'share row exclusive',
  AT_DisableTrig: 'share row exclusive',
  AT_EnableTrigAll: 'share row exclusive',
  AT_DisableTrigAll: 'share row exclusive',
  AT_EnableTrigUser: 'share row exclusive',
  AT_DisableTrigUser: 'share row exclusive',
};

const strength: readonly TableLockMode[] = ['share update exclusive', 'share row exclusive', 'access exclusive'];

function alterLocks({ relation, cmds = [] }: AlterTableStmt, planning: Planning): TableLock[] {
  const commands = cmds.flatMap((node) => ('AlterTableCmd' in node ? [node.AlterTableCmd] : []));
  const mode = commands
    .map(modeOf)
    .reduce((a, b) => (strength.indexOf(a) > strength.indexOf(b) ? a : b), 'share update exclusive');
  const [own] = lockOf(relation, mode, planning);
  if (own === undefined) return [];
  return [own, ...commands.flatMap((command) => otherLocks(command, own.table, planning))];
}

function modeOf({ subtype, def }: AlterTableCmd): TableLockMode {
  const isForeign = def !== undefined && 'Constraint' in def && def.Constraint.contype === 'CONSTR_FOREIGN';
  if (subtype === 'AT_AddConstraint' && isForeign) return 'share row exclusive';
  return (subtype === undefined ? undefined : weaker[subtype]) ?? 'access exclusive';
}

function otherLocks({ subtype, def, name }: AlterTableCmd, id: number, planning: Planning): TableLock[] {
  if (def !== undefined && 'Constraint' in def) return parentLocks(def.Constraint, planning);
  if (def !== undefined && 'ColumnDef' in def) return columnParentLocks(def.ColumnDef.constraints, planning);
  const keys = planning.catalog.tableById(id)?.foreignKeys ?? [];
  if (subtype !== 'AT_DropConstraint') return [];
  return keys.filter((key) => key.name === name && key.parent !== id).map(({ parent }) => exclusively(parent));
}

function dropLocks({ objects = [], removeType, behavior }: DropStmt, planning: Planning): TableLock[] {
  return objects.flatMap((object) => {
    const names = 'List' in object ? stringsOf(object.List.items) : stringsOf([object]);
    if (removeType === 'OBJECT_INDEX') {
      const index = indexNamed(names.at(-1), planning);
      return index === undefined ? [] : [exclusively(index.owner), exclusively(index.id)];
    }
    if (removeType === 'OBJECT_SCHEMA')
      return planning.catalog.tables().flatMap(({ id, schema }) => (schema === names.at(-1) ? [exclusively(id)] : []));
    if (removeType === 'OBJECT_SEQUENCE') return sequenceLock(rangeOf(names), 'access exclusive', planning);
    const found = removeType === 'OBJECT_TABLE' ? planning.findRelation(rangeOf(names)) : undefined;
    return found?.kind === 'table' ? droppedLocks(found, behavior === 'DROP_CASCADE', planning) : [];
  });
}

function indexNamed(
  name: string | undefined,
  { catalog }: Planning,
): { readonly id: IndexId; readonly owner: TableId } | undefined {
  for (const { id: owner, indexes } of catalog.tables()) {
    const index = indexes.find((each) => each.name === name);
    if (index !== undefined) return { id: index.id, owner };
  }
  return undefined;
}

/** The triggers of its foreign keys go, and with CASCADE the foreign keys of others. */
function droppedLocks(table: Table, isCascade: boolean, planning: Planning): TableLock[] {
  const children = planning.catalog
    .tables()
    .filter(({ id, foreignKeys }) => id !== table.id && foreignKeys.some(({ parent }) => parent === table.id));
  const ids = [
    table.id,
    ...table.foreignKeys.map(({ parent }) => parent),
    ...(isCascade ? children.map(({ id }) => id) : []),
  ];
  return [...new Set(ids)].map(exclusively);
}

function exclusively(table: number): TableLock {
  return { table, mode: 'access exclusive', ifLocked: 'wait' };
}
