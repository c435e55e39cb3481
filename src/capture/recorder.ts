/**
 * The recorder behind hooks and proxies: statements with their answers and times go in, lines of a trace come out. A session is a
 * connection; which transaction a statement belongs to is followed by what the client says (BEGIN, COMMIT, autocommit, savepoints) and by
 * what the server does by itself. Times are never narrowed: a statement starts when the client asks and ends when it has its answer, a
 * commit that comes with a statement has the statement's times.
 */
import { type TraceOperationKind, formatTraceRecord, formatTraceStatement } from '../trace/index.ts';
import type { Dialect } from '../sql/model/index.ts';
import { type CaptureRules, captureRules } from './dialect.ts';
import { keptStatement } from './kept-statement.ts';
import { emptySchema, type RecordedSchema } from './schema.ts';
import { PlanCache, type StatementPlan } from './statement-plan.ts';
import {
  opaqueReads,
  opaqueWrites,
  unseenRows,
  rowsOfStatement,
  type StatementResult,
  type StatementRows,
} from './statement-rows.ts';

export interface StatementEvent {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly start: number;
  readonly end: number;
  /** `done`: a result for each statement of the text, as far as the client learns them. `lost`: no answer will come. */
  readonly outcome:
    | { readonly kind: 'done'; readonly results: readonly StatementResult[] }
    | { readonly kind: 'failed'; readonly code: string; readonly results?: readonly StatementResult[] }
    | { readonly kind: 'lost' };
}

export interface RecorderOptions {
  /** Takes a line of the trace. */
  readonly write: (line: string) => void;
  /** Statements that wait for the schema; more are taken with the tables that are known. Default 10,000. */
  readonly waitingMax?: number;
  /** Write every statement with its values and rows, too. Default false. */
  readonly keepsStatements?: boolean;
}

/** One database: its tables, and the sessions of its clients. */
export class DatabaseRecorder {
  readonly dialect: Dialect;
  readonly write: (line: string) => void;
  readonly keepsStatements: boolean;
  readonly #waitingMax: number;
  #cache: PlanCache;
  #state: 'unknown' | 'asked' | 'known' = 'unknown';
  #waiting: { readonly start: number; readonly take: () => void }[] = [];
  /** How many of those had their answers when the schema was asked for: it is that after their DDL. */
  #answered = 0;
  #changes = 0;
  /** Tables that statements have read or written. */
  readonly #used = new Set<string>();

  constructor(dialect: Dialect, { write, waitingMax = 10_000, keepsStatements = false }: RecorderOptions) {
    this.dialect = dialect;
    this.write = write;
    this.keepsStatements = keepsStatements;
    this.#waitingMax = waitingMax;
    this.#cache = new PlanCache(emptySchema(dialect));
  }

  get cache(): PlanCache {
    return this.#cache;
  }

  /** Should the next statement of an idle session be preceded by the query for the schema? The caller that asks it calls `asking` first. */
  get needsSchema(): boolean {
    return this.#state === 'unknown';
  }

  use(table: string): void {
    this.#used.add(table);
  }

