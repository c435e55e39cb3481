/** PRIMARY KEY, UNIQUE, CHECK and FOREIGN KEY: added to a table, named as PostgreSQL names them. */
import { engineRules, notSupported, SqlError, typeTitle } from '../model/index.ts';
import type { Constraint, Node } from '@pgsql/types';
import {
  type Column,
  columnNamed,
  type ForeignKey,
  type Index,
  primaryKey,
  type ReferentialAction,
  type Table,
} from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { someNode, stringsOf } from '../plan/tree.ts';
import { boundConversion } from '../plan/bound.ts';
import { deferralOf } from './deferral.ts';
import { withForeignKeyIndex, withoutReplaced } from './foreign-key-index.ts';
import { chooseName, isTakenIn } from './names.ts';
import { isTemporary } from '../catalog/name.ts';

/** The table with the constraint. `column`: written beside this column. @throws SqlError 42703, 42P16, 42830, 42710 */
export function withConstraint(table: Table, constraint: Constraint, column: Column | null, planning: Planning): Table {
  switch (constraint.contype) {
    case 'CONSTR_PRIMARY':
    case 'CONSTR_UNIQUE':
      return withKey(table, constraint, column, planning);
    case 'CONSTR_CHECK':
      return withCheck(table, constraint, column, planning);
    case 'CONSTR_FOREIGN':
      return withForeignKey(table, constraint, column, planning);
    default:
      throw notSupported(`the constraint ${constraint.contype ?? ''}`);
  }
}

function columnsOf(table: Table, names: readonly string[], planning: Planning): Column[] {
  return names.map((name) => {
    const column = columnNamed(table, name, planning.dialect);
    if (column === undefined)
      throw new SqlError('42703', `column "${name}" named in key does not exist`, { mysqlNumber: 1072 });
    return column;
  });
}

function withKey(table: Table, constraint: Constraint, column: Column | null, planning: Planning): Table {
  const isPrimary = constraint.contype === 'CONSTR_PRIMARY';
  if (isPrimary && primaryKey(table) !== undefined) {
    throw new SqlError('42P16', `multiple primary keys for table "${table.name}" are not allowed`);
  }
  if (constraint.indexname !== undefined) throw notSupported('a constraint USING INDEX');
  const columns = column === null ? columnsOf(table, stringsOf(constraint.keys), planning) : [column];
  const label = isPrimary ? 'pkey' : 'key';
  const names = isPrimary ? [] : columns.map(({ name }) => name);
  const index: Index = {
    id: planning.catalog.newId(),
    name: constraintName(table, constraint.conname, names, label, planning),
    isPrimary,
    isUnique: true,
    isConstraint: true,
    isOfForeignKey: false,
    deferral: deferralOf(constraint),
    nullsAreEqual: constraint.nulls_not_distinct === true,
    parts: columns.map(({ cell, type }) => ({ cell, expression: null, type, isDescending: false })),
    predicate: null,
  };
  const keyed = isPrimary
    ? table.columns.map((each) =>
        columns.some(({ cell }) => cell === each.cell) ? { ...each, isNotNull: true } : each,
      )
    : table.columns;
  return { ...table, columns: keyed, indexes: [...withoutReplaced(table, index.parts).indexes, index] };
}

/** @throws SqlError 42P07, 42710 when the name that was given is in use */
export function constraintName(
  table: Table,
  given: string | undefined,
  columns: readonly string[],
  label: string,
  planning: Planning,
): string {
  const isIndex = label === 'pkey' || label === 'key' || label === 'idx';
  // InnoDB's indexes and constraints may have one name: that of a foreign key's index is the key's.
  const all = engineRules[planning.dialect].indexesAreRelations
    ? [...table.indexes, ...table.checks, ...table.foreignKeys]
    : isIndex
      ? table.indexes
      : [...table.checks, ...table.foreignKeys];
  const own = all.map(({ name }) => name);
  if (given !== undefined) {
    // PostgreSQL: an index is a relation, and a name that only a constraint has is free for one.
    const isRelation = isIndex && engineRules[planning.dialect].indexesAreRelations;
    const hasIndex = table.indexes.some(({ name }) => name === given);
    if (isRelation && (hasIndex || planning.catalog.isTaken(table.schema, given)))
      throw new SqlError('42P07', `relation "${given}" already exists`);
    const { indexesAreRelations } = engineRules[planning.dialect];
    if (label === 'check' && !indexesAreRelations && table.checks.some(({ name }) => name === given))
      throw new SqlError('42710', `Duplicate CHECK constraint name '${given}'`, { mysqlNumber: 1826 });
    if (own.includes(given) && !(isRelation && label === 'idx'))
      throw new SqlError('42710', `constraint "${given}" for relation "${table.name}" already exists`);
    return given;
  }
  return chooseName(table.name, columns, label, isTakenIn(planning.catalog, table.schema, own));
}

function withCheck(table: Table, constraint: Constraint, column: Column | null, planning: Planning): Table {
  const { raw_expr: expression } = constraint;
  if (expression === undefined) throw notSupported('a CHECK without a condition');
  const names = column === null ? columnsIn(expression, table) : [column.name];
  const name = constraintName(table, constraint.conname, names.length === 1 ? names : [], 'check', planning);
  return {
    ...table,
    checks: [...table.checks, { name, expression, isValidated: constraint.skip_validation !== true }],
  };
}

