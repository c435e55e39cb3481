/**
 * A read of all rows of a table: InnoDB goes by the shortest secondary index that has every column the statement reads, and without one by the clustered
 * index (`find_shortest_key` in sql_select.cc). It locks the records of that index, and its order is that of the rows.
 */
import { columnAtCell, type Index, primaryKey, type Table } from '../catalog/relation.ts';
import type { Access } from './access.ts';
import { wholeIndex, wholeTable } from './access.ts';
import { type Dialect, engineRules, type TypeName } from '../model/index.ts';
import type { RangeItem } from './namespace.ts';

/** Which columns the statement reads is known when it has been planned: the path is chosen when it first runs. */
export function wholeScan(item: RangeItem, table: Table, dialect: Dialect): Access['paths'] {
  if (!engineRules[dialect].isClustered || table.indexes.length < 2) return () => wholeTable;
  let chosen: Access['paths'] | null = null;
  return (frame) => {
    chosen ??= (item.isWritten === true ? null : shortestWith(item.cellsRead, table))?.paths ?? (() => wholeTable);
    return chosen(frame);
  };
}

export function shortestWith(cells: ReadonlySet<number>, table: Table): Access | null {
  const primary = primaryKey(table)?.parts.map(({ cell }) => cell) ?? [];
  const found = table.indexes.filter((index) => covers(index, cells, table)).toSorted(byPlaceOnServer(table));
  const [first, ...others] = found;
  if (first === undefined) return null;
  const best = others.reduce((a, b) => (keyBytes(b, table) < keyBytes(a, table) ? b : a), first);
  const readsKeyAlone = [...cells].every((cell) => primary.includes(cell));
  if (readsKeyAlone && recordBytes(best, primary, table) >= rowBytes(table)) return null;
  // An index with all columns is no shorter than the rows.
  return best.parts.length === table.columns.length ? null : wholeIndex(best);
}

/** Does a secondary index have all of these columns? The primary key stands behind its own. */
export function covers({ isPrimary, parts, predicate }: Index, cells: ReadonlySet<number>, table: Table): boolean {
  const own = new Set([...parts, ...(primaryKey(table)?.parts ?? [])].map(({ cell }) => cell));
  return !isPrimary && predicate === null && [...cells].every((cell) => own.has(cell));
}

/** Unique indexes first, those without NULLs before the others. */
function byPlaceOnServer(table: Table): (a: Index, b: Index) => number {
  const place = ({ isUnique, parts }: Index): number => {
    if (!isUnique) return 2;
    return parts.every(({ cell }) => columnAtCell(table, cell)?.isNotNull === true) ? 0 : 1;
  };
  return (a, b) => place(a) - place(b);
}

const bytes: Partial<Record<TypeName, number>> = {
  bool: 1,
  int2: 2,
  int4: 4,
  int8: 8,
  uint8: 8,
  float4: 4,
  float8: 8,
  date: 3,
  time: 3,
  timestamp: 5,
  timestamptz: 4,
};
const bytesOfCharacter = 4;

/** As the server counts the length of a key. */
function keyBytes({ parts }: Index, table: Table): number {
  let sum = 0;
  for (const { cell, type } of parts) {
    const column = columnAtCell(table, cell);
    sum += cellBytes(type.name, column?.modifier ?? -1) + (column?.isNotNull === true ? 0 : 1);
  }
  return sum;
}

/** A key and the primary key behind it. */
function recordBytes(index: Index, primary: readonly number[], table: Table): number {
  const key = primary.flatMap((cell) => columnAtCell(table, cell) ?? []);
  return keyBytes(index, table) + sumOf(key.map(({ type, modifier }) => cellBytes(type.name, modifier)));
}

/** What the server compares it with (`handler::keyread_time`): its columns, and a bit for each that may be NULL. */
function rowBytes({ columns }: Table): number {
  const nullable = columns.filter(({ isNotNull }) => !isNotNull).length;
  return Math.ceil(nullable / 8) + sumOf(columns.map(({ type, modifier }) => cellBytes(type.name, modifier)));
}

function cellBytes(type: TypeName, modifier: number): number {
  return bytes[type] ?? (modifier < 0 ? 255 : modifier) * bytesOfCharacter;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
