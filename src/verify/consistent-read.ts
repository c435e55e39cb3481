/** Consistent read (Leopard, ICDE 2023, V.A): is what a read returned in the state that its snapshot may see? */
import { antiDependency, mayOverlap } from './anti-dependency.ts';
import { type Candidates, findCandidates } from './candidates.ts';
import { hiddenViolation, readViolation } from './evidence.ts';
import { agrees, type Image } from './image.ts';
import type { Mirror } from './mirror.ts';
import type { Beside } from './own-writes.ts';
import { verifyPredicate } from './predicate-read.ts';
import { isKept } from './shared-locks.ts';
import { isFollowing } from './snapshots.ts';
import { suspect } from './suspicions.ts';
import { dirtyReadOf, hiddenBy, isUncommitted, mayBeDirty, mayShowUndone } from './uncommitted-read.ts';
import { none } from './slots.ts';
import { fateCode, snapshotCode, type View } from './transaction-table.ts';

/** The operation whose rows are being verified. One object for all of them: an operation costs no memory. */
interface ReadAtHand {
  transaction: number;
  operation: number;
  /** `snapshotCode` */
  snapshot: number;
  isUncommitted: boolean;
  /** Its snapshot lies here, as far as its rows so far say. */
  start: number;
  end: number;
  /** Where the snapshot is of one operation: which transactions it has, as its rows so far say. */
  view: View | null;
}

