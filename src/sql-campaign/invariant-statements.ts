/** What the statements of the invariant came to: one whose every statement fails has looked at nothing. */
import { InputError } from '../base/input-error.ts';
import type { StatementEvent } from '../serve/index.ts';

export class InvariantStatements {
  #hasSeen = false;
  #failure: string | null = null;

  ended({ sql, command, error }: StatementEvent): void {
    if (error === null) this.#hasSeen ||= !looksAtNothing.test(command) && !isConstant.test(sql);
    // That a row is refused may be what the invariant asks.
    else if (error.code.startsWith(constraintClass)) this.#hasSeen = true;
    else if (error.code !== inFailedBlock)
      this.#failure ??= `${sql.replaceAll(/\s+/g, ' ').trim()}: ${error.code} ${error.message}`;
  }

  /** Where it returned that all is well. @throws InputError `program/invariant-failed` */
  requireOne(): void {
    if (this.#failure === null || this.#hasSeen) return;
    throw new InputError(
      'program/invariant-failed',
      `the invariant holds, but every statement that it sent to look at the data failed, and it ignored the errors: ${this.#failure}`,
    );
  }
}

const constraintClass = '23';
const inFailedBlock = '25P02';
/** `select 1`, as clients send to try a connection. */
const isConstant = /^\s*(?:select|values)\b(?![^]*\b(?:from|table)\b)/i;
const looksAtNothing = /^(?:BEGIN|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|RESET|USE|)$/i;
