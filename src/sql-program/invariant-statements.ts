/** What the statements of the invariant came to, and whether they looked at anything that the sessions of the run had used. */
import { InputError } from '../base/index.ts';
import type { SqlDatabase, StatementEvent } from '../database/index.ts';
import { SqlError } from '../sql/model/index.ts';
import { statementLine } from '../sql/index.ts';
import type { InvariantEvidence } from '../evidence/index.ts';
import { AnswerTally, mistakeOf } from '../program/index.ts';
import { isOfItsText } from './statement-answers.ts';
import { UsedTables } from './used-tables.ts';

export class InvariantStatements {
  readonly #looked: UsedTables;
  readonly #bySessions: UsedTables;
  readonly #answers = new AnswerTally();
  #hasSeen = false;
  #failure: string | null = null;
  /** What the database said of statements that are wrong by themselves. */
  readonly #mistakes: string[] = [];

  constructor({ catalog }: SqlDatabase) {
    this.#looked = new UsedTables(catalog);
    this.#bySessions = new UsedTables(catalog);
  }

  /** A statement of a session. */
  ofSession(event: StatementEvent): void {
    this.#bySessions.add(event);
  }

  /** One of the invariant. */
  ended(event: StatementEvent): void {
    this.#looked.add(event);
    const { sql, command, error } = event;
    const statement = statementLine(sql);
    if (error === null) {
      this.#hasSeen ||= !looksAtNothing.test(command) && !isConstant.test(sql);
      const rows = command === 'SELECT' && (event.tables?.length ?? 0) > 0 ? rowsOf(event) : null;
      this.#answers.addStatement({ statement, hasSucceeded: true, failure: null, rows });
    }
    // That a row is refused may be what the invariant asks.
    else if (error.code.startsWith(constraintClass)) this.#hasSeen = true;
    else if (error.code !== inFailedBlock) {
      const failure = `${error.code} ${error.message}`;
      this.#failure ??= `${statement}: ${failure}`;
      if (isOfItsText(error)) this.#mistakes.push(error.message);
      if (!error.isUnsupported) this.#answers.addStatement({ statement, hasSucceeded: false, failure, rows: null });
    }
  }

  /** The error that it threw, where its own code or a statement of it is wrong; `null`: it is thrown on purpose. */
  mistakeIn(thrown: unknown): Error | null {
    if (!(thrown instanceof Error)) return null;
    return this.#mistakes.some((message) => thrown.message.includes(message)) ? thrown : mistakeOf(thrown);
  }

  /** Where it returned that all is well. @throws InputError `program/invariant-failed` */
  requireOne(): void {
    if (this.#failure === null || this.#hasSeen) return;
    throw new InputError(
      'program/invariant-failed',
      `the invariant holds, but every statement that it sent to look at the data failed, and it ignored the errors: ${this.#failure}`,
    );
  }

  /** @param asksResults did it ask for what sessions returned? */
  evidence(asksResults: boolean): InvariantEvidence {
    const { all: touched, written: changed } = this.#bySessions;
    const { statements } = this.#answers.answers;
    return { statements, asksResults, looked: this.#looked.all ?? [], touched, changed, again: null };
  }
}

/** An aggregate of no row gives one. */
function rowsOf({ rowCount, answer }: StatementEvent): 'some' | 'none-found' {
  const metNoRow = !(answer instanceof SqlError) && answer.metNoRow === true;
  return rowCount === 0 || metNoRow ? 'none-found' : 'some';
}

const constraintClass = '23';
const inFailedBlock = '25P02';
/** `select 1`, as clients send to try a connection. */
const isConstant = /^\s*(?:select|values)\b(?![^]*\b(?:from|table)\b)/i;
const looksAtNothing = /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|RESET|USE|)$/i;
