/** ORDER BY and LIMIT. */
import type { Node, SelectStmt, SortBy } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import {
  type Dialect,
  engineRules,
  notSupported,
  SqlError,
  types,
  type SqlType,
  type SqlValue,
} from '../model/index.ts';
import { coerce, compileExpression } from '../expressions/index.ts';
import type { Expression, Frame } from '../expression.ts';
import { nullableComparator } from './access.ts';
import type { QueryScope } from './scope.ts';

export interface SortOrder {
  readonly type: SqlType;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

export function sortOrder(sort: SortBy, type: SqlType, dialect: Dialect): SortOrder {
  if (sort.sortby_dir === 'SORTBY_USING') throw notSupported('ORDER BY ... USING');
  const isDescending = sort.sortby_dir === 'SORTBY_DESC';
  const nulls = sort.sortby_nulls;
  const nullsFirst =
    nulls === 'SORTBY_NULLS_FIRST' || (nulls !== 'SORTBY_NULLS_LAST' && areNullsFirst(isDescending, dialect));
  return { type, isDescending, nullsFirst };
}

function areNullsFirst(isDescending: boolean, dialect: Dialect): boolean {
  return isDescending !== engineRules[dialect].nullsAreSmallest;
}

/** Are NULLs where an index has them, read forwards or backwards? */
export function hasDefaultNulls({ isDescending, nullsFirst }: SortOrder, dialect: Dialect): boolean {
  return nullsFirst === areNullsFirst(isDescending, dialect);
}

export function sortByOf(node: Node): SortBy & { readonly node: Node } {
  assert('SortBy' in node && node.SortBy.node !== undefined, 'ORDER BY is a list of expressions');
  return { ...node.SortBy, node: node.SortBy.node };
}

export type CompareKeys = (a: readonly SqlValue[], b: readonly SqlValue[]) => number;

export function keyComparator(orders: readonly SortOrder[], dialect: Dialect): CompareKeys {
  const compares = orders.map(({ type, isDescending, nullsFirst }) => {
    const compare = nullableComparator(type, dialect);
    return (a: SqlValue, b: SqlValue): number => {
      if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
      return isDescending ? -compare(a, b) : compare(a, b);
    };
  });
  return (a, b) => {
    for (let i = 0; i < compares.length; i++) {
      const order = compares[i]?.(a[i] ?? null, b[i] ?? null) ?? 0;
      if (order !== 0) return order;
    }
    return 0;
  };
}

export interface Limit {
  readonly offset: (frame: Frame) => number;
  /** Infinity: all. */
  readonly count: (frame: Frame) => number;
  /** Are both constants or parameters? Then they may be evaluated before the rows come. */
  readonly isGiven: boolean;
}

export function planLimit(select: SelectStmt, scope: QueryScope): Limit | null {
  const { limitCount, limitOffset, limitOption } = select;
  if (limitCount === undefined && limitOffset === undefined) return null;
  if (limitOption === 'LIMIT_OPTION_WITH_TIES') throw notSupported('FETCH FIRST ... WITH TIES');
  return {
    offset: bound(limitOffset, 'OFFSET', '2201X', 0, scope),
    count: bound(limitCount, 'LIMIT', '2201W', Infinity, scope),
    isGiven: [limitOffset, limitCount].every(isGiven),
  };
}

function isGiven(node: Node | undefined): boolean {
  return node === undefined || 'A_Const' in node || 'ParamRef' in node;
}

/** How many of the rows, in their order, can be needed; Infinity: all, or it is known later. */
export function rowsNeeded({ offset, count, isGiven: isKnown }: Limit, frame: Frame): number {
  if (!isKnown) return Infinity;
  try {
    return offset(frame) + count(frame);
  } catch (error) {
    // It is raised again when the rows have been read.
    if (error instanceof SqlError) return Infinity;
    throw error;
  }
}

function bound(
  node: Node | undefined,
  word: string,
  code: string,
  none: number,
  scope: QueryScope,
): (frame: Frame) => number {
  if (node === undefined) return () => none;
  scope.clause = word;
  const expression: Expression = coerce(
    compileExpression(node, scope, types.int8),
    types.int8,
    -1,
    'assignment',
    scope,
  );
  return (frame) => {
    const value = expression.evaluate(frame);
    if (value === null) return none;
    if ((value as bigint) < 0n) throw new SqlError(code, `${word} must not be negative`);
    return Number(value);
  };
}

export function* limited<T>(rows: Iterable<T>, limit: Limit | null, frame: Frame): Iterable<T> {
  if (limit === null) return yield* rows;
  let toSkip = limit.offset(frame);
  let left = limit.count(frame);
  if (left === 0) return;
  for (const row of rows) {
    if (toSkip > 0) {
      toSkip--;
      continue;
    }
    yield row;
    if (--left <= 0) return;
  }
}
