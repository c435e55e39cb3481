/** The locks of one transaction, and the lock structures that InnoDB would count for them: it weighs transactions by these when it chooses a victim. */
import { dequeue, enqueue, type LockableRecord, type LockKind, type RecordLock } from './gap-locks.ts';
import * as footprints from './footprint.ts';
import type { InnodbStorage } from './storage.ts';

export class HeldRecordLocks {
  readonly #storage: InnodbStorage;
  #locks: RecordLock[] = [];
  /** Tables it has said it will lock rows of, and how. */
  readonly #intentions = new Set<string>();
  /** Lock structures whose last lock was released early; they still count. */
  readonly #emptied = new Set<string | RecordLock>();
  readonly #indexNumbers = new Map<object, number>();

  constructor(storage: InnodbStorage) {
    this.#storage = storage;
  }

  add(lock: RecordLock): void {
    lock.queuedIn = this.#storage.footprint;
    lock.countedIn = this.#storage.footprint;
    enqueue(lock);
    this.#locks.push(lock);
  }

  /** Another transaction waits for a written row, or would: its lock has a structure now. */
  makeExplicit(lock: RecordLock): void {
    if (!lock.isImplicit) return;
    lock.isImplicit = false;
    lock.splitsBefore = lock.record.index.splits;
    lock.countedIn = this.#storage.footprint;
    footprints.recordExplicit(this.#storage, lock);
  }

  /** Before rows of a table are locked. It only counts when deadlocks are weighed. */
  intend(table: number, mode: RecordLock['mode']): void {
    if (mode === 'X' || !this.#intentions.has(`${table} X`)) this.#intentions.add(`${table} ${mode}`);
  }

  /** Removes the locks that are over, and their structures. @returns were there any? */
  remove(isOver: (lock: RecordLock) => boolean): boolean {
    const over = this.#locks.filter(isOver);
    if (over.length === 0) return false;
    for (const lock of over) this.#dequeue(lock);
    this.#locks = this.#locks.filter((lock) => !isOver(lock));
    return true;
  }

  /** Removes the locks that are over; the structures of those that had one still count. */
  empty(isOver: (lock: RecordLock) => boolean): void {
    for (const lock of this.#locks) if (isOver(lock) && !lock.isImplicit) this.#emptied.add(this.#structure(lock));
    this.remove(isOver);
  }

  /** The newest of that kind, early. After a wait the server takes a lock for one that it had before, and keeps it. @returns is it released? */
  release(record: LockableRecord, mode: RecordLock['mode'], kind: LockKind): boolean {
    const at = this.#locks.findLastIndex((lock) => lock.record === record && lock.mode === mode && lock.kind === kind);
    const lock = this.#locks[at];
    if (lock === undefined || lock.hasWaited) return false;
    this.#locks.splice(at, 1);
    this.#emptied.add(this.#structure(lock));
    this.#dequeue(lock);
    return true;
  }

  clear(): void {
    for (const lock of this.#locks) this.#dequeue(lock);
    this.#locks = [];
    this.#intentions.clear();
    this.#emptied.clear();
  }

  #dequeue(lock: RecordLock): void {
    if (!lock.isGone) footprints.recordLock(this.#storage, lock, 'take');
    this.#storage.unlocked.add(lock.record);
    dequeue(lock);
  }

  /**
   * Lock structures, as InnoDB counts: the locks of one kind on one page of an index are one, one that had to wait is its own; each table has one, or two
   * where it was first locked for sharing. `least`: every index has one page; `most`: every record has its own, and where gaps are locked the end of the
   * page before it has a lock, too: a search begins there, or the page was split there, which passes a lock on, but none that is implicit. Each split since
   * then may have moved the record to another page, where the lock has another structure besides the one that it leaves behind
   * (`lock_move_rec_list_end`, `lock_move_rec_list_start`).
   */
  structures(locksGaps: boolean): { readonly least: number; readonly most: number } {
    const structures = new Set<string | RecordLock>(this.#emptied);
    let most = this.#emptied.size;
    for (const lock of this.explicit()) {
      structures.add(this.#structure(lock));
      most += 1 + lock.record.index.splits - lock.splitsBefore;
    }
    return {
      least: this.#intentions.size + structures.size,
      most: this.#intentions.size + (locksGaps ? 2 : 1) * most,
    };
  }

  /** Those that have structures. */
  explicit(): readonly RecordLock[] {
    return this.#locks.filter(({ isImplicit }) => !isImplicit);
  }

  #structure(lock: RecordLock): string | RecordLock {
    if (lock.hasWaited) return lock;
    const { mode, kind, record } = lock;
    const index = this.#indexNumbers.get(record.index) ?? this.#indexNumbers.size;
    this.#indexNumbers.set(record.index, index);
    return `${index} ${mode} ${record.isSupremum ? 'next-key' : kind}`;
  }
}
