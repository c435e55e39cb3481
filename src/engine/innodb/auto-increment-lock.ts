/**
 * InnoDB's AUTO-INC lock of a table, with innodb_autoinc_lock_mode = 1, MariaDB's default: a statement that does not know how many rows it inserts
 * (INSERT ... SELECT) holds it from its first row to its end, so that its numbers are consecutive. An insertion of known rows takes no lock, unless
 * another transaction holds or awaits this one (`innobase_lock_autoinc`). Deadlock detection finds it on cycles with row locks.
 */
import type { TableId } from '../../sql/model/index.ts';
import { noLocks, type LockableRecord } from './gap-locks.ts';

/** The counter of a table, for locks of kind `auto-increment`. */
export function lockableCounter(table: TableId): LockableRecord {
  return { isSupremum: false, locks: noLocks, index: { table, splits: 0 }, row: null };
}
