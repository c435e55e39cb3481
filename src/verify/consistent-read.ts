/** Consistent read (Leopard, ICDE 2023, V.A): is what a read returned in the state that its snapshot may see? */
import { antiDependency, mayOverlap } from './anti-dependency.ts';
import { type Candidates, findCandidates } from './candidates.ts';
import { hiddenViolation, ownViolation, readViolation } from './evidence.ts';
import { agrees, type Columns, columnsBeside, type Image } from './image.ts';
import type { Mirror } from './mirror.ts';
import { qualifies, verifyPredicate } from './predicate-read.ts';
import { mayBeSame } from './same-writes.ts';
import { isKept } from './shared-locks.ts';
import { isFollowing } from './snapshots.ts';
import { dirtyReadOf, hiddenBy, isUncommitted, mayBeDirty } from './uncommitted-read.ts';
import { grownBytes, grownInts, none, Slots } from './slots.ts';
import { fateCode, snapshotCode, type View } from './transaction-table.ts';
import type { Violation } from './violation.ts';

/** Columns that the transaction has not written, of a row of which it has: their base may be as old as the snapshot. */
interface Beside {
  readonly row: number;
  readonly image: Columns;
  /** Start of the first operation that wrote the row. */
  readonly writtenAt: number;
}

/** Reads that wait until every commit that they may have seen is known. */
export class PendingReads extends Slots {
  transaction = new Int32Array();
  operation = new Int32Array();
  snapshot = new Uint8Array();
  readonly beside: (readonly Beside[] | null)[] = [];

  add(transaction: number, operation: number, snapshot: number, beside: readonly Beside[] | null): number {
    const read = this.take();
    this.transaction[read] = transaction;
    this.operation[read] = operation;
    this.snapshot[read] = snapshot;
    this.beside[read] = beside;
    return read;
  }

  remove(read: number): void {
    this.beside[read] = null;
    this.give(read);
  }

  protected override grow(capacity: number): void {
    this.transaction = grownInts(this.transaction, capacity);
    this.operation = grownInts(this.operation, capacity);
    this.snapshot = grownBytes(this.snapshot, capacity);
  }
}

/** Compares what was read with what the transaction has written itself; what is left is for the snapshot. */
export function verifyOwn(mirror: Mirror, transaction: number, operation: number): readonly Beside[] | null {
  const { operations, rows, counts, transactions } = mirror;
  if (transactions.firstOwn[transaction] === none) return null;
  const { entries } = operations;
  const readsEnd = operations.writes[operation];
  let beside: Beside[] | null = null;
  for (let entry = operations.reads[operation]; entry < readsEnd; entry += 1) {
    const row = entries.row[entry];
    if (rows.isClouded[row] === 1) {
      entries.isOwn[entry] = 1;
      counts.skipped += 1;
      continue;
    }
    const own = rows.own(row, transaction);
    if (own === none) continue;
    entries.isOwn[entry] = 1;
    const image = entries.image[entry];
    const written = rows.owns.image[own];
    if (!agrees(written, image)) {
      // A write that changed nothing has left the row to the snapshot; an insert has left it the row that was there before.
      if (mayBeSame(mirror, row, own) || mayBeBesideAnother(mirror, transaction, row, own)) {
        entries.isOwn[entry] = 0;
        continue;
      }
      mirror.report(ownViolation(mirror, transaction, operation, row, image, own));
      continue;
    }
    const rest = columnsBeside(image, written, operations.emptyShape);
    if (rest === null) continue;
    beside ??= [];
    beside.push({ row, image: rest, writtenAt: operations.start[rows.owns.operation[own]] });
  }
  return beside;
}

/**
 * May its write be an insert, while its snapshot still has the row with this key that another has deleted since? Then both are there
 * (PostgreSQL, bug 17017: "operating as designed", and refused at serializable).
 */
function mayBeBesideAnother(
  { rows, transactions, mechanisms }: Mirror,
  transaction: number,
  row: number,
  own: number,
): boolean {
  const { owns, versions } = rows;
  const snapshotStart = transactions.snapshotStart[transaction];
  if (!mechanisms.firstUpdaterWins || mechanisms.certifier !== null || Number.isNaN(snapshotStart)) return false;
  for (let version = rows.firstVersion[row]; version !== none; version = versions.next[version]) {
    if (versions.image[version] !== null || versions.end[version] < snapshotStart) continue;
    if (versions.start[version] <= owns.end[own]) return true;
  }
  return false;
}

/** A row that the transaction has written so that it satisfies a condition of its own read must have been returned. */
export function verifyOwnPredicates(mirror: Mirror, transaction: number, operation: number): void {
  const { operations, rows, transactions } = mirror;
  const { owns } = rows;
  let returned: ReadonlySet<number> | null = null;
  for (const { table, where } of operations.predicatesOf(operation)) {
    for (let own = transactions.firstOwn[transaction]; own !== none; own = owns.next[own]) {
      const row = owns.row[own];
      if (!rows.isOf(row, table) || rows.isClouded[row] === 1 || !qualifies(owns.image[own], where)) continue;
      returned ??= operations.rowsRead(operation);
      if (!returned.has(row) && !mayBeSame(mirror, row, own))
        mirror.report(ownViolation(mirror, transaction, operation, row, null, own));
    }
  }
}

