/** RETURNING, SET lists and the table that a statement writes to: what INSERT, UPDATE and DELETE share. */
import { engineRules, notSupported, SqlError, type Row, types, type SqlValue, cell } from '../model/index.ts';
import { assert } from '../../base/index.ts';
import type { Node, RangeVar } from '@pgsql/types';
import { type Column, columnNamed, type Relation, type Table } from '../catalog/relation.ts';
import type { Expression, Frame } from '../expression.ts';
import { assignable, assigned, TableRules } from '../run/table-rules.ts';
import { compileExpression, once, oneRow } from '../expressions/index.ts';
import { lockChildren, type ParentEvent } from './child-locks.ts';
import type { OutputColumn, Values } from './query.ts';

import type { QueryScope } from './scope.ts';
import { expanded } from './tuple.ts';
import { outputOf, planTargets } from './target.ts';

/** @throws SqlError 42P01, 42809, 0A000 */
export function writableTable(range: RangeVar | undefined, events: readonly ParentEvent[], scope: QueryScope): Table {
  assert(range !== undefined, 'a statement that writes names a table');
  const relation: Relation = scope.planning.relation(range);
  if (relation.kind === 'table') {
    scope.planning.lock(relation.id, 'row exclusive');
    if (engineRules[scope.dialect].hasMetadataLocks) lockChildren(relation, events, scope.planning);
    return relation;
  }
  if (relation.kind === 'view') throw notSupported(`writing to the view "${relation.name}"`);
  throw new SqlError('42809', `cannot change relation "${relation.name}"`);
}

export interface Returning {
  readonly columns: readonly OutputColumn[];
  readonly values: (frame: Frame) => Iterable<Values>;
}

export function planReturning(list: readonly Node[] | undefined, scope: QueryScope): Returning | null {
  if (list === undefined) return null;
  scope.clause = 'RETURNING';
  const targets = planTargets(list, scope, { prepare: (node) => node, expected: [] });
  return { columns: targets.map((target) => outputOf(target, scope)), values: (frame) => expanded(targets, frame) };
}

export interface Assignment {
  readonly column: Column;
  readonly evaluate: Expression['evaluate'];
}

/** The list of SET. @throws SqlError 42703, 42601, 428C9 */
export function planAssignments(list: readonly Node[] | undefined, rules: TableRules, scope: QueryScope): Assignment[] {
  const { table } = rules;
  const seen = new Set<string>();
  return (list ?? []).map((node) => {
    assert('ResTarget' in node && node.ResTarget.val !== undefined, 'SET is a list of targets');
    const { name = '', val, indirection, location = 0 } = node.ResTarget;
    if (indirection !== undefined) throw notSupported('assigning to a part of a column');
    const column = columnNamed(table, name, scope.dialect);
    if (column === undefined) throw missingColumn(table, name, location + 1);
    if (seen.has(name) && !engineRules[scope.dialect].assignsInOrder) {
      throw new SqlError('42601', `multiple assignments to same column "${name}"`, { position: location + 1 });
    }
    seen.add(name);
    return { column, evaluate: assignedValue(val, column, rules, scope) };
  });
}

/** MySQL's ON UPDATE CURRENT_TIMESTAMP: columns that change with the row unless they are assigned. */
export function planAutomatic(rules: TableRules, assignments: readonly Assignment[], scope: QueryScope): Assignment[] {
  return rules.table.columns.flatMap((column) => {
    if (column.onUpdate === null || assignments.some((each) => each.column.cell === column.cell)) return [];
    return [{ column, evaluate: assigned(column.onUpdate, column, scope).evaluate }];
  });
}

export function missingColumn(table: Table, name: string, position = 0): SqlError {
  return new SqlError(
    '42703',
    `column "${name}" of relation "${table.name}" does not exist`,
    position > 0 ? { position } : {},
  );
}

export function assignedValue(
  node: Node,
  column: Column,
  rules: TableRules,
  scope: QueryScope,
): Expression['evaluate'] {
  if ('SetToDefault' in node) return rules.default(column);
  if (column.generated !== null) {
    throw new SqlError('428C9', `column "${column.name}" can only be updated to DEFAULT`, {
      detail: `Column "${column.name}" is a generated column.`,
    });
  }
  if (column.identity === 'always') {
    throw new SqlError('428C9', `column "${column.name}" can only be updated to DEFAULT`, {
      detail: `Column "${column.name}" is an identity column defined as GENERATED ALWAYS.`,
    });
  }
  if ('MultiAssignRef' in node) return multiAssigned(node.MultiAssignRef, column, rules, scope);
  return assigned(node, column, scope).evaluate;
}

/** `(a, b) = (1, 2)` and `(a, b) = (SELECT ...)`. */
function multiAssigned(
  { source, colno = 1, ncolumns = 1 }: { source?: Node; colno?: number; ncolumns?: number },
  column: Column,
  rules: TableRules,
  scope: QueryScope,
): Expression['evaluate'] {
  if (source !== undefined && 'RowExpr' in source) {
    const args = source.RowExpr.args ?? [];
    if (args.length !== ncolumns) throw new SqlError('42601', 'number of columns does not match number of values');
    return assignedValue(args[colno - 1] as Node, column, rules, scope);
  }
  const select = source !== undefined && 'SubLink' in source ? source.SubLink.subselect : undefined;
  if (select === undefined) {
    if (source !== undefined && ncolumns === 1)
      return assignable(compileExpression(source, scope, column.type), column, scope).evaluate;
    throw notSupported('this assignment to several columns');
  }
  const subquery = scope.subquery(select, 'value');
  if (subquery.columns.length !== ncolumns)
    throw new SqlError('42601', 'number of columns does not match number of values');
  const type = subquery.columns[colno - 1]?.type ?? types.text;
  const row = once(subquery, oneRow);
  const value = (frame: Frame): SqlValue => row(frame)?.[colno - 1] ?? null;
  return assignable({ type, modifier: -1, isRowFree: false, evaluate: value }, column, scope).evaluate;
}

/** The row with its assignments: all see the old row (PostgreSQL), or each sees those before it (MySQL). */
export function assignedRow(
  row: Row,
  at: number,
  assignments: readonly Assignment[],
  frame: Frame,
  scope: QueryScope,
): SqlValue[] {
  const values = [...row.values] as SqlValue[];
  frame.rows[at] = row;
  if (engineRules[scope.dialect].assignsInOrder) {
    frame.rows[at] = { ...row, values, load: (_row, position) => cell(row, position) };
    for (const { column, evaluate } of assignments) values[column.cell] = evaluate(frame);
    return values;
  }
  for (const { column, evaluate } of assignments) values[column.cell] = evaluate(frame);
  return values;
}

export function rulesFor(table: Table, scope: QueryScope): TableRules {
  return new TableRules(table, scope);
}
