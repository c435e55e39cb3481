/** SELECT ... FROM ... WHERE ... GROUP BY ... ORDER BY ... LIMIT, without UNION. */
import type { Node, SelectStmt } from '@pgsql/types';
import { type Aggregate, compileExpression, coerceToBoolean } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { engineRules, SqlError, type SqlType, rowKey } from '../model/index.ts';
import { compileConjuncts, type Conjunct } from './conjunct.ts';
import { constantTablesOf } from './find-constant-tables.ts';
import { planFrom } from './from.ts';
import { guardOf } from './impossible.ts';
import { groupedSource } from './grouped-access.ts';
import { indexEnds } from './index-ends.ts';
import { Grouping, groupKeys, isGrouped, noAggregates, targetAt } from './grouping.ts';
import { type FromList, planJoins } from './join.ts';
import { existsJoin } from './recheck.ts';
import { isReadAlone, planLocking } from './locking.ts';
import { joinsInOrder, orderedSource } from './ordered-access.ts';
import { inside } from './push-down.ts';
import type { OpenQuery, PlannedQuery } from './query.ts';
import type { CallCollector, QueryScope } from './scope.ts';
import { keyComparator, planLimit, sortByOf, type SortOrder, sortOrder } from './sort.ts';
import { semiJoinTest } from './semi-join.ts';
import type { Source } from './cursor.ts';
import { filtered } from './source.ts';
import { isOpen, notingLimit } from './open-limit.ts';
import { outputOf, planTargets, type Target } from './target.ts';
import { withoutUnreadTables } from './unread-tables.ts';
import { type Distinct, type SelectPlan, rowTest, selectedRows } from './tuple.ts';
import { columnNames, integerConstant, isOtherConstant, nodesOf, treeText } from './tree.ts';
import { WindowCollector } from './window.ts';
import type { Running } from '../execution.ts';

export function planSimpleSelect(
  select: SelectStmt,
  scope: QueryScope,
  expected: readonly (SqlType | undefined)[],
): PlannedQuery {
  return openSimpleSelect(select, scope, expected).close([]);
}

/** What its names mean; rows and joins are planned when the query around has added its conditions. */
export function openSimpleSelect(
  select: SelectStmt,
  scope: QueryScope,
  expected: readonly (SqlType | undefined)[],
): OpenQuery {
  scope.collector = noAggregates(scope);
  scope.clause = 'functions in FROM';
  const from = planFrom(select.fromClause, scope);
  scope.namespace = from.namespace;
  scope.clause = 'WHERE';
  const needsOuter = scope.reachesOut;
  const { result: clauses, uses } = scope.tracked(() => planClauses(select, scope, expected));
  const columns = clauses.targets.map((target) => outputOf(target, scope));
  return {
    columns,
    expressionOf: (column) => inside(clauses.targets[column], from.namespace),
    takesVolatile: select.lockingClause !== undefined,
    close(conditions) {
      const added = conditions.flatMap((condition) => compileConjuncts(condition, scope));
      scope.collector = null;
      const given = { nodes: from.nodes, conjuncts: [...from.conjuncts, ...clauses.where, ...added] };
      const list = withoutUnreadTables(given, uses, scope.planning);
      return planRows(select, { ...clauses, from, list, needsOuter, columns }, scope);
    },
  };
}

/** What stands behind FROM. */
interface Clauses extends Pick<SelectPlan, 'targets' | 'distinct' | 'limit'> {
  readonly where: readonly Conjunct[];
  readonly calls: Calls;
  readonly having: ((frame: Frame) => boolean) | null;
  readonly sort: Sort;
}

