/** OWNED BY: a column that owns a sequence takes it along when it is dropped, and TRUNCATE ... RESTART IDENTITY restarts it. */
import type { Node } from '@pgsql/types';
import type { Column, Table } from '../catalog/relation.ts';
import type { Sequence } from '../catalog/sequence.ts';
import type { Planning } from '../plan/planning.ts';
import { stringsOf } from '../plan/tree.ts';
import { notSupported, SqlError } from '../model/index.ts';
import type { Changes } from './changes.ts';
import { replaceTable } from './create-index.ts';

/** Columns that own `before` own `after`, or nothing. */
export function replaceOwned(before: Sequence, after: Sequence | null, planning: Planning, changes: Changes): void {
  for (const table of planning.catalog.tables()) {
    if (table.columns.some(({ sequence }) => sequence === before))
      replaceTable(
        table,
        withSequence(table, ({ sequence }) => sequence === before, after),
        planning,
        changes,
      );
  }
}

/** What OWNED BY among the options of CREATE and ALTER SEQUENCE says. @throws SqlError 0A000, 42P01, 42601, 42703, 55000 */
export function setOwner(
  sequence: Sequence,
  options: readonly Node[] | undefined,
  planning: Planning,
  changes: Changes,
): void {
  const names = ownerNames(options);
  if (names === null) return;
  const isIdentity = ({ identity, sequence: own }: Column): boolean => identity !== null && own === sequence;
  if (planning.catalog.tables().some(({ columns }) => columns.some(isIdentity)))
    throw new SqlError('0A000', 'cannot change ownership of identity sequence');
  const owner = ownerOf(sequence, names, planning);
  replaceOwned(sequence, null, planning, changes);
  if (owner === null) return;
  const table = planning.catalog.tableById(owner.table.id) ?? owner.table;
  replaceTable(
    table,
    withSequence(table, ({ name }) => name === owner.column.name, sequence),
    planning,
    changes,
  );
}

/** `null`: nothing is said. */
function ownerNames(options: readonly Node[] | undefined): readonly string[] | null {
  for (const node of options ?? []) {
    if (!('DefElem' in node) || node.DefElem.defname !== 'owned_by') continue;
    const { arg } = node.DefElem;
    return arg !== undefined && 'List' in arg ? stringsOf(arg.List.items) : [];
  }
  return null;
}

/** `null`: NONE. */
function ownerOf(
  sequence: Sequence,
  names: readonly string[],
  planning: Planning,
): { readonly table: Table; readonly column: Column } | null {
  const name = names.at(-1) ?? '';
  if (names.length < 2) {
    if (name === 'none') return null;
    throw new SqlError('42601', 'invalid OWNED BY option', { hint: 'Specify OWNED BY table.column or OWNED BY NONE.' });
  }
  const [relname = '', schemaname] = names.slice(0, -1).toReversed();
  const table = planning.relation(schemaname === undefined ? { relname } : { relname, schemaname });
  if (table.kind !== 'table') throw notSupported(`OWNED BY a column of a ${table.kind}`);
  if (table.schema !== sequence.schema)
    throw new SqlError('55000', 'sequence must be in same schema as table it is linked to');
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new SqlError('42703', `column "${name}" of relation "${table.name}" does not exist`);
  if (column.sequence !== null && column.sequence !== sequence)
    throw notSupported(`OWNED BY a column that owns another sequence`);
  return { table, column };
}

function withSequence(table: Table, isOwner: (column: Column) => boolean, sequence: Sequence | null): Table {
  return { ...table, columns: table.columns.map((column) => (isOwner(column) ? { ...column, sequence } : column)) };
}
