/**
 * The recorder behind hooks and proxies: statements with their answers and times go in, lines of a trace come out. A session is a
 * connection; which transaction a statement belongs to is followed by what the client says (BEGIN, COMMIT, autocommit, savepoints) and by
 * what the server does by itself. Times are never narrowed: a statement starts when the client asks and ends when it has its answer, a
 * commit that comes with a statement has the statement's times.
 */
import { type TraceOperationKind, formatTraceRecord, formatTraceStatement } from '../trace/index.ts';
import type { DatabaseRecorder } from './database-recorder.ts';
import { type CaptureRules, captureRules } from './dialect.ts';
import { keptStatement } from './kept-statement.ts';
import { eventsOf, type StatementEvent } from './statement-event.ts';
import {
  opaqueReads,
  opaqueWrites,
  unseenRows,
  rowsOfStatement,
  type StatementResult,
  type StatementRows,
} from './statement-rows.ts';
import type { StatementPlan } from './statement-plan.ts';

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
      this.#recordText(event);
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
      this.#recordSeveral(events);
    });
  }

  #recordText(event: StatementEvent): void {
    const statements = event.sql.includes(';') ? this.#split(event.sql) : [event.sql];
    if (statements.length === 1) this.#recordOne(event);
    else this.#recordSeveral(eventsOf(statements, event));
  }

  #recordOne(event: StatementEvent): void {
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

  #recordSeveral(events: readonly StatementEvent[]): void {
    const [first] = events;
    const isOne = events.length > 1 && this.#rules.joinsStatements && this.#transaction === null;
    if (!isOne || first === undefined) {
      for (const event of events) this.#recordOne(event);
      return;
    }
    this.#open();
    let isExplicit = false;
    for (const event of events) {
      if (this.#transaction === null) this.#open(); // after a COMMIT among them
      const begins = beginPattern.test(event.sql);
      isExplicit = begins || (isExplicit && !endPattern.test(event.sql));
      if (begins) this.#keep(event, this.#transaction?.id ?? null);
      else this.#recordOne(event);
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
