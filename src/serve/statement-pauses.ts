/**
 * Statements are steps here, and most real ones might as well be: what another session does meanwhile comes to the same before or after it.
 * Not always. Where it does not, the statement stops for a moment, so that others can come in between when every schedule is wanted:
 *
 * - A statement with autocommit, between what it does and its commit: two of them may both be under way.
 * - PostgreSQL: SKIP LOCKED and NOWAIT, between the snapshot and the locks. What was committed in between is not skipped but found to have
 *   changed: 40001 at REPEATABLE READ and above.
 * - InnoDB: a statement that writes, before it locks what it only reads. Two of them may wait for each other.
 */
import type { StatementView, Wait } from '../sql/index.ts';

/** Nothing is waited for; others may go first. */
export const pause: Wait = { blockers: [], reason: '', isReady: () => true };

/** Stops once, before the first lock that is not waited for. The snapshot has been taken by then. */
export function pausingView(view: StatementView): StatementView {
  let hasPaused = false;
  function* before(ifLocked: 'wait' | 'error' | 'skip'): Generator<Wait, void, void> {
    if (ifLocked === 'wait' || hasPaused) return;
    hasPaused = true;
    yield pause;
  }
  return {
    scan: (table, path) => view.scan(table, path),
    *lock(table, path, matches, request, take) {
      yield* before(request.ifLocked);
      yield* view.lock(table, path, matches, request, take);
    },
    *lockRow(row, matches, request) {
      yield* before(request.ifLocked);
      return yield* view.lockRow(row, matches, request);
    },
    insert: (table, values, duplicateLock) => view.insert(table, values, duplicateLock),
    update: (row, values, columns) => view.update(row, values, columns),
    delete: (row) => view.delete(row),
    undo: () => view.undo(),
  };
}