  /** Of these tables (`*`: all; without a schema: in any) those of which the trace may have rows. O(tables that were used) */
  used(tables: readonly string[]): readonly string[] {
    if (tables.includes('*')) return this.#used.size === 0 ? [] : ['*'];
    return [...this.#used].filter((used) => tables.some((table) => used === table || used.endsWith(`.${table}`)));
  }

  asking(): void {
    this.#state = 'asked';
    this.#answered = this.#waiting.length;
  }

  learn(schema: RecordedSchema): void {
    this.#state = 'known';
    this.#cache = new PlanCache(schema);
    this.flush();
  }

  /** The schema cannot be read: what was known of it stays. */
  giveUp(): void {
    this.#state = 'known';
    this.flush();
  }

  /** A DDL statement has run. */
  forget(): void {
    this.#state = 'unknown';
  }

  /** +1: a DDL statement is sent. -1: it has its answer. */
  changing(by: 1 | -1): void {
    this.#changes += by;
  }

  /** Are the tables still those of a statement that is sent now? */
  get isCurrent(): boolean {
    return this.#state === 'known' && this.#changes === 0 && this.#waiting.length === 0;
  }

  /** Takes the statements that wait with what is known of the tables. */
  flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [i, { take }] of waiting.entries()) {
      take();
      if (this.#state === 'known') continue;
      // DDL. The statements after it wait for the tables as they are then.
      if (i < this.#answered) this.#state = 'known';
      else {
        this.#waiting = waiting.slice(i + 1);
        return;
      }
    }
  }

  /** The first start of what still waits for the schema; Infinity: nothing does. O(waiting). */
  get waitsSince(): number {
    return this.#waiting.reduce((least, { start }) => Math.min(least, start), Infinity);
  }

  /** Now, or when the schema is known. @param start of the earliest operation that will be written */
  whenKnown(start: number, take: () => void): void {
    if (this.#state === 'known' && this.#waiting.length === 0) {
      take();
      return;
    }
    this.#waiting.push({ start, take });
    if (this.#waiting.length > this.#waitingMax) this.end();
  }

  /** Nothing more will be learned about the tables. */
  end(): void {
    while (this.#waiting.length > 0) {
      this.#state = 'known';
      this.flush();
    }
  }
}

interface OpenTransaction {
  readonly id: string;
  /** PostgreSQL: a statement has failed; COMMIT will roll back. */
  isFailed: boolean;
  /** DDL has run in it: others see it from COMMIT on. */
  isDefining: boolean;
}

/** One connection of a client. */
export class SessionRecorder {
  readonly name: string;
  readonly #database: DatabaseRecorder;
  #transaction: OpenTransaction | null = null;
  #isAutocommit = true;
  #transactions = 0;
  #isClosed = false;

  constructor(name: string, database: DatabaseRecorder) {
    this.name = name;
    this.#database = database;
  }

  record(event: StatementEvent): void {
    this.#database.whenKnown(event.start, () => {
      this.#take(event);
    });
  }

