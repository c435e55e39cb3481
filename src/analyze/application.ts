/**
 * An application as every source delivers it: a file written by hand, TypeScript source, a recorded trace. Plain data. A source says what it
 * saw and does not judge it: SQL stays text in the application's dialect, and only the analysis takes it apart.
 *
 * What a source does not understand is a `NotUnderstood`, never left out: the analysis proves nothing about a transaction that has one.
 */
import type { IsolationName } from '../sql/index.ts';

/** Of SQL and of the driver. */
export type Dialect = 'postgres' | 'mysql';

/** The units of an application, and the schema that their statements are of. */
export interface Application {
  readonly dialect: Dialect;
  /** CREATE TABLE, CREATE INDEX, ALTER TABLE: as `psql` or `mysql` would take it. */
  readonly schema: string;
  readonly units: readonly Unit[];
  /** What belongs to no unit: a file that does not parse, a handle that leaves the sources. The rest stands among the steps, where it would run. */
  readonly notUnderstood: readonly NotUnderstood[];
  /** What the units take for granted, as clauses, whatever is found: that the callers of one have no transaction open. */
  readonly assumed?: readonly string[];
  /** What a robust verdict takes for granted beside, as clauses: a trace shows only what ran. */
  readonly covered?: readonly string[];
  /** Files of the source that are no part of the units, as clauses that say why: seeds. */
  readonly leftOut?: readonly string[];
}

/** Relative to the working directory; the first line is 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** A request handler, a job, an exported function: the scope in which reads and later writes belong together. Names are unique. */
export interface Unit {
  readonly name: string;
  readonly place: Place;
  readonly steps: readonly UnitStep[];
  /** The functions that it runs, where the source knows them. */
  readonly code?: readonly CodeRange[];
  /** How its code is called, where the source knows its code. */
  readonly entry?: UnitEntry;
}

/** Names of parameters are those of the unit's arguments: `amount` of the argument `amount`, `order` of `order.id`. */
export type UnitEntry =
  | { readonly kind: 'function'; readonly of: ExportedFunction; readonly parameters: readonly EntryParameter[] }
  /** Of a route, in their order: each takes a request, a response and `next`. Arguments are paths of the request: `body.amount`. */
  | { readonly kind: 'handlers'; readonly of: readonly ExportedFunction[] }
  /** It cannot be called: a clause that says why. */
  | { readonly kind: 'none'; readonly reason: string };

/** A function of the application that can be imported. */
export interface ExportedFunction {
  readonly file: string;
  /** `default` also for what a CommonJS module is as a whole. */
  readonly export: string;
}

/** A parameter of a unit's function: one argument, or an object with several. */
export type EntryParameter = EntryName | { readonly properties: readonly EntryName[]; readonly isOptional: boolean };

/** A parameter, or a property of one, that holds an argument of the unit. */
export interface EntryName {
  readonly name: string;
  /** May a caller leave it out? */
  readonly isOptional: boolean;
}

