/**
 * A scan that locks: SELECT ... FOR UPDATE and FOR SHARE, and the search of UPDATE and DELETE. It goes over the current records of an index one by
 * one and locks each as it comes to it, matching or not; at REPEATABLE READ and above the gaps too. After `row_search_mvcc` in row0sel.
 */
import type { LockRequest, Row, RowCondition, Waiting } from '../../sql/model/index.ts';
import { blockersOf, modeOf, newLock, type LockableRecord, type LockKind, type LockMode } from './gap-locks.ts';
import { boundsOf, type IndexPath, type KeyBounds } from '../index-tree.ts';
import * as footprints from './footprint.ts';
import { IndexRecord, isComparable, isMarked, type InnodbIndex, type InnodbVersion } from './table.ts';
import type { Granted, InnodbTransaction } from './transaction.ts';
import { wantsMore } from '../take.ts';
import { currentVersion, openWriter } from '../versions.ts';

/** @param undecided what the statement has locked anew in this mode, and has not looked at to the end: its condition may stop it for a wait, and it runs again */
export function* lockRange(
  transaction: InnodbTransaction,
  index: InnodbIndex,
  path: IndexPath,
  condition: RowCondition,
  request: LockRequest,
  take: (version: InnodbVersion) => boolean | Waiting<boolean>,
  undecided: Set<IndexRecord>,
): Waiting<void> {
  yield* new LockingRead(transaction, index, path, condition, request, undecided).run(take);
}

class LockingRead {
  readonly #transaction: InnodbTransaction;
  readonly #index: InnodbIndex;
  readonly #path: IndexPath;
  readonly #bounds: KeyBounds;
  readonly #matches: (row: Row) => boolean;
  readonly #keepsLock: RowCondition['keepsLock'];
  readonly #request: LockRequest;
  readonly #mode: LockMode;
  readonly #purpose: NonNullable<LockRequest['purpose']>;
  readonly #isUnique: boolean;
  /** One key or a prefix of keys: what follows is known not to match before it is locked. */
  readonly #isExact: boolean;
  /** All that the statement reads is in the index: a shared lock of its record is enough, and the row itself stays free. */
  readonly #isCovered: boolean;
  readonly #undecided: Set<IndexRecord>;

  constructor(
    transaction: InnodbTransaction,
    index: InnodbIndex,
    path: IndexPath,
    { matches, keepsLock, cells }: RowCondition,
    request: LockRequest,
    undecided: Set<IndexRecord>,
  ) {
    this.#transaction = transaction;
    this.#undecided = undecided;
    this.#index = index;
    this.#bounds = boundsOf(path, index.shape.compare);
    this.#matches = matches;
    this.#keepsLock = keepsLock;
    this.#request = request;
    this.#mode = modeOf(request);
    this.#isCovered = this.#mode === 'S' && isCovered(index, cells);
    this.#purpose = request.purpose ?? 'select';
    this.#isExact =
      path.from === undefined && path.to === undefined && path.prefix.length > 0 && path.readsEnd !== true;
    const keyLength = index.tree.first(() => true)?.key.length;
    if (keyLength === undefined) footprints.recordWalk(transaction.storage, index, null, null);
    this.#isUnique =
      this.#isExact &&
      index.shape.isUnique &&
      path.prefix.length === keyLength &&
      (index.isClustered || isComparable(path.prefix, index.shape));
    // `QUICK_SELECT_DESC` looks a whole key up as any search does.
    this.#path = this.#isUnique ? { ...path, isDescending: false } : path;
  }

