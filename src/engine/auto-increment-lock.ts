/**
 * InnoDB's AUTO-INC lock of a table, with innodb_autoinc_lock_mode = 1, MariaDB's default: a statement that does not know how many rows it inserts
 * (INSERT ... SELECT) has it from its first row to its end, so that its numbers follow each other. An insertion of known rows takes no lock, unless
 * another transaction has this one or waits for it (`innobase_lock_autoinc`). It is found in deadlocks with row locks.
 */
import type { TableId } from '../sql/storage.ts';
import { noLocks, type LockableRecord, type RecordLock } from './gap-locks.ts';

/** What stands for the counter among the things that can be locked. */
export class AutoIncrementCounter {
  readonly table: TableId;

  constructor(table: TableId) {
    this.table = table;
  }

  /** In footprints. */
  get contactName(): string {
    return `AUTO-INC lock of ${this.table}`;
  }
}

export function lockableCounter(table: TableId): LockableRecord {
  return { isSupremum: false, locks: noLocks, index: new AutoIncrementCounter(table), row: null };
}

export function isOfCounter({ record }: RecordLock): boolean {
  return record.index instanceof AutoIncrementCounter;
}
