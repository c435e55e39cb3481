/** From the text of one statement to what the session runs. */
import type { DefElem, ExplainStmt, Node, RangeVar, TruncateStmt } from '@pgsql/types';
import { assert } from '../base/index.ts';
import {
  type Dialect,
  engineRules,
  notSupported,
  SqlError,
  everyRow,
  type Waiting,
  type SqlType,
  types,
} from './model/index.ts';
import type { Catalog } from './catalog/catalog.ts';
import { type Column, primaryKey, type Table } from './catalog/relation.ts';
import { defineStatement } from './define/define.ts';
import { refusePendingChecks } from './define/pending-checks.ts';
import { characterPosition, parseStatement } from './parse.ts';
import { lockTableStatement } from './lock-table.ts';
import { withForUpdate } from './locking-read.ts';
import { namedStatement, type PlanInner } from './named-statement.ts';
import type { DataModification } from './plan/data-modification.ts';
import { Planning, type WayOf } from './plan/planning.ts';
import { formatPlanJson, formatPlanText } from './plan/plan-step.ts';
import { newFrame, type OutputColumn, type PlannedQuery, type Values } from './plan/query.ts';
import { planModification, planSelect } from './plan/root.ts';
import { someNode } from './plan/tree.ts';
import { refuseIgnoredClauses } from './refused-clauses.ts';
import { mysqlKeyText } from './run/constraint-error.ts';
import { finishChecks } from './run/foreign-keys.ts';
import { sequenceName } from './run/sequence-name.ts';
import type { ResultColumn } from './session.ts';
import { sessionStatement } from './session-statement.ts';
import { statementTitle } from './statement-title.ts';
import type { QueryOutcome, QueryStatement, Statement } from './statement.ts';
import { unplannedStatement } from './unplanned.ts';
import { type Running, running } from './execution.ts';

export interface PrepareOptions {
  readonly catalog: Catalog;
  readonly dialect: Dialect;
  /** Types that the client names win; `undefined`: inferred. */
  readonly parameterTypes?: readonly (SqlType | undefined)[];
  readonly searchPath: readonly string[];
  /** Default: the way with the most equalities. */
  readonly wayOf?: WayOf;
  /** MySQL: the name by which the session calls its database, for names in results of SHOW. */
  readonly database?: string;
  /** Plan a SELECT as if FOR UPDATE stood at its end? Default false. */
  readonly forUpdate?: boolean;
}

/** Plans one statement in PostgreSQL's grammar. @throws SqlError */
export function prepareStatement(sql: string, options: PrepareOptions): Statement {
  const tree = parseStatement(sql);
  if (tree === null) return { kind: 'empty' };
  return prepareTree(tree, options, (location) => characterPosition(sql, location));
}

/**
 * Plans one statement.
 * @param read as its text says
 * @param positionOf a location in the tree, as a character of the client's text from 1
 * @throws SqlError
 */
export function prepareTree(read: Node, options: PrepareOptions, positionOf: (location: number) => number): Statement {
  const tree = options.forUpdate === true ? withForUpdate(read) : read;
  try {
    refuseIgnoredClauses(tree);
    return planStatement(tree, options);
  } catch (thrown) {
    const error = withPosition(thrown, positionOf);
    if (!(error instanceof SqlError) || !actsBefore(error, tree, options)) throw error;
    const unplanned = unplannedStatement(tree, error, new Planning(options, options.parameterTypes));
    if (unplanned.locks().length === 0 && unplanned.commitsAround !== true) throw error;
    return unplanned;
  }
}

/** Before it finds this error, does the server lock the statement's tables, where others can be in the way of that, or commit? */
function actsBefore({ code }: SqlError, tree: Node, { catalog, dialect }: PrepareOptions): boolean {
  if (!engineRules[dialect].hasMetadataLocks) return catalog.isChanging;
  if ('TruncateStmt' in tree) return true;
  return !foundBeforeLocks.has(code) && !someNode(tree, (node) => 'ParamRef' in node);
}

/** A feature that moirai lacks, a table that is not there, bad syntax. */
const foundBeforeLocks: ReadonlySet<string> = new Set(['0A000', '42P01', '42601']);

/** The planner's positions are locations of the tree, from 1. */
function withPosition(error: unknown, positionOf: (location: number) => number): unknown {
  if (!(error instanceof SqlError) || error.detail.position === undefined) return error;
  const position = positionOf(error.detail.position - 1);
  return position === error.detail.position
    ? error
    : new SqlError(error.code, error.message, { ...error.detail, position });
}

