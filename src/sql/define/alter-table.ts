/** ALTER TABLE: each command makes another table out of the one before. */
import type { AlterTableCmd, AlterTableStmt, Node, RangeVar } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import {
  engineRules,
  isSameName,
  notSupported,
  SqlError,
  type StatementView,
  type Waiting,
  type SqlValue,
} from '../model/index.ts';
import { type Column, columnNamed, primaryKey, type Table } from '../catalog/relation.ts';
import { compileExpression } from '../expressions/index.ts';
import type { Frame } from '../expression.ts';
import { noAggregates } from '../plan/grouping.ts';
import { namespaceOf, tableRangeItem } from '../plan/namespace.ts';
import type { Planning } from '../plan/planning.ts';
import { newFrame } from '../plan/query.ts';
import { rootScope } from '../plan/root.ts';
import { rowOf } from '../plan/source.ts';
import { someNode, stringsOf } from '../plan/tree.ts';
import { assignable, TableRules } from '../run/table-rules.ts';
import type { ColumnPlace, MysqlColumn } from '../tree/mysql.ts';
import type { Changes } from './changes.ts';
import { columnType, defineColumn } from './column.ts';
import { withConstraint } from './constraint.ts';
import { replaceTable } from './create-index.ts';
import { checkExistingRows, mustHaveNoNull } from './existing-rows.ts';
import { alterConstraint, dropConstraint, notTheConstraint } from './alter-constraint.ts';
import { dependents, missingToDrop } from './drop.ts';
import { checkIsNoForeignKeys } from './foreign-key-index.ts';
import { refusePendingChecks } from './pending-checks.ts';
import { type Execution, type Running, running } from '../execution.ts';

export function* alterTable(
  { relation, cmds = [], objtype, missing_ok: ifExists = false }: AlterTableStmt,
  planning: Planning,
  changes: Changes,
  execution: Execution,
  view: StatementView,
): Waiting<void> {
  assert(relation !== undefined, 'ALTER TABLE names a table');
  if (objtype === 'OBJECT_INDEX') return alterIndex(relation, cmds, planning);
  const found = planning.findRelation(relation);
  if (found === undefined && ifExists) {
    changes.notice('00000', `relation "${relation.relname}" does not exist, skipping`);
    return;
  }
  const before = planning.relation(relation);
  refusePendingChecks('ALTER TABLE', before, execution.surroundings);
  // pg_dump before version 17 names the owner of a sequence or a view so.
  if (before.kind !== 'table' && cmds.every(changesOwner)) return;
  if (before.kind !== 'table') throw new SqlError('42809', `"${before.name}" is not a table`);
  for (const node of cmds) {
    assert('AlterTableCmd' in node, 'ALTER TABLE has commands');
    const table = planning.catalog.tableById(before.id);
    assert(table !== undefined, `${before.name} is there`);
    yield* alter(node.AlterTableCmd, table, { planning, changes, running: running(execution, view) });
  }
}

function changesOwner(node: Node): boolean {
  return 'AlterTableCmd' in node && node.AlterTableCmd.subtype === 'AT_ChangeOwner';
}

/** ALTER INDEX: its parameters change nothing that a client sees. @throws SqlError 42P01 */
function alterIndex({ relname = '' }: RangeVar, commands: readonly Node[], planning: Planning): void {
  const isThere = planning.catalog.tables().some(({ indexes }) => indexes.some(({ name }) => name === relname));
  if (!isThere) throw new SqlError('42P01', `relation "${relname}" does not exist`);
  const other = commands.find(
    (node) => !('AlterTableCmd' in node) || node.AlterTableCmd.subtype !== 'AT_SetRelOptions',
  );
  if (other !== undefined) throw notSupported('ALTER INDEX');
}

interface Context {
  readonly planning: Planning;
  readonly changes: Changes;
  readonly running: Running;
}

