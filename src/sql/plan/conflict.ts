/** ON CONFLICT, and what MySQL's ON DUPLICATE KEY UPDATE, INSERT IGNORE and REPLACE have become of it. */
import type { InferClause, Node, OnConflictClause } from '@pgsql/types';
import type { Index } from '../catalog/relation.ts';
import { isSameStored } from '../row-key.ts';
import { coerceToBoolean, compileExpression } from '../expressions/index.ts';
import type { Frame } from '../expression.ts';
import type { TableRules } from '../run/table-rules.ts';
import { SqlError } from '../sql-error.ts';
import {
  cell as valueAt,
  type DuplicateLock,
  everyRow,
  type InsertResult,
  type LockRequest,
  type Row,
  type Waiting,
} from '../storage.ts';
import type { SqlValue } from '../value.ts';
import type { RangeItem } from './namespace.ts';
import { namespaceOf } from './namespace.ts';
import type { Running } from './planning.ts';
import { type Assignment, assignedRow, planAssignments, planAutomatic } from './returning.ts';
import type { QueryScope } from './scope.ts';
import { rowOf } from './source.ts';
import { treeText } from './tree.ts';
import { isUnchanged } from './update.ts';

type Duplicate = Extract<InsertResult, { kind: 'duplicate' }>;

export interface ConflictAnswer {
  /** On the row in the way: InnoDB locks it at once for what the answer does to it. */
  readonly duplicateLock: DuplicateLock;
  /** Remembers what the statement has written itself: it must not be written again. */
  readonly inserted: (row: Row, running: Running) => void;
  /** `row`: for RETURNING; `null`: nothing was written. */
  readonly answer: (values: SqlValue[], duplicate: Duplicate, frame: Frame, running: Running) => Waiting<Answered>;
}

interface Answered {
  readonly row: Row | null;
  readonly rowCount: number;
  /** Did the new row go in after all? */
  readonly isInserted?: boolean;
}

const mysqlMarks = new Set(['moirai_any_unique', 'moirai_ignore', 'moirai_replace']);

export function planConflict(
  clause: OnConflictClause | undefined,
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): ConflictAnswer | null {
  if (clause === undefined) return null;
  const { infer, action } = clause;
  const mark = infer?.conname !== undefined && mysqlMarks.has(infer.conname) ? infer.conname : null;
  const arbiters = mark === null && infer !== undefined ? arbiterIndexes(infer, rules) : uniqueIndexes(rules);
  if (mark === 'moirai_replace') return replacing(rules);
  if (action === 'ONCONFLICT_NOTHING') return doNothing(arbiters, rules);
  if (infer === undefined) {
    throw new SqlError('42601', 'ON CONFLICT DO UPDATE requires inference specification or constraint name', {
      hint: 'For example, ON CONFLICT (column_name).',
    });
  }
  return doUpdate(clause, arbiters, item, rules, scope);
}

function uniqueIndexes({ table }: TableRules): Index[] {
  return table.indexes.filter(({ isUnique }) => isUnique);
}

/** The unique indexes over exactly these columns and expressions. @throws SqlError 42P10, 42704 */
function arbiterIndexes({ conname, indexElems, whereClause }: InferClause, rules: TableRules): Index[] {
  const { table } = rules;
  if (conname !== undefined) {
    const found = table.indexes.find(({ name, isUnique }) => name === conname && isUnique);
    if (found === undefined)
      throw new SqlError('42704', `constraint "${conname}" for table "${table.name}" does not exist`);
    return [found];
  }
  const wanted = new Set((indexElems ?? []).map((node) => elementText(node, rules)));
  const found = uniqueIndexes(rules).filter(({ parts, predicate }) => {
    const own = new Set(parts.map(({ cell, expression }) => (cell >= 0 ? `cell ${cell}` : treeText(expression))));
    const isSame = own.size === wanted.size && [...own].every((text) => wanted.has(text));
    return isSame && (predicate === null || treeText(predicate) === treeText(whereClause));
  });
  if (found.length === 0) {
    throw new SqlError('42P10', 'there is no unique or exclusion constraint matching the ON CONFLICT specification');
  }
  return found;
}

function elementText(node: Node, { table }: TableRules): string {
  const { name, expr } = 'IndexElem' in node ? node.IndexElem : {};
  if (name === undefined) return treeText(expr);
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new SqlError('42703', `column "${name}" does not exist`);
  return `cell ${column.cell}`;
}

function isArbiter(arbiters: readonly Index[], duplicate: Duplicate): boolean {
  return arbiters.some(({ id }) => id === duplicate.index);
}

function doNothing(arbiters: readonly Index[], rules: TableRules): ConflictAnswer {
  return {
    duplicateLock: 'share',
    inserted: () => undefined,
    *answer(values, duplicate, _frame, running) {
      if (!isArbiter(arbiters, duplicate)) {
        const other = yield* rowInTheWay(arbiters, values, rules, running);
        if (other === null) throw rules.duplicate(duplicate.index, values);
      } else if (duplicate.isUnseen === true) throw concurrentUpdate();
      return { row: null, rowCount: 0 };
    },
  };
}

function concurrentUpdate(): SqlError {
  return new SqlError('40001', 'could not serialize access due to concurrent update');
}

