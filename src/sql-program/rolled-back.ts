/** Which error rolled back a transaction of one session in one run, where no timing is to blame. */
import type { RolledBack } from '../evidence/index.ts';
import type { StatementEvent } from '../database/index.ts';
import { isRetryable } from './retryable.ts';
import { shortened } from './statement-answers.ts';

export class RolledBackTransactions {
  #first: RolledBack | null = null;
  /** By connection: the first error in its open transaction. */
  readonly #open = new Map<number, RolledBack>();

  /** A statement has ended. @param status of the transaction then */
  ended(connection: number, { sql, command, error }: StatementEvent, status: 'idle' | 'open' | 'failed'): void {
    const open = this.#open.get(connection);
    if (error !== null) {
      if (error.code === inFailedBlock) return;
      const own = open ?? (isRetryable(error) ? null : { error: `error ${error.code}`, statement: shortened(sql) });
      if (own !== null) this.#open.set(connection, own);
      if (status === 'idle') this.#ended(connection, true);
    } else if (status === 'idle') this.#ended(connection, command === 'ROLLBACK');
    // To a savepoint: what comes after it may be committed.
    else if (command === 'ROLLBACK') this.#ended(connection, !toSavepoint.test(sql));
  }

  /** `null`: there was none. One that the session leaves open is rolled back with its connection. */
  get first(): RolledBack | null {
    return this.#first ?? [...this.#open.values()][0] ?? null;
  }

  #ended(connection: number, isRolledBack: boolean): void {
    const open = this.#open.get(connection);
    this.#open.delete(connection);
    if (isRolledBack) this.#first ??= open ?? null;
  }
}

const inFailedBlock = '25P02';
const toSavepoint = /^\s*rollback\s+(?:(?:work|transaction)\s+)?to\b/i;