function* alter(command: AlterTableCmd, table: Table, context: Context): Waiting<void> {
  const { planning, changes } = context;
  const replace = (after: Table): void => replaceTable(table, after, planning, changes);
  switch (command.subtype) {
    case 'AT_AddColumn':
      return yield* addColumn(command, table, context);
    case 'AT_DropColumn':
      return dropColumn(command, table, context);
    case 'AT_AddConstraint':
      return yield* addConstraint(command, table, context);
    case 'AT_DropConstraint':
      return dropConstraint(command, table, planning, changes);
    case 'AT_AlterConstraint':
      return alterConstraint(command, table, planning, changes);
    case 'AT_ValidateConstraint':
      return yield* validateConstraint(command, table, context);
    case 'AT_ColumnDefault':
      return replace(withColumn(table, columnOf(table, command, planning), { default: command.def ?? null }));
    case 'AT_SetNotNull':
      mustHaveNoNull(table, columnOf(table, command, planning), context);
      return replace(withColumn(table, columnOf(table, command, planning), { isNotNull: true }));
    case 'AT_DropNotNull': {
      const column = columnOf(table, command, planning);
      if (primaryKey(table)?.parts.some((part) => part.cell === column.cell) === true) {
        throw new SqlError('42P16', `column "${column.name}" is in a primary key`);
      }
      return replace(withColumn(table, column, { isNotNull: false }));
    }
    case 'AT_AlterColumnType':
      return changeType(command, table, context);
    case 'AT_DropIdentity':
      return replace(withColumn(table, columnOf(table, command, planning), { identity: null, sequence: null }));
    case 'AT_ChangeOwner':
    case 'AT_EnableRowSecurity':
    case 'AT_DisableRowSecurity':
    case 'AT_SetStatistics':
    case 'AT_SetRelOptions':
    case 'AT_ReplicaIdentity':
      return;
    default:
      throw notSupported(`ALTER TABLE ... ${(command.subtype ?? '').replace('AT_', '')}`);
  }
}

function columnOf(table: Table, { name = '' }: AlterTableCmd, planning: Planning): Column {
  const column = columnNamed(table, name, planning.dialect);
  if (column === undefined) throw new SqlError('42703', `column "${name}" of relation "${table.name}" does not exist`);
  return column;
}

function withColumn(table: Table, column: Column, change: Partial<Column>): Table {
  return {
    ...table,
    columns: table.columns.map((each) => (each.cell === column.cell ? { ...each, ...change } : each)),
  };
}

function definitionOf({ def }: AlterTableCmd): MysqlColumn {
  assert(def !== undefined && 'ColumnDef' in def, 'the command defines a column');
  return def.ColumnDef;
}

/** Existing rows get the default, computed once for each. */
function* addColumn(command: AlterTableCmd, table: Table, context: Context): Waiting<void> {
  const { planning, changes, running: run } = context;
  const definition = definitionOf(command);
  const name = definition.colname ?? '';
  if (columnNamed(table, name, planning.dialect) !== undefined) {
    if (command.missing_ok !== true)
      throw new SqlError('42701', `column "${name}" of relation "${table.name}" already exists`);
    changes.notice('42701', `column "${name}" of relation "${table.name}" already exists, skipping`);
    return;
  }
  const place = { schema: table.schema, table: table.name, cell: table.cells.length };
  const { column, constraints } = defineColumn(definition, place, planning, changes);
  const columns = placed(table.columns, column, definition.place, table, planning);
  const widened: Table = { ...table, columns, cells: [...table.cells, name] };
  let after = widened;
  for (const constraint of constraints) {
    after = withConstraint(after, constraint, column, planning);
  }
  const evaluate = new TableRules(widened, rootScope(planning)).default(column);
  const frame = newFrame(0, run, null);
  let mysqlDefault: SqlValue = null;
  if (
    engineRules[planning.dialect].hasImplicitDefaults &&
    column.isNotNull &&
    column.default === null &&
    column.identity === null
  )
    mysqlDefault = implicitDefault(column);
  replaceTable(table, after, planning, changes, (values) => [...values, evaluate(frame) ?? mysqlDefault]);
  if (column.isNotNull) mustHaveNoNull(after, column, context);
  yield* checkNewConstraints(table, after, context);
}

/** MySQL fills a new column that must not be NULL with the type's zero. */
function implicitDefault({ type }: Column): SqlValue {
  switch (type.name) {
    case 'int2':
    case 'int4':
    case 'float4':
    case 'float8':
      return 0;
    case 'int8':
    case 'uint8':
      return 0n;
    case 'enum':
      return type.labels?.[0] ?? '';
    case 'text':
    case 'varchar':
    case 'bpchar':
      return '';
    default:
      return null;
  }
}

