/**
 * ORDER BY by the order of an index: the rows come sorted, and LIMIT ends the scan. A locking statement then locks no more.
 *
 * A SELECT that does not read current rows uses the order of the access that its conditions choose; where they choose none and LIMIT ends the scan, an
 * index that has the order. A locking statement on InnoDB chooses by the order, as MariaDB 10.11 does: SELECT takes such an index rather than sort, but
 * for what an index with all of its columns finds; UPDATE and DELETE only where they would read the whole table.
 */
import { primaryKey, type Table } from '../catalog/relation.ts';
import { type Dialect, engineRules, type AccessPath } from '../model/index.ts';
import type { Expression } from '../expression.ts';
import { covers, shortestWith } from './covering-index.ts';
import { type Access, accessWays, wholeIndex, wholeTable } from './access.ts';
import { firstRead, type FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { rowCondition } from './row-condition.ts';
import { hasDefaultNulls, type SortOrder } from './sort.ts';
import type { Source } from './cursor.ts';
import { tableSource } from './source.ts';

interface OrderColumn {
  readonly cell: number;
  readonly isDescending: boolean;
}

interface Sort {
  readonly keys: readonly Expression[];
  readonly orders: readonly SortOrder[];
}

/**
 * The rows of FROM's only table in the order of its access. `null`: they have to be sorted.
 * @param isLimited does LIMIT end the scan? Then an index that has the order is worth it where no condition chooses one.
 */
export function orderedSource(
  { nodes, conjuncts }: FromList,
  sort: Sort,
  isLimited: boolean,
  planning: Planning,
): Source | null {
  const [leaf, another] = nodes;
  if (leaf === undefined || another !== undefined || leaf.kind !== 'leaf' || sort.keys.length === 0) return null;
  const { item } = leaf;
  const { table } = item;
  if (table === null) return null;
  const { dialect } = planning;
  const order = orderColumns(sort, item.row, dialect);
  const own = accessWays(table, item.row, conjuncts, () => false, dialect);
  const ways = own[0] === null ? preferOrdered(table, own, order, isLimited, dialect) : own;
  // The access that the conditions choose has been noted by the unordered plan.
  const noted = ways === own ? planning.wayAmong(table, own) : planning.access(table, ways, false);
  const access = isLimited && own[0] !== null ? orderedInstead(table, noted, order, planning) : noted;
  const direction = directionOf(table, access, order, dialect);
  if (direction === null) return null;
  const inOrder: Access['paths'] = (frame) => {
    const paths = access?.paths(frame) ?? wholeTable;
    return direction === 'descending' ? backwards(table, paths) : paths;
  };
  return tableSource(table.id, item.row, inOrder, rowCondition(item, conjuncts, planning));
}

/** Do the rows of a join come in the order of ORDER BY, for the table that it begins with is read in it? */
export function joinsInOrder(list: FromList, sort: Sort, planning: Planning): boolean {
  const first = sort.keys.length === 0 ? null : firstRead(list, planning);
  if (first === null) return false;
  const { item, table, access } = first;
  if (access === null && shortestWith(item.cellsRead, table) !== null) return false;
  const order = orderColumns(sort, item.row, planning.dialect);
  return directionOf(table, access, order, planning.dialect) === 'ascending';
}

/** `null`: no index has this order, because it sorts by more than columns of this row or puts NULLs elsewhere. */
export function orderColumns({ keys, orders }: Sort, row: number, dialect: Dialect): readonly OrderColumn[] | null {
  const columns: OrderColumn[] = [];
  for (const [i, { column }] of keys.entries()) {
    const order = orders[i];
    if (column?.row !== row || order === undefined || !hasDefaultNulls(order, dialect)) return null;
    columns.push({ cell: column.cell, isDescending: order.isDescending });
  }
  return columns;
}

/**
 * The ways with one in order first, where the server prefers that.
 * @param isLimited does a LIMIT make it worth more than a condition?
 */
export function preferOrdered(
  table: Table,
  ways: readonly (Access | null)[],
  order: readonly OrderColumn[] | null,
  isLimited: boolean,
  dialect: Dialect,
): readonly (Access | null)[] {
  const [best = null] = ways;
  const isOrdered = (way: Access | null): boolean => directionOf(table, way, order, dialect) !== null;
  if (order === null || !isLimited || isOrdered(best)) return ways;
  const ordered = ways.find(isOrdered);
  if (ordered !== undefined) return [ordered, ...ways.filter((way) => way !== ordered)];
  const whole = wholeOrdered(table, isOrdered);
  return whole === undefined ? ways : [whole, ...ways];
}

/**
 * Of a locking SELECT on InnoDB: where an index that has all that the statement reads answers an equality, the server sorts what that finds rather than
 * read another index in order. MariaDB 10.11 did so for tables of up to some hundred rows; where nearly all of 1,000 rows matched, it read in order.
 * @param inOrder the ways as `preferOrdered` has them
 */
export function preferCovering(
  table: Table,
  [best = null]: readonly (Access | null)[],
  inOrder: readonly (Access | null)[],
  cellsRead: ReadonlySet<number>,
): readonly (Access | null)[] {
  if (best === null || best.constants === 0 || !covers(best.index, cellsRead, table)) return inOrder;
  return [best, ...inOrder.filter((way) => way !== best)];
}

/** PostgreSQL may read an index in order until LIMIT ends it, rather than what a condition opens: the primary key for `g = 1 ORDER BY id LIMIT 1`. */
function orderedInstead(
  table: Table,
  access: Access | null,
  order: readonly OrderColumn[] | null,
  planning: Planning,
): Access | null {
  const isOrdered = (way: Access | null): boolean => directionOf(table, way, order, planning.dialect) !== null;
  if (order === null || engineRules[planning.dialect].isClustered || isOrdered(access)) return access;
  const whole = wholeOrdered(table, isOrdered);
  if (whole === undefined) return access;
  const ways = ['by its conditions', `by index ${whole.index.name}`];
  return planning.choose(`${table.name} for ORDER BY`, ways, false) === 0 ? access : whole;
}

function wholeOrdered(table: Table, isOrdered: (way: Access) => boolean): Access | undefined {
  const indexes = table.indexes.filter(({ predicate }) => predicate === null);
  return indexes.map(wholeIndex).find(isOrdered);
}

/** Do the rows come in this order, forwards or backwards? `null`: neither. */
export function directionOf(
  table: Table,
  access: Access | null,
  order: readonly OrderColumn[] | null,
  dialect: Dialect,
): 'ascending' | 'descending' | null {
  if (order === null) return null;
  if (access?.isPoint === true) return 'ascending';
  const { isClustered } = engineRules[dialect];
  // PostgreSQL's heap has no order. Several ranges of one index are read in theirs by InnoDB alone.
  if (!isClustered && access?.isOneRange !== true) return null;
  const index = access?.index ?? primaryKey(table);
  const constants = access?.constants ?? 0;
  const fixed = new Set(index?.parts.slice(0, constants).flatMap(({ cell }) => (cell < 0 ? [] : cell)));
  const wanted = order.filter(({ cell }) => !fixed.has(cell));
  const [first] = wanted;
  if (first === undefined) return 'ascending';
  if (index === undefined) return null;
  // InnoDB's indexes hold the primary key behind their own columns.
  const behind = isClustered && !index.isPrimary ? (primaryKey(table)?.parts ?? []) : [];
  const places = [...index.parts.slice(constants), ...behind]
    .map(({ cell }) => cell)
    .filter((cell) => !fixed.has(cell));
  const fits = wanted.every(({ cell, isDescending }, i) => cell === places[i] && isDescending === first.isDescending);
  if (!fits) return null;
  return first.isDescending ? 'descending' : 'ascending';
}

/** From the end to the beginning. */
export function backwards(table: Table, paths: readonly AccessPath[]): readonly AccessPath[] {
  const primary = primaryKey(table);
  return paths.toReversed().map((path) => {
    if (path.kind === 'index') return { ...path, isDescending: true };
    return primary === undefined ? path : { kind: 'index', index: primary.id, prefix: [], isDescending: true };
  });
}
