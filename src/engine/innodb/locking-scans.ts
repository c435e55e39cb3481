/**
 * InnoDB where a statement locks what it only reads, as with FOR SHARE, and reads the latest rows: a plain SELECT at SERIALIZABLE, and the
 * subqueries and joined tables of statements that write. Scans cannot wait in the middle of an expression, so one that has to stops the whole
 * statement, gets its locks, and the statement runs again: what it has locked by then cannot change under it.
 */
import type { IsolationName } from '../../sql/index.ts';
import type { Row, StatementView, Wait, Waiting } from '../../sql/model/index.ts';
import type { BegunStatement } from '../engine-profile.ts';
import { continuing, MustWait } from '../must-wait.ts';
import { delegating, pause } from '../pause.ts';
import { pausingBeforeWrites } from './pauses.ts';

type Query = NonNullable<BegunStatement['query']>;

export interface LockingScansOptions {
  readonly isolation: IsolationName;
  /** May others come in between before the first lock on what is only read, and after it? */
  readonly pauses: boolean;
}

/** The view in which a statement locks all that it scans, where InnoDB does; otherwise `view` itself. */
export function lockingScans(
  view: StatementView,
  statement: Query,
  { isolation, pauses }: LockingScansOptions,
): StatementView {
  if (!locksScans(view, statement, isolation)) return view;
  return pauses && !statement.isReadOnly ? pausingBeforeWrites(lockingView(view, true)) : lockingView(view, false);
}

/**
 * MySQL 8.0 manual, "Locks Set by Different SQL Statements in InnoDB", and `ha_innobase::store_lock`: below REPEATABLE READ the SELECT of an
 * INSERT and the subqueries of an UPDATE read without locks; those of a DELETE and of an UPDATE of a join do not.
 */
function locksScans({ scansLock }: StatementView, statement: Query, isolation: IsolationName): boolean {
  if (scansLock === undefined) return false;
  if (scansLock) return true;
  if (statement.isReadOnly || statement.command === 'SELECT') return false;
  return isolation === 'repeatable read' || statement.command === 'DELETE' || statement.writesJoin === true;
}

function lockingView(view: StatementView, pauses: boolean): StatementView {
  let mayPause = pauses;
  return {
    ...delegating(view),
    scansLock: false,
    *scan(table, path, condition) {
      if (mayPause) {
        mayPause = false;
        throw new MustWait(paused(), 'before');
      }
      let taken: Row | null = null;
      const strength = condition.isWritten ? 'update' : 'share';
      const request = { strength, ifLocked: 'wait', reading: 'statement' } as const;
      // Nothing is evaluated when the lock has been waited for: the scan that comes again does that.
      let hasToWait = false;
      const matches = (row: Row): boolean => hasToWait || condition.matches(row);
      const locking = view.lock(table, path, { ...condition, matches }, request, function* take(row) {
        taken = row;
        yield rowIsLocked;
        return true;
      });
      for (let step = locking.next(); step.done !== true; step = locking.next()) {
        hasToWait = step.value !== rowIsLocked;
        if (step.value !== rowIsLocked)
          throw new MustWait(continuing(step.value, untilLocked(locking), locking), 'before');
        // What the condition and the consumer read is locked before the next row.
        if (taken === null) continue;
        let isStopped = true;
        try {
          yield taken;
          isStopped = false;
        } finally {
          if (isStopped) locking.return();
        }
      }
    },
  };
}

/** A row of a scan is locked: it is not a wait, the scan hands the row on. */
const rowIsLocked: Wait = { blockers: [], reason: '', isReady: () => true };

/** Only the lock that was waited for: the scan that comes again asks for the others. */
function* untilLocked(locking: Waiting<void>): Waiting<void> {
  for (let step = locking.next(); step.done !== true; step = locking.next()) {
    if (step.value === rowIsLocked) return;
    yield step.value;
  }
}

function* paused(): Waiting<undefined> {
  yield pause;
  return undefined;
}
