/** What a server reads and writes to keep foreign keys. Its checks of a parent lock it against deletion; they are taken as reads, which allows more. */
import { columnAtCell, type ForeignKey, type Table } from '../sql/index.ts';
import { type Access, existence } from './access.ts';
import type { Value } from './application.ts';
import type { InsertedRow } from './insert-accesses.ts';
import { indexColumns, keyRow, uniqueIndexes } from './row-keys.ts';
import type { Schema } from './schema.ts';

/** Each parent of a new row is looked for. */
export function checksOfWrite({ access, values }: InsertedRow, schema: Schema): readonly Access[] {
  return access.table.foreignKeys.flatMap((key) => parentRead(access.table, key, values, schema));
}

/** New parents of changed references; children where a key changes. */
export function checksOfUpdate(
  table: Table,
  written: ReadonlySet<string>,
  values: ReadonlyMap<string, Value | undefined>,
  schema: Schema,
): readonly Access[] {
  const isWritten = (cell: number): boolean => written.has(columnAtCell(table, cell)?.name ?? '');
  const parents = table.foreignKeys
    .filter(({ cells }) => cells.some(isWritten))
    .flatMap((key) => parentRead(table, key, values, schema));
  const children = childrenOf(table, schema)
    .filter(({ key }) => key.parentCells.some(isWritten))
    .flatMap(({ child, key }) => childAccess(child, key, key.onUpdate, schema, []));
  return [...parents, ...children];
}

/** Children are looked for, and deleted or changed where the key has an action. */
export function checksOfDelete(table: Table, schema: Schema, above: readonly Table[] = []): readonly Access[] {
  return childrenOf(table, schema).flatMap(({ child, key }) =>
    childAccess(child, key, key.onDelete, schema, [...above, table]),
  );
}

function parentRead(
  table: Table,
  { cells, parent: parentId, parentCells }: ForeignKey,
  values: ReadonlyMap<string, Value | undefined>,
  schema: Schema,
): readonly Access[] {
  const parent = schema.catalog.tableById(parentId);
  if (parent === undefined) return [];
  const given = cells.map((cell) => values.get(columnAtCell(table, cell)?.name ?? ''));
  const names = parentCells.map((cell) => columnAtCell(parent, cell)?.name ?? '');
  // NULL refers to nothing.
  if (given.some((value) => value?.kind === 'constant' && value.value === null)) return [];
  const index = uniqueIndexes(parent).find((each) => {
    const columns = indexColumns(parent, each);
    return columns.length === names.length && columns.every((column) => names.includes(column));
  });
  const ordered = index === undefined ? [] : indexColumns(parent, index).map((column) => given[names.indexOf(column)]);
  const isKnown = index !== undefined && ordered.every((value) => value !== undefined);
  const row = isKnown ? keyRow(parent, index, ordered, schema) : ({ kind: 'condition' } as const);
  return [
    {
      table: parent,
      row,
      reads: new Set([existence]),
      writes: new Set(),
      locks: false,
      mayMiss: false,
      inserts: false,
    },
  ];
}

function childrenOf(table: Table, schema: Schema): readonly { readonly child: Table; readonly key: ForeignKey }[] {
  return schema.catalog
    .tables()
    .flatMap((child) => child.foreignKeys.filter(({ parent }) => parent === table.id).map((key) => ({ child, key })));
}

function childAccess(
  child: Table,
  { cells }: ForeignKey,
  action: ForeignKey['onDelete'],
  schema: Schema,
  above: readonly Table[],
): readonly Access[] {
  const columns = cells.map((cell) => columnAtCell(child, cell)?.name ?? '');
  const isChanged = action === 'cascade' || action === 'set null' || action === 'set default';
  const deletes = action === 'cascade' && above.length > 0;
  const all = [existence, ...child.columns.map(({ name }) => name)];
  const access: Access = {
    table: child,
    row: { kind: 'condition' },
    reads: new Set([existence, ...columns]),
    writes: new Set(deletes ? all : isChanged ? columns : []),
    locks: false,
    mayMiss: true,
    inserts: false,
  };
  if (!deletes || above.includes(child)) return [access];
  return [access, ...checksOfDelete(child, schema, above)];
}
