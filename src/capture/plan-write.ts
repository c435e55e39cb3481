/** INSERT, UPDATE and DELETE: which rows of one table, and what is written into them. */
import type { Node, OnConflictClause } from '@pgsql/types';
import type { MysqlDelete, MysqlInsert, MysqlUpdate } from '../sql/index.ts';
import { isSameName } from '../sql/model/index.ts';
import { type Conditions, conditionsOf, isKeyOnly, type Names, type Source } from './conditions.ts';
import { type Operand, operandOf } from './operand.ts';
import { type Output, outputsOf, rangeVariables, sourcesOf, tableOf, writesInside } from './plan-select.ts';
import type { RecordedColumn, RecordedSchema, RecordedTable } from './schema.ts';

export type WritePlan = InsertPlan | UpdatePlan | DeletePlan;

interface Returning {
  readonly target: Source;
  /** Of RETURNING; empty without. `undefined`: not known which columns these are. */
  readonly returning: readonly (Output | null)[] | undefined;
  /** Reads other tables, too. */
  readonly readsMore: boolean;
}

/** A column and what is written into it; `undefined`: an expression. */
export interface Assignment {
  readonly column: RecordedColumn;
  readonly operand: Operand | undefined;
}

export interface InsertPlan extends Returning {
  readonly kind: 'insert';
  /** `null`: of a query. */
  readonly rows: readonly (readonly Assignment[])[] | null;
  /**
   * What happens to a row whose key is taken. `overwrite`: it becomes the row of the statement, as REPLACE does; `update`: these columns
   * change. `unsure`: another unique key may be the one that is taken.
   */
  readonly onConflict:
    | { readonly kind: 'fail' | 'skip' | 'overwrite' | 'unsure' }
    /** `fromRow`: they get the value of the row that was to be inserted; `mayRefuse`: DO UPDATE ... WHERE. */
    | { readonly kind: 'update'; readonly fromRow: ReadonlySet<RecordedColumn>; readonly mayRefuse: boolean };
}

export interface UpdatePlan extends Returning {
  readonly kind: 'update';
  readonly assignments: readonly Assignment[];
  readonly conditions: Conditions;
  readonly isLookup: boolean;
  readonly movesRows: boolean;
}

export interface DeletePlan extends Returning {
  readonly kind: 'delete';
  readonly conditions: Conditions;
  readonly isLookup: boolean;
}

type Opaque = { readonly kind: 'opaque'; readonly writes: boolean; readonly why: string };

export function planUpdate(statement: MysqlUpdate, schema: RecordedSchema): UpdatePlan | Opaque {
  const { relation, targetList = [], whereClause, fromClause = [], returningClause } = statement;
  const target = tableOf(relation, schema);
  if (target === undefined || writesInside(statement)) return opaque(relation);
  const names = withTarget(target, fromClause, schema);
  const assignments = assignmentsOf(targetList, target.table, schema);
  if (assignments === undefined) return opaque(relation);
  const conditions = conditionsOf(whereClause, names);
  const { key } = target.table;
  return {
    kind: 'update',
    target,
    assignments,
    conditions,
    isLookup: isLookup(target, conditions, statement),
    movesRows: assignments.some(({ column }) => key.includes(column)),
    returning: outputsOf(returningClause?.exprs ?? [], names, schema),
    readsMore: rangeVariables(statement) > 0,
  };
}

export function planDelete(statement: MysqlDelete, schema: RecordedSchema): DeletePlan | Opaque {
  const { relation, whereClause, usingClause = [], returningClause } = statement;
  const target = tableOf(relation, schema);
  if (target === undefined || writesInside(statement)) return opaque(relation);
  const names = withTarget(target, usingClause, schema);
  const conditions = conditionsOf(whereClause, names);
  return {
    kind: 'delete',
    target,
    conditions,
    isLookup: isLookup(target, conditions, statement),
    returning: outputsOf(returningClause?.exprs ?? [], names, schema),
    readsMore: rangeVariables(statement) > 0,
  };
}

export function planInsert(statement: MysqlInsert, schema: RecordedSchema): InsertPlan | Opaque {
  const { relation, cols, selectStmt, returningClause } = statement;
  const target = tableOf(relation, schema);
  if (target === undefined || writesInside(statement)) return opaque(relation);
  const columns = insertedColumns(cols, target.table, schema);
  if (columns === undefined) return opaque(relation);
  return {
    kind: 'insert',
    target,
    rows: insertedRows(selectStmt, columns, target.table),
    onConflict: conflictOf(statement, target.table, schema),
    returning: outputsOf(returningClause?.exprs ?? [], { schema, sources: [target], isClosed: true }, schema),
    readsMore: rangeVariables(statement) > 0,
  };
}

function opaque(relation: { readonly relname?: string } | undefined): Opaque {
  return {
    kind: 'opaque',
    writes: true,
    why: `writes to ${relation?.relname ?? 'something'}, of which no columns are known`,
  };
}

function withTarget(target: Source, from: readonly Node[], schema: RecordedSchema): Names {
  const others = sourcesOf(from, schema);
  return { ...others, sources: [target, ...others.sources] };
}

