/** WITH: named queries in front of a statement, recursive ones, and those that write. */
import type { CommonTableExpr, Node, WithClause } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { engineRules, rowKey, notSupported, SqlError, types } from '../model/index.ts';
import { commonType } from '../expressions/index.ts';
import type { Frame } from '../expression.ts';
import { convertRows } from './convert-rows.ts';
import type { PreludeStep } from './planning.ts';
import { KeptRows, keptRows } from './kept-rows.ts';
import { newFrame, type OutputColumn, type PlannedQuery, type Values } from './query.ts';
import type { QueryScope, CommonTable } from './scope.ts';

import { stringsOf } from './tree.ts';
import { type Running, runningOf } from '../execution.ts';

/** Rows of a recursive query; beyond it is taken for endless. */
const recursiveRowsMax = 1_000_000;

/** Makes the names of a WITH clause known in `scope`. */
export function planCommonTables(clause: WithClause | undefined, scope: QueryScope): void {
  for (const node of clause?.ctes ?? []) {
    assert('CommonTableExpr' in node, 'WITH is a list of common table expressions');
    const expression = node.CommonTableExpr;
    const { ctename: name = '', ctequery: query } = expression;
    assert(query !== undefined, `WITH ${name} has a query`);
    if (scope.commonTables.has(name)) {
      throw new SqlError('42712', `WITH query name "${name}" specified more than once`);
    }
    scope.commonTables.set(name, planOne(expression, name, query, clause?.recursive === true, scope));
  }
}

function planOne(
  expression: CommonTableExpr,
  name: string,
  query: Node,
  isRecursive: boolean,
  scope: QueryScope,
): CommonTable {
  if (!('SelectStmt' in query)) return modifying(expression, name, query, scope);
  const { SelectStmt: select } = query;
  if (isRecursive && select.op === 'SETOP_UNION' && refersTo(select.rarg, name))
    return recursive(expression, name, scope);
  const planned = scope.planners.query(select, scope.child('part'));
  const columns = renamed(planned.columns, expression, name);
  if (planned.locking === null) {
    const { isCorrelated } = planned;
    const rows: CommonTable['rows'] = (frame, running) => keptRows(planned, frame, running, scope.planning);
    return { name, columns, rows, isCorrelated };
  }
  return keptFromPrelude(name, columns, planned, scope);
}

/** A query that locks rows runs before the statement, if something reads it. */
function keptFromPrelude(
  name: string,
  columns: readonly OutputColumn[],
  planned: PlannedQuery,
  scope: QueryScope,
): CommonTable {
  const { locking } = planned;
  assert(locking !== null, 'only what locks has to go first');
  if (planned.isCorrelated) throw notSupported('FOR UPDATE in a subquery that depends on the query around it');
  const rows: CommonTable['rows'] = (_frame, running) => keptOf(planned, running);
  const table: CommonTable = { name, columns, rows, isCorrelated: false };
  const { prelude, commonTablesRead } = scope.planning;
  prelude.push(function* lockFirst(running) {
    if (commonTablesRead.has(table)) running.kept.set(planned, yield* locking(newFrame(0, running, null), running));
  });
  return table;
}

function modifying(expression: CommonTableExpr, name: string, query: Node, scope: QueryScope): CommonTable {
  if (scope.parent !== null) {
    throw new SqlError('0A000', 'WITH clause containing a data-modifying statement must be at the top level');
  }
  if ('MergeStmt' in query) throw new SqlError('0A000', 'MERGE not supported in WITH query');
  const planned = scope.planners.modification(query, scope.child('part'));
  const columns = renamed(planned.columns ?? [], expression, name);
  const table: CommonTable = {
    name,
    columns,
    rows: (_frame, running) => keptOf(planned, running),
    isCorrelated: false,
  };
  const { prelude, epilogue, commonTablesRead } = scope.planning;
  const when = (isRead: boolean): PreludeStep =>
    function* modify(running) {
      if (commonTablesRead.has(table) !== isRead) return;
      const { rows } = yield* planned.run(newFrame(0, running, null), running);
      running.kept.set(planned, rows);
    };
  prelude.push(when(true));
  epilogue.push(when(false));
  return table;
}

function keptOf(plan: object, running: Running): Values[] {
  const rows = running.kept.get(plan);
  assert(rows !== undefined, 'what runs before the statement has run');
  return rows as Values[];
}

/** In PostgreSQL, the server's own words. */
function refusedRecursion(clause: string, { planning }: QueryScope): SqlError {
  return engineRules[planning.dialect].limitsRecursion
    ? notSupported(`${clause} in a recursive query`)
    : new SqlError('0A000', `${clause} in a recursive query is not implemented`);
}

