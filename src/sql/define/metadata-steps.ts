/**
 * How a definition of MySQL comes to lock its table exclusively. Under a lock that keeps only other definitions away it looks up what it names; then
 *
 * - `instant`: it waits for all who use the table;
 * - `in place` (indexes): it waits for them, lets others in while it reads the rows, and waits again;
 * - `copy`: it waits for those who write, checks the rows while others read, then waits for those.
 *
 * MariaDB's `mysql_alter_table` and `mysql_inplace_alter_table` (sql_table.cc); each was seen in METADATA_LOCK_INFO. In InnoDB it waits at its end for
 * those who have written to a table that refers to its own.
 */
import type { AlterTableCmd, AlterTableStmt, Node, RangeVar } from '@pgsql/types';
import { type MetadataLocking, type TableId, type Waiting } from '../model/index.ts';
import { columnNamed, type Table } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import type { Purpose } from './changes.ts';
import { columnType } from './column.ts';
import { rangeOf } from './drop.ts';

const kinds = ['instant', 'in place', 'copy'] as const;

interface Steps {
  readonly kind: (typeof kinds)[number];
  /** Are checks of rows all that it does to them? */
  readonly checksRows: boolean;
  /** Does it change nothing that InnoDB knows of? */
  readonly isOfServer: boolean;
}

/** What is changed in steps. `undefined`: the statement locks exclusively at once, or its table is not there. */
export function tableInSteps(node: Node, planning: Planning): Table | undefined {
  const range = rangeInSteps(node);
  const found = range === undefined ? undefined : planning.findRelation(range);
  return found?.kind === 'table' ? found : undefined;
}

function rangeInSteps(node: Node): RangeVar | undefined {
  if ('IndexStmt' in node) return node.IndexStmt.relation;
  if ('AlterTableStmt' in node) return node.AlterTableStmt.relation;
  if ('RenameStmt' in node && node.RenameStmt.renameType === 'OBJECT_COLUMN') return node.RenameStmt.relation;
  if (!('DropStmt' in node) || node.DropStmt.removeType !== 'OBJECT_INDEX') return undefined;
  const [object] = node.DropStmt.objects ?? [];
  const names = object !== undefined && 'List' in object ? stringsOf(object.List.items) : [];
  return names.length < 2 ? undefined : rangeOf(names.slice(0, -1));
}

/** @param attempt does the statement without a trace @throws SqlError as the statement does, and 40001 (1213) */
export function* lockInSteps(
  node: Node,
  metadata: MetadataLocking,
  newPlanning: () => Planning,
  attempt: (purpose: Purpose) => void,
): Waiting<void> {
  let table = tableInSteps(node, newPlanning());
  // An earlier part of the statement has locked it.
  if (table === undefined || metadata.holds(table.id, 'access exclusive')) return;
  // Who was waited for may have dropped or renamed it.
  while (table !== undefined && (yield* metadata.lock(table.id, 'share update exclusive')))
    table = tableInSteps(node, newPlanning());
  attempt('to check names');
  if (table === undefined) return;
  const { kind, checksRows, isOfServer } = stepsOf(node, table, newPlanning());
  if (kind === 'copy') {
    for (const parent of newParents(node, newPlanning())) yield* metadata.lock(parent, 'share row exclusive');
    yield* metadata.lock(table.id, 'share row exclusive');
    if (checksRows) attempt('to check rows');
  }
  if (kind === 'in place') {
    yield* metadata.lock(table.id, 'access exclusive');
    metadata.downgrade(table.id);
  }
  yield* metadata.lock(table.id, 'access exclusive');
  if (isOfServer) return;
  for (const { id, foreignKeys } of newPlanning().catalog.tables())
    if (id !== table.id && foreignKeys.some(({ parent }) => parent === table.id)) yield* metadata.lock(id, 'exclusive');
}

function stepsOf(node: Node, table: Table, planning: Planning): Steps {
  if ('IndexStmt' in node || 'DropStmt' in node) return { kind: 'in place', checksRows: false, isOfServer: false };
  if (!('AlterTableStmt' in node)) return { kind: 'instant', checksRows: false, isOfServer: false };
  const commands = commandsOf(node.AlterTableStmt);
  const ranks = commands.map((command) => kinds.indexOf(kindOf(command, table, planning)));
  return {
    kind: kinds[Math.max(0, ...ranks)] ?? 'copy',
    checksRows: commands.every(({ subtype }) => subtype === 'AT_AddConstraint'),
    isOfServer: commands.every((command) => isServersAlone(command, table)),
  };
}

function commandsOf({ cmds = [] }: AlterTableStmt): AlterTableCmd[] {
  return cmds.flatMap((each) => ('AlterTableCmd' in each ? [each.AlterTableCmd] : []));
}

function kindOf({ subtype, name = '', def }: AlterTableCmd, table: Table, planning: Planning): Steps['kind'] {
  const column = columnNamed(table, name, planning.dialect);
  const isIndexed = table.indexes.some(({ parts }) => parts.some((part) => part.cell === column?.cell));
  switch (subtype) {
    case 'AT_AddConstraint':
      return def !== undefined && 'Constraint' in def && def.Constraint.contype === 'CONSTR_PRIMARY'
        ? 'in place'
        : 'copy';
    case 'AT_DropConstraint':
      return table.indexes.some((index) => index.name === name) ? 'in place' : 'instant';
    case 'AT_DropColumn':
      return isIndexed ? 'in place' : 'instant';
    case 'AT_SetNotNull':
      return column?.isNotNull === true ? 'instant' : 'in place';
    case 'AT_AlterColumnType': {
      const type = def !== undefined && 'ColumnDef' in def ? def.ColumnDef.typeName : undefined;
      const next = type === undefined ? undefined : columnType(type, planning);
      const isSame = next?.mysqlType === column?.mysqlType && next?.type.name === column?.type.name;
      const isLonger = next?.modifier === column?.modifier || next?.type.name === 'varchar';
      return isSame && isLonger ? 'instant' : 'copy';
    }
    default:
      return 'instant';
  }
}

function isServersAlone({ subtype, name }: AlterTableCmd, { checks }: Table): boolean {
  return (
    subtype === 'AT_ColumnDefault' || (subtype === 'AT_DropConstraint' && checks.some((each) => each.name === name))
  );
}

/** The tables to which it adds foreign keys. */
function newParents(node: Node, planning: Planning): TableId[] {
  if (!('AlterTableStmt' in node)) return [];
  return commandsOf(node.AlterTableStmt).flatMap(({ def }) => {
    const range = def !== undefined && 'Constraint' in def ? def.Constraint.pktable : undefined;
    const parent = range === undefined ? undefined : planning.findRelation(range);
    return parent === undefined ? [] : [parent.id];
  });
}
