/** PostgreSQL's `nextval` locks its sequence until the transaction ends: it waits for an ALTER SEQUENCE under way, and that for it (`init_sequence`). */
import type { StorageTransaction, Wait, Waiting } from '../../sql/model/index.ts';
import { continuing, MustWait } from '../must-wait.ts';

/** @param onWait the statement waits, and keeps its snapshot @throws MustWait, after which the statement runs again and has the lock */
export function lockSequence(sequence: number, transaction: StorageTransaction, onWait: () => void): void {
  const locking = transaction.lockTable?.(sequence, 'row exclusive', 'wait');
  const step = locking?.next();
  if (locking === undefined || step === undefined || step.done === true) return;
  onWait();
  throw new MustWait(continuing(step.value, rest(locking), locking), 'after');
}

function* rest(locking: Generator<Wait, boolean, void>): Waiting<void> {
  yield* locking;
}
