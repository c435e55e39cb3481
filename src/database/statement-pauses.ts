/**
 * Statements are steps here, and most real ones might as well be: what another session does meanwhile comes to the same before or after it.
 * Not always. Where it does not, the statement stops for a moment, so that others can come in between, in `serve`, `test` and `explore` alike:
 *
 * - A statement with autocommit, between what it does and its commit: two of them may both be under way. Definitions too, but MySQL's: there
 *   a metadata lock keeps every other statement on the table out until the commit.
 * - PostgreSQL at SERIALIZABLE, between the snapshot of a transaction and its first reads: of two that are in each other's way, the one that
 *   is late fails in that statement when the other has been committed meanwhile.
 * - PostgreSQL: SKIP LOCKED and NOWAIT, between the snapshot and the locks. What was committed in between is not skipped but found to have
 *   changed: 40001 at REPEATABLE READ and above.
 * - InnoDB: a statement that writes, before and after it locks what it only reads. Two of them may wait for each other: for a row that one of
 *   them locked first, or because both share what both then write (`INSERT ... SELECT` of the table itself).
 * - InnoDB at READ UNCOMMITTED: a statement that writes, after what it only reads. Two of them may both not see what the other writes.
 *
 * For the same reason any of those that wait for each other on PostgreSQL may be the victim: whose `deadlock_timeout` is over first.
 */
import type { Dialect, StatementView, Wait, Waiting } from '../sql/model/index.ts';
import type { IsolationName } from '../sql/index.ts';

/** Nothing is waited for; others may go first. */
export const pause: Wait = { blockers: [], reason: '', isReady: () => true };

export interface BegunStatement {
  readonly isolation: IsolationName;
  /** Of its transaction. */
  readonly isFirst: boolean;
  /** Does it neither write nor lock rows? */
  readonly isRead: boolean;
  /** The statement stops, and continues with the snapshot that it has. */
  readonly keepsSnapshot: () => void;
}

/** The view of a statement that begins, which stops where those of the engine do. */
export const pausingStatements: Readonly<
  Record<Dialect, (view: StatementView, begun: BegunStatement) => Waiting<StatementView>>
> = {
  *postgres(view, { isolation, isFirst, isRead, keepsSnapshot }) {
    const takesSnapshot = isFirst || isolation === 'read committed' || isolation === 'read uncommitted';
    if (!takesSnapshot) return view;
    // What will be read with it is not known yet.
    if (isolation !== 'serializable') return isRead ? view : pausingBeforeLocks(view, keepsSnapshot);
    yield pause;
    return view;
  },
  // Where it locks what it only reads, `locking-scans.ts` stops.
  // oxlint-disable-next-line require-yield
  *mysql(view, { isolation }) {
    return isolation === 'read uncommitted' ? pausingBeforeWrites(view) : view;
  },
};

/** Stops once, before the first lock that is not waited for. The snapshot has been taken by then: `onPause` records that it is still needed. */
function pausingBeforeLocks(view: StatementView, onPause: () => void): StatementView {
  let hasPaused = false;
  function* before(ifLocked: 'wait' | 'error' | 'skip'): Waiting<void> {
    if (ifLocked === 'wait' || hasPaused) return;
    hasPaused = true;
    onPause();
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

/** Stops once, between the first scan and the first lock or write after it. */
export function pausingBeforeWrites(view: StatementView): StatementView {
  let state: 'nothing read' | 'read' | 'paused' = 'nothing read';
  function* before(): Waiting<void> {
    if (state !== 'read') return;
    state = 'paused';
    yield pause;
  }
  return {
    ...delegating(view),
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

/** A view that does as another, to be given other members. */
export function delegating(view: StatementView): StatementView {
  const { scansLock, scansInOrder, checksByIndex } = view;
  return {
    ...(checksByIndex === undefined ? {} : { checksByIndex }),
    ...(scansLock === undefined ? {} : { scansLock }),
    ...(scansInOrder === undefined ? {} : { scansInOrder }),
    scan: (table, path, condition) => view.scan(table, path, condition),
    lock: (table, path, condition, request, take) => view.lock(table, path, condition, request, take),
    lockRow: (row, matches, request) => view.lockRow(row, matches, request),
    insert: (table, values, duplicateLock, checks) => view.insert(table, values, duplicateLock, checks),
    ...(view.truncated === undefined ? {} : { truncated: view.truncated.bind(view) }),
    ...(view.lockCounter === undefined ? {} : { lockCounter: view.lockCounter.bind(view) }),
    ...(view.findConflict === undefined ? {} : { findConflict: view.findConflict.bind(view) }),
    update: (row, values, columns, checks) => view.update(row, values, columns, checks),
    delete: (row, checks) => view.delete(row, checks),
    ...(view.lockTable === undefined ? {} : { lockTable: view.lockTable.bind(view) }),
    constraintQuery: () => view.constraintQuery(),
    ...(view.latestView === undefined ? {} : { latestView: view.latestView.bind(view) }),
    isOwn: (row) => view.isOwn(row),
    isCurrent: (row) => view.isCurrent(row),
    isUnique: (row, index) => view.isUnique(row, index),
    undo: () => view.undo(),
    ...(view.ended === undefined ? {} : { ended: view.ended.bind(view) }),
  };
}