/** Checks reads whose candidates are all known. */
export class ReadVerifier {
  readonly #mirror: Mirror;
  readonly #found: Candidates = { matches: 0, match: none, start: 0, end: 0, last: 0 };
  readonly #read: ReadAtHand = {
    transaction: none,
    operation: none,
    snapshot: 0,
    isUncommitted: false,
    start: 0,
    end: 0,
    view: null,
  };

  constructor(mirror: Mirror) {
    this.#mirror = mirror;
  }

  verify(transaction: number, operation: number, snapshot: number, beside: readonly Beside[] | null): void {
    const { operations, transactions } = this.#mirror;
    if (transactions.isAbandoned[transaction] === 1) {
      this.#skip(operation, beside);
      return;
    }
    const read = this.#read;
    read.transaction = transaction;
    read.operation = operation;
    read.snapshot = snapshot;
    read.isUncommitted = isUncommitted(this.#mirror, operation);
    read.start = operations.start[operation];
    read.end = operations.end[operation];
    read.view = null;
    this.#verifyRows();
    if (beside !== null) for (const part of beside) this.#verifyBeside(part);
    for (const predicate of operations.predicatesOf(operation))
      verifyPredicate(this.#mirror, read, predicate, (row, start, end) => this.#verifyMissing(row, start, end));
  }

  #skip(operation: number, beside: readonly Beside[] | null): void {
    const { operations, counts } = this.#mirror;
    const { entries } = operations;
    const readsEnd = operations.writes[operation];
    for (let entry = operations.reads[operation]; entry < readsEnd; entry += 1)
      if (entries.isOwn[entry] === 0) counts.skipped += 1;
    counts.skipped += beside?.length ?? 0;
  }

  #verifyRows(): void {
    const { operations, transactions } = this.#mirror;
    const { entries } = operations;
    const read = this.#read;
    const readsEnd = operations.writes[read.operation];
    for (let entry = operations.reads[read.operation]; entry < readsEnd; entry += 1) {
      if (entries.isOwn[entry] === 1) continue;
      if (read.snapshot === snapshotCode.transaction) {
        read.start = transactions.snapshotStart[read.transaction];
        read.end = transactions.snapshotEnd[read.transaction];
      } else if (read.snapshot === snapshotCode.window) read.start = transactions.first[read.transaction];
      this.#verifyRow(entries.row[entry], entries.image[entry]);
    }
  }

  #verifyRow(row: number, image: Image): void {
    const { rows, counts } = this.#mirror;
    const read = this.#read;
    const renewed = this.#renewedUntil();
    if (rows.isHidden(row, read.start)) counts.skipped += 1;
    else if (this.#mayBeOfNoVersion(row, image)) counts.uncertain += 1;
    else if (Number.isNaN(renewed)) this.#verifyInSnapshot(row, image);
    else this.#verifyRenewed(row, image, Math.max(read.end, renewed));
  }

  /** May it be a write that was undone, or a row that one transaction has replaced? */
  #mayBeOfNoVersion(row: number, image: Image): boolean {
    const mirror = this.#mirror;
    const { operation, start, end } = this.#read;
    if (this.#read.isUncommitted && mayShowUndone(mirror, row, operation)) return true;
    return image === null && isFollowing(mirror, operation) && mirror.rows.mayBeReplaced(row, start, end);
  }

  /** Which rows the transaction has renewed is not known: what it reads says nothing of its snapshot any more. */
  #verifyRenewed(row: number, image: Image, end: number): void {
    const { start } = this.#read;
    findCandidates(this.#mirror, row, image, start, end, null, this.#found);
    if (this.#found.matches === 0) this.#fail(row, image, start, end, null);
    else this.#mirror.counts.uncertain += 1;
  }

  #verifyInSnapshot(row: number, image: Image): void {
    const mirror = this.#mirror;
    const found = this.#found;
    const { transaction, operation, isUncommitted: isDirty, start, end } = this.#read;
    const view = this.#knownView();
    findCandidates(mirror, row, image, start, end, view, found);
    if (isDirty && dirtyReadOf(mirror, transaction, row, image, start, end) !== none) {
      mirror.counts.uncertain += 1;
      return;
    }
    const hider = isDirty && found.matches === 1 ? hiddenBy(mirror, transaction, row, found.match, start, end) : none;
    if (hider !== none)
      suspect(this.#mirror, hider, hiddenViolation(mirror, transaction, operation, row, image, hider));
    else if (found.matches === 0) this.#fail(row, image, start, end, view);
    else {
      this.#narrow(row, image);
      this.#noteDependencies(row, image);
    }
  }

  /** The row says where the snapshot lies. */
  #narrow(row: number, image: Image): void {
    const { snapshot, transaction } = this.#read;
    const { transactions } = this.#mirror;
    switch (snapshot) {
      case snapshotCode.operation:
        this.#read.start = this.#found.start;
        this.#read.end = this.#found.end;
        return;
      case snapshotCode.transaction:
        transactions.snapshotStart[transaction] = this.#found.start;
        transactions.snapshotEnd[transaction] = this.#found.end;
        return;
      case snapshotCode.window:
        this.#narrowWindow(row, image);
        return;
      default:
    }
  }

  /** A condition that this row satisfies did not return it. */
  #verifyMissing(row: number, start: number, end: number): void {
    const mirror = this.#mirror;
    const { transaction, operation } = this.#read;
    if (this.#read.isUncommitted && mayBeDirty(mirror, transaction, row, start, end)) return;
    if (mayShowUndone(mirror, row, operation)) return;
    if (Number.isNaN(this.#renewedUntil())) this.#fail(row, null, start, end, null);
  }

  /** Of a read in the transaction's snapshot; NaN: it has only that. */
  #renewedUntil(): number {
    const { transaction, snapshot } = this.#read;
    return snapshot === snapshotCode.transaction ? this.#mirror.transactions.renewedUntil[transaction] : NaN;
  }

  /** `null`: nothing is known yet. */
  #knownView(): View | null {
    const { snapshot, transaction, view } = this.#read;
    return snapshot === snapshotCode.transaction ? this.#mirror.transactions.view[transaction] : view;
  }

  /** To note something in. */
  #viewToNote(): View {
    const { snapshot, transaction } = this.#read;
    const { view } = this.#mirror.transactions;
    if (snapshot === snapshotCode.transaction) return (view[transaction] ??= { seen: new Set(), unseen: new Set() });
    return (this.#read.view ??= { seen: new Set(), unseen: new Set() });
  }

  /** One moment for all reads of the transaction: later than every version that was read, no later than what overwrites one. */
  #narrowWindow(row: number, image: Image): void {
    const { transaction, operation } = this.#read;
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

  #noteDependencies(row: number, image: Image): void {
    const { transaction, operation, snapshot } = this.#read;
    const hasView = snapshot === snapshotCode.transaction || snapshot === snapshotCode.operation;
    const mirror = this.#mirror;
    const { transactions, rows, counts } = mirror;
    const { versions } = rows;
    const { matches, match: version, start, end } = this.#found;
    if (matches > 1) {
      counts.uncertain += 1;
      return;
    }
    rows.learn(version, image);
    const source = versions.writer[version];
    if (source !== none) {
      mirror.depend(source, transaction, 'wr', row);
      // What is surely installed before the snapshot rules out the same versions by its interval.
      const isPast = versions.isDefinite[version] === 1 && versions.end[version] < start;
      if (hasView && !isPast) this.#viewToNote().seen.add(transactions.serial[source]);
    }
    const isReader = transactions.fate[transaction] !== fateCode.aborted && mirror.mechanisms.certifier !== null;
    for (let other = rows.versions.ofRow.first[row]; other !== none; other = versions.ofRow.next[other]) {
      const writer = versions.writer[other];
      if (writer === none || other === version || !versions.isSurelyAfter(other, version)) continue;
      // And so does what is installed after it.
      if (hasView && versions.start[other] <= end) this.#viewToNote().unseen.add(transactions.serial[writer]);
      if (isReader && versions.isDefinite[other] === 1 && mayOverlap(mirror, transaction, writer))
        if (isKept(mirror, operation, row, versions.image[other]))
          mirror.depend(transaction, writer, antiDependency(mirror, row, version, other), row);
    }
    if (isReader) rows.addReader(version, transaction, operation);
  }

  #verifyBeside({ row, image, writtenAt }: Beside): void {
    const { transaction, operation } = this.#read;
    const { operations, transactions, rows } = this.#mirror;
    if (rows.isClouded[row] === 1) return;
    const snapshotStart = transactions.snapshotStart[transaction];
    const start = Number.isNaN(snapshotStart) ? writtenAt : Math.min(snapshotStart, writtenAt);
    const end = operations.end[operation];
    findCandidates(this.#mirror, row, image, start, end, null, this.#found);
    if (this.#found.matches === 0) this.#fail(row, image, start, end, null);
  }

  #fail(row: number, image: Image, start: number, end: number, view: View | null): void {
    const { transaction, operation } = this.#read;
    const { rows, transactions } = this.#mirror;
    const { locks } = rows;
    const violation = readViolation(this.#mirror, transaction, operation, row, image, { start, end, view });
    // What it read may be of a transaction that has not committed as far as is known: its fate decides.
    for (let lock = rows.locks.ofRow.first[row]; lock !== none; lock = locks.ofRow.next[lock]) {
      const [written, writer] = [locks.image[lock], locks.transaction[lock]];
      if (written === undefined || writer === transaction || transactions.fate[writer] !== fateCode.open) continue;
      // What ROLLBACK TO took back will not be committed.
      if (locks.releaseEnd[lock] !== Infinity) continue;
      if (!agrees(written, image)) continue;
      suspect(this.#mirror, lock, violation);
      return;
    }
    this.#mirror.report(violation);
  }
}
