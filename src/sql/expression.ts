/**
 * Expressions: compiled once from the parser's tree into typed closures, evaluated once a row. Types are static, as in PostgreSQL; where
 * MySQL converts while it runs, its operators are compiled to closures that do.
 */
import type { Node } from '@pgsql/types';
import type { Dialect, Row, SqlType, SqlValue } from './model/index.ts';
import type { Execution, KeptResults } from './execution.ts';

export interface Expression {
  readonly type: SqlType;
  /** Length, or precision and scale, as PostgreSQL's atttypmod; -1 for none. */
  readonly modifier: number;
  readonly evaluate: (frame: Frame) => SqlValue;
  /** Does its value depend on no row: literals, parameters, stable functions of them? Such a value can bound an index scan. */
  readonly isRowFree: boolean;
  /** Is it of a smaller unsigned type of MySQL's, as a column is? That type's values are held as signed integers. */
  readonly isUnsigned?: boolean;
  /** Does it call a function whose calls count, as those that take locks? */
  readonly isVolatile?: boolean;
  /** Of a condition that the server makes a join of. */
  readonly join?: SubqueryJoin | undefined;
  /** Where it is a plain column of the query itself: which of the frame's rows, and which cell. For access paths and result names. */
  readonly column?: { readonly row: number; readonly cell: number };
}

/** What evaluation reads. One frame for each query; a subquery's `outer` is the frame of the query around it. */
export interface Frame {
  /** One for each FROM item, in order; `null` for the missing side of an outer join. Set by the executor as it runs. */
  readonly rows: (Row | null)[];
  /** Results of this group's aggregates and window functions, by slot. */
  readonly computed: SqlValue[];
  readonly execution: Execution;
  readonly outer: Frame | null;
}

/** EXISTS or IN as a join: what a row was compared with, for the time when the row has changed. */
export interface SubqueryJoin {
  /** The table of the subquery, where it depends on the row of it that comes first whether a changed row still matches. */
  readonly openFor: string | null;
  /**
   * Joins the rows of a frame with the first rows of the subquery that match, or the last. The result tells of other rows in the frame whether they
   * match the same rows of the subquery.
   */
  readonly of: (frame: Frame, takesLast: boolean) => Recheck;
}

/** Do the rows that are in the frame now satisfy what others satisfied? */
export type Recheck = (frame: Frame) => boolean;

/** What names mean where an expression stands; given by the planner. */
export interface Scope {
  readonly dialect: Dialect;
  /** MySQL's strict mode in a statement that writes: a text that is a number or a truth value there has to be a number (1292). DELETE takes what it begins with. */
  readonly refusesTruncation?: boolean;
  /** @throws SqlError 42703 unknown, 42702 ambiguous */
  readonly column: (names: readonly string[], position: number) => Expression;
  /** Those of `name.*`, by the name of a FROM item. @throws SqlError 42P01 */
  readonly columnsOf: (names: readonly string[], position: number) => readonly Expression[];
  /** `$n`. Its type is settled by the first use that knows one: `ParameterSlot.type` is undefined until then. */
  readonly parameter: (number: number) => ParameterSlot;
  /** Plans a SELECT inside this scope, for IN, EXISTS, ANY, scalar subqueries and ARRAY(...). */
  readonly subquery: (select: Node, use: SubqueryUse) => Subquery;
  /** Aggregates and window functions belong to the query: the planner takes the call and gives back the slot, or undefined: a plain function. */
  readonly aggregate: (call: Node) => Expression | undefined;
  /** A type by name, user-defined ones (enums, domains) included. @throws SqlError 42704 */
  readonly type: (name: string, position: number) => SqlType;
}

export interface ParameterSlot {
  readonly index: number;
  type: SqlType | undefined;
}

/** Has a subquery a value of its own, or is something `compared` with its rows: IN, ANY, ALL? */
export type SubqueryUse = 'value' | 'compared';

export interface Subquery {
  readonly columns: readonly { readonly name: string; readonly type: SqlType; readonly isUnsigned?: boolean }[];
  /** Runs it with `frame` around it. */
  readonly rows: (frame: Frame) => Iterable<readonly SqlValue[]>;
  /** For EXISTS. */
  readonly hasRow: (frame: Frame) => boolean;
  /** For EXISTS that the server makes a join of. */
  readonly join?: SubqueryJoin | undefined;
  /** Does it look at the query around it? If not, its rows may be kept for the statement. */
  readonly isCorrelated: boolean;
  /** What is kept for the statement under way. */
  readonly keptIn: (frame: Frame) => KeptResults;
}