function planClauses(select: SelectStmt, scope: QueryScope, expected: readonly (SqlType | undefined)[]): Clauses {
  const where = compileConjuncts(select.whereClause, scope);
  const inConditions = scope.constants.size;
  const calls = planCalls(select, scope);
  scope.clause = '';
  const targets = planTargets(select.targetList, scope, { prepare: calls.prepare, expected });
  scope.constants.putLast(inConditions);
  const having = planHaving(select.havingClause, scope, calls.prepare);
  const sort = planSort(select, targets, scope, calls.prepare);
  const distinct = planDistinct(select, targets, sort, scope, calls.prepare);
  scope.collector = noAggregates(scope);
  const limit = scope.within({ items: [], columns: [] }, () => planLimit(select, scope));
  return { where, calls, targets, having, sort, distinct, limit };
}

interface SelectParts extends Clauses {
  readonly from: SelectPlan['from'];
  readonly list: FromList;
  /** Does FROM look at the query around? */
  readonly needsOuter: boolean;
  readonly columns: PlannedQuery['columns'];
}

function planRows(select: SelectStmt, parts: SelectParts, scope: QueryScope): PlannedQuery {
  const { from, list, needsOuter, calls, targets, having, sort, distinct, limit, columns } = parts;
  const joined = planJoins(list, scope.planning);
  const isPlain =
    !isGrouped(select) && !calls.hasWindows() && distinct === null && targets.every(({ sets }) => sets.length === 0);
  const isAlone = isReadAlone(list, isPlain);
  if (select.lockingClause === undefined || !isAlone) scope.constants.add(constantTablesOf(list, scope.planning));
  const whilePossible = guardOf(list, scope.planning);
  const isLockedInOrder =
    engineRules[scope.dialect].locksWhileScanning && select.lockingClause !== undefined && limit !== null;
  const orderedJoin = (): Source | null =>
    isLockedInOrder && joinsInOrder(list, sort, scope.planning) ? joined : null;
  const inOrder = (): Source | null =>
    list.nodes.length > 1 ? orderedJoin() : orderedSource(list, sort, limit !== null, scope.planning);
  const ordered = isPlain ? inOrder() : null;
  const found = groupedSource(list, groupedBy(parts), scope.planning) ?? joined;
  const plan: SelectPlan = {
    ordered: ordered === null ? null : whilePossible(ordered),
    from: { ...from, ...list },
    source: calls.source(whilePossible(indexEnds(list, calls.aggregates(), found, scope.planning)), having),
    rowCount: () => scope.rowCount,
    targets,
    sortKeys: sort.keys,
    sortOrders: sort.orders,
    compare: sort.keys.length === 0 ? null : keyComparator(sort.orders, scope.dialect),
    distinct,
    limit,
  };
  const rows = selectedRows(plan);
  const planned: PlannedQuery = {
    columns,
    rows,
    hasRow: isPlain ? semiJoinTest(list, plan.rowCount, rowTest(plan), scope.planning) : rowTest(plan),
    join:
      needsOuter || calls.hasWindows()
        ? undefined
        : existsJoin(select, list, { ...plan, source: whilePossible(joined) }, scope),
    locking:
      select.lockingClause === undefined
        ? null
        : planLocking(select, plan, { rows, hasWindows: calls.hasWindows(), isAlone }, scope),
    get isCorrelated() {
      return scope.reachesOut;
    },
    metNoRow: calls.metNoRow,
  };
  return isOpen(select, plan, list, scope) ? notingLimit(planned, plan) : planned;
}

/** What GROUP BY or DISTINCT makes one row of. */
function groupedBy({ calls, distinct, targets }: SelectParts): readonly Expression[] {
  if (calls.hasWindows()) return [];
  return calls.groupKeys() ?? (distinct === null ? [] : targets.map(({ expression }) => expression));
}

/** Aggregates and window functions: what has to happen between WHERE and the select list. */
interface Calls {
  readonly prepare: (node: Node) => Node;
  readonly source: (input: Source, having: ((frame: Frame) => boolean) | null) => Source;
  /** Over all rows of the query, where nothing else is computed from them. */
  readonly aggregates: () => readonly Aggregate[];
  /** `null`: the query is not grouped. */
  readonly groupKeys: () => readonly Expression[] | null;
  readonly metNoRow: (running: Running) => boolean;
  /** Known when the select list and ORDER BY have been planned. */
  readonly hasWindows: () => boolean;
}