function isLookup(target: Source, conditions: Conditions, statement: MysqlUpdate | MysqlDelete): boolean {
  const isWhole = statement.withClause === undefined && statement.visited === undefined;
  return isWhole && rangeVariables(statement) === 0 && isKeyOnly(target, conditions);
}

/** `undefined`: a column that is not known, or several at once: `(a, b) = (...)`. */
function assignmentsOf(
  targets: readonly Node[],
  table: RecordedTable,
  schema: RecordedSchema,
): Assignment[] | undefined {
  const assignments: Assignment[] = [];
  for (const node of targets) {
    if (!('ResTarget' in node)) return undefined;
    const { name, val, indirection } = node.ResTarget;
    const column = name === undefined ? undefined : schema.column(table, name);
    if (column === undefined) return undefined;
    assignments.push({ column, operand: indirection === undefined ? operandOf(val) : undefined });
  }
  return assignments;
}

function insertedColumns(
  cols: readonly Node[] | undefined,
  table: RecordedTable,
  schema: RecordedSchema,
): readonly RecordedColumn[] | undefined {
  if (cols === undefined) return table.columns;
  const columns = cols.map((node) =>
    'ResTarget' in node && node.ResTarget.indirection === undefined
      ? schema.column(table, node.ResTarget.name ?? '')
      : undefined,
  );
  return columns.every((column) => column !== undefined) ? columns : undefined;
}

/** Every column of the table for every row; those that are left out have their default. */
function insertedRows(
  source: Node | undefined,
  columns: readonly RecordedColumn[],
  table: RecordedTable,
): readonly (readonly Assignment[])[] | null {
  if (source === undefined) return [fullRow([], columns, table)]; // DEFAULT VALUES
  const lists = 'SelectStmt' in source ? source.SelectStmt.valuesLists : undefined;
  if (lists === undefined) return null;
  return lists.map((list) => fullRow('List' in list ? (list.List.items ?? []) : [], columns, table));
}

function fullRow(items: readonly Node[], columns: readonly RecordedColumn[], table: RecordedTable): Assignment[] {
  return table.columns.map((column): Assignment => {
    const at = columns.indexOf(column);
    const item = at < 0 ? undefined : items[at];
    return { column, operand: item === undefined ? { kind: 'default' } : operandOf(item) };
  });
}

function conflictOf(
  { onConflictClause, onDuplicate }: MysqlInsert,
  table: RecordedTable,
  schema: RecordedSchema,
): InsertPlan['onConflict'] {
  switch (onDuplicate?.kind) {
    case 'update':
      return updateOf(onDuplicate.targetList, !table.hasOtherUnique, false, table, schema);
    case 'ignore':
      return { kind: 'skip' };
    case 'replace':
      return { kind: table.hasOtherUnique ? 'unsure' : 'overwrite' };
    case undefined:
      return onConflictClause === undefined ? { kind: 'fail' } : postgresConflict(onConflictClause, table, schema);
  }
}

function postgresConflict(
  { action, infer, targetList = [], whereClause }: OnConflictClause,
  table: RecordedTable,
  schema: RecordedSchema,
): InsertPlan['onConflict'] {
  if (action === 'ONCONFLICT_NOTHING') return { kind: 'skip' };
  const isByKey = infersKey(infer?.indexElems, table, schema);
  return updateOf(targetList, isByKey, whereClause !== undefined, table, schema);
}

/** @param isByKey can only the primary key be the one that is taken? */
function updateOf(
  targetList: readonly Node[],
  isByKey: boolean,
  mayRefuse: boolean,
  table: RecordedTable,
  schema: RecordedSchema,
): InsertPlan['onConflict'] {
  const assignments = assignmentsOf(targetList, table, schema);
  if (!isByKey || assignments === undefined) return { kind: 'unsure' };
  if (assignments.some(({ column }) => table.key.includes(column))) return { kind: 'unsure' };
  const fromRow = new Set(
    targetList.flatMap((node, i) => {
      const column = assignments[i]?.column;
      return column !== undefined && 'ResTarget' in node && isExcluded(node.ResTarget.val, column, schema)
        ? [column]
        : [];
    }),
  );
  return { kind: 'update', fromRow, mayRefuse };
}

function infersKey(elements: readonly Node[] | undefined, table: RecordedTable, schema: RecordedSchema): boolean {
  const columns = (elements ?? []).map((node) =>
    'IndexElem' in node ? schema.column(table, node.IndexElem.name ?? '') : undefined,
  );
  return columns.length === table.key.length && table.key.every((column) => columns.includes(column));
}

/** `excluded.c` for the column c. */
function isExcluded(node: Node | undefined, column: RecordedColumn, schema: RecordedSchema): boolean {
  if (node === undefined || !('ColumnRef' in node)) return false;
  const [qualifier, name] = (node.ColumnRef.fields ?? []).map((field) =>
    'String' in field ? field.String.sval : undefined,
  );
  return qualifier === 'excluded' && name !== undefined && isSameName(column.name, name, schema.dialect);
}
