/**
 * Statements are steps here, and most real ones might as well be: what another session does meanwhile comes to the same before or after it.
 * Not always. Where it does not, the statement stops for a moment, so that others can come in between, in `serve`, `test` and `explore` alike:
 *
 * - A statement with autocommit, between what it does and its commit: two of them may both be under way. Definitions too, but MySQL's: there
 *   a metadata lock keeps every other statement on the table out until the commit.
 * - PostgreSQL: `postgres/pauses.ts`. InnoDB: `innodb/pauses.ts` and `innodb/locking-scans.ts`.
 *
 * For the same reason any of those that wait for each other on PostgreSQL may be the victim: whose `deadlock_timeout` is over first.
 */
import type { StatementView, Wait } from '../sql/model/index.ts';

/** Nothing is waited for; others may go first. */
export const pause: Wait = { blockers: [], reason: '', isReady: () => true };

/** A view that does as another, to be given other members. */
export function delegating(view: StatementView): StatementView {
  const { scansLock, scansInOrder, checksByIndex } = view;
  return {
    ...(checksByIndex === undefined ? {} : { checksByIndex }),
    ...(scansLock === undefined ? {} : { scansLock }),
    ...(scansInOrder === undefined ? {} : { scansInOrder }),
    scan: (table, path, condition) => view.scan(table, path, condition),
    lock: (table, path, condition, request, take) => view.lock(table, path, condition, request, take),
    ...(view.lockConstant === undefined ? {} : { lockConstant: view.lockConstant.bind(view) }),
    lockRow: (row, matches, request) => view.lockRow(row, matches, request),
    insert: (table, values, duplicateLock, checks) => view.insert(table, values, duplicateLock, checks),
    ...(view.truncated === undefined ? {} : { truncated: view.truncated.bind(view) }),
    ...(view.lockCounter === undefined ? {} : { lockCounter: view.lockCounter.bind(view) }),
    ...(view.findConflict === undefined ? {} : { findConflict: view.findConflict.bind(view) }),
    update: (row, values, columns, checks) => view.update(row, values, columns, checks),
    delete: (row, checks) => view.delete(row, checks),
    ...(view.metadata === undefined ? {} : { metadata: view.metadata }),
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