function planStatement(tree: Node, options: PrepareOptions): Statement {
  const newPlanning = (): Planning => new Planning(options, options.parameterTypes);
  const planInner: PlanInner = (query, parameterTypes) => planStatement(query, { ...options, parameterTypes });
  const known =
    sessionStatement(tree) ?? namedStatement(tree, newPlanning, planInner) ?? defineStatement(tree, newPlanning);
  if (known !== undefined) return known;
  const planning = newPlanning();
  if ('SelectStmt' in tree) {
    const { sortClause = [], valuesLists } = tree.SelectStmt;
    const isSorted = sortClause.length > 0 || valuesLists !== undefined;
    return selectStatement(planSelect(tree.SelectStmt, planning), isSorted, planning);
  }
  if ('InsertStmt' in tree || 'UpdateStmt' in tree || 'DeleteStmt' in tree || 'MergeStmt' in tree) {
    return modifyStatement(planModification(tree, planning), planning);
  }
  if ('ExplainStmt' in tree) return explainStatement(tree.ExplainStmt, options);
  if ('LockStmt' in tree) return lockTableStatement(tree.LockStmt, planning);
  if ('TruncateStmt' in tree) return truncateStatement(tree.TruncateStmt, planning);
  throw notSupported(statementTitle(tree));
}

type Outcome = Omit<QueryOutcome, 'insertId' | 'hasDrawn'> & {
  readonly insertId?: bigint;
  readonly hasDrawn?: boolean;
};
type Run = (running: Running) => Waiting<Outcome> | Outcome;

function queryStatement(
  command: string,
  columns: readonly OutputColumn[] | null,
  planning: Planning,
  run: Run,
): QueryStatement {
  const { prelude, epilogue } = planning;
  return {
    kind: 'query',
    command,
    parameterTypes: planning.parameterTypes(types.text),
    columns: columns?.map((column) => resultColumn(column, planning)) ?? null,
    isReadOnly: !planning.writes,
    locksReads: planning.locksReads,
    locksInScans: planning.locksInScans,
    catalogVersion: planning.catalog.version,
    isShareable: !planning.readsCatalog,
    accesses: planning.accesses,
    locks: () => planning.locks,
    *run(execution, view) {
      const own = running(execution, view);
      for (const step of prelude) yield* step(own);
      const result = run(own);
      const outcome = 'next' in result ? yield* result : result;
      for (const step of epilogue) yield* step(own);
      if (planning.writes) yield* finishChecks(own);
      return {
        rows: outcome.rows,
        rowCount: outcome.rowCount,
        foundRows: outcome.foundRows,
        insertId: outcome.insertId ?? 0n,
        hasDrawn: outcome.hasDrawn ?? false,
        ...(outcome.metNoRow === true ? { metNoRow: true } : {}),
      };
    },
  };
}

function resultColumn({ name, type, modifier, isNullable, origin }: OutputColumn, planning: Planning): ResultColumn {
  const { describesKeys } = engineRules[planning.dialect];
  const table = describesKeys && origin !== null ? planning.catalog.tableById(origin.table) : undefined;
  const source = table?.columns[(origin?.number ?? 0) - 1];
  return {
    name,
    type: type.name === 'unknown' ? types.text : type,
    modifier,
    tableNumber: origin?.table ?? 0,
    columnNumber: origin?.number ?? 0,
    tableName: origin?.tableName ?? '',
    isNullable,
    ...(source === undefined || source.mysqlType === null ? {} : { mysqlType: source.mysqlType }),
    ...(table === undefined || source === undefined ? {} : keyFlags(table, source)),
  };
}

function keyFlags(table: Table, column: Column): Pick<ResultColumn, 'isAutoIncrement' | 'isPrimary'> {
  const isPrimary = primaryKey(table)?.parts.some(({ cell }) => cell === column.cell) === true;
  return { isAutoIncrement: column.identity !== null, isPrimary };
}

function selectStatement(planned: PlannedQuery, isSorted: boolean, planning: Planning): QueryStatement {
  const { locking } = planned;
  return queryStatement('SELECT', planned.columns, planning, function* select(own) {
    const rows: Values[] = locking === null ? [...planned.rows(null, own)] : yield* locking(null, own);
    if (!isSorted && rows.length > 1) own.onOpenRows?.('order');
    const metNoRow = planned.metNoRow?.(own) ?? false;
    return { rows, rowCount: rows.length, foundRows: rows.length, metNoRow };
  });
}

