/**
 * SKIP LOCKED: a SELECT takes rows that its condition lets through, and leaves out those that others have locked. Which rows it takes is nothing that the application
 * relies on, so that it reads the rows which it takes, under their locks, and not that the others are there.
 */
import type { LockingClause, Node, SelectStmt } from '@pgsql/types';
import type { Table } from '../sql/index.ts';
import type { AccessedRow } from './access.ts';
import { indexColumns, rowOfValues, type Source, uniqueIndexes } from './row-keys.ts';
import { aliasOf, namesOf } from './sql-tree.ts';

export function lockingClauses({ lockingClause = [] }: SelectStmt): readonly LockingClause[] {
  return lockingClause.flatMap((node) => ('LockingClause' in node ? [node.LockingClause] : []));
}

/** Is it FOR UPDATE or SHARE of this table? Without OF, it is of all. */
export function isLockedBy({ lockedRels }: LockingClause, alias: string): boolean {
  return lockedRels?.some((node) => 'RangeVar' in node && aliasOf(node.RangeVar) === alias) ?? true;
}

/** FOR UPDATE, FOR NO KEY UPDATE: others can neither write nor lock the row. */
export function isExclusive({ strength }: LockingClause): boolean {
  return strength === 'LCS_FORUPDATE' || strength === 'LCS_FORNOKEYUPDATE';
}

export function skips(select: SelectStmt, alias: string): boolean {
  return lockingClauses(select).some(
    (clause) => clause.waitPolicy === 'LockWaitSkip' && isExclusive(clause) && isLockedBy(clause, alias),
  );
}

/** @param result the name of the statement's result, where its rows are those of the SELECT */
export function takenRows(source: Source, select: SelectStmt, result: string | null): Source {
  if (!skips(select, source.alias)) return source;
  const [row] = source.rows;
  if (row?.kind === 'key') return { ...source, mayMiss: true };
  const shown = result === null || !takesOne(select) ? undefined : shownKey(source, select, result);
  return { ...source, rows: [shown ?? { kind: 'taken' }], mayMiss: true };
}

/** Does the condition of an UPDATE or DELETE name rows by a subquery with SKIP LOCKED, or by a WITH? @param common names of WITH */
export function isOfTaken(
  tree: Node,
  from: readonly Node[],
  where: Node | undefined,
  common: readonly string[],
): boolean {
  if (!JSON.stringify(tree).includes(skipping)) return false;
  const names = new Set(from.flatMap((node) => ('RangeVar' in node ? [node.RangeVar.relname ?? ''] : [])));
  const text = JSON.stringify(where ?? null);
  return (
    text.includes(skipping) ||
    common.some((name) => names.has(name) || text.includes(`"relname":${JSON.stringify(name)}`))
  );
}

const skipping = '"waitPolicy":"LockWaitSkip"';

function takesOne({ limitCount, limitOffset }: SelectStmt): boolean {
  return (
    limitOffset === undefined &&
    limitCount !== undefined &&
    'A_Const' in limitCount &&
    limitCount.A_Const.ival?.ival === 1
  );
}

/** The one row by the key that the result shows: later statements name it by that. */
function shownKey({ table, alias }: Source, { targetList = [] }: SelectStmt, result: string): AccessedRow | undefined {
  const shown = new Map<string, string>();
  for (const target of targetList) {
    if (!('ResTarget' in target) || target.ResTarget.val === undefined || !('ColumnRef' in target.ResTarget.val))
      continue;
    const names = namesOf(target.ResTarget.val.ColumnRef);
    const name = names.at(-1) ?? null;
    if (names.length > 1 && names.at(-2) !== alias) continue;
    if (name === null) for (const column of table.columns) shown.set(column.name, column.name);
    else shown.set(name, target.ResTarget.name ?? name);
  }
  return keysShown(table, shown, result);
}

function keysShown(table: Table, shown: ReadonlyMap<string, string>, result: string): AccessedRow | undefined {
  for (const index of uniqueIndexes(table)) {
    const columns = indexColumns(table, index).map((name) => shown.get(name));
    if (columns.some((column) => column === undefined)) continue;
    const values = columns.map(
      (column) => ({ kind: 'column', statement: result, column: column ?? '', row: 'first' }) as const,
    );
    return { ...rowOfValues(index, values), isTaken: true };
  }
  return undefined;
}
