/**
 * A WHERE that no row satisfies, whatever the rows: it is seen before the first one is read, and then none is read or locked. Conditions that look
 * at no row are evaluated first, subqueries too (PostgreSQL's one-time filter, MariaDB's `remove_eq_conds`). MariaDB also compares the conditions on
 * a column that an index has with each other (`test_quick_select`), and in a SELECT all that say what a column equals (`Item_equal`).
 */
import type { Node } from '@pgsql/types';
import { type Column, columnAtCell, type Table } from '../catalog/relation.ts';
import { type Dialect, engineRules, type SqlType, type SqlValue } from '../model/index.ts';
import type { Frame } from '../expression.ts';
import { nullableComparator } from './access.ts';
import { boundConversion } from './bound.ts';
import { allOf, type Comparison, type Conjunct } from './conjunct.ts';
import type { FromList } from './join.ts';
import type { Planning } from './planning.ts';
import { generated, rowsOf, type Source } from './cursor.ts';
import { someNode } from './tree.ts';

/** `write`: an UPDATE or DELETE of one table; those of joins are planned as a SELECT is. */
export type WhereOf = 'select' | 'write';

/** May some row satisfy the condition? `null`: that depends on the rows. */
export function possible(
  { nodes, conjuncts }: FromList,
  whereOf: WhereOf,
  planning: Planning,
): ((frame: Frame) => boolean) | null {
  const constant = allOf(constantConjuncts(conjuncts, whereOf, planning));
  const tests: ((frame: Frame) => boolean)[] = constant === null ? [] : [constant];
  if (engineRules[planning.dialect].comparesConditions) {
    for (const node of nodes) {
      const table = node.kind === 'leaf' ? node.item.table : null;
      if (node.kind === 'leaf' && table !== null)
        tests.push(...columnTests(table, node.item.row, conjuncts, whereOf, planning));
    }
  }
  return tests.length === 0 ? null : (frame) => tests.every((test) => test(frame));
}

/** Makes the source of a SELECT's rows one that reads none where no row can satisfy the condition. */
export function guardOf(list: FromList, planning: Planning): (source: Source) => Source {
  const isPossible = list.nodes.length === 0 ? null : possible(list, 'select', planning);
  if (isPossible === null) return (source) => source;
  return (source) =>
    generated(function* guarded(frame) {
      if (isPossible(frame)) yield* rowsOf(source, frame);
    });
}

function constantConjuncts(conjuncts: readonly Conjunct[], whereOf: WhereOf, { dialect }: Planning): Conjunct[] {
  const { evaluatesFirst } = engineRules[dialect];
  const isFirst = (node: Node): boolean =>
    whereOf === 'select' || evaluatesFirst === 'all' || conjuncts.length === 1 || isEvaluatedAlone(node);
  return conjuncts.filter(({ expression, node }) => expression.isRowFree && isFirst(node));
}

/** In a longer WHERE of an UPDATE or DELETE MariaDB evaluates a subquery first only as the operand of EXISTS or IN, and not below NOT. */
function isEvaluatedAlone(node: Node): boolean {
  if ('SubLink' in node)
    return node.SubLink.subLinkType === 'EXISTS_SUBLINK' || node.SubLink.subLinkType === 'ANY_SUBLINK';
  if ('BoolExpr' in node && node.BoolExpr.boolop !== 'NOT_EXPR')
    return (node.BoolExpr.args ?? []).every(isEvaluatedAlone);
  return !someNode(node, (part) => 'SubLink' in part);
}