function placed(
  columns: readonly Column[],
  column: Column,
  place: ColumnPlace | undefined,
  { name: table }: Table,
  planning: Planning,
): Column[] {
  switch (place?.kind) {
    case undefined:
      return [...columns, column];
    case 'first':
      return [column, ...columns];
    case 'after': {
      const at = columns.findIndex(({ name }) => isSameName(name, place.column, planning.dialect));
      if (at < 0) throw new SqlError('42703', `column "${place.column}" of relation "${table}" does not exist`);
      return columns.toSpliced(at + 1, 0, column);
    }
  }
}

/** Its cell stays behind, so that the change is the catalog's alone. */
function dropColumn(command: AlterTableCmd, table: Table, { planning, changes }: Context): void {
  const { name = '' } = command;
  const column = columnNamed(table, name, planning.dialect);
  if (column === undefined) {
    if (command.missing_ok !== true)
      throw missingToDrop('42703', `column "${name}" of relation "${table.name}" does not exist`, 'COLUMN', name);
    changes.notice('00000', `column "${name}" of relation "${table.name}" does not exist, skipping`);
    return;
  }
  const mentions = (tree: unknown): boolean =>
    someNode(tree, (node) => 'ColumnRef' in node && stringsOf(node.ColumnRef.fields).at(-1) === column.name);
  if (engineRules[planning.dialect].indexesForeignKeys) checkIsNoForeignKeys(table, column);
  const isCascade = command.behavior === 'DROP_CASCADE';
  for (const other of planning.catalog.tables()) {
    const referring = other.foreignKeys.filter(
      (key) => key.parent === table.id && key.parentCells.includes(column.cell),
    );
    const [first] = referring;
    if (first === undefined) continue;
    if (!isCascade && other.id !== table.id) {
      throw dependents(
        { kind: `column`, name: `${column.name} of table ${table.name}` },
        `constraint ${first.name} on table ${other.name} depends on column ${column.name} of table ${table.name}`,
        {
          mysqlNumber: 1829,
          mysqlMessage: `Cannot drop column '${column.name}': needed in a foreign key constraint '${first.name}' of table \`${other.name}\``,
        },
      );
    }
    if (other.id !== table.id) {
      const foreignKeys = other.foreignKeys.filter((key) => !referring.includes(key));
      replaceTable(other, { ...other, foreignKeys }, planning, changes);
    }
  }
  const indexes = table.indexes.filter(
    ({ parts, predicate }) =>
      !parts.some((part) => part.cell === column.cell || mentions(part.expression)) && !mentions(predicate),
  );
  const after: Table = {
    ...table,
    columns: table.columns.filter(({ cell: at }) => at !== column.cell),
    indexes: indexes.length === table.indexes.length ? table.indexes : indexes,
    checks: table.checks.filter(({ expression }) => !mentions(expression)),
    foreignKeys: table.foreignKeys.filter(
      ({ cells, parent, parentCells }) =>
        !cells.includes(column.cell) && !(parent === table.id && parentCells.includes(column.cell)),
    ),
  };
  if (column.sequence !== null) changes.did(planning.catalog.remove(column.sequence));
  replaceTable(table, after, planning, changes);
}

function* addConstraint({ def }: AlterTableCmd, table: Table, context: Context): Waiting<void> {
  assert(def !== undefined && 'Constraint' in def, 'the command adds a constraint');
  const { planning, changes } = context;
  const constraint = def.Constraint;
  const after = withConstraint(table, constraint, null, planning);
  if (constraint.contype === 'CONSTR_PRIMARY') {
    for (const column of after.columns.filter(({ isNotNull }) => isNotNull)) {
      mustHaveNoNull(table, column, context);
    }
  }
  replaceTable(table, after, planning, changes);
  if (constraint.skip_validation === true) return;
  yield* checkNewConstraints(table, after, context);
}

function checkNewConstraints(before: Table, after: Table, context: Context): Waiting<void> {
  const checks = after.checks.slice(before.checks.length);
  return checkExistingRows(after, checks, after.foreignKeys.slice(before.foreignKeys.length), context);
}

/** NOT VALID left rows unchecked. @throws SqlError 42704, 42809, 23503, 23514 */
function* validateConstraint({ name = '' }: AlterTableCmd, table: Table, context: Context): Waiting<void> {
  const { planning, changes } = context;
  const key = table.foreignKeys.find((each) => each.name === name);
  const check = table.checks.find((each) => each.name === name);
  if (key === undefined && check === undefined)
    throw notTheConstraint(table, name, 'is not a foreign key or check constraint');
  if ((key ?? check)?.isValidated === true) return;
  yield* checkExistingRows(table, check === undefined ? [] : [check], key === undefined ? [] : [key], context);
  const validated = <T extends { readonly name: string; readonly isValidated: boolean }>(each: T): T =>
    each.name === name ? { ...each, isValidated: true } : each;
  const after = { ...table, foreignKeys: table.foreignKeys.map(validated), checks: table.checks.map(validated) };
  replaceTable(table, after, planning, changes);
}

