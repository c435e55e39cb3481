/** Finding and locking the rows that UPDATE and DELETE write to. */
import type { Node, RangeVar } from '@pgsql/types';
import type { Table } from '../catalog/relation.ts';
import { coerce, compileExpression } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import type { LockRequest, Row, Waiting } from '../storage.ts';
import { types } from '../type.ts';
import { type Access, chooseAccess, wholeTable } from './access.ts';
import { allOf, compileConjuncts, type Conjunct } from './conjunct.ts';
import { planFrom, tableItem } from './from.ts';
import { noAggregates, restore } from './grouping.ts';
import { type FromNode, planJoins } from './join.ts';
import { joined, namespaceOf, type RangeItem } from './namespace.ts';
import type { Running } from './planning.ts';
import type { QueryScope } from './scope.ts';
import { keyComparator, sortByOf, sortOrder } from './sort.ts';
import type { Source } from './source.ts';

export interface WriteTarget {
  readonly item: RangeItem;
  /** Locks the rows and gives the frame's rows for each: the row itself and those it was joined with. */
  readonly lock: (frame: Frame, running: Running, request: LockRequest) => Waiting<Frame['rows'][]>;
}

/** MySQL's ORDER BY and LIMIT of UPDATE and DELETE: which rows, in which order. */
export interface VisitOrder {
  readonly sort: readonly Node[];
  readonly count: Node | undefined;
}

export function planWriteTarget(
  table: Table,
  range: RangeVar,
  others: readonly Node[] | undefined,
  where: Node | undefined,
  order: VisitOrder | null,
  scope: QueryScope,
): WriteTarget {
  scope.collector = noAggregates(scope);
  const item = tableItem(range, table, scope);
  const from = planFrom(others, scope, namespaceOf(item));
  scope.namespace = joined(namespaceOf(item), from.namespace);
  scope.clause = 'WHERE';
  const conjuncts = [...from.conjuncts, ...compileConjuncts(where, scope)];
  if (order !== null) return { item, lock: lockInOrder(item, conjuncts, order, scope) };
  if (from.nodes.length === 0) return { item, lock: lockByPath(item, table, conjuncts, scope) };
  const leaf: FromNode = { kind: 'leaf', item, rowsOf: null, needs: new Set() };
  const source = planJoins({ nodes: [leaf, ...from.nodes], conjuncts }, scope.planning);
  return { item, lock: lockJoined(item, source, conjuncts) };
}

function lockByPath(
  item: RangeItem,
  table: Table,
  conjuncts: readonly Conjunct[],
  scope: QueryScope,
): WriteTarget['lock'] {
  const access: Access | null = chooseAccess(table, item.row, conjuncts, () => false, scope.dialect);
  scope.planning.notes.push(
    access === null ? `Seq Scan on ${item.name}` : `Index Scan using ${access.description} on ${item.name}`,
  );
  const where = allOf(conjuncts);
  return function* lock(frame, running, request) {
    const found: Frame['rows'][] = [];
    const matches = (row: Row): boolean => {
      frame.rows[item.row] = row;
      return where === null || where(frame);
    };
    const take = (row: Row): boolean => found.push([row]) > 0;
    for (const path of access === null ? wholeTable : access.paths(frame)) {
      yield* running.view.lock(table.id, path, matches, request, take);
    }
    return found;
  };
}

/** Each row once, with the first partner that the join finds; when the row has changed, the partner has to match still. */
function lockJoined(item: RangeItem, source: Source, conjuncts: readonly Conjunct[]): WriteTarget['lock'] {
  const where = allOf(conjuncts);
  return function* lock(frame, running, request) {
    const combinations: Frame['rows'][] = [];
    for (const _ of source(frame)) combinations.push([...frame.rows]);
    const seen = new Set<number>();
    const found: Frame['rows'][] = [];
    for (const rows of combinations) {
      const row = rows[item.row];
      if (row === null || row === undefined || seen.has(row.id)) continue;
      const matches = (candidate: Row): boolean => {
        restore(frame, rows, []);
        frame.rows[item.row] = candidate;
        return where === null || where(frame);
      };
      const locked = yield* running.view.lockRow(row, matches, request);
      if (locked === null) continue;
      seen.add(row.id);
      rows[item.row] = locked;
      found.push(rows);
    }
    return found;
  };
}

function lockInOrder(
  item: RangeItem,
  conjuncts: readonly Conjunct[],
  order: VisitOrder,
  scope: QueryScope,
): WriteTarget['lock'] {
  const leaf: FromNode = { kind: 'leaf', item, rowsOf: null, needs: new Set() };
  const source = planJoins({ nodes: [leaf], conjuncts }, scope.planning);
  const where = allOf(conjuncts);
  const sorts = order.sort.map(sortByOf);
  const keys: Expression[] = sorts.map(({ node }) => compileExpression(node, scope));
  const compare = keyComparator(
    sorts.map((sort, i) => sortOrder(sort, keys[i]?.type ?? types.text, scope.dialect)),
    scope.dialect,
  );
  const count =
    order.count === undefined
      ? null
      : coerce(compileExpression(order.count, scope, types.int8), types.int8, -1, 'assignment', scope);
  return function* lock(frame, running, request) {
    const rows: { row: Row; key: ReturnType<Expression['evaluate']>[] }[] = [];
    for (const _ of source(frame)) {
      const row = frame.rows[item.row];
      if (row !== null && row !== undefined) rows.push({ row, key: keys.map(({ evaluate }) => evaluate(frame)) });
    }
    rows.sort((a, b) => compare(a.key, b.key));
    const most = count === null ? Infinity : Number(count.evaluate(frame));
    const found: Frame['rows'][] = [];
    for (const { row } of rows) {
      if (found.length >= most) break;
      const matches = (candidate: Row): boolean => {
        frame.rows[item.row] = candidate;
        return where === null || where(frame);
      };
      const locked = yield* running.view.lockRow(row, matches, request);
      if (locked !== null) found.push([locked]);
    }
    return found;
  };
}
