/**
 * When statements began and which snapshot they read, as places in the log of statements that have ended. A statement is drawn where it ends;
 * where another transaction was committed since it began, or since its snapshot was taken, that moment is drawn as well: otherwise the order
 * on the page contradicts SQL.
 */
import type { Session, SnapshotOf, SqlDatabase, StatementEvent } from '../database/index.ts';

export interface StatementMoments {
  /** The number of the connection. */
  readonly connection: number;
  /** Its name in the history of the run. */
  readonly connectionName: string;
  /** How many statements had ended when it began to run. */
  readonly began: number;
  /** How many had ended when the snapshot that it reads was taken; `null` where it reads none. */
  readonly snapshot: number | null;
  /** Did it commit what it or its transaction wrote? */
  readonly commits: boolean;
  /** Is no transaction open after it? */
  readonly endsTransaction: boolean;
  /** When it ended, as the recording of rows counts time: what it read and wrote is not later. */
  readonly time: number;
}

/** What a database says of the history that it records. */
type Recording = Pick<SqlDatabase, 'nameOf' | 'recordedTime'>;

/** Follows one connection. */
export class MomentsOfConnection {
  readonly #session: Session;
  readonly #ended: () => number;
  readonly #database: Recording;
  #began: number | null = null;
  #snapshot: number | null = null;
  #ofTransaction: number | null = null;

  /** @param ended how many statements of the run have ended */
  constructor(session: Session, database: Recording, ended: () => number) {
    this.#session = session;
    this.#ended = ended;
    this.#database = database;
    session.watch.onStep = (snapshot) => this.#step(snapshot);
  }

  /** A statement has ended. */
  take({ command, error }: StatementEvent): StatementMoments {
    const isOver = this.#session.transactionStatus === 'idle';
    const moments = {
      connection: this.#session.id,
      connectionName: this.#database.nameOf(this.#session.id),
      began: this.#began ?? this.#ended(),
      snapshot: this.#snapshot,
      commits: isOver && error === null && committing.test(command),
      endsTransaction: isOver,
      time: this.#database.recordedTime,
    };
    this.#began = null;
    this.#snapshot = null;
    if (isOver) this.#ofTransaction = null;
    return moments;
  }

  #step(snapshot: SnapshotOf): void {
    const now = this.#ended();
    this.#began = now;
    if (snapshot === 'transaction') this.#ofTransaction ??= now;
    this.#snapshot = { statement: now, transaction: this.#ofTransaction, none: null }[snapshot];
  }
}

const committing = /^(?:COMMIT|INSERT|UPDATE|DELETE|REPLACE|MERGE|TRUNCATE|CREATE|ALTER|DROP|SELECT INTO)\b/i;
