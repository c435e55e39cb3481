/** UNION, INTERSECT, EXCEPT; and ORDER BY, LIMIT over what has only output columns. */
import type { Node, SelectStmt } from '@pgsql/types';
import type { Frame } from '../expression.ts';
import type { Running } from '../execution.ts';
import { assert } from '../../base/index.ts';
import { type Dialect, engineRules, SqlError, type SqlType, types, rowKey } from '../model/index.ts';
import { commonNumber, commonSecondDigits } from '../expressions/index.ts';
import { newFrame, type OutputColumn, type PlannedQuery, type Values } from './query.ts';
import type { QueryScope } from './scope.ts';
import { convertRows } from './convert-rows.ts';
import { keyComparator, limited, planLimit, sortByOf, sortOrder } from './sort.ts';
import { columnNames, integerConstant } from './tree.ts';

export function planSetOperation(
  select: SelectStmt,
  scope: QueryScope,
  expected: readonly (SqlType | undefined)[],
): PlannedQuery {
  const { larg, rarg, op, all: isAll = false } = select;
  assert(larg !== undefined && rarg !== undefined, 'a set operation has two sides');
  const word = (op ?? '').replace('SETOP_', '');
  if (select.lockingClause !== undefined)
    throw new SqlError('0A000', `FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT`);
  const left = scope.planners.query(larg, scope.child('part'), expected);
  const right = scope.planners.query(rarg, scope.child('part'), expected);
  const isLocking = left.locking !== null || right.locking !== null;
  if (isLocking && !engineRules[scope.planning.dialect].locksInsideUnion)
    throw new SqlError('0A000', 'FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT');
  if (left.columns.length !== right.columns.length) {
    throw new SqlError('42601', `each ${word} query must have the same number of columns`);
  }
  const common = left.columns.map((column, i) =>
    commonNumber([column, right.columns[i] ?? column], word, scope.dialect),
  );
  const target = common.map(({ type }) => type);
  const leftRows = convertRows(isLocking ? readBefore(left) : left, target, scope);
  const rightRows = convertRows(isLocking ? readBefore(right) : right, target, scope);
  const keyOf = (row: Values): string => rowKey(row, target, scope.dialect);
  const combine = combiner(word, isAll, keyOf);
  const rows: PlannedQuery['rows'] = function* each(outer, running) {
    const frame = newFrame(0, running, outer);
    yield* combine(leftRows(frame, running), () => rightRows(frame, running));
  };
  const combined: PlannedQuery = {
    columns: left.columns.map((column, i) => ({
      ...column,
      ...common[i],
      modifier: sameModifier(column, right.columns[i], scope.dialect),
      isNullable: true,
      origin: null,
    })),
    rows,
    hasRow: null,
    locking: isLocking ? lockingSides(left, right, rows) : null,
    get isCorrelated() {
      return scope.reachesOut;
    },
    metNoRow: (running) => left.metNoRow?.(running) === true && right.metNoRow?.(running) === true,
  };
  return planSorted(select, combined, scope);
}

/** What `lockingSides` has read. */
function readBefore(side: PlannedQuery): Pick<PlannedQuery, 'columns' | 'rows'> {
  return { columns: side.columns, rows: (_outer, running) => running.kept.get(side) as Values[] };
}

/** MySQL: reads both sides whole, one after the other, and each locks for itself. */
function lockingSides(
  left: PlannedQuery,
  right: PlannedQuery,
  rows: PlannedQuery['rows'],
): NonNullable<PlannedQuery['locking']> {
  return function* lockBoth(outer, running) {
    const frame = newFrame(0, running, outer);
    for (const side of [left, right]) {
      const found = side.locking === null ? [...side.rows(frame, running)] : yield* side.locking(frame, running);
      running.kept.set(side, found);
    }
    return [...rows(outer, running)];
  };
}