function columnsIn(expression: Node, table: Table): string[] {
  return table.columns
    .map(({ name }) => name)
    .filter((name) =>
      someNode(expression, (node) => 'ColumnRef' in node && stringsOf(node.ColumnRef.fields).at(-1) === name),
    );
}

const actions: Readonly<Record<string, ReferentialAction>> = {
  a: 'no action',
  r: 'restrict',
  c: 'cascade',
  n: 'set null',
  d: 'set default',
};

function withForeignKey(table: Table, constraint: Constraint, column: Column | null, planning: Planning): Table {
  const { pktable, pk_attrs, fk_attrs, fk_matchtype, fk_upd_action = 'a', fk_del_action = 'a', conname } = constraint;
  if (pktable === undefined) throw notSupported('a foreign key without a table');
  if (fk_matchtype === 'f' && (fk_attrs?.length ?? 1) > 1) throw notSupported('MATCH FULL');
  const isSelf = planning.findRelation(pktable) === undefined && pktable.relname === table.name;
  const parent = isSelf ? table : planning.relation(pktable);
  if (parent.kind !== 'table') throw new SqlError('42809', `referenced relation "${parent.name}" is not a table`);
  if (engineRules[planning.dialect].keepsTemporaryApart && isTemporary(parent.schema) !== isTemporary(table.schema)) {
    const kind = isTemporary(table.schema) ? 'temporary' : 'permanent';
    throw new SqlError('42P16', `constraints on ${kind} tables may reference only ${kind} tables`);
  }
  const own: Table = parent.id === table.id ? table : parent;
  const columns = column === null ? columnsOf(table, stringsOf(fk_attrs), planning) : [column];
  const parentCells = referencedCells(own, stringsOf(pk_attrs), columns.length, planning);
  const name = constraintName(
    table,
    conname ?? innodbName(table, planning),
    columns.map((each) => each.name),
    'fkey',
    planning,
  );
  checkTypes(name, columns, own, parentCells, planning);
  const key: ForeignKey = {
    name,
    cells: columns.map(({ cell }) => cell),
    parent: own.id,
    parentCells,
    onUpdate: actions[fk_upd_action] ?? 'no action',
    onDelete: actions[fk_del_action] ?? 'no action',
    deferral: deferralOf(constraint),
    isValidated: constraint.skip_validation !== true,
  };
  const after: Table = { ...table, foreignKeys: [...table.foreignKeys, key] };
  const { indexesForeignKeys } = engineRules[planning.dialect];
  return indexesForeignKeys ? withForeignKeyIndex(after, key.cells, conname, planning) : after;
}

/** `child_ibfk_1`, as InnoDB counts them. `undefined`: the name is that of any constraint. */
function innodbName({ name, foreignKeys }: Table, { dialect }: Planning): string | undefined {
  if (!engineRules[dialect].indexesForeignKeys) return undefined;
  const lead = `${name}_ibfk_`;
  const numbers = foreignKeys.map((key) => (key.name.startsWith(lead) ? Number(key.name.slice(lead.length)) || 0 : 0));
  return `${lead}${Math.max(0, ...numbers) + 1}`;
}

function referencedCells(parent: Table, names: readonly string[], width: number, planning: Planning): number[] {
  const primary = primaryKey(parent);
  if (names.length === 0 && primary === undefined) {
    throw new SqlError('42704', `there is no primary key for referenced table "${parent.name}"`);
  }
  const cells =
    names.length === 0
      ? (primary?.parts ?? []).map(({ cell }) => cell)
      : names.map((name) => {
          const column = columnNamed(parent, name, planning.dialect);
          if (column === undefined)
            throw new SqlError('42703', `column "${name}" referenced in foreign key constraint does not exist`);
          return column.cell;
        });
  if (cells.length !== width)
    throw new SqlError('42830', 'number of referencing and referenced columns for foreign key disagree');
  const keys = parent.indexes.filter(
    ({ isUnique, parts, predicate }) =>
      isUnique && predicate === null && parts.length === width && parts.every(({ cell }) => cells.includes(cell)),
  );
  const isKey = keys.some(({ deferral }) => deferral === 'never');
  if (!isKey && keys.length > 0) {
    const message = `cannot use a deferrable unique constraint for referenced table "${parent.name}"`;
    throw new SqlError('55000', message);
  }
  if (!isKey && !engineRules[planning.dialect].indexesForeignKeys) {
    throw new SqlError(
      '42830',
      `there is no unique constraint matching given keys for referenced table "${parent.name}"`,
    );
  }
  return cells;
}

function checkTypes(
  name: string,
  columns: readonly Column[],
  parent: Table,
  cells: readonly number[],
  { dialect }: Planning,
): void {
  for (const [i, column] of columns.entries()) {
    const other = parent.columns.find(({ cell }) => cell === cells[i]);
    if (other === undefined || boundConversion(other.type, column.type, dialect) !== null) continue;
    throw new SqlError('42804', `foreign key constraint "${name}" cannot be implemented`, {
      detail: `Key columns "${column.name}" and "${other.name}" are of incompatible types: ${typeTitle(column.type)} and ${typeTitle(other.type)}.`,
    });
  }
}
