/**
 * EXISTS (SELECT ... FROM t WHERE t.c = outer.d AND conditions of t alone), asked for one row of the query around after the other. Each time the
 * subquery looks the value up in an index of t, or reads t. After enough of that it reads t once and keeps the values of c, and the rest is compared
 * with these, as a hashed semi-join of a server is. t is read where the subquery would not have looked, so this happens only where no one observes which
 * rows a statement reads, and by conditions that cannot fail.
 */
import type { Node } from '@pgsql/types';
import type { Table } from '../catalog/relation.ts';
import type { Frame } from '../expression.ts';
import { isIdentity, isSameType, type SqlValue } from '../model/index.ts';
import { wholeTable } from './access.ts';
import type { Comparison, Conjunct } from './conjunct.ts';
import { forEachRow, type Source } from './cursor.ts';
import { cellOf, type FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { newFrame, type PlannedQuery } from './query.ts';
import { rowCondition } from './row-condition.ts';
import { tableSource } from './source.ts';
import { columnNames, operatorOf } from './tree.ts';
import type { Running } from '../execution.ts';

type RowTest = NonNullable<PlannedQuery['hasRow']>;

/** A look-up costs as much as reading so many rows of a table one after the other. */
const rowsPerLookUp = 8;

interface SemiJoin {
  readonly table: Table;
  readonly row: number;
  readonly cell: number;
  /** Of the query around. */
  readonly valueOf: (frame: Frame) => SqlValue;
  /** The rows of the table that satisfy its own conditions. */
  readonly build: Source;
  readonly isIndexed: boolean;
}

/** What one statement has of it. */
interface Progress {
  readonly frame: Frame;
  asked: number;
  /** `null`: the subquery is asked still. */
  values: ReadonlySet<SqlValue> | null;
}

/** The same test, by the values of a column where that is cheaper. @param ask asks the subquery for one row around */
export function semiJoinTest(
  list: FromList,
  rowCount: () => number,
  ask: PlannedQuery['hasRow'],
  planning: Planning,
): PlannedQuery['hasRow'] {
  const join = ask === null ? null : semiJoinOf(list, planning);
  return ask === null || join === null ? ask : testBy(join, rowCount, ask);
}

function testBy(join: SemiJoin, rowCount: () => number, ask: RowTest): RowTest {
  return (outer, running) => {
    const tableRows = running.view.unobservedRows?.(join.table.id) ?? null;
    if (outer === null || tableRows === null) return ask(outer, running);
    const progress = progressOf(join, rowCount, outer, running);
    if (progress.values === null) {
      progress.asked += 1;
      if (progress.asked * (join.isIndexed ? rowsPerLookUp : tableRows) <= tableRows) return ask(outer, running);
      progress.values = valuesOf(join, progress.frame);
    }
    const value = join.valueOf(progress.frame);
    return value !== null && progress.values.has(value);
  };
}

function progressOf(join: SemiJoin, rowCount: () => number, outer: Frame, running: Running): Progress {
  const known = running.kept.get(join) as Progress | undefined;
  if (known?.frame.outer === outer) return known;
  const frame = newFrame(rowCount(), running, outer);
  const progress: Progress = { frame, asked: known?.asked ?? 0, values: known?.values ?? null };
  running.kept.set(join, progress);
  return progress;
}

function valuesOf({ row, cell, build }: SemiJoin, frame: Frame): ReadonlySet<SqlValue> {
  const values = new Set<SqlValue>();
  forEachRow(build, frame, () => {
    const value = cellOf(frame, row, cell);
    if (value !== null) values.add(value);
  });
  return values;
}

/** `null`: the subquery has another form. */
function semiJoinOf({ nodes, conjuncts }: FromList, planning: Planning): SemiJoin | null {
  const [leaf, another] = nodes;
  if (leaf?.kind !== 'leaf' || leaf.item.table === null || another !== undefined) return null;
  const { item } = leaf;
  const { table, row } = leaf.item;
  const own = conjuncts.filter((conjunct) => isOwn(conjunct, row));
  const [outward, more] = conjuncts.filter((conjunct) => !own.includes(conjunct));
  const comparison = outward === undefined || more !== undefined ? null : outwardEquality(outward, row, planning);
  const [value] = comparison?.values ?? [];
  if (comparison === null || value === undefined) return null;
  return {
    table,
    row,
    cell: comparison.cell,
    valueOf: value.evaluate,
    build: tableSource(table.id, row, () => wholeTable, rowCondition(item, own, planning)),
    isIndexed: table.indexes.some(({ parts, predicate }) => predicate === null && parts[0]?.cell === comparison.cell),
  };
}

/** A column of the table equals one of the query around, and equal values of both are the same value. */
function outwardEquality({ node, comparisons }: Conjunct, row: number, { dialect }: Planning): Comparison | null {
  if (
    !('A_Expr' in node) ||
    columnNames(node.A_Expr.lexpr) === undefined ||
    columnNames(node.A_Expr.rexpr) === undefined
  )
    return null;
  const found = comparisons.find((each) => each.kind === '=' && each.row === row && each.cell >= 0);
  const [value] = found?.values ?? [];
  if (found === undefined || value === undefined || found.uses.size > 0) return null;
  return isIdentity(found.type, dialect) && isSameType(found.type, value.type) ? found : null;
}

/** Does it compare columns of the table with constants alone? No value of them makes that fail. */
function isOwn({ node, uses }: Conjunct, row: number): boolean {
  if (!uses.has(row)) return false;
  if ('NullTest' in node) return node.NullTest.arg !== undefined && columnNames(node.NullTest.arg) !== undefined;
  if (!('A_Expr' in node)) return false;
  const { kind, lexpr, rexpr } = node.A_Expr;
  const isComparison = kind === 'AEXPR_OP' && comparisons.has(operatorOf(node.A_Expr));
  if (!isComparison && kind !== 'AEXPR_IN' && kind !== 'AEXPR_BETWEEN') return false;
  return columnNames(lexpr) === undefined ? isConstant(lexpr) && columnNames(rexpr) !== undefined : isConstant(rexpr);
}

const comparisons: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);

function isConstant(node: Node | undefined): boolean {
  if (node === undefined) return false;
  if ('List' in node) return (node.List.items ?? []).every(isConstant);
  return 'A_Const' in node || 'ParamRef' in node;
}
