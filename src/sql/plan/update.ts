/** UPDATE: rows are found and locked, then written one by one from the version that the lock was granted on. */
import {
  engineRules,
  isSameStored,
  cell,
  type LockRequest,
  type LockStrength,
  type Row,
  type SqlValue,
} from '../model/index.ts';
import { assert } from '../../base/index.ts';
import { columnAtCell, type Table } from '../catalog/relation.ts';
import type { Frame } from '../expression.ts';
import type { MysqlUpdate } from '../tree/mysql.ts';
import { planCommonTables } from './common-table.ts';
import type { DataModification } from './data-modification.ts';
import { newFrame, type Values, restore } from './query.ts';
import {
  type Assignment,
  assignedRow,
  planAssignments,
  planAutomatic,
  planReturning,
  rulesFor,
  writableTable,
} from './returning.ts';
import type { QueryScope } from './scope.ts';
import { planWriteTarget } from './write-target.ts';

export function planUpdate(statement: MysqlUpdate, scope: QueryScope): DataModification {
  const { relation, targetList, fromClause, returningClause, withClause, visited } = statement;
  assert(relation !== undefined, 'UPDATE names a table');
  scope.planning.refusesTruncation = true;
  const assigned = (targetList ?? []).flatMap((node) => ('ResTarget' in node ? (node.ResTarget.name ?? []) : []));
  const order = visited === undefined ? null : { ...visited, changes: assigned };
  planCommonTables(withClause, scope);
  const table = writableTable(relation, ['onUpdate'], scope);
  const target = planWriteTarget(table, statement, fromClause, order, scope);
  const inConditions = scope.constants.size;
  if (engineRules[scope.dialect].hasMetadataLocks && fromClause !== undefined) lockJoined(scope);
  const rules = rulesFor(table, scope);
  if (rules.autoIncrement !== null) rules.autoIncrement.isBulk = true;
  scope.clause = 'UPDATE';
  const assignments = planAssignments(targetList, rules, scope);
  scope.constants.putLast(inConditions);
  const automatic = planAutomatic(rules, assignments, scope);
  const columns = [...new Set([...assignments, ...automatic].map(({ column }) => column.cell))];
  const generated = table.columns.filter((column) => column.generated !== null).map((column) => column.cell);
  const written = [...columns, ...generated];
  const returning = planReturning(returningClause?.exprs, scope);
  const key = keyCells(table).filter((at) => columns.includes(at));
  // InnoDB's indexes hold the primary key behind their own columns, so a new key moves the row in every one of them.
  const primary = table.indexes.find(({ isPrimary }) => isPrimary);
  const places = [...(target.index?.parts ?? []), ...(primary?.parts ?? [])];
  const { locksWhileScanning, skipsUnchangedRows } = engineRules[scope.dialect];
  const collects = locksWhileScanning && places.some(({ cell: at }) => written.includes(at));
  return {
    command: 'UPDATE',
    columns: returning?.columns ?? null,
    *run(outer, running) {
      const frame = newFrame(scope.rowCount, running, outer);
      const at = target.item.row;
      const rows: Values[] = [];
      let changed = 0;
      let matched = 0;
      // Assigned values are computed once, for the lock and for the write: they may draw from sequences.
      let computed: { readonly rows: Frame['rows']; readonly values: SqlValue[] } | null = null;
      const valuesFor = (row: Row): SqlValue[] => {
        frame.rows[at] = row;
        if (computed === null || !isSameCombination(computed.rows, frame.rows)) {
          const combination = [...frame.rows];
          computed = { rows: combination, values: assignedRow(row, at, assignments, frame, scope) };
        }
        return computed.values;
      };
      const strengthFor = (row: Row): LockStrength =>
        changesKey(row, valuesFor(row), key, table) ? 'update' : 'no key update';
      const basic = { strength: 'no key update', ifLocked: 'wait', reading: 'statement', purpose: 'update' } as const;
      const request: LockRequest = key.length === 0 ? basic : { ...basic, strengthFor };
      yield* target.visit(frame, running, {
        request,
        collects,
        *write(combination) {
          restore(frame, combination, []);
          matched++;
          const row = combination[at] as Row;
          const values = valuesFor(row);
          if (skipsUnchangedRows && isUnchanged(row, values, assignments)) return;
          changed++;
          for (const { column, evaluate } of automatic) values[column.cell] = evaluate(frame);
          const next = yield* rules.update(row, values, written, running);
          restore(frame, combination, []);
          frame.rows[at] = next;
          if (returning !== null) rows.push(...returning.values(frame));
        },
      });
      return { rows, rowCount: changed, foundRows: matched, insertId: 0n };
    },
  };
}

/** MariaDB locks every table of the join as one that is written to; its DELETE does not. */
function lockJoined({ namespace, planning }: QueryScope): void {
  for (const { table } of namespace.items) if (table !== null) planning.lock(table.id, 'row exclusive');
}

function isSameCombination(a: Frame['rows'], b: Frame['rows']): boolean {
  return a.every((row, i) => row === b[i]);
}

/** What others may refer to: a row whose keys stay may be referred to while it is changed. */
export function keyCells(table: Table): number[] {
  const unique = table.indexes.filter(
    ({ isUnique, predicate, parts }) => isUnique && predicate === null && parts.every(({ cell: at }) => at >= 0),
  );
  return [...new Set(unique.flatMap(({ parts }) => parts.map(({ cell: at }) => at)))];
}

export function changesKey(row: Row, values: readonly SqlValue[], key: readonly number[], table: Table): boolean {
  return key.some((at) => {
    const type = columnAtCell(table, at)?.type;
    const [before, after] = [cell(row, at), values[at] ?? null];
    return type === undefined ? before !== after : !isSameStored(before, after, type);
  });
}

export function isUnchanged(row: Row, values: readonly SqlValue[], assignments: readonly Assignment[]): boolean {
  return assignments.every(({ column: { cell: at, type } }) => {
    return isSameStored(cell(row, at), values[at] ?? null, type);
  });
}