function planCalls(select: SelectStmt, scope: QueryScope): Calls {
  if (!isGrouped(select)) {
    const windows = new WindowCollector(select, scope, (node) => node);
    const collector: CallCollector = {
      ...noAggregates(scope),
      take: (call) => (call.over === undefined ? undefined : windows.take(call)),
    };
    scope.collector = collector;
    return {
      prepare: (node) => node,
      source: (input) => (windows.isEmpty ? input : windows.source(input, 0)),
      aggregates: () => [],
      groupKeys: () => null,
      // Its one row comes from what its subqueries compute.
      metNoRow: ({ aggregated }) => select.fromClause === undefined && aggregated.fromNone && !aggregated.fromSome,
      hasWindows: () => !windows.isEmpty,
    };
  }
  const windows = new WindowCollector(select, scope, (node) => grouping.prepare(node));
  const grouping: Grouping = new Grouping(groupKeys(select, scope), scope, windows);
  scope.collector = grouping;
  return {
    prepare: grouping.prepare,
    source: (input, having) => {
      const groups = filtered(grouping.source(input), having);
      return windows.isEmpty ? groups : windows.source(groups, grouping.width);
    },
    aggregates: () => (select.groupClause === undefined ? grouping.aggregates : []),
    groupKeys: () => grouping.keys,
    metNoRow: (running) => grouping.metNoRow(running),
    hasWindows: () => !windows.isEmpty,
  };
}

function planHaving(
  node: Node | undefined,
  scope: QueryScope,
  prepare: (node: Node) => Node,
): ((frame: Frame) => boolean) | null {
  if (node === undefined) return null;
  scope.clause = 'HAVING';
  const { evaluate } = coerceToBoolean(compileExpression(prepare(node), scope), 'HAVING', scope);
  return (frame) => evaluate(frame) === true;
}

interface Sort {
  /** DISTINCT ON adds its own behind those of ORDER BY. */
  readonly keys: Expression[];
  readonly orders: readonly SortOrder[];
  /** For each key the number of the target that it is; -1: none. */
  readonly targets: readonly number[];
}

function planSort(
  select: SelectStmt,
  targets: readonly Target[],
  scope: QueryScope,
  prepare: (node: Node) => Node,
): Sort {
  scope.clause = 'ORDER BY';
  const sorts = (select.sortClause ?? []).map(sortByOf);
  const found = sorts.map(({ node }) => sortTarget(node, select, targets));
  const keys = sorts.map(({ node }, i) => {
    const target = targets[found[i] ?? -1];
    return target?.expression ?? compileExpression(prepare(node), scope);
  });
  const orders = sorts.map((sort, i) => sortOrder(sort, (keys[i] as Expression).type, scope.dialect));
  return { keys, orders, targets: found };
}

/** SQL-92's names and numbers of output columns come before expressions over input columns: parse_clause.c, `findTargetlistEntrySQL92`. */
function sortTarget(node: Node, select: SelectStmt, targets: readonly Target[]): number {
  const ordinal = integerConstant(node);
  if (ordinal !== undefined) {
    if (targets[ordinal - 1] === undefined) targetAt({ targetList: [] }, ordinal, 'ORDER BY');
    return ordinal - 1;
  }
  if (isOtherConstant(node)) throw new SqlError('42601', 'non-integer constant in ORDER BY');
  const [name, another] = columnNames(node) ?? [];
  if (name !== undefined && another === undefined) {
    const matching = targets.flatMap((target, i) => (target.name === name ? [i] : []));
    const [first, ...others] = matching;
    const isSame = others.every((i) => sameTarget(targets[i], targets[first ?? 0]));
    if (first !== undefined && !isSame) throw new SqlError('42702', `ORDER BY "${name}" is ambiguous`);
    if (first !== undefined) return first;
  }
  const text = treeText(node);
  return targets.findIndex(
    (target) => target.node !== null && treeText(target.node) === text && select.targetList !== undefined,
  );
}