/** A length or scale is the result's where both sides have it, and one type. */
function sameModifier(left: OutputColumn, right: OutputColumn | undefined, dialect: Dialect): number {
  const digits = right === undefined ? -1 : commonSecondDigits([left, right], dialect);
  if (digits >= 0) return digits;
  const isSame = right !== undefined && left.type.oid === right.type.oid && left.modifier === right.modifier;
  return isSame ? left.modifier : -1;
}

type Combine = (left: Iterable<Values>, right: () => Iterable<Values>) => Iterable<Values>;

function combiner(word: string, isAll: boolean, keyOf: (row: Values) => string): Combine {
  if (word === 'UNION') {
    return function* union(left, right) {
      const seen = new Set<string>();
      for (const rows of [left, right()]) {
        for (const row of rows) {
          if (!isAll) {
            const key = keyOf(row);
            if (seen.has(key)) continue;
            seen.add(key);
          }
          yield row;
        }
      }
    };
  }
  const isExcept = word === 'EXCEPT';
  return function* compare(left, right) {
    const counts = new Map<string, number>();
    for (const row of right()) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
    const seen = new Set<string>();
    for (const row of left) {
      const key = keyOf(row);
      const count = counts.get(key) ?? 0;
      if (isAll) {
        counts.set(key, count - 1);
        if (count > 0 !== isExcept) yield row;
      } else if (count > 0 !== isExcept && !seen.has(key)) {
        seen.add(key);
        yield row;
      }
    }
  };
}

/** ORDER BY with names and numbers of output columns only, and LIMIT. */
export function planSorted(select: SelectStmt, query: PlannedQuery, scope: QueryScope): PlannedQuery {
  const sorts = (select.sortClause ?? []).map(sortByOf);
  const limit = planLimit(select, scope);
  if (sorts.length === 0 && limit === null) return query;
  const positions = sorts.map(({ node }) => outputPosition(node, query));
  const orders = sorts.map((sort, i) =>
    sortOrder(sort, query.columns[positions[i] ?? 0]?.type ?? types.text, scope.dialect),
  );
  const compare = keyComparator(orders, scope.dialect);
  const keysOf = (row: Values): Values => positions.map((position) => row[position] ?? null);
  const arranged = (rows: Iterable<Values>, outer: Frame | null, running: Running): Iterable<Values> => {
    const keyed = sorts.length === 0 ? null : [...rows].map((row) => ({ row, keys: keysOf(row) }));
    const sorted = keyed?.toSorted((a, b) => compare(a.keys, b.keys)).map(({ row }) => row);
    return limited(sorted ?? rows, limit, newFrame(0, running, outer));
  };
  const { locking } = query;
  return {
    ...query,
    get isCorrelated() {
      return query.isCorrelated || scope.reachesOut;
    },
    rows: (outer, running) => arranged(query.rows(outer, running), outer, running),
    locking:
      locking === null
        ? null
        : function* lockFirst(outer, running) {
            return [...arranged(yield* locking(outer, running), outer, running)];
          },
  };
}

function outputPosition(node: Node, { columns }: PlannedQuery): number {
  const ordinal = integerConstant(node);
  if (ordinal !== undefined) {
    if (ordinal < 1 || ordinal > columns.length) {
      throw new SqlError('42P10', `ORDER BY position ${ordinal} is not in select list`);
    }
    return ordinal - 1;
  }
  const [name, another] = columnNames(node) ?? [];
  const position = another === undefined ? columns.findIndex((column) => column.name === name) : -1;
  if (position >= 0) return position;
  if (name !== undefined) throw new SqlError('42703', `column "${another ?? name}" does not exist`);
  throw new SqlError('0A000', 'invalid UNION/INTERSECT/EXCEPT ORDER BY clause', {
    detail: 'Only result column names can be used, not expressions or functions.',
    hint: 'Add the expression/function to every SELECT, or move the UNION into a FROM clause.',
  });
}