  /** The connection is gone: the server rolls back what is open, some time after. */
  close(time: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#database.whenKnown(time, () => {
      if (this.#transaction !== null) this.#finish('abort', time, null);
      this.#emit('end', '', null, time, time);
    });
  }

  /** COM_RESET_CONNECTION, DISCARD: the session begins anew; an open transaction is rolled back. */
  reset(start: number, end: number): void {
    this.#database.whenKnown(start, () => {
      if (this.#transaction !== null) this.#finish('abort', start, end);
      this.#isAutocommit = true;
    });
  }

  /** Statements that the server takes as one where no transaction is open: those of a pipeline of PostgreSQL's before its Sync. */
  recordTogether(events: readonly StatementEvent[]): void {
    const start = events.reduce((least, event) => Math.min(least, event.start), Infinity);
    this.#database.whenKnown(start, () => {
      this.#takeSeveral(events);
    });
  }

  #take(event: StatementEvent): void {
    const statements = event.sql.includes(';') ? this.#split(event.sql) : [event.sql];
    if (statements.length === 1) this.#takeOne(event);
    else this.#takeSeveral(eventsOf(statements, event));
  }

  #takeOne(event: StatementEvent): void {
    const { outcome, sql } = event;
    const { plan, parameters } = this.#database.cache.lookup(sql, event.parameters);
    const known = parameters === event.parameters ? event : { ...event, parameters };
    const [before, count] = [this.#transaction?.id ?? null, this.#transactions];
    this.#step(plan, known, outcome.kind === 'done' ? outcome.results[0] : undefined);
    const ends = plan.kind === 'transaction' && plan.statement.what !== 'begin';
    this.#keep(event, this.#transactions === count || ends ? before : `${this.name}/${this.#transactions}`);
  }

  /** @param transaction in which it ran; `null`: in none */
  #keep(event: StatementEvent, transaction: string | null): void {
    const { keepsStatements, dialect, write } = this.#database;
    if (keepsStatements && event.sql !== '')
      write(`${formatTraceStatement(keptStatement(this.name, transaction, dialect, event))}\n`);
  }

  get #rules(): CaptureRules {
    return captureRules[this.#database.dialect];
  }

  #split(sql: string): readonly string[] {
    try {
      return this.#rules.split(sql);
    } catch {
      return [sql];
    }
  }

  #takeSeveral(events: readonly StatementEvent[]): void {
    const [first] = events;
    const isOne = events.length > 1 && this.#rules.joinsStatements && this.#transaction === null;
    if (!isOne || first === undefined) {
      for (const event of events) this.#takeOne(event);
      return;
    }
    this.#open();
    let isExplicit = false;
    for (const event of events) {
      if (this.#transaction === null) this.#open(); // after a COMMIT among them
      const begins = beginPattern.test(event.sql);
      isExplicit = begins || (isExplicit && !endPattern.test(event.sql));
      if (begins) this.#keep(event, this.#transaction?.id ?? null);
      else this.#takeOne(event);
    }
    const last = events.at(-1) ?? first;
    if (isExplicit || this.#transaction === null) return;
    const hasFailed = events.some(({ outcome }) => outcome.kind === 'failed');
    this.#finish(hasFailed ? 'abort' : 'commit', first.start, last.outcome.kind === 'lost' ? null : last.end);
  }

  #step(plan: StatementPlan, event: StatementEvent, result: StatementResult | undefined): void {
    switch (plan.kind) {
      case 'transaction':
        this.#boundary(plan.statement, event);
        return;
      case 'autocommit':
        if (event.outcome.kind !== 'done') return;
        if (plan.isOn && this.#transaction !== null && !this.#isAutocommit)
          this.#finish('commit', event.start, event.end);
        this.#isAutocommit = plan.isOn;
        return;
      case 'ddl':
        this.#implicitCommit(event);
        this.#define(this.#database.used(plan.tables ?? []), event);
        if (this.#transaction !== null) this.#transaction.isDefining = true;
        this.#database.forget();
        return;
      case 'prepared':
        if (this.#transaction !== null && event.outcome.kind === 'done') this.#finish('commit', event.start, null);
        this.#fail(event);
        return;
      case 'neutral':
        this.#fail(event);
        return;
      case 'opaque':
        if (plan.why === 'TRUNCATE') this.#implicitCommit(event);
        if (plan.writes) this.#operate('write', opaqueWrites, event);
        else this.#operate('read', { ...opaqueReads, lock: plan.lock ?? null }, event);
        return;
      default: {
        const kind = plan.kind === 'select' ? 'read' : 'write';
        if (plan.kind === 'select') for (const { table } of plan.sources) this.#database.use(table.name);
        else this.#database.use(plan.target.table.name);
        const rows = result === undefined ? unseenRows(plan) : rowsOfStatement(plan, event.parameters, result);
        this.#operate(kind, rows, event);
      }
    }
  }

  /** Rows of the tables that it makes, changes or drops may be others now. */
  #define(tables: readonly string[], event: StatementEvent): void {
    if (tables.length === 0 || event.outcome.kind === 'failed') this.#fail(event);
    else this.#operate('write', tables.includes('*') ? opaqueWrites : { ...opaqueWrites, tables }, event);
  }

  #boundary(statement: Extract<StatementPlan, { kind: 'transaction' }>['statement'], event: StatementEvent): void {
    const { start, end, outcome } = event;
    if (statement.what === 'begin') {
      if (outcome.kind !== 'done') return;
      if (this.#transaction !== null && !this.#rules.beginCommits) return; // a warning, nothing else
      if (this.#transaction !== null) this.#finish('commit', start, end);
      // A read without rows is what takes the snapshot.
      if (statement.modes.takesSnapshot === true) this.#emit('read', this.#open().id, opaqueReads, start, end);
      else this.#begin(start, end);
      return;
    }
    if (statement.what === 'savepoint' || statement.what === 'release' || statement.what === 'rollback to') {
      this.#savepoint(statement, event);
      return;
    }
    const open = this.#transaction;
    if (open === null || statement.what === 'modes') return;
    switch (statement.what) {
      case 'commit': {
        const isCommitted = outcome.kind !== 'failed' && !open.isFailed;
        this.#finish(isCommitted ? 'commit' : 'abort', start, outcome.kind === 'lost' ? null : end);
        break;
      }
      case 'rollback':
        this.#finish('abort', start, outcome.kind === 'lost' ? null : end);
        break;
    }
    if ('andChain' in statement && statement.andChain && outcome.kind === 'done') this.#begin(start, end);
  }

  #savepoint({ what, name }: SavepointStatement, event: StatementEvent): void {
    const { hasAutocommit, savepointKey } = this.#rules;
    if (this.#transaction === null && (!hasAutocommit || this.#isAutocommit)) return;
    const open = this.#transaction ?? this.#open();
    const { start, end, outcome } = event;
    this.#database.write(
      `${formatTraceRecord({
        session: this.name,
        transaction: open.id,
        kind: what === 'rollback to' ? 'rollback-to' : what,
        rows: null,
        savepoint: savepointKey(name),
        code: outcome.kind === 'failed' ? outcome.code : null,
        start,
        end: outcome.kind === 'lost' ? null : end,
      })}\n`,
    );
    if (what === 'rollback to' && outcome.kind === 'done') open.isFailed = false;
    this.#fail(event);
  }

  /** A read or a write, alone in its transaction where none is open. */
  #operate(kind: 'read' | 'write', rows: StatementRows, event: StatementEvent): void {
    const { start, end, outcome } = event;
    const isAlone = this.#transaction === null && this.#isAutocommit;
    const { id } = this.#transaction ?? this.#open();
    switch (outcome.kind) {
      case 'done':
        this.#emit(kind, id, rows, start, end);
        if (isAlone) this.#finish('commit', start, end);
        return;
      case 'failed':
        this.#emit(kind, id, null, start, end, outcome.code);
        if (isAlone) this.#finish('abort', start, end);
        else this.#fail(event);
        return;
      case 'lost':
        this.#emit(kind, id, rows, start, null);
        if (isAlone) this.#finish('commit', start, null);
    }
  }

  /** What an error does to the transaction around it. InnoDB rolls back the victim of a deadlock. */
  #fail({ start, end, outcome }: StatementEvent): void {
    if (outcome.kind !== 'failed' || this.#transaction === null) return;
    if (this.#rules.errorsAbort) this.#transaction.isFailed = true;
    else if (rollsBack.has(outcome.code)) this.#finish('abort', start, end);
  }

  #implicitCommit({ start, end }: StatementEvent): void {
    if (this.#rules.ddlCommits && this.#transaction !== null) this.#finish('commit', start, end);
  }

  #begin(start: number, end: number): void {
    const { id } = this.#open();
    this.#emit('begin', id, null, start, end);
  }

  #open(): OpenTransaction {
    this.#transactions += 1;
    this.#transaction = { id: `${this.name}/${this.#transactions}`, isFailed: false, isDefining: false };
    return this.#transaction;
  }

  #finish(kind: 'commit' | 'abort', start: number, end: number | null): void {
    const { id = '', isDefining = false } = this.#transaction ?? {};
    this.#transaction = null;
    this.#emit(kind, id, null, start, end);
    if (isDefining && kind === 'commit') this.#database.forget();
  }

  #emit(
    kind: TraceOperationKind,
    transaction: string,
    rows: StatementRows | null,
    start: number,
    end: number | null,
    code: string | null = null,
  ): void {
    const session = this.name;
    this.#database.write(
      `${formatTraceRecord({ session, transaction, kind, rows, savepoint: null, code, start, end })}\n`,
    );
  }
}

type SavepointStatement = Extract<
  Extract<StatementPlan, { kind: 'transaction' }>['statement'],
  { what: 'savepoint' | 'release' | 'rollback to' }
>;

/** MySQL's number and SQLSTATE of a deadlock, and MariaDB's of a row that changed since the snapshot. */
const rollsBack: ReadonlySet<string> = new Set(['1213', '40001', '1020', 'HY000/1020']);
const beginPattern = /^\s*(?:begin|start\s+transaction)\b/i;
const endPattern = /^\s*(?:commit|end|abort|rollback)\b/i;

/**
 * Several in one message: when one fails, those that are known to have run are those with results; of the others one has failed and the
 * rest has not run.
 */
function eventsOf(statements: readonly string[], event: StatementEvent): StatementEvent[] {
  const { outcome } = event;
  const results = outcome.kind === 'lost' ? [] : (outcome.results ?? []);
  const run = outcome.kind === 'done' ? statements.length : Math.min(results.length + 1, statements.length);
  return statements.slice(0, run).map((sql, i) => {
    const result = results[i];
    if (outcome.kind !== 'done' && i >= results.length) return { ...event, sql };
    return { ...event, sql, outcome: { kind: 'done', results: result === undefined ? [] : [result] } };
  });
}
