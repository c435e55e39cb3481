/**
 * Where statements of InnoDB stop, so that others can come in between:
 *
 * - A statement that writes, before and after it locks what it only reads (`locking-scans.ts`). Two of them may wait for each other: for a row that
 *   one of them locked first, or because both share what both then write (`INSERT ... SELECT` of the table itself).
 * - READ UNCOMMITTED: a statement that writes, after what it only reads. Two of them may both not see what the other writes.
 */
import type { StatementView, Waiting } from '../../sql/model/index.ts';
import { delegating, pause } from '../pause.ts';

/** Stops once, between the first scan and the first lock or write after it. */
export function pausingBeforeWrites(view: StatementView): StatementView {
  let state: 'nothing read' | 'read' | 'paused' = 'nothing read';
  function* before(): Waiting<void> {
    if (state !== 'read') return;
    state = 'paused';
    yield pause;
  }
  const lockConstant = view.lockConstant?.bind(view);
  return {
    ...delegating(view),
    ...(lockConstant === undefined
      ? {}
      : {
          *lockConstant(table, path, condition): Waiting<void> {
            if (state === 'nothing read') state = 'read';
            yield* lockConstant(table, path, condition);
          },
        }),
    scan(table, path, condition) {
      if (state === 'nothing read') state = 'read';
      return view.scan(table, path, condition);
    },
    *lock(table, path, condition, request, take) {
      yield* before();
      yield* view.lock(table, path, condition, request, take);
    },
    *lockRow(row, matches, request) {
      yield* before();
      return yield* view.lockRow(row, matches, request);
    },
    *insert(table, values, duplicateLock, checks) {
      yield* before();
      return yield* view.insert(table, values, duplicateLock, checks);
    },
    *update(row, values, columns, checks) {
      yield* before();
      return yield* view.update(row, values, columns, checks);
    },
    *delete(row, checks) {
      yield* before();
      yield* view.delete(row, checks);
    },
  };
}
