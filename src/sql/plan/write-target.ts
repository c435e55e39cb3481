/** Finding and locking the rows that UPDATE and DELETE write to, and writing each when it is locked. */
import type { Node } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { engineRules, type LockRequest, type Row, type Waiting, types } from '../model/index.ts';
import { columnNamed, type Index, type Table } from '../catalog/relation.ts';
import { coerce, compileExpression } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import type { MysqlDelete, MysqlUpdate, VisitedRows } from '../tree/mysql.ts';
import { type Access, accessWays, indexStep, wholeTable } from './access.ts';
import { compileConjuncts, type Conjunct } from './conjunct.ts';
import { withoutDerivedComparisons } from './derived-comparison.ts';
import { constantTablesOf } from './find-constant-tables.ts';
import { planFrom, tableItem } from './from.ts';
import { noAggregates } from './grouping.ts';
import { guardOf, possible } from './impossible.ts';
import { type FromList, type FromNode, planJoins } from './join.ts';
import { withLookUps } from './membership.ts';
import { joined, namespaceOf, type RangeItem } from './namespace.ts';
import { backwards, directionOf, orderColumns, preferOrdered } from './ordered-access.ts';
import { matchesBeside, planRecheck, rechecked, type RecheckPlan } from './recheck.ts';
import { rowCondition } from './row-condition.ts';
import { keptLocks } from './self-reading.ts';
import type { QueryScope } from './scope.ts';
import { keyComparator, sortByOf, sortOrder } from './sort.ts';
import { forEachRow, type Source } from './cursor.ts';
import { conjunctsOf } from './tree.ts';
import type { Running } from '../execution.ts';
import { restore } from './query.ts';

export interface WriteTarget {
  readonly item: RangeItem;
  /** The index that it finds them by. */
  readonly index: Index | null;
  /** Locks the rows one after the other and writes each before the next, as the engines do. */
  readonly visit: (frame: Frame, running: Running, visit: Visit) => Waiting<void>;
}

export interface Visit {
  readonly request: LockRequest;
  /** All rows are locked before the first is written: InnoDB does so when the write moves rows in the index it finds them by. */
  readonly collects: boolean;
  /** Is given the frame's rows: the row itself and those it was joined with. */
  readonly write: (rows: Frame['rows']) => Waiting<void>;
}

/** In which order rows are visited, and how many. */
export interface VisitOrder extends VisitedRows {
  /** The columns that UPDATE assigns: rows are not found along an index that it changes. */
  readonly changes: readonly string[];
}

export function planWriteTarget(
  table: Table,
  { relation: range, whereClause: where, writtenItem }: MysqlUpdate | MysqlDelete,
  others: readonly Node[] | undefined,
  order: VisitOrder | null,
  scope: QueryScope,
): WriteTarget {
  assert(range !== undefined, 'a statement that writes names a table');
  scope.collector = noAggregates(scope);
  if (writtenItem !== undefined) return amongJoined(writtenItem, others, where, scope);
  const item = tableItem(range, table, scope);
  const from = planFrom(others, scope, namespaceOf(item));
  scope.namespace = joined(namespaceOf(item), from.namespace);
  scope.clause = 'WHERE';
  const nodes = from.nodes.length === 0 ? withLookUps(where, item, scope) : conjunctsOf(where);
  const conjuncts = [...from.conjuncts, ...nodes.flatMap((node) => compileConjuncts(node, scope))];
  const leaf: FromNode = { kind: 'leaf', item, rowsOf: null, needs: new Set() };
  const list = { nodes: [leaf, ...from.nodes], conjuncts };
  if (from.nodes.length > 0) return joinedTarget(item, list, scope);
  const target = order === null ? byPath(item, table, conjuncts, scope) : inOrder(item, table, conjuncts, order, scope);
  return whilePossible(target, possible(list, 'write', scope.planning));
}

