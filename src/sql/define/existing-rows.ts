/**
 * What ALTER TABLE checks the rows that are there for. PostgreSQL reads the latest committed ones, whatever the transaction's snapshot
 * (`GetLatestSnapshot` in tablecmds.c and in `RI_Initial_Check`): a constraint holds for all rows, also for those that the transaction does not see.
 */
import type { Check, Column, ForeignKey, Table } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { rootScope } from '../plan/root.ts';
import { mustHaveParent, mustSeeParent } from '../run/foreign-keys.ts';
import { TableRules } from '../run/table-rules.ts';
import type { Changes } from './changes.ts';
import {
  SqlError,
  type AccessPath,
  cell,
  everyRow,
  type StatementView,
  type TableId,
  type Waiting,
  type SqlValue,
} from '../model/index.ts';
import type { Running } from '../execution.ts';

const wholePath: AccessPath = { kind: 'all' };

interface Context {
  readonly planning: Planning;
  readonly changes: Changes;
  readonly running: Running;
}

/** @throws SqlError 23503, 23514 */
export function* checkExistingRows(
  table: Table,
  checks: readonly Check[],
  keys: readonly ForeignKey[],
  { planning, changes, running }: Context,
): Waiting<void> {
  const rules = new TableRules(table, rootScope(planning));
  const rulesOf = checks.map((check) => new TableRules({ ...table, checks: [check] }, rootScope(planning)));
  const latest = running.view.latestView?.();
  const readParents = new Set<TableId>();
  for (const values of valuesOf(table, latest ?? running.view, changes)) {
    for (const [i, { name }] of checks.entries()) mustSatisfy(rulesOf[i] ?? rules, values, name, running);
    for (const key of keys) {
      if (key.cells.some((at) => values[at] === null)) continue;
      if (latest === undefined) {
        yield* mustHaveParent(rules, values, key, running);
        continue;
      }
      if (!readParents.has(key.parent)) readWhole(key.parent, latest);
      readParents.add(key.parent);
      mustSeeParent(rules, values, key, latest);
    }
  }
}

/** @throws SqlError 23502 */
export function mustHaveNoNull(table: Table, column: Column, { changes, running: { view } }: Context): void {
  for (const values of valuesOf(table, view.latestView?.() ?? view, changes))
    if (values[column.cell] === null) throw containsNulls(table, column);
}

function containsNulls(table: Table, column: Column): SqlError {
  const message = `column "${column.name}" of relation "${table.name}" contains null values`;
  return new SqlError('23502', message, { schema: table.schema, table: table.name, column: column.name });
}

/** PostgreSQL joins the two tables by a hash of all parents when there is a child: a serializable transaction has then read every parent. */
function readWhole(parent: TableId, view: StatementView): void {
  const rows = view.scan(parent, wholePath, everyRow)[Symbol.iterator]();
  while (rows.next().done !== true);
}

function* valuesOf(table: Table, view: StatementView, { purpose }: Changes): Generator<SqlValue[]> {
  if (purpose === 'to check names') return;
  for (const row of view.scan(table.id, wholePath, everyRow)) yield table.cells.map((_, at) => cell(row, at));
}

function mustSatisfy(rules: TableRules, values: SqlValue[], name: string, running: Running): void {
  try {
    rules.check(values, running);
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== '23514') throw error;
    const { schema, name: table } = rules.table;
    const message = `check constraint "${name}" of relation "${table}" is violated by some row`;
    throw new SqlError('23514', message, { schema, table, constraint: name });
  }
}