/** Lines of a file, both ends included. */
export interface CodeRange {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** A statement outside a transaction is a transaction of its own (autocommit). */
export type UnitStep = Transaction | Statement | Branch<UnitStep> | Loop<UnitStep> | Return | NotUnderstood;

/** Steps between BEGIN and COMMIT. */
export interface Transaction {
  readonly kind: 'transaction';
  /** Unique within the unit. */
  readonly name: string;
  /** Where it begins. */
  readonly place: Place;
  /** What BEGIN or the driver's option says; `null`: the database's default, which the user gives. */
  readonly level: IsolationName | null;
  /** Without BEGIN, COMMIT and SET TRANSACTION. It commits after the last one. */
  readonly steps: readonly Step[];
}

/** What a transaction does, in order. */
export type Step =
  | Statement
  | Branch<Step>
  | Loop<Step>
  | Abort
  | Return
  | Savepoint
  | RollbackToSavepoint
  | NotUnderstood;

/** A step of a transaction, or of a unit with its transactions. */
export type AnyStep =
  | Transaction
  | Statement
  | Branch<AnyStep>
  | Loop<AnyStep>
  | Abort
  | Return
  | Savepoint
  | RollbackToSavepoint
  | NotUnderstood;

/** One SQL statement, and where it is in the source. */
export interface Statement {
  readonly kind: 'statement';
  /** One statement, with `$1` (PostgreSQL) or `?` (MySQL) for parameters. */
  readonly sql: string;
  /** The first is `$1` or the first `?`. */
  readonly parameters: readonly Value[];
  readonly place: Place;
  /** The name by which later values use its rows or its row count: unique within the unit. `null`: none does. */
  readonly result: string | null;
  /** Does the code look at how many rows an UPDATE or DELETE found, in a condition or in what it gives to its caller? */
  readonly isCountSeen?: true;
  /** How the library runs SQL text, where what the source calls has no FOR UPDATE: `$queryRaw`. */
  readonly rawCall?: string;
}

/** `if`, `switch` (branches in branches), `? :`, a `catch` (with an unknown condition). */
export interface Branch<Of> {
  readonly kind: 'branch';
  /** A truth value. */
  readonly condition: Value;
  readonly ifTrue: readonly Of[];
  readonly ifFalse: readonly Of[];
}

/** Runs its steps any number of times, 0 included: once for each element of a list, or `while` something holds (`over` is unknown). */
export interface Loop<Of> {
  readonly kind: 'loop';
  /** The name by which `element` values use its element: unique within the unit. */
  readonly name: string;
  readonly over: Value;
  readonly steps: readonly Of[];
}

/** ROLLBACK, or a throw out of the transaction. No later step of the transaction runs. */
export interface Abort {
  readonly kind: 'abort';
}

/** Ends the transaction with its commit; outside a transaction, ends the unit. */
export interface Return {
  readonly kind: 'return';
}

/** SAVEPOINT. */
export interface Savepoint {
  readonly kind: 'savepoint';
  readonly name: string;
}

/** The savepoint stays; the steps after it run. */
export interface RollbackToSavepoint {
  readonly kind: 'rollback-to-savepoint';
  readonly name: string;
}

/** Code or SQL that was not understood: at this place, anything may be read and written. */
export interface NotUnderstood {
  readonly kind: 'not-understood';
  readonly place: Place;
  /** A clause: `the SQL text is built in a loop`. */
  readonly reason: string;
}

/** What a statement's parameter or a condition is computed from. Two equal values of one run of a unit are the same value, `unknown` excepted. */
export type Value =
  /** What the unit was called with, by a name unique within the unit: `from`, `body.amount`. It may be a list. */
  | { readonly kind: 'argument'; readonly name: string }
  /** Of an earlier statement's result: in its first row (NULL where there is none), or in all rows, as a list. */
  | { readonly kind: 'column'; readonly statement: string; readonly column: string; readonly row: 'first' | 'all' }
  /** All rows of an earlier statement's result, as a list. */
  | { readonly kind: 'rows'; readonly statement: string }
  /** How many rows an earlier statement returned or, without rows, changed. */
  | { readonly kind: 'row-count'; readonly statement: string }
  /** The element at which a loop around the step is, or one of its fields. */
  | { readonly kind: 'element'; readonly loop: string; readonly field: string | null }
  | { readonly kind: 'constant'; readonly value: string | number | boolean | null }
  /**
   * A deterministic function of its operands. The operator is SQL's: `+ - * / % || = <> < <= > >= and or not`, `is null`,
   * `if` (condition, then, else), and `abs ceil floor max min round trunc`; `fails` of row counts: one of
   * those statements ended with an error, and those behind it did not run. Any other is the name of a function of which nothing else is known.
   */
  | { readonly kind: 'expression'; readonly operator: string; readonly operands: readonly Value[] }
  /** Anything, each time: a clock, a random number, what was not understood. */
  | UnknownValue;

/** Of it nothing is known but what it may depend on. */
export interface UnknownValue {
  readonly kind: 'unknown';
  readonly reason: string;
  /** Columns, rows, row counts and elements that it may be computed from: none of a clock. Without it, anything that the unit has read before. */
  readonly from?: readonly Value[];
}
