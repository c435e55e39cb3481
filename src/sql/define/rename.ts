/** RENAME of tables, columns, constraints, indexes, views and sequences. */
import type { RenameStmt } from '@pgsql/types';
import { columnNamed, type Table } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { engineRules, notSupported, SqlError } from '../model/index.ts';
import type { Changes } from './changes.ts';
import { replaceTable } from './create-index.ts';
import { isRelationTaken } from './names.ts';
import { replaceOwned } from './sequence-owner.ts';

export function rename(statement: RenameStmt, planning: Planning, changes: Changes): void {
  const { renameType, relation, subname = '', newname = '', missing_ok: ifExists = false } = statement;
  if (relation === undefined) throw notSupported(`ALTER ... RENAME of this`);
  const { catalog } = planning;
  if (renameType === 'OBJECT_INDEX') return renameIndex(relation.relname ?? '', newname, planning, changes);
  const found = planning.findRelation(relation);
  if (found === undefined && ifExists) {
    changes.notice('00000', `relation "${relation.relname}" does not exist, skipping`);
    return;
  }
  const before = found ?? planning.relation(relation);
  if (renameType === 'OBJECT_COLUMN' || renameType === 'OBJECT_TABCONSTRAINT') {
    if (before.kind !== 'table') throw notSupported(`renaming a column of a ${before.kind}`);
    return renameType === 'OBJECT_COLUMN'
      ? renameColumn(before, subname, newname, planning, changes)
      : renameConstraint(before, subname, newname, planning, changes);
  }
  if (isRelationTaken(planning, before.schema, newname))
    throw new SqlError('42P07', `relation "${newname}" already exists`);
  if (before.kind === 'table') return replaceTable(before, { ...before, name: newname }, planning, changes);
  changes.did(catalog.remove(before));
  if (before.kind === 'sequence') {
    const after = before.renamed(before.schema, newname);
    changes.did(catalog.put(after));
    replaceOwned(before, after, planning, changes);
  } else changes.did(catalog.put({ ...before, name: newname }));
}

function renameIndex(name: string, newname: string, planning: Planning, changes: Changes): void {
  for (const table of planning.catalog.tables()) {
    if (!table.indexes.some((index) => index.name === name)) continue;
    const indexes = table.indexes.map((index) => (index.name === name ? { ...index, name: newname } : index));
    return replaceTable(table, { ...table, indexes }, planning, changes);
  }
  throw new SqlError('42P01', `relation "${name}" does not exist`);
}

/** Expressions know columns by name: they get the new one. */
function renameColumn(table: Table, from: string, to: string, planning: Planning, changes: Changes): void {
  const column = columnNamed(table, from, planning.dialect);
  if (column === undefined) throw new SqlError('42703', `column "${from}" does not exist`);
  const taken = columnNamed(table, to, planning.dialect);
  // Where case does not tell names apart, a column may keep its own and write it otherwise.
  const isOwn = taken?.cell === column.cell && engineRules[planning.dialect].ignoresCaseOfColumns;
  if (taken !== undefined && !isOwn)
    throw new SqlError('42701', `column "${taken.name}" of relation "${table.name}" already exists`);
  const renamed = <T>(tree: T): T => renameIn(tree, column.name, to) as T;
  const after: Table = {
    ...table,
    columns: table.columns.map((each) => ({
      ...each,
      name: each.cell === column.cell ? to : each.name,
      generated: renamed(each.generated),
    })),
    cells: table.cells.map((name, at) => (at === column.cell ? to : name)),
    checks: table.checks.map((check) => ({ ...check, expression: renamed(check.expression) })),
    indexes: table.indexes.map((index) => ({
      ...index,
      predicate: renamed(index.predicate),
      parts: index.parts.map((part) => ({ ...part, expression: renamed(part.expression) })),
    })),
  };
  replaceTable(table, after, planning, changes);
}

function renameIn(tree: unknown, from: string, to: string): unknown {
  if (Array.isArray(tree)) return tree.map((each) => renameIn(each, from, to));
  if (typeof tree !== 'object' || tree === null) return tree;
  if ('ColumnRef' in tree) {
    const { fields, ...rest } = tree.ColumnRef as { fields?: { String?: { sval?: string } }[] };
    const last = fields?.at(-1)?.String?.sval;
    if (last === from)
      return { ColumnRef: { ...rest, fields: [...(fields ?? []).slice(0, -1), { String: { sval: to } }] } };
  }
  return Object.fromEntries(Object.entries(tree).map(([key, each]) => [key, renameIn(each, from, to)]));
}

function renameConstraint(table: Table, from: string, to: string, planning: Planning, changes: Changes): void {
  const swap = <T extends { readonly name: string }>(list: readonly T[]): T[] =>
    list.map((each) => (each.name === from ? { ...each, name: to } : each));
  const after = {
    ...table,
    indexes: swap(table.indexes),
    checks: swap(table.checks),
    foreignKeys: swap(table.foreignKeys),
  };
  replaceTable(table, after, planning, changes);
}