/** The converted values go to a cell of their own; the old one stays behind for the way back. */
function changeType(command: AlterTableCmd, table: Table, { planning, changes, running: run }: Context): void {
  const { typeName, raw_default: using } = definitionOf(command);
  const column = columnOf(table, command, planning);
  mustNotBeUsed(table, column, planning);
  assert(typeName !== undefined, 'a type is given');
  const { type, modifier, mysqlType } = columnType(typeName, planning);
  const at = table.cells.length;
  const scope = rootScope(planning);
  scope.collector = noAggregates(scope);
  scope.clause = 'transform expressions';
  scope.namespace = namespaceOf(tableRangeItem(table, scope.newRow()));
  const source = using === undefined ? scope.column([column.name], 0) : compileExpression(using, scope, type);
  const next: Column = { ...column, type, modifier, mysqlType, cell: at };
  const { evaluate } = assignable(source, next, scope);
  const moved = (cells: readonly number[]): number[] => cells.map((each) => (each === column.cell ? at : each));
  const after: Table = {
    ...table,
    cells: [...table.cells, column.name],
    columns: table.columns.map((each) => (each.cell === column.cell ? next : each)),
    indexes: table.indexes.map((index) => ({
      ...index,
      parts: index.parts.map((part) => (part.cell === column.cell ? { ...part, cell: at, type } : part)),
    })),
    foreignKeys: table.foreignKeys.map((key) => ({
      ...key,
      cells: moved(key.cells),
      parentCells: key.parent === table.id ? moved(key.parentCells) : key.parentCells,
    })),
  };
  const frame: Frame = newFrame(1, run, null);
  replaceTable(table, after, planning, changes, (values) => {
    frame.rows[0] = rowOf(values);
    return [...values, evaluate(frame)];
  });
  for (const other of planning.catalog.tables()) {
    if (other.id === table.id || !other.foreignKeys.some(({ parent }) => parent === table.id)) continue;
    const foreignKeys = other.foreignKeys.map((key) =>
      key.parent === table.id ? { ...key, parentCells: moved(key.parentCells) } : key,
    );
    replaceTable(other, { ...other, foreignKeys }, planning, changes);
  }
}

/** PostgreSQL makes indexes and constraints anew with the column's new type; views and generated columns it does not. @throws SqlError 0A000 */
function mustNotBeUsed(table: Table, { name }: Column, { catalog, dialect }: Planning): void {
  if (!engineRules[dialect].keepsTypesInUse) return;
  const generated = table.columns.find((each) => each.generated !== null && isNamedIn(each.generated, name, table));
  if (generated !== undefined) {
    throw new SqlError('0A000', 'cannot alter type of a column used by a generated column', {
      detail: `Column "${name}" is used by generated column "${generated.name}".`,
    });
  }
  for (const view of catalog.relations()) {
    if (view.kind !== 'view' || !view.reads.includes(table.id) || !isNamedIn(view.query, name, table)) continue;
    throw new SqlError('0A000', 'cannot alter type of a column used by a view or rule', {
      detail: `rule _RETURN on view ${view.name} depends on column "${name}"`,
    });
  }
}

/** By its name alone, by `*`, or behind the table's name or its alias in the query. */
function isNamedIn(tree: unknown, column: string, table: Table): boolean {
  const aliases = new Set<string>();
  someNode(tree, (node) => {
    if ('RangeVar' in node && node.RangeVar.relname === table.name)
      aliases.add(node.RangeVar.alias?.aliasname ?? table.name);
    return false;
  });
  return someNode(tree, (node) => {
    if (!('ColumnRef' in node)) return false;
    const { fields = [] } = node.ColumnRef;
    const last = fields.at(-1);
    const isColumn = last !== undefined && ('A_Star' in last || stringsOf([last])[0] === column);
    const qualifier = fields.length > 1 ? stringsOf(fields.slice(-2, -1))[0] : undefined;
    return isColumn && (qualifier === undefined || aliases.has(qualifier));
  });
}