/** Checks reads whose candidates are all known. */
export class ReadVerifier {
  readonly #mirror: Mirror;
  readonly #found: Candidates = { matches: 0, match: none, start: 0, end: 0, last: 0 };
  /** Of the operation at hand, where a snapshot is of one. */
  #view: View | null = null;

  constructor(mirror: Mirror) {
    this.#mirror = mirror;
  }

  verify(transaction: number, operation: number, snapshot: number, beside: readonly Beside[] | null): void {
    const { operations, transactions, counts } = this.#mirror;
    if (transactions.isAbandoned[transaction] === 1) {
      const { entries } = operations;
      const readsEnd = operations.writes[operation];
      for (let entry = operations.reads[operation]; entry < readsEnd; entry += 1)
        if (entries.isOwn[entry] === 0) counts.skipped += 1;
      counts.skipped += beside?.length ?? 0;
      return;
    }
    this.#verifyRows(transaction, operation, snapshot);
    if (beside !== null) for (const part of beside) this.#verifyBeside(transaction, operation, part);
    for (const predicate of operations.predicatesOf(operation))
      verifyPredicate(this.#mirror, { transaction, operation, snapshot }, predicate, (row, start, end) => {
        if (isUncommitted(this.#mirror, operation) && mayBeDirty(this.#mirror, transaction, row, start, end)) return;
        if (this.#mirror.takenBack.mayShow(this.#mirror, row, operation)) return;
        if (!Number.isNaN(this.#renewedUntil(transaction, snapshot))) return;
        this.#fail(transaction, operation, row, null, start, end, null);
      });
  }

  #verifyRows(transaction: number, operation: number, snapshot: number): void {
    const mirror = this.#mirror;
    const { operations, transactions, rows, counts } = mirror;
    const { entries } = operations;
    const readsEnd = operations.writes[operation];
    const found = this.#found;
    this.#view = null;
    const isDirty = isUncommitted(mirror, operation);
    let start = operations.start[operation];
    let end = operations.end[operation];
    for (let entry = operations.reads[operation]; entry < readsEnd; entry += 1) {
      if (entries.isOwn[entry] === 1) continue;
      const row = entries.row[entry];
      const image = entries.image[entry];
      if (snapshot === snapshotCode.transaction) {
        start = transactions.snapshotStart[transaction];
        end = transactions.snapshotEnd[transaction];
      } else if (snapshot === snapshotCode.window) start = transactions.first[transaction];
      if (rows.isHidden(row, start)) {
        counts.skipped += 1;
        continue;
      }
      if (isDirty && mirror.takenBack.mayShow(mirror, row, operation)) {
        counts.uncertain += 1;
        continue;
      }
      if (image === null && isFollowing(mirror, operation) && rows.mayBeReplaced(row, start, end)) {
        counts.uncertain += 1;
        continue;
      }
      const renewed = this.#renewedUntil(transaction, snapshot);
      if (!Number.isNaN(renewed)) {
        // Which rows it has renewed is not known: what it reads says nothing of its snapshot any more.
        findCandidates(mirror, row, image, start, Math.max(end, renewed), null, found);
        if (found.matches === 0) this.#fail(transaction, operation, row, image, start, Math.max(end, renewed), null);
        else counts.uncertain += 1;
        continue;
      }
      const view = this.#viewOf(transaction, snapshot);
      findCandidates(mirror, row, image, start, end, view, found);
      if (isDirty && dirtyReadOf(mirror, transaction, row, image, start, end) !== none) {
        counts.uncertain += 1;
        continue;
      }
      const hider = isDirty && found.matches === 1 ? hiddenBy(mirror, transaction, row, found.match, start, end) : none;
      if (hider !== none) {
        this.#suspect(hider, hiddenViolation(mirror, transaction, operation, row, image, hider));
        continue;
      }
      if (found.matches === 0) {
        this.#fail(transaction, operation, row, image, start, end, view);
        continue;
      }
      if (snapshot === snapshotCode.operation) {
        start = found.start;
        end = found.end;
      } else if (snapshot === snapshotCode.transaction) {
        transactions.snapshotStart[transaction] = found.start;
        transactions.snapshotEnd[transaction] = found.end;
      } else if (snapshot === snapshotCode.window) this.#narrowWindow(transaction, operation, row, image);
      this.#noteDependencies(transaction, operation, row, image, snapshot, found.start, found.end);
    }
  }

  /** Of a read in the transaction's snapshot; NaN: it has only that. */
  #renewedUntil(transaction: number, snapshot: number): number {
    return snapshot === snapshotCode.transaction ? this.#mirror.transactions.renewedUntil[transaction] : NaN;
  }

  /** `null`: nothing is known yet. */
  #viewOf(transaction: number, snapshot: number): View | null {
    if (snapshot === snapshotCode.transaction) return this.#mirror.transactions.view[transaction] ?? null;
    if (snapshot === snapshotCode.operation) return this.#view;
    return null;
  }

  /** To note something in. */
  #viewFor(transaction: number, snapshot: number): View {
    const { view } = this.#mirror.transactions;
    if (snapshot === snapshotCode.transaction) return (view[transaction] ??= { seen: new Set(), unseen: new Set() });
    return (this.#view ??= { seen: new Set(), unseen: new Set() });
  }

  /** One moment for all reads of the transaction: later than every version that was read, no later than what overwrites one. */
  #narrowWindow(transaction: number, operation: number, row: number, image: Image): void {
    const { transactions } = this.#mirror;
    const found = this.#found;
    const start = Math.max(transactions.snapshotStart[transaction], found.start);
    const end = Math.min(transactions.snapshotEnd[transaction], found.last);
    if (start > end) {
      const window = { start: transactions.snapshotStart[transaction], end, view: null };
      const violation = readViolation(this.#mirror, transaction, operation, row, image, window);
      (transactions.ifCommitted[transaction] ??= []).push(violation);
      return;
    }
    transactions.snapshotStart[transaction] = start;
    transactions.snapshotEnd[transaction] = end;
  }

  /** @param start,end where the snapshot lies, by now */
  #noteDependencies(
    transaction: number,
    operation: number,
    row: number,
    image: Image,
    snapshot: number,
    start: number,
    end: number,
  ): void {
    const hasView = snapshot === snapshotCode.transaction || snapshot === snapshotCode.operation;
    const mirror = this.#mirror;
    const { transactions, rows, counts } = mirror;
    const { versions } = rows;
    const version = this.#found.match;
    if (this.#found.matches > 1) {
      counts.uncertain += 1;
      return;
    }
    rows.learn(version, image);
    const source = versions.writer[version];
    if (source !== none) {
      mirror.depend(source, transaction, 'wr', row);
      // What is surely installed before the snapshot rules out the same versions by its interval.
      const isPast = versions.isDefinite[version] === 1 && versions.end[version] < start;
      if (hasView && !isPast) this.#viewFor(transaction, snapshot).seen.add(transactions.serial[source]);
    }
    const isReader = transactions.fate[transaction] !== fateCode.aborted && mirror.mechanisms.certifier !== null;
    for (let other = rows.firstVersion[row]; other !== none; other = versions.next[other]) {
      const writer = versions.writer[other];
      if (writer === none || other === version || !versions.isSurelyAfter(other, version)) continue;
      // And so does what is installed after it.
      if (hasView && versions.start[other] <= end)
        this.#viewFor(transaction, snapshot).unseen.add(transactions.serial[writer]);
      if (isReader && versions.isDefinite[other] === 1 && mayOverlap(mirror, transaction, writer))
        if (isKept(mirror, operation, row, versions.image[other]))
          mirror.depend(transaction, writer, antiDependency(mirror, row, version, other), row);
    }
    if (isReader) rows.addReader(version, transaction, operation);
  }