function sameTarget(a: Target | undefined, b: Target | undefined): boolean {
  const [left, right] = [a?.expression.column, b?.expression.column];
  if (left !== undefined && right !== undefined) return left.row === right.row && left.cell === right.cell;
  return a?.node !== null && treeText(a?.node) === treeText(b?.node);
}

function planDistinct(
  select: SelectStmt,
  targets: readonly Target[],
  sort: Sort,
  scope: QueryScope,
  prepare: (node: Node) => Node,
): Distinct | null {
  const clause = select.distinctClause;
  if (clause === undefined) return null;
  const [first] = clause;
  const isPlain = first === undefined || Object.keys(first).length === 0;
  if (isPlain) {
    const types = targets.map(({ expression }) => expression.type);
    const { sortsDistinctByExpressions } = engineRules[scope.dialect];
    const isHidden = (target: number, i: number): boolean =>
      target < 0 &&
      !isTargetColumn(sort.keys[i], targets) &&
      !(sortsDistinctByExpressions && isOfTargets(select.sortClause?.[i], targets, scope, prepare));
    if (sort.targets.some(isHidden)) {
      throw new SqlError('42P10', 'for SELECT DISTINCT, ORDER BY expressions must appear in select list', {
        mysqlNumber: 3065,
      });
    }
    return { keyOf: ({ values }) => rowKey(values, types, scope.dialect) };
  }
  return distinctOn(clause, select, targets, sort, scope, prepare);
}

/** Does the expression look at columns of the select list only? Rows that DISTINCT makes one have the same value of it then. */
function isOfTargets(
  sortBy: Node | undefined,
  targets: readonly Target[],
  scope: QueryScope,
  prepare: (node: Node) => Node,
): boolean {
  const nodes = nodesOf(sortBy);
  if (nodes.some((node) => 'SubLink' in node)) return false;
  const columns = nodes.filter((node) => 'ColumnRef' in node);
  return columns.every((node) => isTargetColumn(compileExpression(prepare(node), scope), targets));
}

function isTargetColumn(key: Expression | undefined, targets: readonly Target[]): boolean {
  const column = key?.column;
  if (column === undefined) return false;
  return targets.some(({ expression: { column: own } }) => own?.row === column.row && own.cell === column.cell);
}

function distinctOn(
  clause: readonly Node[],
  select: SelectStmt,
  targets: readonly Target[],
  sort: Sort,
  scope: QueryScope,
  prepare: (node: Node) => Node,
): Distinct {
  scope.clause = 'DISTINCT ON';
  const found = clause.map((node) => sortTarget(node, select, targets));
  const expressions = clause.map(
    (node, i) => targets[found[i] ?? -1]?.expression ?? compileExpression(prepare(node), scope),
  );
  const isAmong = (key: Expression | undefined): boolean => expressions.some((each) => isSameExpression(each, key));
  const initial = sort.keys.slice(0, expressions.length);
  if (!initial.every(isAmong)) {
    throw new SqlError('42P10', 'SELECT DISTINCT ON expressions must match initial ORDER BY expressions');
  }
  const width = sort.keys.length;
  const types = expressions.map(({ type }) => type);
  // Its values travel behind the sort keys.
  sort.keys.push(...expressions);
  return { keyOf: ({ keys }) => rowKey(keys.slice(width), types, scope.dialect) };
}

function isSameExpression(a: Expression, b: Expression | undefined): boolean {
  if (a === b) return true;
  const [left, right] = [a.column, b?.column];
  return left !== undefined && right !== undefined && left.row === right.row && left.cell === right.cell;
}