/** Another index refused the row first: is there one in the way in an index that was named, too? */
function* rowInTheWay(
  arbiters: readonly Index[],
  values: readonly SqlValue[],
  rules: TableRules,
  running: Running,
): Waiting<Row | null> {
  const request: LockRequest = { strength: 'no key update', ifLocked: 'wait', reading: 'latest' };
  for (const { id, parts, predicate } of arbiters) {
    if (predicate !== null || parts.some(({ cell }) => cell < 0 || values[cell] === null)) continue;
    let found: Row | null = null;
    const prefix = parts.map(({ cell }) => values[cell] ?? null);
    yield* running.view.lock(
      rules.table.id,
      { kind: 'index', index: id, prefix, isDescending: false },
      everyRow,
      request,
      (row) => {
        found = row;
        return false;
      },
    );
    if (found !== null) return found;
  }
  return null;
}

/** DO UPDATE, compiled. */
interface Upsert {
  readonly target: number;
  readonly excluded: number;
  readonly assignments: readonly Assignment[];
  readonly automatic: readonly Assignment[];
  readonly where: ((frame: Frame) => SqlValue) | null;
  readonly cells: readonly number[];
  readonly request: LockRequest;
}

function planUpsert(
  { targetList, whereClause }: OnConflictClause,
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
    const changesKey = rules.table.indexes.some(
      ({ isUnique, parts }) => isUnique && parts.some(({ cell }) => cells.includes(cell)),
    );
    const where =
      whereClause === undefined
        ? null
        : coerceToBoolean(compileExpression(whereClause, scope), 'WHERE', scope).evaluate;
    const strength = changesKey ? 'update' : 'no key update';
    const request = { strength, ifLocked: 'wait', reading: 'latest' } as const;
    return { target: item.row, excluded: excluded.row, assignments, automatic, where, cells, request };
  });
}

function doUpdate(
  clause: OnConflictClause,
  arbiters: readonly Index[],
  item: RangeItem,
  rules: TableRules,
  scope: QueryScope,
): ConflictAnswer {
  const upsert = planUpsert(clause, item, rules, scope);
  return {
    duplicateLock: 'update',
    inserted: (row, running) => void writtenRows(running, rules).add(row.id),
    *answer(values, duplicate, frame, running) {
      const written = writtenRows(running, rules);
      let result: InsertResult = duplicate;
      while (result.kind === 'duplicate') {
        const row: Row = yield* arbiterRow(result, arbiters, values, rules, running);
        if (written.has(row.id) && scope.dialect === 'postgres') throw cardinalityViolation();
        const locked: Row | null = yield* running.view.lockRow(row, () => true, upsert.request);
        if (locked !== null) return yield* overwrite(upsert, locked, values, frame, { rules, running, scope });
        // It went while we waited: the row may go in after all.
        result = yield* rules.tryInsert(values, 'update', running);
      }
      written.add(result.row.id);
      return { row: result.row, rowCount: 1, isInserted: true };
    },
  };
}

/** The row in the way in an index that was named. @throws SqlError 23505 when there is none, 40001 when it is not to be seen */
function* arbiterRow(
  duplicate: Duplicate,
  arbiters: readonly Index[],
  values: readonly SqlValue[],
  rules: TableRules,
  running: Running,
): Waiting<Row> {
  if (isArbiter(arbiters, duplicate)) {
    if (duplicate.isUnseen === true) throw concurrentUpdate();
    return duplicate.row;
  }
  const other = yield* rowInTheWay(arbiters, values, rules, running);
  if (other === null) throw rules.duplicate(duplicate.index, values);
  return other;
}

interface UpsertContext {
  readonly rules: TableRules;
  readonly running: Running;
  readonly scope: QueryScope;
}

function* overwrite(
  upsert: Upsert,
  locked: Row,
  values: readonly SqlValue[],
  frame: Frame,
  { rules, running, scope }: UpsertContext,
): Waiting<Answered> {
  const isMysql = scope.dialect === 'mysql';
  frame.rows[upsert.target] = locked;
  frame.rows[upsert.excluded] = rowOf(values);
  if (upsert.where !== null && upsert.where(frame) !== true) return { row: null, rowCount: 0 };
  const next = assignedRow(locked, upsert.target, upsert.assignments, frame, scope);
  if (isMysql && isUnchanged(locked, next, upsert.assignments)) return { row: locked, rowCount: 0 };
  for (const { column, evaluate } of upsert.automatic) next[column.cell] = evaluate(frame);
  const updated = yield* rules.update(locked, next, upsert.cells, running);
  writtenRows(running, rules).add(updated.id);
  return { row: updated, rowCount: isMysql ? 2 : 1 };
}

function writtenRows(running: Running, rules: TableRules): Set<number> {
  const known = running.kept.get(rules) as Set<number> | undefined;
  if (known !== undefined) return known;
  const made = new Set<number>();
  running.kept.set(rules, made);
  return made;
}

function cardinalityViolation(): SqlError {
  return new SqlError('21000', 'ON CONFLICT DO UPDATE command cannot affect row a second time', {
    hint: 'Ensure that no rows proposed for insertion within the same command have duplicate constrained values.',
  });
}

/** REPLACE: every row in the way is deleted. It counts, too. */
function replacing(rules: TableRules): ConflictAnswer {
  const request: LockRequest = { strength: 'update', ifLocked: 'wait', reading: 'latest' };
  return {
    duplicateLock: 'update',
    inserted: () => undefined,
    *answer(values, duplicate, _frame, running) {
      let result: InsertResult = duplicate;
      let rowCount = 1;
      while (result.kind === 'duplicate') {
        const locked: Row | null = yield* running.view.lockRow(result.row, () => true, request);
        if (locked !== null) {
          // MySQL writes over a row that nobody refers to if its last unique index found it: not counted when the two are the same.
          const isLast = uniqueIndexes(rules).at(-1)?.id === result.index;
          const isSame = isLast && rules.references.children.length === 0 && isSameRow(locked, values, rules);
          yield* rules.delete(locked, running);
          if (!isSame) rowCount++;
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
