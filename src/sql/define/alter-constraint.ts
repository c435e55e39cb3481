/** DROP CONSTRAINT and ALTER CONSTRAINT. */
import type { AlterTableCmd } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { SqlError } from '../model/index.ts';
import type { Table } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import type { Changes } from './changes.ts';
import { replaceTable } from './create-index.ts';
import { deferralOf } from './deferral.ts';
import { dependents, missingToDrop, referencesBy } from './drop.ts';

/** @throws SqlError 42704, 2BP01 */
export function dropConstraint(
  { name = '', behavior, missing_ok: ifExists = false }: AlterTableCmd,
  table: Table,
  planning: Planning,
  changes: Changes,
): void {
  const index = table.indexes.find((each) => each.name === name && each.isConstraint);
  if (index !== undefined) {
    const going = referencesBy(table, index, planning);
    const [first] = going;
    if (first !== undefined && behavior !== 'DROP_CASCADE') {
      const detail = `${first.title} depends on index ${name}`;
      throw dependents({ kind: 'constraint', name: `${name} on table ${table.name}` }, detail);
    }
    for (const { child, key, title } of going) {
      changes.notice('00000', `drop cascades to ${title}`);
      const now = planning.catalog.tableById(child.id) ?? child;
      replaceTable(now, { ...now, foreignKeys: now.foreignKeys.filter((each) => each !== key) }, planning, changes);
    }
    const now = planning.catalog.tableById(table.id) ?? table;
    return replaceTable(now, { ...now, indexes: now.indexes.filter((each) => each !== index) }, planning, changes);
  }
  const checks = table.checks.filter((each) => each.name !== name);
  const foreignKeys = table.foreignKeys.filter((each) => each.name !== name);
  if (checks.length === table.checks.length && foreignKeys.length === table.foreignKeys.length) {
    const message = `constraint "${name}" of relation "${table.name}" does not exist`;
    if (!ifExists) throw missingToDrop('42704', message, 'CONSTRAINT', name);
    changes.notice('00000', `${message}, skipping`);
    return;
  }
  replaceTable(table, { ...table, checks, foreignKeys }, planning, changes);
}

/** When a foreign key is checked. @throws SqlError 42704, 42809 */
export function alterConstraint({ def }: AlterTableCmd, table: Table, planning: Planning, changes: Changes): void {
  assert(def !== undefined && 'ATAlterConstraint' in def, 'the command names a constraint');
  const { conname: name = '' } = def.ATAlterConstraint;
  const key = table.foreignKeys.find((each) => each.name === name);
  if (key === undefined) throw notTheConstraint(table, name, 'is not a foreign key constraint');
  const altered = { ...key, deferral: deferralOf(def.ATAlterConstraint) };
  const foreignKeys = table.foreignKeys.map((each) => (each === key ? altered : each));
  replaceTable(table, { ...table, foreignKeys }, planning, changes);
}

/** 42704 where there is no constraint of this name, else 42809. */
export function notTheConstraint(table: Table, name: string, what: string): SqlError {
  const isThere = [...table.indexes, ...table.foreignKeys, ...table.checks].some((each) => each.name === name);
  const title = `constraint "${name}" of relation "${table.name}"`;
  return isThere ? new SqlError('42809', `${title} ${what}`) : new SqlError('42704', `${title} does not exist`);
}
