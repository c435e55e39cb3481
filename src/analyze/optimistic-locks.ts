/**
 * Optimistic locks: an UPDATE or DELETE asks for more than the key of its row, `WHERE id = $1 AND version = $2`, and the code looks at its row count. Where it finds no
 * row, the run is refused: it writes nothing and its caller learns that. Where it finds the row, what an earlier read saw of these columns is so still.
 */
import { exactColumn } from '../sql/index.ts';
import { type Access, existence } from './access.ts';
import type { Value } from './application.ts';
import { canHold, foundRow } from './row-counts.ts';
import { indexColumns, rowText, uniqueIndexes } from './row-keys.ts';
import type { AnalyzedPath, AnalyzedStatement } from './transactions.ts';
import type { Variant } from './variant.ts';
import { absenceOf } from './variants.ts';

function isGuard({ statement, moments }: AnalyzedStatement): boolean {
  return statement.isCountSeen === true && moments.flat().some((access) => isTarget(access) && access.mayMiss);
}

/** Rows of the table that an UPDATE or DELETE names, not those that its foreign keys change. */
function isTarget({ writes, equals }: Access): boolean {
  return writes.size > 0 && equals !== undefined;
}

/** Texts of guards. One that is elsewhere sent without a look at its row count is none. */
export function guardsIn(paths: readonly AnalyzedPath[]): readonly string[] {
  const all = paths.flat();
  const others = new Set(all.flatMap((one) => (isGuard(one) ? [] : [one.statement.sql])));
  const guards = new Set(all.flatMap((one) => (isGuard(one) ? [one.statement.sql] : [])));
  return [...guards].filter((sql) => !others.has(sql));
}

/** Does a guard find no row, and the path write nothing? To others it is as if it had not run. */
export function isRefused(path: AnalyzedPath, variant: Variant): boolean {
  const isMissed = path.some((one, at) => isGuard(one) && variant.missed.has(at));
  return isMissed && !path.some((one, at) => changesRow(one, at, variant));
}

function changesRow({ moments, isUndone }: AnalyzedStatement, at: number, variant: Variant): boolean {
  return !isUndone && moments.flat().some((access) => (absenceOf(access, at, variant)?.writes.size ?? 0) > 0);
}

/** By table and column: columns that no statement changes without increasing that one. */
export type VersionColumns = ReadonlyMap<number, ReadonlyMap<string, ReadonlySet<string>>>;

/**
 * A version that was read is the row's still only where every statement that writes the column increases it, and no row with its key is made anew. It then
 * stands for each column that no statement writes without it.
 * @param accesses of the whole application
 * @param removed numbers of tables whose rows may be gone again
 */
export function versionColumns(accesses: readonly Access[], removed: ReadonlySet<number>): VersionColumns {
  const changes = accesses.filter(({ table, writes: written, inserts }) => {
    return written.size > 0 && !inserts && !removed.has(table.id);
  });
  const tables = new Map(changes.map(({ table }) => [table.id, table]));
  return new Map(
    [...tables].map(([id, { columns }]) => {
      const own = changes.filter(({ table }) => table.id === id);
      const versions = columns.filter(({ name }) => {
        const writers = own.filter((access) => access.writes.has(name));
        return writers.length > 0 && writers.every(({ increases }) => increases?.has(name) === true);
      });
      const guardedBy = (version: string): ReadonlySet<string> => {
        const unversioned = own.filter((access) => !access.writes.has(version));
        const isFree = (name: string): boolean => unversioned.some((access) => access.writes.has(name));
        return new Set(columns.flatMap(({ name }) => (isFree(name) ? [] : [name])));
      };
      return [id, new Map(versions.map(({ name }) => [name, guardedBy(name)]))];
    }),
  );
}

/** A path with what its variant finds. */
export interface FoundPath {
  readonly path: AnalyzedPath;
  readonly variant: Variant;
}

/**
 * Columns of the row of a read, by key, that have what it saw when one of the guards finds that row: the read of them counts as one of that moment.
 * @param isConsidered by the place of a guard in the path
 */
