/**
 * InnoDB where a scan locks, as with FOR SHARE, and reads the latest rows: of a plain SELECT at SERIALIZABLE, of the subqueries and joined tables of
 * statements that write, and of a join, groups or distinct rows with a locking clause, with the lock that the clause asks for. Scans cannot wait in the middle of an expression, so one that has to stops the whole
 * statement, gets its locks, and the statement runs again: what it has locked by then cannot change under it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { IsolationName } from '../../sql/index.ts';
import type {
  AccessPath,
  LockRequest,
  Row,
  RowCondition,
  StatementView,
  TableId,
  Wait,
  Waiting,
} from '../../sql/model/index.ts';
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

/** The view in which a statement locks what it scans, where InnoDB does; otherwise `view` itself. */
export function lockingScans(
  view: StatementView,
  statement: Query,
  { isolation, pauses }: LockingScansOptions,
): StatementView {
  if (!locksScans(view, statement, isolation)) {
    return statement.locksInScans === true ? lockingView(view, ({ lockedBy }) => lockedBy ?? null, false) : view;
  }
  return pauses && !statement.isReadOnly
    ? pausingBeforeWrites(lockingView(view, requestFor, true))
    : lockingView(view, requestFor, false);
}

/**
 * MySQL 8.0 manual, "Locks Set by Different SQL Statements in InnoDB", and `ha_innobase::store_lock`: below REPEATABLE READ the SELECT of an
 * INSERT and the subqueries of an UPDATE read without locks; those of a DELETE, of an UPDATE of a join and of an INSERT or
 * REPLACE of VALUES do not.
 */
function locksScans({ scansLock }: StatementView, statement: Query, isolation: IsolationName): boolean {
  if (scansLock === undefined) return false;
  if (scansLock) return true;
  if (statement.isReadOnly || statement.command === 'SELECT') return false;
  return isolation === 'repeatable read' || statement.command === 'DELETE' || statement.locksReads === true;
}

/** @param requestOf the lock on the rows of a scan; `null`: it locks none */
function lockingView(
  view: StatementView,
  requestOf: (condition: RowCondition) => LockRequest | null,
  pauses: boolean,
): StatementView {
  let mayPause = pauses;
  const ends = new ReachedEnds();
  return {
    ...delegating(view),
    scansLock: false,
    *lockConstant(table, path, condition) {
      const request = requestOf(condition);
      if (request === null) return;
      if (mayPause) {
        mayPause = false;
        yield pause;
      }
      yield* view.lock(table, path, condition, request, () => true);
    },
    *scan(table, path, condition) {
      const request = requestOf(condition);
      if (request === null) {
        yield* view.scan(table, path, condition);
        return;
      }
      if (mayPause) {
        mayPause = false;
        throw ends.restartAfter(new MustWait(paused(), 'before'));
      }
      const end = ends.next(table, path);
      if (end !== undefined && (end === null || condition.matches(end))) {
        if (end !== null) yield end;
        return;
      }
      let taken: Row | null = null;
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
        if (step.value !== rowIsLocked) {
          const rest = isEnd(path) ? ends.restOfLast(table, path, locking, () => taken) : untilLocked(locking);
          throw ends.restartAfter(new MustWait(continuing(step.value, rest, locking), 'before'));
        }
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

type EndPath = Extract<AccessPath, { kind: 'index' }>;

/** MIN or MAX reads one record. */
function isEnd(path: AccessPath): path is EndPath {
  return path.kind === 'index' && path.readsEnd === true;
}

interface ReachedEnd {
  /** Its number among the statement's searches for ends. */
  readonly search: number;
  readonly table: TableId;
  readonly path: EndPath;
  readonly row: Row | null;
}

/**
 * The rows that searches for MIN and MAX found after a wait. The server continues at the record that it waited for; a search from the beginning would
 * find what others have entered past it meanwhile. Searches of a statement have their order: a second one for the same end is one of its own.
 */
class ReachedEnds {
  readonly #ends: ReachedEnd[] = [];
  #searches = 0;

  /** Of the next search: `null`, there is no row; `undefined`, it has not waited. */
  next(table: TableId, path: AccessPath): Row | null | undefined {
    if (!isEnd(path)) return undefined;
    this.#searches += 1;
    const reached = this.#ends.find(({ search }) => search === this.#searches);
    return reached?.table === table && isDeepStrictEqual(reached.path, path) ? reached.row : undefined;
  }

  /** The rest of the last search, which waits. @param taken the row that it has found */
  restOfLast(table: TableId, path: EndPath, locking: Waiting<void>, taken: () => Row | null): Waiting<void> {
    return this.#reach({ search: this.#searches, table, path }, locking, taken);
  }

  *#reach(end: Omit<ReachedEnd, 'row'>, locking: Waiting<void>, taken: () => Row | null): Waiting<void> {
    yield* untilLocked(locking);
    locking.return();
    this.#ends.push({ ...end, row: taken() });
  }

  /** The statement runs again, with its first search. */
  restartAfter(wait: MustWait): MustWait {
    this.#searches = 0;
    return wait;
  }
}

function requestFor({ isWritten, lockedBy }: RowCondition): LockRequest {
  return lockedBy ?? { strength: isWritten ? 'update' : 'share', ifLocked: 'wait', reading: 'statement' };
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