/** One test for each column of which the conditions say enough. */
function columnTests(
  table: Table,
  row: number,
  conjuncts: readonly Conjunct[],
  whereOf: WhereOf,
  planning: Planning,
): ((frame: Frame) => boolean)[] {
  const known = conjuncts
    .flatMap(({ comparisons }) => comparisons)
    .filter((each) => each.row === row && each.cell >= 0 && each.values.every(({ isRowFree }) => isRowFree));
  const indexed = new Set(table.indexes.flatMap(({ parts }) => parts.map(({ cell }) => cell)));
  return [...new Set(known.map(({ cell }) => cell))].flatMap((cell) => {
    const column = columnAtCell(table, cell);
    const isIndexed = indexed.has(cell);
    if (column === undefined || (whereOf === 'write' && !isIndexed)) return [];
    const own = known.filter((each) => each.cell === cell);
    return [columnTest(own, column, isIndexed, planning)];
  });
}

interface Side {
  readonly kind: Comparison['kind'];
  /** Converted to the column's type. `null`: a comparison with NULL. `undefined`: the type has no such value. */
  readonly values: readonly (SqlValue | undefined)[];
}

/** Is there a value of the column that satisfies all of them? Without an index they are compared only where one of them says what it equals. */
function columnTest(
  comparisons: readonly Comparison[],
  { type, isNotNull }: Pick<Column, 'type' | 'isNotNull'>,
  isIndexed: boolean,
  { dialect }: Planning,
): (frame: Frame) => boolean {
  const asksForNull = comparisons.some(({ kind }) => kind === 'is null');
  if (asksForNull && isNotNull) return () => false;
  const readers = comparisons.flatMap((each) => sideReader(each, type, dialect) ?? []);
  // The server compares decimal columns with whole numbers row by row.
  if (readers.length === 0 || (!isIndexed && type.name === 'numeric')) return () => true;
  const compare = nullableComparator(type, dialect);
  return (frame) => {
    const all = readers.map((read) => read(frame));
    const sides = isIndexed ? all : all.filter(({ values }) => !values.includes(null));
    if (!isIndexed && !sides.some(({ kind }) => kind === '=')) return true;
    return !asksForNull && isSatisfiable(sides, compare);
  };
}

function sideReader({ kind, values }: Comparison, type: SqlType, dialect: Dialect): ((frame: Frame) => Side) | null {
  if (kind === 'is null' || kind === 'any' || kind === 'member') return null;
  const conversions = values.map((value) => boundConversion(type, value.type, dialect));
  if (conversions.includes(null)) return null;
  return (frame) => ({
    kind,
    values: values.map(({ evaluate }, i) => {
      const value = evaluate(frame);
      return value === null ? null : conversions[i]?.(value);
    }),
  });
}

type Compare = (a: SqlValue, b: SqlValue) => number;

function isSatisfiable(sides: readonly Side[], compare: Compare): boolean {
  const [list, ...others] = sides.filter(({ kind }) => kind === '=' || kind === 'in');
  const bounds = sides.filter(({ kind }) => kind !== '=' && kind !== 'in');
  if (bounds.some(({ values: [bound] }) => bound === null)) return false;
  if (list === undefined) return bounds.every((low) => bounds.every((high) => !isEmpty(low, high, compare)));
  const isEqual = (a: SqlValue, b: SqlValue | undefined): boolean =>
    b === undefined || (b !== null && compare(a, b) === 0);
  return list.values.some((value) => {
    if (value === null || value === undefined) return value === undefined;
    return (
      others.every(({ values }) => values.some((other) => isEqual(value, other))) &&
      bounds.every((bound) => isWithin(value, bound, compare))
    );
  });
}

function isWithin(value: SqlValue, { kind, values: [bound] }: Side, compare: Compare): boolean {
  if (bound === undefined) return true;
  const order = compare(value, bound);
  return order === 0 ? kind.endsWith('=') : order < 0 === kind.startsWith('<');
}

function isEmpty({ kind: from, values: [low] }: Side, { kind: to, values: [high] }: Side, compare: Compare): boolean {
  if (!from.startsWith('>') || !to.startsWith('<') || low === undefined || high === undefined) return false;
  const order = compare(low, high);
  return order > 0 || (order === 0 && !(from.endsWith('=') && to.endsWith('=')));
}