export function heldColumns(
  { at, access }: { readonly at: number; readonly access: Access },
  { path, variant }: FoundPath,
  isConsidered: (guard: number) => boolean,
): ReadonlySet<string> {
  const read = path[at] as AnalyzedStatement;
  const held = new Set<string>();
  if (access.writes.size > 0 || access.locks || access.row.kind !== 'key') return held;
  for (const [guard, one] of path.entries()) {
    if (guard <= at || !isConsidered(guard) || !isGuard(one) || one.isUndone) continue;
    const [target, ...others] = one.moments.flat().filter(isTarget);
    if (target === undefined || others.length > 0 || !isFound(target, guard, variant)) continue;
    if (!isSameRow(target, access, read)) continue;
    const asRead = [...(target.equals ?? [])].filter(([column, value]) => isAsRead(column, value, read, one));
    for (const [column] of asRead) held.add(column).add(existence);
  }
  return held;
}

/** The same with what these columns stand for as versions, which an application never changes without them. */
export function withVersioned(
  held: ReadonlySet<string>,
  { id }: Access['table'],
  versions: VersionColumns,
): ReadonlySet<string> {
  return new Set([...held].flatMap((column) => [column, ...(versions.get(id)?.get(column) ?? [])]));
}

/** Does the write change one of these columns as a version, so that the guard finds no row behind it? */
export function changesVersion(
  { table, increases }: Access,
  held: ReadonlySet<string>,
  versions: VersionColumns,
): boolean {
  return [...held].some((column) => increases?.has(column) === true && versions.get(table.id)?.has(column) === true);
}

function isFound(target: Access, at: number, variant: Variant): boolean {
  return (absenceOf(target, at, variant)?.writes.size ?? 0) > 0;
}

/** Are both of one row: by equal keys, or by the key that the read shows? */
function isSameRow({ table, row }: Access, read: Access, { statement, shows }: AnalyzedStatement): boolean {
  if (table.id !== read.table.id || row.kind !== 'key') return false;
  const text = rowText(table, row);
  if (text !== undefined && text === rowText(read.table, read.row)) return true;
  const index = uniqueIndexes(table).find(({ name }) => name === row.index);
  if (index === undefined) return false;
  const columns = indexColumns(table, index);
  return row.values.every((value, part) => isColumnOf(value, statement.result, shows, columns[part] ?? ''));
}

function isColumnOf(value: Value, result: string | null, shows: AnalyzedStatement['shows'], column: string): boolean {
  return (
    value.kind === 'column' && value.row === 'first' && value.statement === result && shows.get(value.column) === column
  );
}

/** Does a guard ask that the column has what the read saw, or a constant that the conditions say it saw? */
function isAsRead(column: string, asked: Value, read: AnalyzedStatement, guard: AnalyzedStatement): boolean {
  const isRead = (value: Value): boolean => isColumnOf(value, read.statement.result, read.shows, column);
  if (isRead(asked)) return true;
  if (asked.kind !== 'constant' || asked.value === null) return false;
  const { conditions } = guard;
  if (conditions.some((one) => implies(one, true, isRead, asked.value))) return true;
  // `if (row.paid) return`: it is false where the row was there and the column cannot be NULL.
  const isNotNull = read.moments.flat().every(({ table }) => exactColumn(table, column)?.isNotNull === true);
  const isThere = !canHold(conditions, new Map([[read.statement.result ?? '', foundRow(0, read)]]));
  return asked.value === false && isNotNull && isThere && conditions.some((one) => isFalse(one, isRead));
}

/** Does it follow from what the condition comes to that the value is the constant? */
function implies(
  condition: Value,
  holds: boolean,
  isRead: (value: Value) => boolean,
  constant: string | number | boolean | null,
): boolean {
  if (isRead(condition)) return holds && constant === true;
  if (condition.kind !== 'expression') return false;
  const { operator, operands } = condition;
  const [first, second] = operands;
  if (operator === 'not' && first !== undefined) return implies(first, !holds, isRead, constant);
  if (operator === (holds ? 'and' : 'or')) return operands.some((one) => implies(one, holds, isRead, constant));
  if (operator !== (holds ? '=' : '<>') || first === undefined || second === undefined) return false;
  const isEqual = (a: Value, b: Value): boolean => isRead(a) && b.kind === 'constant' && b.value === constant;
  return isEqual(first, second) || isEqual(second, first);
}

function isFalse(condition: Value, isRead: (value: Value) => boolean): boolean {
  if (condition.kind !== 'expression' || condition.operator !== 'not') return false;
  const [negated] = condition.operands;
  return negated !== undefined && isRead(negated);
}