function modifyStatement(planned: DataModification, planning: Planning): QueryStatement {
  return queryStatement(planned.command, planned.columns, planning, (own) => planned.run(newFrame(0, own, null), own));
}

function explainStatement({ query, options = [] }: ExplainStmt, given: PrepareOptions): QueryStatement {
  assert(query !== undefined, 'EXPLAIN has a statement');
  const explained = planStatement(query, given);
  if (explained.kind === 'named') throw notSupported(`EXPLAIN ${explained.command}`);
  const planning = new Planning(given, given.parameterTypes);
  // The explained statement does not run, and neither does what would run before it.
  const scratch = new Planning(given, given.parameterTypes);
  if ('SelectStmt' in query) planSelect(query.SelectStmt, scratch);
  else if (explained.kind === 'query') planModification(query, scratch);
  const isJson = options.some((node) => 'DefElem' in node && isFormatJson(node.DefElem));
  const lines = isJson ? [formatPlanJson(scratch.steps)] : formatPlanText(scratch.steps);
  const type = isJson ? types.json : types.text;
  const column: OutputColumn = { name: 'QUERY PLAN', type, modifier: -1, isNullable: false, origin: null };
  const statement = queryStatement('EXPLAIN', [column], planning, () => {
    const rows = lines.map((line) => [line]);
    return { rows, rowCount: rows.length, foundRows: rows.length };
  });
  return { ...statement, parameterTypes: scratch.parameterTypes(types.text) };
}

function isFormatJson({ defname, arg }: DefElem): boolean {
  return defname === 'format' && arg !== undefined && 'String' in arg && arg.String.sval?.toLowerCase() === 'json';
}

/** An ordinary deletion of all rows: a transaction that is rolled back gives them back. */
function truncateStatement(statement: TruncateStmt, planning: Planning): QueryStatement {
  const { relations = [], behavior, restart_seqs: restarts = false } = statement;
  const tables = relations.map((node) => truncatedTable('RangeVar' in node ? node.RangeVar : {}, planning));
  for (const table of tables) addReferring(table, tables, behavior === 'DROP_CASCADE', planning);
  planning.writes = true;
  for (const { id } of tables) planning.lock(id, 'access exclusive');
  const truncation = queryStatement('TRUNCATE TABLE', null, planning, function* truncate({ view, surroundings }) {
    for (const table of tables) refusePendingChecks('TRUNCATE', table, surroundings);
    for (const table of tables) {
      const rows: Parameters<typeof view.delete>[0][] = [];
      const request = { strength: 'update', ifLocked: 'wait', reading: 'latest' } as const;
      yield* view.lock(table.id, { kind: 'all' }, everyRow, request, (row) => rows.push(row) > 0);
      for (const row of rows) yield* view.delete(row);
      view.truncated?.(table.id);
      const isRestarted = restarts || engineRules[planning.dialect].truncateRestarts;
      for (const { sequence } of table.columns)
        if (isRestarted && sequence !== null) surroundings.sequence(sequenceName(sequence)).restart();
    }
    return { rows: [], rowCount: 0, foundRows: 0 };
  });
  return { ...truncation, commitsAround: engineRules[planning.dialect].ddlCommits };
}

function truncatedTable(range: RangeVar, planning: Planning): Table {
  const relation = planning.relation(range);
  if (relation.kind !== 'table') throw new SqlError('42809', `"${relation.name}" is not a table`);
  return relation;
}

function addReferring(table: Table, tables: Table[], isCascade: boolean, planning: Planning): void {
  for (const other of planning.catalog.tables()) {
    const key = other.foreignKeys.find(({ parent }) => parent === table.id);
    if (tables.some(({ id }) => id === other.id) || key === undefined) continue;
    if (!isCascade) {
      throw new SqlError('0A000', 'cannot truncate a table referenced in a foreign key constraint', {
        detail: `Table "${other.name}" references "${table.name}".`,
        hint: `Truncate table "${other.name}" at the same time, or use TRUNCATE ... CASCADE.`,
        mysqlNumber: 1701,
        mysqlMessage: `Cannot truncate a table referenced in a foreign key constraint (${mysqlKeyText({ key, child: other, parent: table })})`,
      });
    }
    tables.push(other);
  }
}
