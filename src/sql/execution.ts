/** What a statement that runs may ask of its session and of the database: nothing else is ambient. */
import type { SqlValue, StatementView, TableId, Waiting } from './model/index.ts';
import type { StatementCalls } from './statement-calls.ts';
import type { Sequence } from './catalog/sequence.ts';
import type { SessionActivity } from './catalog/activity.ts';
import type { CatalogLookups } from './catalog-lookups.ts';
import type { Deferral } from './catalog/relation.ts';

/** What a statement may compute: its time and its memory. */
export interface Budget {
  /** For every row of a source and every value of a set. @throws SqlError 57014, 53200 */
  checkInterrupt(): void;
  /** Before large values are made or kept: is there memory for so many bytes more? @throws SqlError 53200 */
  charge(bytes: number): void;
  /** Work that one call cannot check: it ends at any point when the time is over, so it must change nothing. @throws SqlError 57014 */
  stoppable<T>(work: () => T): T;
}

/** What is the same for a whole statement. */
export interface Execution {
  readonly parameters: readonly SqlValue[];
  readonly surroundings: Surroundings;
  /** What volatile functions have given: where the statement runs again after a wait, they give it again. */
  readonly calls?: StatementCalls | undefined;
  readonly budget?: Budget | undefined;
  /** Called where the answer takes something that SQL leaves open. */
  readonly onOpenRows?: ((what: OpenRows) => void) | undefined;
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
  readonly deferred: DeferredConstraints;
  /** For recorders: the catalog was read. */
  readonly onCatalogQuery: (query: CatalogQuery) => void;
}

/** `frame.execution` while a statement runs: the executor's own closures know that it is one of these. */
export interface Running extends Execution {
  readonly view: StatementView;
  readonly kept: KeptResults;
  /** Of its aggregates without GROUP BY, also in subqueries: did some come from rows, and some from none? */
  readonly aggregated: { fromSome: boolean; fromNone: boolean };
}

/** Results that are kept for a statement, by the plan that made them. Most statements keep none. */
export class KeptResults {
  #results: Map<object, unknown> | null = null;

  has(plan: object): boolean {
    return this.#results?.has(plan) === true;
  }

  get(plan: object): unknown {
    return this.#results?.get(plan);
  }

  set(plan: object, results: unknown): void {
    this.#results ??= new Map();
    this.#results.set(plan, results);
  }
}

/** Written out: to spread objects of several shapes takes longer than the rest of a small statement's planning. */
export function running(execution: Execution, view: StatementView): Running {
  const { parameters, surroundings, calls, budget, onOpenRows } = execution;
  const aggregated = { fromSome: false, fromNone: false };
  return { parameters, surroundings, calls, budget, onOpenRows, view, kept: new KeptResults(), aggregated };
}

export function runningOf(frame: { readonly execution: Execution }): Running {
  return frame.execution as Running;
}

export interface ConstraintId {
  readonly table: TableId;
  readonly name: string;
}

export interface ConstraintCheck {
  /** The table in which a row was written. */
  readonly table: TableId;
  readonly constraint: ConstraintId;
  readonly deferral: Deferral;
  /** @throws SqlError 23503, 23505, and those of a lock that is not granted */
  readonly run: (running: Running) => Waiting<void>;
}

/** What SET CONSTRAINTS and the constraints themselves put off: `run/deferred-checks.ts`. */
export interface DeferredConstraints {
  /** Is such a check put off now? */
  readonly isDeferred: (check: Pick<ConstraintCheck, 'deferral' | 'constraint'>) => boolean;
  readonly defer: (check: ConstraintCheck) => void;
  readonly isPendingOn: (table: TableId) => boolean;
}
