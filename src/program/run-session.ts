/** One session of a run: what it does now, what it has done, and the ways in which its program can use it wrongly. */
import { InputError } from '../base/index.ts';

export const NOTHING = Symbol('nothing');

export type SessionState = 'running' | 'waiting' | 'outside' | 'ended';

export class RunSession {
  state: SessionState = 'running';
  /** Transactions that wait for their turn, first come first served. */
  readonly requests: (() => void)[] = [];
  isOpen = false;
  /** Calls of the session that have not come to their end. */
  underWay = 0;
  operations = 0;
  overlapped = false;
  /** Did it commit what it wrote, ever? Did it abort a transaction that had written? */
  keptWrite = false;
  lostWrite = false;
  /** The last error of a transaction. Reads do not make good for it where the session has committed no write. */
  failure: unknown = null;
  /** The first error of a transaction's body, which rolled it back. */
  thrown: unknown = NOTHING;
  /** What it did last, for a run that does not end. */
  lastKind = '';
  lastKey = '';
  readonly lastOperation = (): string => (this.lastKind === '' ? 'nothing yet' : `${this.lastKind} ${this.lastKey}`);
  /** The error that left a transaction last: when it is what the session ends with, the transaction threw it. */
  transactionError: unknown = NOTHING;
  readonly index: number;
  readonly name: string;

  constructor(index: number, name: string) {
    this.index = index;
    this.name = name;
  }

  committed(hasWritten: boolean): void {
    this.keptWrite ||= hasWritten;
    if (this.keptWrite) this.failure = null;
  }
}

export interface OpenedTransaction {
  /** Those under way. */
  operations: number;
  isEnded: boolean;
  hasWritten: boolean;
}

export type OperationKind = 'read of' | 'write of';

export function nestedTransaction(session: RunSession): InputError {
  return new InputError(
    'program/nested-transaction',
    `session "${session.name}" waits for a transaction inside its own open transaction; a session runs one transaction at a time`,
  );
}

export function transactionOpen(session: RunSession): InputError {
  return new InputError(
    'program/transaction-open',
    `session "${session.name}" returned with a transaction under way; its last operation: ${session.lastOperation()}: is an await missing?`,
  );
}

export function calledAfterReturn(session: RunSession, name: string, key: string | null): InputError {
  const called = `${name}(${key === null ? '' : JSON.stringify(key)})`;
  return new InputError(
    'program/transaction-open',
    `session "${session.name}" called ${called} after it had returned: is an await missing?`,
  );
}

export function operationUnderWay(session: RunSession): InputError {
  return new InputError(
    'store/transaction-ended',
    `a transaction of session "${session.name}" ended with an operation under way: ${session.lastOperation()}: is an await missing?`,
  );
}

export function transactionEnded(session: RunSession, operation: string): InputError {
  return new InputError(
    'store/transaction-ended',
    `${operation} by session "${session.name}": the transaction has ended, and its handle cannot be used any more; is an await missing?`,
  );
}

/** What a green verdict takes for granted of a session that starts a transaction while another of its own is under way. */
export function queuedText(session: string): string {
  return `session "${session}" has one connection: transactions that it starts at the same time run one after another`;
}
