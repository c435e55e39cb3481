import type { SessionActivity, SqlSession } from '../../sql/index.ts';

/** What its database, and the functions of other sessions, see of a session. */
export interface ConnectedSession extends SqlSession {
  /** Of the open transaction; 0 where none is. */
  readonly transactionNumber: number;
  /** Its row of `pg_stat_activity`, but for what its statement waits for: the scheduler knows. */
  activity(): SessionActivity;
  /** Its statement begins to wait. */
  waits(reason: string): void;
  /** The connection ends: the statement that waits fails, or the client gets the error between two. */
  terminate(): void;
  /** Ends the open transaction without a trace of its writes. */
  rollback(): void;
}
