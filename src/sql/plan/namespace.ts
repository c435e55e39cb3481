/** Which names a FROM clause makes visible, and what they stand for. */
import type { Table } from '../catalog/relation.ts';
import type { LockRequest, LookUp, SqlType } from '../model/index.ts';
import { mysqlColumnTypes } from '../mysql/column-types.ts';

/** Something in FROM with a name: a table, a subquery, a function. It is one row of the frame. */
export interface RangeItem {
  readonly name: string;
  readonly schema: string | null;
  readonly row: number;
  readonly table: Table | null;
  /** What gives its rows, where that is no table. */
  readonly source?: 'subquery' | 'view' | 'WITH query' | 'function' | 'VALUES' | 'sequence';
  readonly columns: readonly ItemColumn[];
  /** Which of its cells the query reads: complete when the query is planned. */
  readonly cellsRead: Set<number>;
  /** The rows of it that a join finds are written to. */
  isWritten?: boolean;
  /** Scans lock its rows as they read them, for a locking clause. */
  lockedBy?: LockRequest;
  /** What a join looks up for each of its rows. */
  lookUps?: LookUp[];
  /** Columns that its rows have and `*` does not show. */
  readonly systemColumns?: readonly ItemColumn[];
  /** Computed from the catalog: its table's own name. */
  readonly systemName?: string;
}

export interface ItemColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly modifier: number;
  readonly cell: number;
  readonly isNullable: boolean;
  readonly isUnsigned?: boolean;
}

/** What a bare column name finds, in the order of `*`. */
export type VisibleColumn =
  | { readonly kind: 'plain'; readonly name: string; readonly item: RangeItem; readonly column: ItemColumn }
  /** USING in a full join: the left one, or the right one where that is null. */
  | { readonly kind: 'merged'; readonly name: string; readonly left: VisibleColumn; readonly right: VisibleColumn };

export interface Namespace {
  readonly items: readonly RangeItem[];
  readonly columns: readonly VisibleColumn[];
}

export const emptyNamespace: Namespace = { items: [], columns: [] };

export function namespaceOf(item: RangeItem): Namespace {
  return { items: [item], columns: item.columns.map((column) => plain(item, column)) };
}

function plain(item: RangeItem, column: ItemColumn): VisibleColumn {
  return { kind: 'plain', name: column.name, item, column };
}

export function joined(left: Namespace, right: Namespace): Namespace {
  return { items: [...left.items, ...right.items], columns: [...left.columns, ...right.columns] };
}

/** A table under its own name. */
export function tableRangeItem(table: Table, row: number): RangeItem {
  const { name, schema } = table;
  return { name, schema, row, table, columns: tableColumns(table), cellsRead: new Set() };
}

/** Table columns as a FROM item shows them. */
export function tableColumns(table: Table): ItemColumn[] {
  return table.columns.map(({ name, type, modifier, cell, isNotNull, mysqlType }) => ({
    name,
    type: type.domain?.base ?? type,
    modifier,
    cell,
    isNullable: !isNotNull,
    isUnsigned: mysqlType !== null && mysqlColumnTypes[mysqlType].isUnsigned,
  }));
}
