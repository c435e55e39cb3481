/**
 * Expressions: compiled once from the parser's tree into typed closures, evaluated once a row. Types are static, as in PostgreSQL; where
 * MySQL converts while it runs, its operators are compiled to closures that do.
 */
import type { Node } from '@pgsql/types';
import type { SessionActivity } from './catalog/activity.ts';
import type { CatalogLookups } from './catalog-lookups.ts';
import type { Sequence } from './catalog/sequence.ts';
import type { Dialect, Row, SqlType, SqlValue } from './model/index.ts';
import type { DeferredChecks } from './run/deferred-checks.ts';
import type { StatementCalls } from './statement-calls.ts';

export interface Expression {
  readonly type: SqlType;
  /** Length, or precision and scale, as PostgreSQL's atttypmod; -1 for none. */
  readonly modifier: number;
  readonly evaluate: (frame: Frame) => SqlValue;
  /** Does its value depend on no row: literals, parameters, stable functions of them? Such a value can bound an index scan. */
  readonly isRowFree: boolean;
  /** Is it a column of a smaller unsigned type of MySQL's? That type's values are held as signed integers. */
  readonly isUnsigned?: boolean;
  /** Does it call a function whose calls count, as those that take locks? */
  readonly isVolatile?: boolean;
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

/** What is the same for a whole statement. */
export interface Execution {
  readonly parameters: readonly SqlValue[];
  readonly surroundings: Surroundings;
  /** What volatile functions have given: where the statement runs again after a wait, they give it again. */
  readonly calls?: StatementCalls;
  /** Called for every row that a source gives: a statement that computes for too long ends here. @throws SqlError 57014, 53200 */
  readonly checkInterrupt?: () => void;
  /** Called where the answer takes something that SQL leaves open. */
  readonly onOpenRows?: (what: OpenRows) => void;
}

/** Of rows that no ORDER BY sorts: which comes first, where there are several; or which of them a LIMIT keeps. */
export type OpenRows = 'order' | 'limit';

/** What a query asked of a relation that is computed from the catalog. */
export interface CatalogQuery {
  readonly relation: string;
  readonly text: () => string;
  /** How many rows satisfy the condition now. */
  readonly rows: () => number;
}

/** Locks by a key, and waiting. A function that has to wait throws through the executor to the caller, which runs the statement again. */
export interface LockFunctions {
  /** PostgreSQL's: waits until it is taken. */
  readonly lock: (key: string, mode: 'share' | 'exclusive', owner: 'session' | 'transaction') => void;
  readonly tryLock: (key: string, mode: 'share' | 'exclusive', owner: 'session' | 'transaction') => boolean;
  /** Did the session hold it? If not, PostgreSQL's client gets a warning. */
  readonly unlock: (key: string, mode: 'share' | 'exclusive') => boolean;
  readonly unlockAll: () => number;
  /** MySQL's GET_LOCK: waits at most so long. @returns is it taken? */
  readonly lockWithin: (key: string, limitMs: number) => boolean;
  /** The session that holds it. */
  readonly holder: (key: string) => number | null;
  readonly sleep: (ms: number) => void;
}

/** What functions may ask of the session and the database; nothing else is ambient. */
export interface Surroundings {
  /** Microseconds since 1970 (UTC): `now()` is the transaction's, `clock_timestamp()` the moment's. */
  readonly transactionTime: bigint;
  readonly statementTime: bigint;
  readonly clock: () => bigint;
  /** In [0, 1): from the seed. */
  readonly random: () => number;
  readonly setting: (name: string) => string | undefined;
  /** What sessions begin with, where it differs from the dialect's usual: MySQL's @@global. */
  readonly globalSetting: (name: string) => string | undefined;
  readonly setSetting: (name: string, value: string, isLocal: boolean) => void;
  readonly user: string;
  readonly database: string;
  readonly sessionId: number;
  /** By its name, quoted where needed. @throws SqlError 42P01, 42809 */
  readonly sequence: (name: string) => Sequence;
  readonly nextValue: (sequence: string) => bigint;
  readonly currentValue: (sequence: string) => bigint;
  readonly setValue: (sequence: string, value: bigint, isCalled: boolean) => bigint;
  readonly locks: LockFunctions;
  /** What all sessions do; the same in the whole of a transaction. @throws SqlError 0A000 where that depends on the machine's timing */
  readonly activity: () => readonly SessionActivity[];
  /** Ends the statement of another session, or its connection. @returns is there such a session? @throws SqlError 57014, 57P01 of its own */
  readonly signal: (what: 'cancel' | 'terminate', session: number) => boolean;
  readonly lastInsertId: bigint;
  /** MySQL's LAST_INSERT_ID(value): what it answers from here on, and the insert id of this statement. */
  readonly setLastInsertId: (value: bigint) => bigint;
  readonly foundRows: bigint;
  readonly rowCount: bigint;
  /** What `version()` returns. */
  readonly version: string;
  /** Of the open transaction; 0 where none is. */
  readonly transactionId: number;
  readonly catalog: CatalogLookups;
  /** Checks of constraints that the transaction has put off. */
  readonly deferred: DeferredChecks;
  /** For recorders: the catalog was read. */
  readonly onCatalogQuery: (query: CatalogQuery) => void;
}

/** What names mean where an expression stands; given by the planner. */
export interface Scope {
  readonly dialect: Dialect;
  /** MySQL's strict mode in a statement that writes: a text that is compared as a number has to be one (1292). DELETE takes what it begins with. */
  readonly refusesTruncation?: boolean;
  /** @throws SqlError 42703 unknown, 42702 ambiguous */
  readonly column: (names: readonly string[], position: number) => Expression;
  /** Those of `name.*`, by the name of a FROM item. @throws SqlError 42P01 */
  readonly columnsOf: (names: readonly string[], position: number) => readonly Expression[];
  /** `$n`. Its type is settled by the first use that knows one: `ParameterSlot.type` is undefined until then. */
  readonly parameter: (number: number) => ParameterSlot;
  /** Plans a SELECT inside this scope, for IN, EXISTS, ANY, scalar subqueries and ARRAY(...). */
  readonly subquery: (select: Node) => Subquery;
  /** Aggregates and window functions belong to the query: the planner takes the call and gives back the slot, or undefined: a plain function. */
  readonly aggregate: (call: Node) => Expression | undefined;
  /** A type by name, user-defined ones (enums, domains) included. @throws SqlError 42704 */
  readonly type: (name: string, position: number) => SqlType;
}

export interface ParameterSlot {
  readonly index: number;
  type: SqlType | undefined;
}

export interface Subquery {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  /** Runs it with `frame` around it. */
  readonly rows: (frame: Frame) => Iterable<readonly SqlValue[]>;
  /** For EXISTS. */
  readonly hasRow: (frame: Frame) => boolean;
  /** Does it look at the query around it? If not, its rows may be kept for the statement. */
  readonly isCorrelated: boolean;
  /** What is kept for the statement under way. */
  readonly keptIn: (frame: Frame) => Map<object, unknown>;
}
