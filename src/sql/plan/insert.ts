/** INSERT: where the values of each column come from, and what happens to a row that is in the way. */
import {
  engineRules,
  SqlError,
  cell as valueAt,
  type InsertResult,
  type Row,
  type Waiting,
  types,
  type SqlValue,
} from '../model/index.ts';
import { assert } from '../../base/index.ts';
import type { MergeWhenClause, Node, SelectStmt } from '@pgsql/types';
import { type Column, columnNamed, type Table } from '../catalog/relation.ts';
import { assignable } from '../run/table-rules.ts';
import type { TableRules } from '../run/table-rules.ts';
import type { MysqlInsert } from '../tree/mysql.ts';
import type { Expression, Frame } from '../expression.ts';
import { planCommonTables } from './common-table.ts';
import { type Answered, type ConflictAnswer, planMysqlConflict } from './conflict.ts';
import { tableItem } from './from.ts';
import { noAggregates } from './grouping.ts';
import type { DataModification, ModificationOutcome } from './data-modification.ts';
import { emptyNamespace, type ItemColumn, namespaceOf } from './namespace.ts';
import { type InsertOrResolve, planOnConflict } from './on-conflict.ts';
import { newFrame, type Values } from './query.ts';
import type { ParentEvent } from './child-locks.ts';
import { assignedValue, missingColumn, planReturning, type Returning, rulesFor, writableTable } from './returning.ts';
import { computedExpression, type QueryScope } from './scope.ts';
import type { Running } from '../execution.ts';

/** Fills rows one after the other into the cells of the table. */
type RowsToInsert = (frame: Frame, running: Running) => Iterable<SqlValue[]>;

/** What becomes of rows that are in the way. */
function eventsOf({ onConflictClause, onDuplicate }: MysqlInsert): readonly ParentEvent[] {
  if (onConflictClause?.action === 'ONCONFLICT_UPDATE') return ['onUpdate'];
  switch (onDuplicate?.kind) {
    case 'update':
      return ['onUpdate'];
    case 'replace':
      return ['onDelete'];
    case 'ignore':
    case undefined:
      return [];
  }
}

export function planInsert(statement: MysqlInsert, scope: QueryScope): DataModification {
  const { relation, cols, selectStmt, onConflictClause, onDuplicate, returningClause, withClause, override } =
    statement;
  planCommonTables(withClause, scope);
  const table = writableTable(relation, eventsOf(statement), scope);
  assert(relation !== undefined, 'INSERT names a table');
  scope.planning.fitsValues = onDuplicate?.kind === 'ignore';
  scope.planning.refusesTruncation = !scope.planning.fitsValues;
  const rules = rulesFor(table, scope);
  const item = tableItem(relation, table, scope);
  scope.collector = noAggregates(scope);
  const columns = targetColumns(cols, table, scope);
  const rowsToInsert = planRows(
    selectStmt,
    columns,
    rules,
    scope,
    override ?? 'OVERRIDING_NOT_SET',
    cols !== undefined,
  );
  scope.namespace = namespaceOf(item);
  const conflict = onDuplicate === undefined ? null : planMysqlConflict(onDuplicate, item, rules, scope);
  const onConflict = onConflictClause === undefined ? null : planOnConflict(onConflictClause, item, rules, scope);
  const xmax = xmaxOf(table);
  const returned = { ...item, systemColumns: engineRules[scope.dialect].hasSystemColumns ? [xmax] : [] };
  const returning = scope.within(namespaceOf(returned), () => planReturning(returningClause?.exprs, scope));
  const xmaxCell = item.cellsRead.delete(xmax.cell) ? xmax.cell : null;
  return {
    command: 'INSERT',
    columns: returning?.columns ?? null,
    *run(outer, running) {
      const frame = newFrame(scope.rowCount, running, outer);
      const outcome: InsertOutcome = { rows: [], rowCount: 0, foundRows: 0, insertId: 0n, hasDrawn: false };
      const plan = { rules, conflict, onConflict, returning, xmaxCell, row: item.row };
      try {
        for (const values of rowsToInsert(frame, running)) yield* insertOne(values, frame, plan, outcome, running);
      } catch (error) {
        throw error instanceof SqlError && error.detail.mysqlNumber === 1412 ? insufficientHistory() : error;
      }
      return outcome;
    },
  };
}

