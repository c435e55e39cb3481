/**
 * Where statements of PostgreSQL stop, so that others can come in between:
 *
 * - SERIALIZABLE, between the snapshot of a transaction and its first reads: of two that are in each other's way, the one that is late fails in
 *   that statement when the other has been committed meanwhile.
 * - SKIP LOCKED and NOWAIT, between the snapshot and the locks. What was committed in between is not skipped but found to have changed: 40001 at
 *   REPEATABLE READ and above.
 */
import type { StatementView, Waiting } from '../../sql/model/index.ts';
import type { BegunStatement } from '../engine-profile.ts';
import { delegating, pause } from '../pause.ts';

export function* pausing(view: StatementView, { isolation, isFirst, query }: BegunStatement): Waiting<StatementView> {
  const takesSnapshot = isFirst || isolation === 'read committed' || isolation === 'read uncommitted';
  if (!takesSnapshot) return view;
  if (isolation !== 'serializable') return query?.isReadOnly === true ? view : pausingBeforeLocks(view);
  yield pause;
  return view;
}

/** Stops once, before the first lock that is not waited for. The snapshot has been taken by then. */
function pausingBeforeLocks(view: StatementView): StatementView {
  let hasPaused = false;
  function* before(ifLocked: 'wait' | 'error' | 'skip'): Waiting<void> {
    if (ifLocked === 'wait' || hasPaused) return;
    hasPaused = true;
    yield pause;
  }
  return {
    ...delegating(view),
    *lock(table, path, condition, request, take) {
      yield* before(request.ifLocked);
      yield* view.lock(table, path, condition, request, take);
    },
    *lockRow(row, matches, request) {
      yield* before(request.ifLocked);
      return yield* view.lockRow(row, matches, request);
    },
  };
}