  *run(take: (version: InnodbVersion) => boolean | Waiting<boolean>): Waiting<void> {
    if (this.#path.isDescending) yield* this.#lockGapAbove();
    let previous: IndexRecord | null = null;
    // It left the index while this waited for it: the scan stays at its place.
    let left: IndexRecord | null = null;
    for (;;) {
      const record: IndexRecord | undefined = left === null ? this.#next(previous) : this.#atPlaceOf(left);
      left = null;
      // Delete-marked records are passed over before anyone looks whether the range is over.
      if (record === undefined || (this.#isPast(record) && (this.#isExact || !isMarked(this.#index, record)))) {
        const end = yield* this.#lockEnd(record);
        if (end === 'granted') return;
        if (end === 'skipped') previous = record ?? previous;
        continue;
      }
      const version = yield* this.#lockRecord(record, previous === null);
      if (version === 'again') {
        left = record;
        continue;
      }
      // Undeleted while this waited for it.
      if (version !== 'skipped' && this.#isPast(record) && !isMarked(this.#index, record)) return;
      previous = record;
      if (version === 'skipped') continue;
      // By primary key the search ends at a delete-marked record, too: no other has the key, and the gap behind it stays free.
      const isFound = this.#isUnique && (this.#index.isClustered || !isMarked(this.#index, record));
      if (version !== null && !(yield* wantsMore(take(version)))) return;
      if (isFound) return;
    }
  }

  #next(previous: IndexRecord | null): IndexRecord | undefined {
    const next = this.#nextOf(previous);
    const { storage } = this.#transaction;
    if (storage.footprint === null) return next;
    const { prefix, from, to, isDescending } = this.#path;
    const bound = isDescending ? to : from;
    const begin = previous?.key ?? (bound === undefined ? prefix : [...prefix, bound.value]);
    if (isDescending) footprints.recordWalk(storage, this.#index, next?.key ?? null, begin);
    else footprints.recordWalk(storage, this.#index, begin, next?.key ?? null);
    if (next !== undefined && this.#isPast(next)) footprints.recordMarkRead(storage, next);
    return next;
  }

  /** The record that has come instead, or the next one. */
  #atPlaceOf(left: IndexRecord): IndexRecord | undefined {
    const next = this.#next(left);
    return this.#index.tree.getEntry(left) ?? next;
  }

  #nextOf(previous: IndexRecord | null): IndexRecord | undefined {
    const { tree } = this.#index;
    if (this.#path.isDescending)
      return previous === null
        ? tree.lastBefore((record) => this.#bounds.isAbove(record.key))
        : tree.previous(previous);
    return previous === null ? tree.first((record) => !this.#bounds.isBelow(record.key)) : tree.next(previous);
  }

  #isPast(record: IndexRecord): boolean {
    return this.#path.isDescending ? this.#bounds.isBelow(record.key) : this.#bounds.isAbove(record.key);
  }

  /** @returns the version to look at, `null` for none, `again` when the record has gone meanwhile */
  *#lockRecord(record: IndexRecord, isFirst: boolean): Waiting<InnodbVersion | null | 'again' | 'skipped'> {
    const kind = this.#kindFor(record, isFirst);
    if (this.#isDeletedForAll(record) || this.#readsCommitted(record, kind)) return null;
    if (isFirst && !this.#path.isDescending) this.#transaction.lockPageBefore(record, this.#mode);
    const isNew =
      this.#undecided.delete(record) || !this.#transaction.holds(newLock(this.#transaction, record, this.#mode, kind));
    const outcome = yield* this.#acquire(record, kind);
    if (outcome === 'gone') return 'again';
    if (outcome === 'skipped') return 'skipped';
    const { row } = record;
    if (isMarked(this.#index, record)) return null;
    if (!this.#index.isClustered && !this.#isCovered) {
      const clustered = yield* this.#lockClustered(record);
      if (clustered === 'gone') return 'again';
      if (clustered === 'skipped') return 'skipped';
    }
    // Another transaction may be writing columns that are not in the index.
    if (this.#isCovered) footprints.recordCommittedRead(this.#transaction.storage, record);
    const version = this.#isCovered ? currentVersion(row.newest, this.#transaction.writer) : row.newest;
    if (isNew) this.#undecided.add(record);
    const isMatch = version !== null && !isMarked(this.#index, record) && this.#matches(version);
    this.#undecided.delete(record);
    if (isMatch) return version;
    const isKept = version !== null && this.#keepsLock?.(version) === true;
    if (isNew && !isKept) this.#unlock(record, kind);
    return null;
  }

  #kindFor(record: IndexRecord, isFirst: boolean): LockKind {
    if (!this.#transaction.locksGaps) return 'record';
    if (this.#isUnique && this.#index.isClustered) return 'record';
    return isFirst && this.#startsAt(record) ? 'record' : 'next-key';
  }

  /** `id >= 5` that finds 5 in the clustered index: nothing can come before it. */
  #startsAt(record: IndexRecord): boolean {
    const { from, prefix, isDescending } = this.#path;
    if (!this.#index.isClustered || isDescending || from?.isInclusive === false) return false;
    const begin = from === undefined ? prefix : [...prefix, from.value];
    return begin.length === record.key.length && this.#index.shape.compare(record.key, begin) === 0;
  }

  /** Below REPEATABLE READ what no open transaction has deleted is passed over without a lock, though another has locked it. As MariaDB 10.11 does it. */
  #isDeletedForAll(record: IndexRecord): boolean {
    const { storage, writer, locksGaps } = this.#transaction;
    if (locksGaps || !isMarked(this.#index, record) || openWriter(record.row.newest, writer) !== null) return false;
    footprints.recordMarkRead(storage, record);
    return true;
  }

  /**
   * Semi-consistent read, at READ COMMITTED and below: an UPDATE that would have to wait looks at the committed version first, and continues if
   * that does not match. Only where it scans the clustered index.
   */
  #readsCommitted(record: IndexRecord, kind: LockKind): boolean {
    if (this.#transaction.locksGaps || !this.#isSemiConsistent) return false;
    if (this.#isUnique || !this.#index.isClustered) return false;
    const lock = newLock(this.#transaction, record, this.#mode, kind);
    if (this.#transaction.holds(lock) || blockersOf(lock).length === 0) return false;
    footprints.recordLock(this.#transaction.storage, lock, 'try');
    const committed = currentVersion(record.row.newest, this.#transaction.writer);
    return committed === null || committed.isDeleted || !this.#matches(committed);
  }

  get #isSemiConsistent(): boolean {
    return this.#purpose === 'update' && this.#keepsLock === undefined;
  }

  get #isConstant(): boolean {
    return this.#isUnique && this.#purpose === 'select';
  }

  /** @returns `granted`: the scan is over; `skipped`: a locked record past the end was passed over before it was looked at */
  *#lockEnd(record: IndexRecord | undefined): Waiting<Granted> {
    const { locksGaps } = this.#transaction;
    if (record !== undefined && !this.#isExact)
      return yield* this.#lockPastEnd(record, locksGaps ? 'next-key' : 'record');
    if (!locksGaps || (record === undefined && this.#path.isDescending)) return 'granted';
    return yield* this.#acquire(record ?? this.#index.supremum, record === undefined ? 'next-key' : 'gap');
  }

  /**
   * The server looks whether a row is past the end of a range when it has been locked and read. For SELECT on a secondary index the condition is
   * pushed down: then only the index record is locked, and stays so.
   */
  *#lockPastEnd(record: IndexRecord, kind: LockKind): Waiting<Granted> {
    const { locksGaps } = this.#transaction;
    // A semi-consistent read sees that the record is past the end without a lock.
    if (!locksGaps && this.#index.isClustered && this.#isSemiConsistent) return 'granted';
    const isNew = !this.#transaction.holds(newLock(this.#transaction, record, this.#mode, kind));
    const outcome = yield* this.#acquire(record, kind);
    if (outcome !== 'granted') return outcome;
    const isPushedDown = !this.#index.isClustered && this.#purpose === 'select' && this.#path.readsEnd !== true;
    if (isPushedDown || this.#isCovered) return 'granted';
    const clustered = yield* this.#lockClustered(record);
    // `QUICK_SELECT_DESC` does not give a row back that is past the end.
    if (clustered === 'granted' && isNew && !this.#path.isDescending) this.#unlock(record, kind);
    return clustered;
  }

  /** Before a descending scan: what is above its first record may not come in between. */
  *#lockGapAbove(): Waiting<void> {
    if (!this.#transaction.locksGaps) return;
    const above = this.#index.tree.first((record) => this.#bounds.isAbove(record.key));
    const { prefix, to } = this.#path;
    const begin = to === undefined ? prefix : [...prefix, to.value];
    footprints.recordWalk(this.#transaction.storage, this.#index, begin, above?.key ?? null);
    yield* this.#acquire(above ?? this.#index.supremum, 'gap');
  }

  *#lockClustered(record: IndexRecord): Waiting<Granted> {
    const clustered = clusteredRecord(record);
    const { clusteredKey, table } = record.row;
    footprints.recordWalk(this.#transaction.storage, table.clustered, clusteredKey, clusteredKey);
    return clustered === undefined ? 'gone' : yield* this.#acquire(clustered, 'record');
  }

  #acquire(record: LockableRecord, kind: LockKind): Waiting<Granted> {
    const reason = `${this.#mode} lock on ${this.#index.shape.name}`;
    return this.#transaction.lock(record, this.#mode, kind, this.#request.ifLocked, reason);
  }

  /**
   * Below REPEATABLE READ a row that does not match is unlocked again, in the clustered index. Documented for all; but MariaDB 10.11
   * keeps the locks of a scan of a secondary index, and of a SELECT by primary key, which reads the row while it is planned.
   */
  #unlock(record: IndexRecord, kind: LockKind): void {
    if (this.#transaction.locksGaps || !this.#index.isClustered || this.#isConstant) return;
    if (this.#path.readsEnd === true) return;
    this.#transaction.release(record, this.#mode, kind);
  }
}

function isCovered(index: InnodbIndex, cells: ReadonlySet<number> | null): boolean {
  if (cells === null || index.isClustered) return false;
  for (const cell of cells) if (!index.cells.has(cell)) return false;
  return true;
}

function clusteredRecord({ row }: IndexRecord): IndexRecord | undefined {
  const { clustered } = row.table;
  return clustered.tree.getEntry(new IndexRecord(clustered, row.clusteredKey, row));
}
