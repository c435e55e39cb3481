/** MySQL's ON DUPLICATE KEY UPDATE, INSERT IGNORE and REPLACE. */
import type { OnConflictClause } from '@pgsql/types';
import {
  engineRules,
  isSameStored,
  cell as valueAt,
  type Duplicate,
  type DuplicateLock,
  type InsertResult,
  type LockRequest,
  type Row,
  type Waiting,
  type SqlValue,
} from '../model/index.ts';
import type { Index } from '../catalog/relation.ts';
import { coerceToBoolean, compileExpression } from '../expressions/index.ts';
import type { Frame } from '../expression.ts';
import type { TableRules } from '../run/table-rules.ts';
import type { OnDuplicate } from '../tree/mysql.ts';
import type { RangeItem } from './namespace.ts';
import { namespaceOf } from './namespace.ts';
import { type Assignment, assignedRow, planAssignments, planAutomatic } from './returning.ts';
import type { QueryScope } from './scope.ts';
import { rowOf } from './source.ts';
import { isUnchanged, keyCells } from './update.ts';
import type { Running } from '../execution.ts';

export interface ConflictAnswer {
  /** On the row in the way: InnoDB locks it at once for what the answer does to it. */
  readonly duplicateLock: DuplicateLock;
  /** INSERT IGNORE: is a row without a parent, or that fails a CHECK, passed over? */
  readonly ignoresRefused: boolean;
  /** `row`: for RETURNING; `null`: nothing was written. */
  readonly answer: (values: SqlValue[], duplicate: Duplicate, frame: Frame, running: Running) => Waiting<Answered>;
}

export interface Answered {
  readonly row: Row | null;
  readonly rowCount: number;
  /** Did the new row go in after all? */
  readonly isInserted?: boolean;
}

export function planMysqlConflict(
  clause: OnDuplicate,
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): ConflictAnswer {
  switch (clause.kind) {
    case 'update':
      return doUpdate(clause, item, rules, scope);
    case 'ignore':
      return doNothing;
    case 'replace':
      return replacing(rules);
  }
}

export function uniqueIndexes({ table }: TableRules): Index[] {
  return table.indexes.filter(({ isUnique }) => isUnique);
}

const doNothing: ConflictAnswer = {
  duplicateLock: 'share',
  ignoresRefused: true,
  // It waits for nothing.
  // oxlint-disable-next-line require-yield
  *answer() {
    return { row: null, rowCount: 0 };
  },
};

/** DO UPDATE, compiled. */
export interface Upsert {
  readonly target: number;
  readonly excluded: number;
  readonly assignments: readonly Assignment[];
  readonly automatic: readonly Assignment[];
  readonly where: ((frame: Frame) => SqlValue) | null;
  readonly cells: readonly number[];
  readonly request: LockRequest;
}

export function planUpsert(
  { targetList, whereClause }: Pick<OnConflictClause, 'targetList' | 'whereClause'>,
  reading: LockRequest['reading'],
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): Upsert {
  const excluded: RangeItem = { ...item, name: 'excluded', schema: null, row: scope.newRow() };
  const own = namespaceOf(item);
  return scope.within({ items: [...own.items, excluded], columns: own.columns }, () => {
    scope.clause = 'ON CONFLICT DO UPDATE';
    const assignments = planAssignments(targetList, rules, scope);
    const automatic = planAutomatic(rules, assignments, scope);
    const cells = [...new Set([...assignments, ...automatic].map(({ column }) => column.cell))];
    const changesKey = keyCells(rules.table).some((at) => cells.includes(at));
    const where =
      whereClause === undefined
        ? null
        : coerceToBoolean(compileExpression(whereClause, scope), 'WHERE', scope).evaluate;
    const strength = changesKey ? 'update' : 'no key update';
    const request = { strength, ifLocked: 'wait', reading } as const;
    return { target: item.row, excluded: excluded.row, assignments, automatic, where, cells, request };
  });
}

function doUpdate(
  { targetList }: Extract<OnDuplicate, { kind: 'update' }>,
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): ConflictAnswer {
  const upsert = planUpsert({ targetList }, 'latest', item, rules, scope);
  return {
    duplicateLock: 'update',
    ignoresRefused: false,
    *answer(values, duplicate, frame, running) {
      let result: InsertResult = duplicate;
      while (result.kind === 'duplicate') {
        const locked: Row | null = yield* running.view.lockRow(result.row, () => true, upsert.request);
        if (locked !== null) return yield* overwrite(upsert, locked, values, frame, { rules, running, scope });
        // It went while we waited: the row may go in after all.
        result = yield* rules.tryInsert(values, 'update', running);
      }
      return { row: result.row, rowCount: 1, isInserted: true };
    },
  };
}

interface UpsertContext {
  readonly rules: TableRules;
  readonly running: Running;
  readonly scope: QueryScope;
}

export function* overwrite(
  upsert: Upsert,
  locked: Row,
  values: readonly SqlValue[],
  frame: Frame,
  { rules, running, scope }: UpsertContext,
): Waiting<Answered> {
  const { skipsUnchangedRows, countOfOverwritten } = engineRules[scope.dialect];
  frame.rows[upsert.target] = locked;
  frame.rows[upsert.excluded] = rowOf(values);
  if (upsert.where !== null && upsert.where(frame) !== true) return { row: null, rowCount: 0 };
  const next = assignedRow(locked, upsert.target, upsert.assignments, frame, scope);
  if (skipsUnchangedRows && isUnchanged(locked, next, upsert.assignments)) return { row: locked, rowCount: 0 };
  for (const { column, evaluate } of upsert.automatic) next[column.cell] = evaluate(frame);
  const updated = yield* rules.update(locked, next, upsert.cells, running);
  return { row: updated, rowCount: countOfOverwritten };
}

/**
 * REPLACE: every row in the way is deleted. It counts, too. A row that no table can refer to is updated if the last unique index found it: then only the
 * foreign keys that change are checked (`write_record` in sql_insert.cc).
 */
function replacing(rules: TableRules): ConflictAnswer {
  const request: LockRequest = { strength: 'update', ifLocked: 'wait', reading: 'latest' };
  const columns = rules.table.columns.map(({ cell: at }) => at);
  return {
    duplicateLock: 'update',
    ignoresRefused: false,
    *answer(values, duplicate, _frame, running) {
      let result: InsertResult = duplicate;
      let rowCount = 1;
      while (result.kind === 'duplicate') {
        const locked: Row | null = yield* running.view.lockRow(result.row, () => true, request);
        if (locked !== null) {
          const isLast = uniqueIndexes(rules).at(-1)?.id === result.index;
          if (isLast && rules.references.children.length === 0) {
            const isSame = isSameRow(locked, values, rules);
            const row = isSame ? locked : yield* rules.update(locked, values, columns, running);
            return { row, rowCount: isSame ? rowCount : rowCount + 1, isInserted: true };
          }
          yield* rules.delete(locked, running);
          rowCount++;
        }
        result = yield* rules.tryInsert(values, 'update', running);
      }
      return { row: result.row, rowCount, isInserted: true };
    },
  };
}

function isSameRow(row: Row, values: readonly SqlValue[], { table }: TableRules): boolean {
  return table.columns.every(({ cell: at, type }) => {
    return isSameStored(valueAt(row, at), values[at] ?? null, type);
  });
}
