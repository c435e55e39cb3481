/** CREATE INDEX. */
import type { IndexStmt, Node } from '@pgsql/types';
import { assert } from '../../base/index.ts';
import { engineRules, SqlError, type TableShape } from '../model/index.ts';
import { columnNamed, type Index, type IndexPart, type Table } from '../catalog/relation.ts';
import { compileExpression } from '../expressions/index.ts';
import { noAggregates } from '../plan/grouping.ts';
import { namespaceOf, tableRangeItem } from '../plan/namespace.ts';
import type { Execution } from '../execution.ts';
import type { Planning } from '../plan/planning.ts';
import { columnTitle } from '../plan/target.ts';
import { rootScope } from '../plan/root.ts';
import type { Changes } from './changes.ts';
import { constraintName } from './constraint.ts';
import { freeName, withoutReplaced } from './foreign-key-index.ts';
import { refusePendingChecks } from './pending-checks.ts';
import { shapeOf } from './table-shape.ts';

/** @throws SqlError 42P01, 42P07, 42703, 23505, 55006 */
export function createIndex(
  statement: IndexStmt,
  planning: Planning,
  changes: Changes,
  { surroundings }: Execution,
): void {
  const {
    relation = {},
    indexParams = [],
    whereClause,
    unique = false,
    idxname,
    if_not_exists: ifNotExists = false,
  } = statement;
  const table = planning.relation(relation);
  if (table.kind !== 'table') throw new SqlError('42809', `cannot create index on relation "${table.name}"`);
  refusePendingChecks('CREATE INDEX', table, surroundings);
  if (idxname !== undefined && ifNotExists && planning.catalog.isTaken(table.schema, idxname)) {
    changes.notice('42P07', `relation "${idxname}" already exists, skipping`);
    return;
  }
  const parts = indexParams.map((node) => indexPart(node, table, planning));
  const others = withoutReplaced(
    table,
    parts.map(({ part }) => part),
  );
  const names = parts.map(({ title }) => title);
  const index: Index = {
    id: planning.catalog.newId(),
    name: constraintName(others, idxname ?? nameInTable(others, parts, planning), names, 'idx', planning),
    isPrimary: false,
    isUnique: unique,
    isConstraint: false,
    isOfForeignKey: false,
    deferral: 'never',
    nullsAreEqual: statement.nulls_not_distinct === true,
    parts: parts.map(({ part }) => part),
    predicate: whereClause ?? null,
  };
  replaceTable(table, { ...table, indexes: [...others.indexes, index] }, planning, changes);
}

/** `undefined`: the name is that of any relation. */
function nameInTable({ indexes }: Table, [first]: readonly IndexedPart[], { dialect }: Planning): string | undefined {
  if (engineRules[dialect].indexesAreRelations) return undefined;
  return freeName(first === undefined || first.part.cell < 0 ? 'functional_index' : first.title, indexes);
}

interface IndexedPart {
  readonly part: IndexPart;
  readonly title: string;
}

function indexPart(node: Node, table: Table, planning: Planning): IndexedPart {
  assert('IndexElem' in node, 'an index has elements');
  const { name, expr, ordering } = node.IndexElem;
  const isDescending = ordering === 'SORTBY_DESC';
  if (name !== undefined) {
    const column = columnNamed(table, name, planning.dialect);
    if (column === undefined) throw new SqlError('42703', `column "${name}" does not exist`, { mysqlNumber: 1072 });
    return { part: { cell: column.cell, expression: null, type: column.type, isDescending }, title: column.name };
  }
  assert(expr !== undefined, 'an element is a column or an expression');
  const scope = rootScope(planning);
  scope.clause = 'index expressions';
  scope.collector = noAggregates(scope);
  scope.namespace = namespaceOf(tableRangeItem(table, scope.newRow()));
  const { type } = compileExpression(expr, scope);
  const title = columnTitle(expr);
  return { part: { cell: -1, expression: expr, type, isDescending }, title: title === '?column?' ? 'expr' : title };
}

/** Another table in the place of `before`: in the catalog and, where cells or indexes have changed, in the storage. */
export function replaceTable(
  before: Table,
  after: Table,
  planning: Planning,
  changes: Changes,
  convert?: Parameters<Planning['catalog']['storage']['alterTable']>[1],
): void {
  const { catalog } = planning;
  const isOther = convert !== undefined || before.indexes !== after.indexes || before.cells !== after.cells;
  const isStored = isOther && changes.purpose === 'to stay';
  if (isStored) {
    catalog.storage.alterTable(storedShape(after, planning), convert);
    const width = before.cells.length;
    // It is undone when the catalog has been.
    changes.did(() => {
      const left = catalog.tableById(before.id) ?? before;
      catalog.storage.alterTable(storedShape(left, planning), (values) => values.slice(0, width));
    });
  }
  changes.did(catalog.replace(before, after));
}

/** With the indexes that other sessions have made: each sees its own and the committed ones, and the rows are in all. */
function storedShape(table: Table, planning: Planning): TableShape {
  return shapeOf({ ...table, indexes: [...table.indexes, ...planning.catalog.hiddenIndexes(table)] }, planning);
}
