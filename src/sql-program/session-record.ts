/** What one session of a SQL program did in one run: for the evidence, and to tell which errors it ended with. */
import type { Loss } from '../evidence/index.ts';
import { errorText, type SessionRun } from '../program/index.ts';
import type { StatementEvent } from '../database/index.ts';
import { isRetryable } from './retryable.ts';
import { RolledBackTransactions } from './rolled-back.ts';
import { StatementAnswers } from './statement-answers.ts';

/** A session that ended with an error. */
export interface SessionFailure {
  readonly session: string;
  readonly error: string;
  /** Was it one after which the transaction should run again: a serialization failure, a deadlock, InnoDB's lock wait timeout? */
  readonly isRetryable: boolean;
}

export class SessionRecord {
  readonly name: string;
  stage: 'running' | 'leaving' | 'ended' = 'running';
  hasThrown = false;
  hasOverlapped = false;
  /** Statements that have come. */
  statements = 0;
  lastStatement = '';
  /** Statements that failed. */
  readonly failed: { readonly sql: string; readonly message: string }[] = [];
  #error: string | null = null;
  #isRetryable = false;
  /** Connections whose open transaction has changed rows. */
  readonly #writing = new Set<number>();
  #hasCommitted = false;
  #hasRolledBack = false;
  #hasLeftOpen = false;
  readonly #rolledBack = new RolledBackTransactions();
  readonly #answers = new StatementAnswers();

  constructor(name: string) {
    this.name = name;
  }

  arrived(sql: string): void {
    this.statements += 1;
    this.lastStatement = sql;
  }

  /** A statement has ended. @param status of the transaction then */
  ended(connection: number, event: StatementEvent, status: TransactionStatus): void {
    this.#noteWrite(connection, event, status);
    this.#rolledBack.ended(connection, event, status);
    this.#answers.ended(event);
    const { sql, command, error } = event;
    if (error !== null) {
      this.failed.push({ sql, message: error.message });
      // What comes after an error in a transaction block only repeats that there was one.
      if (error.code === inFailedBlock) return;
      this.#error = `${error.code} ${error.message}`;
      this.#isRetryable = isRetryable(error);
    } else if (status === 'idle' && !changesNothing.test(command)) this.#error = null;
  }

  /** @param status of the transaction of a connection that ends */
  closed(status: TransactionStatus): void {
    if (this.stage !== 'ended' && status === 'open') this.#hasLeftOpen = true;
  }

  #noteWrite(connection: number, { command, rowCount, error }: StatementEvent, status: TransactionStatus): void {
    if (error !== null) return;
    if (changesData.test(command) && (rowCount > 0 || !changesRows.test(command))) this.#writing.add(connection);
    if (status !== 'idle' || !this.#writing.delete(connection)) return;
    if (/^ROLLBACK$/i.test(command)) this.#hasRolledBack = true;
    else this.#hasCommitted = true;
  }

  left(outcome: { readonly thrown: unknown } | null): void {
    this.stage = 'ended';
    this.hasThrown = outcome !== null;
    if (outcome !== null) this.#error ??= errorText(outcome.thrown);
  }

  /** The error after which nothing was committed. */
  get failure(): string | null {
    return this.#error;
  }

  /** Was the error after which nothing was committed one of those that ask for another try? */
  get endedWithRetryable(): boolean {
    return this.#error !== null && this.#isRetryable;
  }

  run(): SessionRun {
    const loss = this.#loss;
    const { answers } = this.#answers;
    return {
      operations: this.statements,
      failure: this.#error,
      overlapped: this.hasOverlapped,
      loss,
      rolledBack: this.#rolledBack.first,
      answers,
    };
  }

  get #loss(): Loss | null {
    if (this.#hasLeftOpen) return 'left-open';
    return this.#hasRolledBack && !this.#hasCommitted ? 'rolled-back' : null;
  }
}

type TransactionStatus = 'idle' | 'open' | 'failed';

const changesRows = /^(?:INSERT|UPDATE|DELETE|MERGE|REPLACE)/i;
const changesData = /^(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|TRUNCATE|CREATE|ALTER|DROP|COPY)/i;
const inFailedBlock = '25P02';
/** Commands after which nothing is committed that was not before. */
const changesNothing = /^(?:ROLLBACK|SET|RESET|SHOW|USE|DISCARD|DEALLOCATE|PREPARE|)$/i;