/** The non-recursive term, then the recursive one over the rows that the step before has found, until there are none. */
function recursive(expression: CommonTableExpr, name: string, scope: QueryScope): CommonTable {
  const query = expression.ctequery;
  assert(query !== undefined && 'SelectStmt' in query, 'only a SELECT is recursive');
  const { larg, rarg, all: isAll = false, sortClause, limitCount } = query.SelectStmt;
  assert(larg !== undefined && rarg !== undefined, 'a UNION has two sides');
  if (sortClause !== undefined) throw refusedRecursion('ORDER BY', scope);
  if (limitCount !== undefined) throw refusedRecursion('LIMIT', scope);
  const inner = scope.child('part');
  planCommonTables(query.SelectStmt.withClause, inner);
  const base = scope.planners.query(larg, inner.child('part'));
  const columns = renamed(base.columns.map(withType), expression, name);
  const working = {};
  inner.commonTables.set(name, {
    name,
    columns,
    rows: (_frame, running) => keptOf(working, running),
    isCorrelated: true,
  });
  const step = scope.planners.query(rarg, inner.child('part'));
  if (base.locking !== null || step.locking !== null) throw refusedRecursion('FOR UPDATE/SHARE', scope);
  if (step.columns.length !== columns.length) {
    throw new SqlError('42601', 'each UNION query must have the same number of columns');
  }
  for (const [i, { type }] of engineRules[scope.dialect].firstPartDecidesTypes ? [] : step.columns.entries()) {
    const own = columns[i]?.type ?? type;
    if (commonType([own, type], 'UNION', scope.dialect).oid !== own.oid) {
      throw new SqlError(
        '42804',
        `recursive query "${name}" column ${i + 1} has type ${own.name} in non-recursive term but type ${type.name} overall`,
      );
    }
  }
  const target = columns.map(({ type }) => type);
  const stepRows = convertRows(step, target, inner);
  const baseRows = convertRows(base, target, inner);
  const isCorrelated = inner.reachesOut;
  const token = {};
  const { streamsInnerQueries } = engineRules[scope.dialect];
  const rows = (frame: Frame | null, running: Running): Iterable<Values> => {
    const known = isCorrelated ? undefined : running.kept.get(token);
    if (known !== undefined) return known as Iterable<Values>;
    const innerFrame = newFrame(0, running, frame);
    const stepOf = (rowsBefore: readonly Values[]): Iterable<Values> => {
      running.kept.set(working, rowsBefore);
      return besideOthers(stepRows(innerFrame, running), () => running.kept.set(working, rowsBefore));
    };
    const keyOf = isAll ? null : (row: Values) => rowKey(row, target, scope.dialect);
    const steps = iterate(baseRows(innerFrame, running), stepOf, keyOf);
    const found = streamsInnerQueries ? new KeptRows(steps) : [...steps];
    running.kept.set(token, found);
    return found;
  };
  return { name, columns, rows, isCorrelated };
}

/** @param enter is called before each row: in between the same query may take a step for another row of the query around */
function* besideOthers(rows: Iterable<Values>, enter: () => void): Iterable<Values> {
  const iterator = rows[Symbol.iterator]();
  for (;;) {
    enter();
    const next = iterator.next();
    if (next.done === true) return;
    yield next.value;
  }
}

/** Each step reads the rows that the one before has found. */
function* iterate(
  base: Iterable<Values>,
  step: (rows: readonly Values[]) => Iterable<Values>,
  keyOf: ((row: Values) => string) | null,
): Iterable<Values> {
  const seen = new Set<string>();
  const isNew = (row: Values): boolean => {
    if (keyOf === null) return true;
    const key = keyOf(row);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
  let count = 0;
  let found: Values[] = [];
  for (let rows = base; ; rows = step(found)) {
    const next: Values[] = [];
    for (const row of rows) {
      if (!isNew(row)) continue;
      next.push(row);
      if (++count > recursiveRowsMax)
        throw new SqlError('54000', `recursive query has more than ${recursiveRowsMax} rows`, { isUnsupported: true });
      yield row;
    }
    if (next.length === 0) return;
    found = next;
  }
}

function withType(column: OutputColumn): OutputColumn {
  return column.type.name === 'unknown' ? { ...column, type: types.text } : column;
}

function renamed(columns: readonly OutputColumn[], { aliascolnames }: CommonTableExpr, name: string): OutputColumn[] {
  const names = stringsOf(aliascolnames);
  if (names.length > columns.length) {
    const message = `WITH query "${name}" has ${columns.length} columns available but ${names.length} columns specified`;
    throw new SqlError('42P10', message);
  }
  return columns.map((column, i) => ({ ...withType(column), name: names[i] ?? column.name }));
}

function refersTo(tree: unknown, name: string): boolean {
  if (Array.isArray(tree)) return tree.some((each) => refersTo(each, name));
  if (typeof tree !== 'object' || tree === null) return false;
  if ('RangeVar' in tree) {
    const range = tree.RangeVar as { relname?: string; schemaname?: string };
    if (range.relname === name && range.schemaname === undefined) return true;
  }
  return Object.values(tree).some((each) => refersTo(each, name));
}

export function commonTableRows(table: CommonTable, depth: number, frame: Frame): Iterable<Values> {
  let definition: Frame = frame;
  for (let i = 0; i < depth && definition.outer !== null; i++) definition = definition.outer;
  return table.rows(definition, runningOf(frame));
}
