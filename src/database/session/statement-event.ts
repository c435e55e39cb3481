/** What a session did, for the account of a run. */
import { type Dialect, formatText, SqlError, type SqlType, type SqlValue } from '../../sql/model/index.ts';
import type { Notice, StatementResult, TableLock } from '../../sql/index.ts';
import type { SnapshotOf } from '../../engine/index.ts';
import type { Prepared } from './prepared.ts';

/** A statement that has ended. */
export interface StatementEvent {
  readonly sql: string;
  /** Its parameters as text. */
  readonly parameters: readonly string[];
  /** What it waited for, in order: `the row accounts/1, locked by session 2`. */
  readonly waits: readonly string[];
  /** `SELECT`, `UPDATE`. */
  readonly command: string;
  /** Its first few rows as text; `null`: it returns none. */
  readonly rows: string | null;
  readonly rowCount: number;
  readonly error: SqlError | null;
  /** The complete answer to the client. */
  readonly answer: StatementResult | SqlError;
  /** Did the scheduler choose when it ran? A statement that cannot be planned fails as it arrives. */
  readonly isStep: boolean;
  /** The tables that it names, as it locks them; `null`: it may use others too, as DDL or EXECUTE does. */
  readonly tables: readonly TableLock[] | null;
}

/** What a client is answered in place of `answer`. */
export type AnswerTo = (sql: string, tables: StatementEvent['tables'], answer: StatementResult) => StatementResult;

/** Reports the statements of one session. */
export class StatementWatch {
  /** Called for every statement when it arrives. */
  onArrival: ((sql: string) => void) | null = null;
  /** Called for every statement that reads or writes rows when it begins to run. */
  onStep: ((snapshot: SnapshotOf) => void) | null = null;
  /** Called for every statement when it has ended. */
  onEnd: ((event: StatementEvent) => void) | null = null;
  /** Called with the state of the transaction when the connection ends. */
  onClose: ((status: 'idle' | 'open' | 'failed') => void) | null = null;
  /** Gives the answer that the client gets in place of the one that there is. */
  answerTo: AnswerTo = given;
  /** Tells where in the user's code the statement under way was sent, where that is looked for. */
  place: () => string | null = () => null;
  /** The text of the statement under way. */
  statement: string | null = null;
  /** The text of the statement that came last. */
  latest = '';
  /** What its functions remark. */
  readonly notices: Notice[] = [];
  readonly #waits: string[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  began(sql: string): void {
    this.#waits.length = 0;
    this.notices.length = 0;
    this.statement = sql;
    this.latest = sql;
    this.onArrival?.(sql);
  }

  waits(reason: string): void {
    if (this.onEnd !== null && this.#waits.at(-1) !== reason) this.#waits.push(reason);
  }

  answered(prepared: Prepared, answer: StatementResult): StatementResult {
    return this.answerTo(prepared.sql, tablesOf(prepared), answer);
  }

  ended(prepared: Prepared, parameters: readonly SqlValue[], outcome: unknown): void {
    this.statement = null;
    if (this.onEnd === null || (outcome instanceof Error && !(outcome instanceof SqlError))) return;
    this.onEnd(statementEvent(prepared, parameters, this.#waits, outcome as StatementResult | SqlError, this.#dialect));
  }

  /** A statement that cannot be planned. */
  refused(sql: string, error: unknown): void {
    if (error instanceof SqlError) this.onEnd?.(refusedStatement(sql, error));
  }
}

const given: AnswerTo = (_sql, _tables, answer) => answer;

const rowsShown = 3;

function statementEvent(
  prepared: Prepared,
  parameters: readonly SqlValue[],
  waits: readonly string[],
  outcome: StatementResult | SqlError,
  dialect: Dialect,
): StatementEvent {
  const base = {
    sql: prepared.sql,
    parameters: parameters.map((value, i) => textOf(value, prepared.parameterTypes[i], dialect)),
    waits: [...waits],
    isStep: true,
    answer: outcome,
    tables: tablesOf(prepared),
  };
  if (outcome instanceof SqlError) return { ...base, rows: null, command: '', rowCount: 0, error: outcome };
  const { command, columns, rowCount } = outcome;
  if (columns === null) return { ...base, rows: null, command, rowCount, error: null };
  return {
    ...base,
    command,
    // Most are never looked at: of runs in which nothing fails.
    get rows() {
      return rowsText(outcome, dialect);
    },
    rowCount,
    error: null,
  };
}

function tablesOf({ plan: { statement } }: Prepared): readonly TableLock[] | null {
  switch (statement.kind) {
    case 'query':
    case 'lock':
      return statement.locks();
    case 'ddl':
      return null;
    case 'named':
      return statement.what === 'execute' ? null : [];
    case 'empty':
    case 'setting':
    case 'transaction':
      return [];
  }
}

function rowsText({ columns, rows }: StatementResult, dialect: Dialect): string {
  const shown = rows
    .slice(0, rowsShown)
    .map((row) => row.map((value, i) => textOf(value, columns?.[i]?.type, dialect)));
  return shownRows(shown, rows.length);
}

/** Rows of an answer as text. @param first of its values as text @param count of all */
export function shownRows(first: readonly (readonly string[])[], count: number): string {
  if (count === 0) return 'no rows';
  const rows = first.slice(0, rowsShown);
  const shown = rows.map((row) => `(${row.join(', ')})`);
  const more = count > rowsShown ? ` and ${count - rowsShown} more rows` : '';
  return `${shown.join(' ')}${more}`;
}

/** A statement that could not be planned. */
function refusedStatement(sql: string, error: SqlError): StatementEvent {
  return {
    sql,
    parameters: [],
    waits: [],
    rows: null,
    command: '',
    rowCount: 0,
    error,
    answer: error,
    isStep: false,
    tables: [],
  };
}

function textOf(value: SqlValue, type: SqlType | undefined, dialect: Dialect): string {
  if (value === null) return 'null';
  return type === undefined ? '?' : formatText(value, type, dialect);
}
