/** UPDATE: rows are found and locked, then written one by one from the version that the lock was granted on. */
import type { UpdateStmt, WithClause } from '@pgsql/types';
import { assert } from '../../base/assert.ts';
import type { Table } from '../catalog/relation.ts';
import { keyText } from '../compare.ts';
import { cell, type LockStrength, type Row } from '../storage.ts';
import type { SqlValue } from '../value.ts';
import { planCommonTables } from './common-table.ts';
import { restore } from './grouping.ts';
import type { DataModification } from './modify.ts';
import { newFrame, type Values } from './query.ts';
import { type Assignment, assignedRow, planAssignments, planReturning, rulesFor, writableTable } from './returning.ts';
import type { QueryScope } from './scope.ts';
import { planWriteTarget, type VisitOrder } from './write-target.ts';

export function planUpdate(statement: UpdateStmt, scope: QueryScope): DataModification {
  const { relation, targetList, whereClause, fromClause, returningClause, withClause } = statement;
  assert(relation !== undefined, 'UPDATE names a table');
  const order = visitOrder(withClause);
  if (order === null) planCommonTables(withClause, scope);
  const table = writableTable(relation, scope);
  const target = planWriteTarget(table, relation, fromClause, whereClause, order, scope);
  const rules = rulesFor(table, scope);
  scope.clause = 'UPDATE';
  const assignments = planAssignments(targetList, rules, scope);
  const columns = [...new Set(assignments.map(({ column }) => column.cell))];
  const generated = table.columns.filter((column) => column.generated !== null).map((column) => column.cell);
  const written = [...columns, ...generated];
  const returning = planReturning(returningClause?.exprs, scope);
  const request = { strength: strengthOf(table, columns), ifLocked: 'wait', reading: 'statement' } as const;
  return {
    command: 'UPDATE',
    columns: returning?.columns ?? null,
    *run(outer, running) {
      const frame = newFrame(scope.rowCount, running, outer);
      const found = yield* target.lock(frame, running, request);
      const rows: Values[] = [];
      let changed = 0;
      for (const combination of found) {
        restore(frame, combination, []);
        const row = combination[target.item.row] as Row;
        const values = assignedRow(row, target.item.row, assignments, frame, scope);
        if (scope.dialect === 'mysql' && isUnchanged(row, values, assignments)) continue;
        changed++;
        const next = yield* rules.update(row, values, written, running);
        frame.rows[target.item.row] = next;
        if (returning !== null) rows.push(...returning.values(frame));
      }
      return { rows, rowCount: changed, foundRows: found.length, insertId: 0n };
    },
  };
}

/** PostgreSQL: a row whose keys stay may be referred to meanwhile. */
function strengthOf(table: Table, cells: readonly number[]): LockStrength {
  const changesKey = table.indexes.some(
    ({ isUnique, predicate, parts }) =>
      isUnique &&
      predicate === null &&
      parts.every(({ cell: at }) => at >= 0) &&
      parts.some(({ cell: at }) => cells.includes(at)),
  );
  return changesKey ? 'update' : 'no key update';
}

export function isUnchanged(row: Row, values: readonly SqlValue[], assignments: readonly Assignment[]): boolean {
  return assignments.every(({ column: { cell: at, type } }) => {
    const before = cell(row, at);
    const after = values[at] ?? null;
    // As stored, not as compared: 'a' and 'A' are equal to MySQL, and still a change.
    return before === after || keyText(before, type) === keyText(after, type);
  });
}

/** The mark that MySQL's rewriter leaves for ORDER BY and LIMIT. */
export function visitOrder(clause: WithClause | undefined): VisitOrder | null {
  for (const node of clause?.ctes ?? []) {
    if (!('CommonTableExpr' in node) || node.CommonTableExpr.ctename !== 'moirai_limit') continue;
    const query = node.CommonTableExpr.ctequery;
    if (query === undefined || !('SelectStmt' in query)) continue;
    return { sort: query.SelectStmt.sortClause ?? [], count: query.SelectStmt.limitCount };
  }
  return null;
}
