/** PostgreSQL's `nextval` locks its sequence until the transaction ends: it waits for an ALTER SEQUENCE under way, and that for it (`init_sequence`). */
import type { Dialect, Wait, Waiting } from '../sql/model/index.ts';
import { continuing, MustWait } from './must-wait.ts';
import type { SqlDatabase } from './database.ts';
import type { Session } from './sql-session.ts';

/** @throws MustWait, after which the statement runs again and has the lock */
export function lockSequence(sequence: number, session: Session, database: SqlDatabase): void {
  if (!lockingDialects.has(database.dialect)) return;
  const locking = session.storedTransaction.lockTable?.(sequence, 'row exclusive', 'wait');
  const step = locking?.next();
  if (locking === undefined || step === undefined || step.done === true) return;
  database.keepsSnapshot();
  throw new MustWait(continuing(step.value, rest(locking), locking), 'after');
}

function* rest(locking: Generator<Wait, boolean, void>): Waiting<void> {
  yield* locking;
}

const lockingDialects: ReadonlySet<Dialect> = new Set<Dialect>(['postgres']);
