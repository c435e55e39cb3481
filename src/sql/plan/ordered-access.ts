/**
 * ORDER BY by the order of an index: a locking statement with LIMIT then stops at its last row, and locks no more. As MariaDB 10.11 chooses: SELECT
 * takes such an index rather than sort, UPDATE and DELETE only where they would read the whole table.
 */
import type { Index, Table } from '../catalog/relation.ts';
import { primaryKey } from '../catalog/relation.ts';
import type { Expression } from '../expression.ts';
import type { AccessPath } from '../storage.ts';
import type { Access } from './access.ts';
import type { SortOrder } from './sort.ts';

interface OrderColumn {
  readonly cell: number;
  readonly isDescending: boolean;
}

/** `null`: it is sorted by more than columns of this row. */
export function orderColumns(
  keys: readonly Expression[],
  orders: readonly SortOrder[],
  row: number,
): readonly OrderColumn[] | null {
  const columns: OrderColumn[] = [];
  for (const [i, { column }] of keys.entries()) {
    const { isDescending, nullsFirst } = orders[i] ?? {};
    // The index has NULLs first.
    if (column?.row !== row || isDescending === undefined || nullsFirst === isDescending) return null;
    columns.push({ cell: column.cell, isDescending });
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
): readonly (Access | null)[] {
  const [best = null] = ways;
  if (order === null || !isLimited || directionOf(table, best, order) !== null) return ways;
  const ordered = ways.find((way) => directionOf(table, way, order) !== null);
  if (ordered !== undefined) return [ordered, ...ways.filter((way) => way !== ordered)];
  const whole = table.indexes.map(wholeIndex).find((way) => directionOf(table, way, order) !== null);
  return whole === undefined ? ways : [whole, ...ways];
}

/** All rows in the order of an index. */
export function wholeIndex(index: Index): Access {
  const path: AccessPath = { kind: 'index', index: index.id, prefix: [], isDescending: false };
  const paths = index.predicate === null ? [path] : [];
  return { paths: () => paths, isPoint: false, isOneRange: true, equalities: 0, constants: 0, condition: '', index };
}

/** Do the rows come in this order, forwards or backwards? `null`: neither. */
export function directionOf(
  table: Table,
  access: Access | null,
  order: readonly OrderColumn[] | null,
): 'ascending' | 'descending' | null {
  if (order === null) return null;
  if (access?.isPoint === true) return 'ascending';
  const index = access?.index ?? primaryKey(table);
  const constants = access?.constants ?? 0;
  const fixed = new Set(index?.parts.slice(0, constants).map(({ cell }) => cell));
  const wanted = order.filter(({ cell }) => !fixed.has(cell));
  const [first] = wanted;
  if (first === undefined) return 'ascending';
  if (index === undefined || index.predicate !== null) return null;
  // InnoDB's indexes hold the primary key behind their own columns.
  const behind = index.isPrimary ? [] : (primaryKey(table)?.parts ?? []);
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
