/** What the storage has to know of a table: its cells and the keys of its indexes. */
import { AssertionFailure } from '../../base/index.ts';
import { hashReader, type IndexShape, type TableShape, type SqlValue } from '../model/index.ts';
import { type Index, primaryKey, type Table } from '../catalog/relation.ts';
import { compileExpression } from '../expressions/index.ts';
import type { Expression } from '../expression.ts';
import { nullableComparator } from '../plan/access.ts';
import { noAggregates } from '../plan/grouping.ts';
import { namespaceOf, tableRangeItem } from '../plan/namespace.ts';
import type { Planning } from '../plan/planning.ts';
import { rootScope } from '../plan/root.ts';
import { rowOf } from '../plan/source.ts';
import type { Execution } from '../execution.ts';
import { isTemporary } from '../catalog/name.ts';

export function shapeOf(table: Table, planning: Planning): TableShape {
  const primary = primaryKey(table);
  const others = table.indexes.filter((index) => index !== primary);
  const indexes = primary === undefined ? others : [primary, ...others];
  return {
    id: table.id,
    name: table.schema === 'public' ? table.name : `${table.schema}.${table.name}`,
    columns: table.cells,
    indexes: indexes.map((index) => indexShape(table, index, planning)),
    isTemporary: isTemporary(table.schema),
  };
}

function indexShape(table: Table, index: Index, planning: Planning): IndexShape {
  const compares = index.parts.map(({ type }) => nullableComparator(type, planning.dialect));
  const { id, name, isPrimary, isUnique, nullsAreEqual, deferral } = index;
  return {
    id,
    name,
    isPrimary,
    isUnique,
    nullsAreEqual,
    isDeferrable: deferral !== 'never',
    isReferable: index.predicate === null && index.parts.every(({ cell }) => cell >= 0),
    cells: index.parts.map(({ cell }) => cell).filter((cell) => cell >= 0),
    keyOf: keyReader(table, index, planning),
    compare: keyComparator(compares),
    hashOf: hashReader(
      index.parts.map(({ type }) => type),
      planning.dialect,
    ),
  };
}

/** Of two keys, or of a key and a prefix of one. */
function keyComparator(compares: readonly ((a: SqlValue, b: SqlValue) => number)[]): IndexShape['compare'] {
  const [only, another] = compares;
  if (only !== undefined && another === undefined)
    return (a, b) => (a.length === 0 || b.length === 0 ? 0 : only(a[0] ?? null, b[0] ?? null));
  return (a, b) => {
    for (let i = 0; i < a.length && i < b.length; i++) {
      const order = compares[i]?.(a[i] ?? null, b[i] ?? null) ?? 0;
      if (order !== 0) return order;
    }
    return 0;
  };
}

type KeyReader = IndexShape['keyOf'];

function keyReader(table: Table, index: Index, planning: Planning): KeyReader {
  const cells = index.parts.map(({ cell }) => cell);
  const isPlain = index.predicate === null && cells.every((cell) => cell >= 0);
  if (isPlain) {
    const [first = 0, second] = cells;
    if (second === undefined) return (values) => [values[first] ?? null];
    return (values) => cells.map((cell) => values[cell] ?? null);
  }
  const scope = rootScope(planning);
  scope.clause = 'index expressions';
  scope.collector = noAggregates(scope);
  scope.namespace = namespaceOf(tableRangeItem(table, scope.newRow()));
  const predicate = index.predicate === null ? null : compileExpression(index.predicate, scope);
  const parts = index.parts.map(({ cell, expression }): Pick<Expression, 'evaluate'> => {
    if (expression !== null) return compileExpression(expression, scope);
    return { evaluate: ({ rows }) => rows[0]?.values[cell] ?? null };
  });
  return (values: readonly SqlValue[]) => {
    const frame = { rows: [rowOf(values)], computed: [], execution: immutable, outer: null };
    if (predicate !== null && predicate.evaluate(frame) !== true) return null;
    return parts.map(({ evaluate }) => evaluate(frame));
  };
}

/** Index expressions are computed at any time, for any session: they may ask for nothing. */
const immutable: Execution = {
  parameters: [],
  get surroundings(): never {
    throw new AssertionFailure('index expressions are immutable');
  },
};