/** MariaDB has its storage engine's number for it, where the statement is an INSERT or REPLACE. */
function insufficientHistory(): SqlError {
  return new SqlError('HY000', 'InnoDB: insufficient history for index 0', { mysqlNumber: 159 });
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface InsertOutcome extends Mutable<ModificationOutcome> {
  hasDrawn: boolean;
}

interface InsertPlan {
  readonly rules: TableRules;
  readonly conflict: ConflictAnswer | null;
  readonly onConflict: InsertOrResolve | null;
  readonly returning: Returning | null;
  /** Behind those of the table; `null`: it is not returned. */
  readonly xmaxCell: number | null;
  readonly row: number;
}

function* insertOne(
  values: SqlValue[],
  frame: Frame,
  plan: InsertPlan,
  outcome: InsertOutcome,
  running: Running,
): Waiting<void> {
  const { rules, onConflict, returning, xmaxCell, row: at } = plan;
  const isDrawn = rules.autoIncrement?.isAskedFor(values) === true;
  const { row, rowCount, isInserted } =
    onConflict === null
      ? yield* insertOrAnswer(values, frame, plan, isDrawn, running)
      : yield* onConflict(values, frame, running);
  outcome.rowCount += rowCount;
  // A row that ON DUPLICATE KEY UPDATE leaves as it was is one that was found.
  outcome.foundRows += row === null ? 0 : Math.max(rowCount, 1);
  if (row !== null && rowCount > 0) noteNumber(rules.table, row, isDrawn, outcome);
  if (row === null || returning === null) return;
  const isNew = onConflict === null || isInserted === true;
  frame.rows[at] = xmaxCell === null ? row : withXmax(row, xmaxCell, isNew ? 0 : lockerOf(running));
  outcome.rows.push(...returning.values(frame));
}

/**
 * The system column xmax of a row that INSERT returns, behind the cells of the table: 0, or the transaction that has locked the version before. Of other
 * rows it depends on locks of transactions that have ended, which moirai does not keep.
 */
function xmaxOf({ cells }: Table): ItemColumn {
  return { name: 'xmax', type: types.xid, modifier: -1, cell: cells.length, isNullable: false };
}

/** The row that ON CONFLICT updates was locked before by this transaction, and the new version keeps the lock: heap_update(). */
function lockerOf({ surroundings }: Running): number {
  const id = surroundings.transactionId >>> 0;
  assert(id > 0, 'a transaction that has written a row has a number');
  return id;
}

function withXmax(row: Row, at: number, xmax: number): Row {
  return { ...row, load: (_row, position) => (position === at ? xmax : valueAt(row, position)) };
}

function* insertOrAnswer(
  values: SqlValue[],
  frame: Frame,
  { rules, conflict }: InsertPlan,
  isDrawn: boolean,
  running: Running,
): Waiting<Answered> {
  const inserting = rules.tryInsert(values, conflict?.duplicateLock ?? 'share', running);
  const result = conflict?.ignoresRefused === true ? yield* unlessRefused(inserting) : yield* inserting;
  if (result === null) return { row: null, rowCount: 0 };
  if (result.kind === 'inserted') return { row: result.row, rowCount: 1 };
  if (conflict === null) throw rules.duplicate(result.index, values, running);
  const answer = yield* conflict.answer(values, result, frame, running);
  if (isDrawn && answer.isInserted !== true) rules.autoIncrement?.giveBack(values, running);
  return answer;
}

/** `null`: a foreign key or CHECK has refused the row. */
function* unlessRefused(inserting: Waiting<InsertResult>): Waiting<InsertResult | null> {
  try {
    return yield* inserting;
  } catch (error) {
    if (error instanceof SqlError && refusals.has(error.detail.mysqlNumber ?? 0)) return null;
    throw error;
  }
}

const refusals: ReadonlySet<number> = new Set([1452, 3819]);

/** MySQL's insert id: the first number that was drawn, or else what the last row's AUTO_INCREMENT column has. */
function noteNumber(table: Table, row: Row, isDrawn: boolean, outcome: InsertOutcome): void {
  const column = table.columns.find(({ identity }) => identity !== null);
  const value = column === undefined ? null : valueAt(row, column.cell);
  if (outcome.hasDrawn || (typeof value !== 'number' && typeof value !== 'bigint')) return;
  outcome.insertId = BigInt(value);
  outcome.hasDrawn = isDrawn;
}

function targetColumns(cols: readonly Node[] | undefined, table: Table, scope: QueryScope): Column[] {
  if (cols === undefined) return [...table.columns];
  const columns = cols.map((node) => {
    const { name = '', location = 0 } = 'ResTarget' in node ? node.ResTarget : {};
    const column = columnNamed(table, name, scope.dialect);
    if (column === undefined) throw missingColumn(table, name, location + 1);
    return column;
  });
  const twice = columns.find((column, i) => columns.indexOf(column) !== i);
  if (twice !== undefined) {
    const inMysql = { mysqlNumber: 1110, mysqlMessage: `Column '${twice.name}' specified twice` };
    throw new SqlError('42701', `column "${twice.name}" specified more than once`, inMysql);
  }
  return columns;
}

function planRows(
  select: Node | undefined,
  columns: readonly Column[],
  rules: TableRules,
  scope: QueryScope,
  override: string,
  isListed: boolean,
): RowsToInsert {
  if (select === undefined) {
    const defaults = filler(rules, []);
    return (frame) => [defaults(frame, [])];
  }
  assert('SelectStmt' in select, 'INSERT takes its rows from a SELECT');
  const { SelectStmt: source } = select;
  const isPlainValues =
    source.valuesLists !== undefined &&
    source.sortClause === undefined &&
    source.limitCount === undefined &&
    source.withClause === undefined;
  if (isPlainValues) scope.planning.locksReads = true;
  if (isPlainValues) return valuesRows(source.valuesLists ?? [], columns, rules, scope, override, isListed);
  if (rules.autoIncrement !== null) rules.autoIncrement.isBulk = true;
  return selectedRows(source, columns, rules, scope, isListed);
}

function valuesRows(
  lists: readonly Node[],
  columns: readonly Column[],
  rules: TableRules,
  scope: QueryScope,
  override: string,
  isListed: boolean,
): RowsToInsert {
  scope.clause = 'VALUES';
  const rows = scope.within(emptyNamespace, () =>
    lists.map((list, at) => {
      const nodes = 'List' in list ? (list.List.items ?? []) : [];
      return givenRow(nodes, checkWidth(nodes.length, columns, isListed, at + 1, scope), rules, scope, override);
    }),
  );
  return (frame, running) => {
    rules.autoIncrement?.expect(rows.length, running);
    return generate(rows, (row) => row(frame));
  };
}

/** Values and DEFAULT, one for each of these columns, and the defaults of the others. */
function givenRow(
  nodes: readonly Node[],
  columns: readonly Column[],
  rules: TableRules,
  scope: QueryScope,
  override: string,
): (frame: Frame) => SqlValue[] {
  const given = columns.map((column, i) => givenValue(nodes[i] as Node, column, rules, scope, override));
  const fill = filler(rules, columns);
  return (frame) =>
    fill(
      frame,
      given.map((evaluate) => evaluate(frame)),
    );
}

/** The row of MERGE's INSERT, whose values may name the columns that are visible in `scope`. @throws SqlError 42601, 42703, 428C9 */
export function planMergedRow(
  { targetList, values, override = 'OVERRIDING_NOT_SET' }: MergeWhenClause,
  rules: TableRules,
  scope: QueryScope,
): { readonly given: readonly Column[]; readonly rowIn: (frame: Frame) => SqlValue[] } {
  scope.clause = 'VALUES';
  const columns = targetColumns(targetList, rules.table, scope);
  const given = values === undefined ? [] : checkWidth(values.length, columns, targetList !== undefined, 1, scope);
  return { given, rowIn: givenRow(values ?? [], given, rules, scope, override) };
}

/** One after the other, so that each default is drawn when its row's turn has come. */
function* generate<T>(rows: Iterable<T>, make: (row: T) => SqlValue[]): Iterable<SqlValue[]> {
  for (const row of rows) yield make(row);
}

/** @throws SqlError 42601, 21S01 (1136) */
function checkWidth(
  width: number,
  columns: readonly Column[],
  isListed: boolean,
  row: number,
  scope: QueryScope,
): readonly Column[] {
  if (!engineRules[scope.dialect].leavesColumnsOut && width !== columns.length)
    throw new SqlError('21S01', `Column count doesn't match value count at row ${row}`, { mysqlNumber: 1136 });
  if (width > columns.length) throw new SqlError('42601', 'INSERT has more expressions than target columns');
  if (width < columns.length && isListed)
    throw new SqlError('42601', 'INSERT has more target columns than expressions');
  return columns.slice(0, width);
}

function givenValue(
  node: Node,
  column: Column,
  rules: TableRules,
  scope: QueryScope,
  override: string,
): Expression['evaluate'] {
  if ('SetToDefault' in node) return rules.default(column);
  if (column.generated !== null || (column.identity === 'always' && override === 'OVERRIDING_NOT_SET'))
    throw notInsertable(column);
  if (column.identity !== null && override === 'OVERRIDING_USER_VALUE') return rules.default(column);
  return assignedValue(node, { ...column, identity: null }, rules, scope);
}

function notInsertable(column: Column): SqlError {
  const isGenerated = column.generated !== null;
  return new SqlError('428C9', `cannot insert a non-DEFAULT value into column "${column.name}"`, {
    detail: isGenerated
      ? `Column "${column.name}" is a generated column.`
      : `Column "${column.name}" is an identity column defined as GENERATED ALWAYS.`,
    ...(isGenerated ? {} : { hint: 'Use OVERRIDING SYSTEM VALUE to override.' }),
  });
}

/** Puts given values into their cells and defaults into the others. */
function filler(
  rules: TableRules,
  given: readonly Column[],
): (frame: Frame, values: readonly SqlValue[]) => SqlValue[] {
  const { table } = rules;
  const width = table.cells.length;
  const positions = given.map(({ cell }) => cell);
  const others = table.columns.filter((column) => !given.includes(column) && rules.hasDefault(column));
  const defaults = others.map((column) => ({ cell: column.cell, evaluate: rules.default(column) }));
  return (frame, values) => {
    const row: SqlValue[] = [];
    for (let i = 0; i < width; i++) row.push(null);
    for (let i = 0; i < positions.length; i++) row[positions[i] as number] = values[i] ?? null;
    for (const { cell, evaluate } of defaults) row[cell] = evaluate(frame);
    return row;
  };
}

function selectedRows(
  select: SelectStmt,
  columns: readonly Column[],
  rules: TableRules,
  scope: QueryScope,
  isListed: boolean,
): RowsToInsert {
  const { table } = rules;
  const { relationsRead } = scope.planning;
  relationsRead.delete(table.id);
  const query = scope.within(emptyNamespace, () =>
    scope.planners.query(
      select,
      scope.child('part'),
      columns.map(({ type }) => type),
    ),
  );
  const used = checkWidth(query.columns.length, columns, isListed, 1, scope);
  for (const column of used) if (column.generated !== null || column.identity === 'always') throw notInsertable(column);
  const converted = used.map((column, i) => {
    const from = query.columns[i]?.type ?? types.text;
    const source = computedExpression(i, from.name === 'unknown' ? types.text : from, query.columns[i]?.modifier);
    if (from.name === 'unknown') return { ...assignable({ ...source, type: types.text }, { ...column }, scope) };
    return assignable(source, column, scope);
  });
  const fill = filler(rules, used);
  // The rows get their numbers in the order in which they come.
  const isNumbered = table.columns.some((column) => column.sequence !== null && !used.includes(column));
  const numbersOpenRows = isNumbered && select.sortClause === undefined && select.valuesLists === undefined;
  const { locking } = query;
  // InnoDB reads a row and writes it before it reads the next, unless the table is its own source. Otherwise all of them first: a statement does not
  // see its own rows, whatever the storage does with scans that continue.
  const isStreamed = engineRules[scope.dialect].insertsRowByRow && !relationsRead.has(table.id);
  const readRows = (rows: Iterable<Values>): Iterable<Values> => (isStreamed ? rows : [...rows]);
  if (locking !== null) {
    scope.planning.prelude.push(function* lockFirst(running) {
      running.kept.set(query, yield* locking(newFrame(0, running, null), running));
    });
  }
  return (frame, running) => {
    const rows = locking === null ? readRows(query.rows(frame, running)) : (running.kept.get(query) as Values[]);
    let count = 0;
    return generate(rows, (row) => {
      count += 1;
      if (numbersOpenRows && count === 2) running.onOpenRows?.('order');
      for (const [i, value] of row.entries()) frame.computed[i] = value;
      return fill(
        frame,
        converted.map(({ evaluate }) => evaluate(frame)),
      );
    });
  };
}
