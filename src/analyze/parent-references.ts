/**
 * Rows that refer to a row by a column that never changes: the bookings of an account. Accesses of the bookings of two accounts are of different rows, and a
 * transaction that locks the account keeps others from its bookings, if they lock it, too. No foreign key is asked for: a program that names a row and others by
 * one value refers from these to that.
 *
 * Why a value that a statement asks for, or gives to a new row, is that of the row at any time: no statement writes the column, and the key of a row that is gone
 * names no row with another value of it later.
 */
import { columnAtCell, exactColumn, type Index, type Table } from '../sql/index.ts';
import type { TypeName } from '../sql/model/index.ts';
import { type Access, type AccessedRow, existence, isNewRow } from './access.ts';
import type { Value } from './application.ts';
import { indexColumns, rowOfValues, uniqueIndexes } from './row-keys.ts';
import type { AnalyzedPath } from './transactions.ts';

interface ParentReference {
  /** Other for each other column and key. */
  readonly name: string;
  readonly column: string;
  readonly parent: Table;
  readonly index: Index;
}

/** By the number of the table that refers. */
export type ParentReferences = ReadonlyMap<number, readonly ParentReference[]>;

/**
 * @param paths of a whole application
 * @param removed numbers of tables whose rows may be gone again
 */
export function parentReferences(paths: readonly AnalyzedPath[], removed: ReadonlySet<number>): ParentReferences {
  const found = new Map<string, ParentReference & { readonly table: Table }>();
  const accesses = paths.flat().flatMap(({ moments }) => moments.flat());
  const isFixed = fixedColumns(accesses, removed);
  for (const { table, column, parent, index } of paths.flatMap(namedTogether)) {
    const name = `${table.id} ${column} ${parent.id} ${index.name}`;
    if (found.has(name) || isKey(table, column)) continue;
    if (!areCompared(table, column, parent, index) || !isFixed(table, column)) continue;
    found.set(name, { name, column, parent, index, table });
  }
  const byTable = new Map<number, ParentReference[]>();
  for (const { table, ...reference } of found.values())
    byTable.set(table.id, [...(byTable.get(table.id) ?? []), reference]);
  return byTable;
}

/** The rows to which those of the access refer, as far as its statement says it. */
export function parentsOfRow(
  { table, having = new Map<string, Value>() }: Access,
  references: ParentReferences,
): readonly (ParentReference & { readonly row: Extract<AccessedRow, { kind: 'key' }> })[] {
  return (references.get(table.id) ?? []).flatMap((reference) => {
    const value = having.get(reference.column);
    if (value === undefined || runText(value) === undefined) return [];
    return [{ ...reference, row: rowOfValues(reference.index, [value]) }];
  });
}

interface NamedParent {
  readonly parent: Table;
  readonly index: Index;
}

/** A column by which a condition looks for rows, and a key, that the path gives one value. Where all rows are named by key, parents tell nothing. */
function namedTogether(
  path: AnalyzedPath,
): readonly (NamedParent & { readonly table: Table; readonly column: string })[] {
  const accesses = path.flatMap(({ moments }) => moments.flat());
  const parents = accesses.flatMap(namedByOneValue);
  const searches = accesses.filter(({ row }) => row.kind === 'condition' || row.kind === 'taken');
  return searches.flatMap(({ table, having = new Map<string, Value>() }) =>
    [...having].flatMap(([column, value]) => {
      const text = runText(value);
      return parents.flatMap(({ named, ...one }) => (named === text ? [{ ...one, table, column }] : []));
    }),
  );
}

function namedByOneValue({ table, row }: Access): readonly (NamedParent & { readonly named: string })[] {
  const [value, ...more] = row.kind === 'key' ? row.values : [];
  const named = value === undefined || more.length > 0 ? undefined : runText(value);
  const index = uniqueIndexes(table).find(({ name }) => row.kind === 'key' && name === row.index);
  return named === undefined || index === undefined ? [] : [{ parent: table, index, named }];
}

/** A value that a run has from its begin to its end. Constants are left out: of these, a key says which are equal. */
function runText(value: Value): string | undefined {
  const isOfRun =
    value.kind === 'argument' || value.kind === 'element' || (value.kind === 'column' && value.row === 'first');
  return isOfRun ? JSON.stringify(value) : undefined;
}

/** Of such a column each row is named by key already: it would tie the rows of tables that have one key. */
function isKey(table: Table, column: string): boolean {
  return uniqueIndexes(table).some((index) => index.parts.length === 1 && indexColumns(table, index).includes(column));
}

const integers: ReadonlySet<TypeName> = new Set(['int2', 'int4', 'int8', 'uint8']);

/** Are two values equal in the column exactly if they are in the key? */
function areCompared(table: Table, name: string, parent: Table, index: Index): boolean {
  const [part, ...more] = index.parts;
  const column = exactColumn(table, name);
  const key = part === undefined || more.length > 0 ? undefined : columnAtCell(parent, part.cell);
  if (column === undefined || key === undefined) return false;
  if (integers.has(column.type.name)) return integers.has(key.type.name);
  // Of a length, a write may cut what a comparison takes as it is.
  return column.type.name === key.type.name && [column, key].every(({ modifier }) => modifier === -1);
}

/** Columns of which a row has one value as long as its key names it. */
function fixedColumns(
  accesses: readonly Access[],
  removed: ReadonlySet<number>,
): (table: Table, column: string) => boolean {
  const changed = new Set<string>();
  const inserts: Access[] = [];
  for (const access of accesses) {
    const { table, writes } = access;
    if (access.inserts && access.overwrites !== true) inserts.push(access);
    else if (!isRemoval(access)) for (const name of writes) changed.add(`${table.id} ${name}`);
  }
  return (table, column) => {
    if (changed.has(`${table.id} ${column}`)) return false;
    const own = inserts.filter((access) => access.table.id === table.id);
    return !removed.has(table.id) || own.every((access) => isNewRow(access) || isInKey(access, column));
  };
}

/** Not an UPDATE of a key, which leaves the row under another one. */
function isRemoval({ writes, inserts, increases }: Access): boolean {
  return writes.has(existence) && !inserts && increases === undefined;
}

function isInKey({ table, row }: Access, column: string): boolean {
  const index = uniqueIndexes(table).find(({ name }) => row.kind === 'key' && name === row.index);
  return index !== undefined && indexColumns(table, index).includes(column);
}