function whilePossible(target: WriteTarget, isPossible: ReturnType<typeof possible>): WriteTarget {
  if (isPossible === null) return target;
  return {
    ...target,
    *visit(frame, running, visit) {
      if (isPossible(frame)) yield* target.visit(frame, running, visit);
    },
  };
}

function joinedTarget(item: RangeItem, list: FromList, { planning, constants }: QueryScope): WriteTarget {
  item.isWritten = true;
  constants.add(constantTablesOf(list, planning));
  planning.locksReads = true;
  const source = guardOf(list, planning)(planJoins(list, planning));
  return { item, index: null, visit: visitJoined(item, source, planRecheck(list.conjuncts, false, planning)) };
}

/** MySQL's UPDATE and DELETE of a table in an outer join: the rows of this item of the join are written to. */
function amongJoined(
  name: string,
  others: readonly Node[] | undefined,
  where: Node | undefined,
  scope: QueryScope,
): WriteTarget {
  const from = planFrom(others, scope);
  const item = from.namespace.items.find((each) => each.name === name);
  assert(item !== undefined, 'the front end names an item of the join');
  scope.namespace = from.namespace;
  scope.clause = 'WHERE';
  const conjuncts = [...from.conjuncts, ...conjunctsOf(where).flatMap((node) => compileConjuncts(node, scope))];
  return joinedTarget(item, { nodes: from.nodes, conjuncts }, scope);
}

function byPath(item: RangeItem, table: Table, conjuncts: readonly Conjunct[], scope: QueryScope): WriteTarget {
  const ways = waysTo(table, item, conjuncts, scope);
  const access = scope.planning.access(table, ways, true);
  scope.planning.steps.push(
    access === null ? { nodeType: 'Seq Scan', relation: item.name } : indexStep(access, item.name),
  );
  const conditionIn = rowCondition(item, conjuncts, scope.planning);
  const recheck = planRecheck(conjuncts, access?.isPoint === true, scope.planning);
  const kept = keptLocks(item, table, conjuncts, scope);
  if (kept !== null) scope.planning.locksReads = true;
  return {
    item,
    index: access?.index ?? null,
    *visit(frame, running, { request, collects, write }) {
      const found: Row[] = [];
      const matching = rechecked(conditionIn(frame), item, recheck, frame);
      const condition = kept === null ? matching : { ...matching, keepsLock: kept(frame, request.purpose) };
      const take = collects
        ? (row: Row): boolean => found.push(row) > 0
        : function* writeAtOnce(row: Row): Waiting<boolean> {
            yield* write([row]);
            return true;
          };
      for (const path of access === null ? wholeTable : access.paths(frame)) {
        yield* running.view.lock(table.id, path, condition, request, take);
      }
      for (const row of found) yield* write([row]);
    },
  };
}

function waysTo(
  table: Table,
  item: RangeItem,
  conjuncts: readonly Conjunct[],
  { dialect }: QueryScope,
): ReturnType<typeof accessWays> {
  const usable = engineRules[dialect].looksUpDerived ? conjuncts : withoutDerivedComparisons(conjuncts);
  return accessWays(table, item.row, usable, () => false, dialect);
}

/** Each row once, with the first partner that the join finds; when the row has changed, the partner has to match still. */
function visitJoined(item: RangeItem, source: Source, recheck: RecheckPlan): WriteTarget['visit'] {
  return function* visit(frame, running, { request, write }) {
    const combinations: Frame['rows'][] = [];
    forEachRow(source, frame, () => combinations.push([...frame.rows]));
    const seen = new Set<number>();
    for (const rows of combinations) {
      const row = rows[item.row];
      if (row === null || row === undefined || seen.has(row.id)) continue;
      const matches = matchesBeside(rows, item.row, recheck, frame);
      // The strength of the lock depends on the values that this combination assigns.
      restore(frame, rows, []);
      const locked = yield* running.view.lockRow(row, matches, request);
      if (locked === null) continue;
      seen.add(row.id);
      rows[item.row] = locked;
      yield* write(rows);
    }
  };
}