  #verifyBeside(transaction: number, operation: number, { row, image, writtenAt }: Beside): void {
    const { operations, transactions, rows } = this.#mirror;
    if (rows.isClouded[row] === 1) return;
    const snapshotStart = transactions.snapshotStart[transaction];
    const start = Number.isNaN(snapshotStart) ? writtenAt : Math.min(snapshotStart, writtenAt);
    const end = operations.end[operation];
    findCandidates(this.#mirror, row, image, start, end, null, this.#found);
    if (this.#found.matches === 0) this.#fail(transaction, operation, row, image, start, end, null);
  }

  #fail(
    transaction: number,
    operation: number,
    row: number,
    image: Image,
    start: number,
    end: number,
    view: View | null,
  ): void {
    const { rows, transactions } = this.#mirror;
    const { locks } = rows;
    const violation = readViolation(this.#mirror, transaction, operation, row, image, { start, end, view });
    // What it read may be of a transaction that has not committed as far as is known: its fate decides.
    for (let lock = rows.firstLock[row]; lock !== none; lock = locks.nextOfRow[lock]) {
      const [written, writer] = [locks.image[lock], locks.transaction[lock]];
      if (written === undefined || writer === transaction || transactions.fate[writer] !== fateCode.open) continue;
      // What ROLLBACK TO took back will not be committed.
      if (locks.releaseEnd[lock] !== Infinity) continue;
      if (!agrees(written, image)) continue;
      this.#suspect(lock, violation);
      return;
    }
    this.#mirror.report(violation);
  }

  /** A violation unless it is unknown what became of the transaction that has, or had, the lock. */
  #suspect(lock: number, violation: Violation): void {
    const { rows, transactions } = this.#mirror;
    const writer = rows.locks.transaction[lock];
    if (transactions.fate[writer] === fateCode.open) (transactions.suspicions[writer] ??= []).push(violation);
    else this.#mirror.report(violation);
  }
}
