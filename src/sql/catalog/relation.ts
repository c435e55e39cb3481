/** What the catalog knows by name: tables with their columns, indexes and constraints, views, sequences, relations that are computed. */
import type { Node } from '@pgsql/types';
import { type Dialect, isSameName, type IndexId, type TableId, type SqlType, type SqlValue } from '../model/index.ts';
import type { SessionActivity } from './activity.ts';
import type { Sequence } from './sequence.ts';
import type { MysqlTypeName } from '../tree/mysql.ts';

export type Relation = Table | View | Sequence | VirtualTable;

/** A value: a change of a table is another table under its name and number. */
export interface Table {
  readonly kind: 'table';
  readonly id: TableId;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly Column[];
  /**
   * Names of the cells of a stored row. A column that is dropped leaves its cell behind, as in PostgreSQL: then the change is the
   * catalog's alone and can be undone.
   */
  readonly cells: readonly string[];
  readonly indexes: readonly Index[];
  readonly checks: readonly Check[];
  readonly foreignKeys: readonly ForeignKey[];
  /** What becomes of a temporary table when its transaction is committed. */
  readonly onCommit: OnCommit;
}

export type OnCommit = 'preserve rows' | 'delete rows' | 'drop';

export interface Column {
  readonly name: string;
  readonly type: SqlType;
  readonly modifier: number;
  readonly isNotNull: boolean;
  /** Where its value is in a stored row. */
  readonly cell: number;
  readonly default: Node | null;
  /** Computed from the other columns at every write. */
  readonly generated: Node | null;
  readonly identity: 'always' | 'by default' | null;
  /** The sequence that it owns: identity, serial, AUTO_INCREMENT. */
  readonly sequence: Sequence | null;
  /** MySQL: its type, where no type of PostgreSQL is the same; its range is checked at every write. */
  readonly mysqlType: MysqlTypeName | null;
  /** MySQL's ON UPDATE CURRENT_TIMESTAMP. */
  readonly onUpdate: Node | null;
}

export interface Index {
  readonly id: IndexId;
  readonly name: string;
  readonly isPrimary: boolean;
  readonly isUnique: boolean;
  /** Made by PRIMARY KEY or UNIQUE, so that its name is a constraint's. */
  readonly isConstraint: boolean;
  /** InnoDB made it for a foreign key; the next index that begins with its columns takes its place. */
  readonly isOfForeignKey: boolean;
  readonly deferral: Deferral;
  readonly nullsAreEqual: boolean;
  readonly parts: readonly IndexPart[];
  readonly predicate: Node | null;
}

export interface IndexPart {
  /** A plain column, by its cell; -1 for an expression. */
  readonly cell: number;
  readonly expression: Node | null;
  readonly type: SqlType;
  readonly isDescending: boolean;
}

export interface Check {
  readonly name: string;
  readonly expression: Node;
  /** `false`: NOT VALID, rows from before it may violate it. */
  readonly isValidated: boolean;
}

/** DEFERRABLE: by default checked when the statement is over (`initially immediate`) or when the transaction is. */
export type Deferral = 'never' | 'initially immediate' | 'initially deferred';

export type ReferentialAction = 'no action' | 'restrict' | 'cascade' | 'set null' | 'set default';

export interface ForeignKey {
  readonly name: string;
  /** By cell, so that renaming a column changes nothing here. */
  readonly cells: readonly number[];
  readonly parent: TableId;
  readonly parentCells: readonly number[];
  readonly onUpdate: ReferentialAction;
  readonly onDelete: ReferentialAction;
  readonly deferral: Deferral;
  /** `false`: NOT VALID, rows from before it may violate it. */
  readonly isValidated: boolean;
}

export interface View {
  readonly kind: 'view';
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columnNames: readonly string[] | null;
  /** As they were when it was made, under its own names. */
  readonly columns: readonly Pick<Column, 'name' | 'type' | 'modifier'>[];
  readonly query: Node;
  readonly text: string;
  /** Tables and views that it reads: who drops them asks. */
  readonly reads: readonly number[];
}

/** Computed when it is read: information_schema and pg_catalog. */
export interface VirtualTable {
  readonly kind: 'virtual';
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  /** @param database MySQL: the name by which the session calls its database @param activity what the sessions do; without it: nothing is known */
  readonly rows: (database?: string | null, activity?: ReadActivity) => Iterable<readonly SqlValue[]>;
}

export type ReadActivity = () => Iterable<SessionActivity>;

/** With what a column of a view has none of. */
export function viewColumns({ columns }: View): Column[] {
  const plain = { isNotNull: false, default: null, generated: null, identity: null, sequence: null };
  return columns.map((column, cell) => ({ ...plain, ...column, cell, mysqlType: null, onUpdate: null }));
}

export function primaryKey(table: Table): Index | undefined {
  return table.indexes.find(({ isPrimary }) => isPrimary);
}

/** @param name as a statement has it */
export function columnNamed(table: Table, name: string, dialect: Dialect): Column | undefined {
  return table.columns.find((column) => isSameName(column.name, name, dialect));
}

/** @param name as the catalog has it */
export function exactColumn(table: Table, name: string): Column | undefined {
  return table.columns.find((column) => column.name === name);
}

export function columnAtCell(table: Table, cell: number): Column | undefined {
  return table.columns.find((column) => column.cell === cell);
}