function inOrder(
  item: RangeItem,
  table: Table,
  conjuncts: readonly Conjunct[],
  order: VisitOrder,
  scope: QueryScope,
): WriteTarget {
  const sorts = order.sortClause.map(sortByOf);
  const keys: Expression[] = sorts.map(({ node }) => compileExpression(node, scope));
  const orders = sorts.map((sort, i) => sortOrder(sort, keys[i]?.type ?? types.text, scope.dialect));
  const compare = keyComparator(orders, scope.dialect);
  const count =
    order.limitCount === undefined
      ? null
      : coerce(compileExpression(order.limitCount, scope, types.int8), types.int8, -1, 'assignment', scope);
  const columns = orderColumns({ keys, orders }, item.row, scope.dialect);
  const ways = waysTo(table, item, conjuncts, scope);
  const changed = columnsNamed(table, order.changes, scope.dialect);
  const isFree = !(columns ?? []).some(({ cell }) => changed.has(cell));
  const readsAll = ways[0] === null && count !== null && isFree;
  const access = scope.planning.access(table, preferOrdered(table, ways, columns, readsAll, scope.dialect), true);
  scope.planning.steps.push(
    access === null ? { nodeType: 'Seq Scan', relation: item.name } : indexStep(access, item.name),
  );
  // MariaDB reads a whole table in order for LIMIT only, and sorts first when the order changes.
  const isSorted = access !== null || (count !== null && isFree);
  // In IS NULL it sees no constant: `TABLE::update_const_key_parts`.
  const known = access === null ? null : { ...access, constants: access.values };
  const direction = isSorted ? directionOf(table, known, columns, scope.dialect) : null;
  const conditionIn = rowCondition(item, conjuncts, scope.planning);
  const sortsByMore = !(columns !== null && isConstant(columns, access));
  return {
    item,
    index: access?.index ?? null,
    *visit(frame, running, { request, collects, write }) {
      // MariaDB's UPDATE, unlike its DELETE, finds all rows first where it has an ORDER BY, sorted or not.
      const isBuffered = collects || (request.purpose === 'update' && sortsByMore);
      const most = count === null ? Infinity : Number(count.evaluate(frame));
      const found: { readonly row: Row; readonly key: ReturnType<Expression['evaluate']>[] }[] = [];
      let reached = 0;
      const collect = (row: Row): boolean => {
        frame.rows[item.row] = row;
        found.push({ row, key: keys.map(({ evaluate }) => evaluate(frame)) });
        return direction === null || found.length < most;
      };
      function* writeAtOnce(row: Row): Waiting<boolean> {
        reached += 1;
        yield* write([row]);
        return reached < most;
      }
      const take = direction === null || isBuffered ? collect : writeAtOnce;
      const reading: LockRequest = direction === null ? { ...request, purpose: 'sort' } : request;
      const condition = conditionIn(frame);
      const paths = access?.paths(frame) ?? wholeTable;
      for (const path of direction === 'descending' ? backwards(table, paths) : paths) {
        if (most > 0 && (direction === null || Math.max(reached, found.length) < most))
          yield* running.view.lock(table.id, path, condition, reading, take);
      }
      if (direction === null) found.sort((a, b) => compare(a.key, b.key));
      for (const { row } of found.slice(0, most)) yield* write([row]);
      const isOpen = sorts.length === 0 && !ways.some((way) => way?.isPoint === true);
      if (isOpen && Math.max(reached, found.length) >= most) running.onOpenRows?.('limit');
    },
  };
}

/** Equal in every row that the access finds. */
function isConstant(columns: NonNullable<ReturnType<typeof orderColumns>>, access: Access | null): boolean {
  const fixed = access?.index.parts.slice(0, access.constants).map(({ cell }) => cell) ?? [];
  return columns.every(({ cell }) => fixed.includes(cell));
}

function columnsNamed(table: Table, names: readonly string[], dialect: QueryScope['dialect']): ReadonlySet<number> {
  return new Set(names.flatMap((name) => columnNamed(table, name, dialect)?.cell ?? []));
}
