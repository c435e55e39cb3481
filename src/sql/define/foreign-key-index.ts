/**
 * The index that InnoDB makes for a FOREIGN KEY on the child's columns, unless one has them as its first columns. It gives way to the next
 * index that does. MySQL manual, "FOREIGN KEY Constraints"; names as MariaDB 10.11 chooses them.
 */
import { type Column, columnAtCell, type ForeignKey, type Index, type Table } from '../catalog/relation.ts';
import type { Planning } from '../plan/planning.ts';
import { SqlError } from '../model/index.ts';

/** @param name the key's own; `undefined`: the index is called as its first column */
export function withForeignKeyIndex(
  table: Table,
  cells: readonly number[],
  name: string | undefined,
  planning: Planning,
): Table {
  if (table.indexes.some((index) => startsWith(index, cells))) return table;
  const parts = cells.flatMap((cell) => {
    const type = columnAtCell(table, cell)?.type;
    return type === undefined ? [] : [{ cell, expression: null, type, isDescending: false }];
  });
  const { indexes } = withoutReplaced(table, parts);
  const index: Index = {
    id: planning.catalog.newId(),
    name: name ?? freeName(columnAtCell(table, cells[0] ?? -1)?.name ?? '', indexes),
    isPrimary: false,
    isUnique: false,
    isConstraint: false,
    isOfForeignKey: true,
    deferral: 'never',
    nullsAreEqual: false,
    parts,
    predicate: null,
  };
  return { ...table, indexes: [...indexes, index] };
}

/** Without the indexes of foreign keys whose columns a new index begins with. */
export function withoutReplaced(table: Table, added: Index['parts']): Table {
  const stays = (index: Index): boolean =>
    !index.isOfForeignKey || !index.parts.every(({ cell }, i) => added[i]?.cell === cell);
  return table.indexes.every(stays) ? table : { ...table, indexes: table.indexes.filter(stays) };
}

/** @throws SqlError 1553 when a foreign key of the table or to it has no other index */
export function checkIsNotNeeded(table: Table, index: Index, { catalog }: Planning): void {
  const others = table.indexes.filter((each) => each !== index);
  const needs = (cells: ForeignKey['cells']): boolean =>
    startsWith(index, cells) && !others.some((other) => startsWith(other, cells));
  const isNeeded =
    table.foreignKeys.some(({ cells }) => needs(cells)) ||
    catalog
      .tables()
      .some(({ foreignKeys }) => foreignKeys.some((key) => key.parent === table.id && needs(key.parentCells)));
  if (isNeeded) throw neededIndex(index.name);
}

/** @throws SqlError 1553 when the column, which is dropped, is one of a foreign key */
export function checkIsNoForeignKeys(table: Table, { cell }: Column): void {
  const key = table.foreignKeys.find(({ cells }) => cells.includes(cell));
  const index = key && table.indexes.find((each) => startsWith(each, key.cells));
  if (index !== undefined) throw neededIndex(index.name);
}

function neededIndex(name: string): SqlError {
  return new SqlError('HY000', `Cannot drop index '${name}': needed in a foreign key constraint`, {
    mysqlNumber: 1553,
  });
}

/** MySQL names an index after its first column: `c`, `c_2`, `c_3`. */
export function freeName(base: string, indexes: readonly Index[]): string {
  const isTaken = (name: string): boolean => indexes.some((each) => each.name.toLowerCase() === name.toLowerCase());
  let name = base;
  for (let i = 2; isTaken(name); i++) name = `${base}_${i}`;
  return name;
}

function startsWith({ parts, predicate }: Index, cells: readonly number[]): boolean {
  return predicate === null && cells.every((cell, i) => parts[i]?.cell === cell);
}
