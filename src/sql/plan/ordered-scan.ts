/**
 * ORDER BY that the index answers by which a table is read: its rows come in order, and LIMIT ends the scan. Only where the index would be
 * taken without ORDER BY too, so that what a statement locks and what it is assumed to read by stay as they are.
 */
import { accessWays, type Access, wholeTable } from './access.ts';
import type { FromList } from './join.ts';
import type { Expression } from '../expression.ts';
import { engineRules } from '../dialect.ts';
import { backwards, directionOf as innodbDirection, orderColumns } from './ordered-access.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';
import { hasDefaultNulls, type SortOrder } from './sort.ts';
import { type Source, tableSource } from './source.ts';

interface Sort {
  readonly keys: readonly Expression[];
  readonly orders: readonly SortOrder[];
}

/** `null`: the rows have to be sorted. */
export function orderedSource({ nodes, conjuncts }: FromList, sort: Sort, planning: Planning): Source | null {
  const [leaf, another] = nodes;
  if (leaf === undefined || another !== undefined || leaf.kind !== 'leaf' || sort.keys.length === 0) return null;
  const { item } = leaf;
  if (item.table === null) return null;
  const ways = accessWays(item.table, item.row, conjuncts, () => false, planning.dialect);
  const access = planning.wayAmong(item.table, ways);
  if (engineRules[planning.dialect].isClustered) {
    // A table without an index to go by is read in the order of its primary key, and a list of keys in theirs.
    const { table } = item;
    const direction = innodbDirection(table, access, orderColumns(sort.keys, sort.orders, item.row));
    if (direction === null) return null;
    const inOrder: Access['paths'] = (frame) => {
      const paths = access?.paths(frame) ?? wholeTable;
      return direction === 'descending' ? backwards(table, paths) : paths;
    };
    return tableSource(table.id, item.row, inOrder, rowCondition(item, conjuncts, planning));
  }
  if (access === null || !access.isOneRange) return null;
  const isDescending = directionOf(access, item.row, sort, planning);
  if (isDescending === null) return null;
  const paths: Access['paths'] = (frame) =>
    access.paths(frame).map((path) => (path.kind === 'all' ? path : { ...path, isDescending }));
  return tableSource(item.table.id, item.row, paths, rowCondition(item, conjuncts, planning));
}

/** Is the index read backwards? `null`: its order is another one. */
function directionOf(
  { index, equalities }: Access,
  row: number,
  { keys, orders }: Sort,
  { dialect }: Planning,
): boolean | null {
  const fixed = index.parts.slice(0, equalities);
  const rest = index.parts.slice(equalities);
  let at = 0;
  let isDescending: boolean | null = null;
  for (const [i, { column }] of keys.entries()) {
    const order = orders[i];
    if (column === undefined || column.row !== row || order === undefined) return null;
    // A column that equals one value orders nothing.
    if (fixed.some(({ cell }) => cell === column.cell)) continue;
    if (rest[at]?.cell !== column.cell || !hasDefaultNulls(order, dialect)) return null;
    if (isDescending !== null && isDescending !== order.isDescending) return null;
    isDescending = order.isDescending;
    at += 1;
  }
  return isDescending ?? false;
}
