/**
 * Mechanism-mirrored verification (Leopard, ICDE 2023, V): operations in order of their starts move a mirror of the database's inside,
 * and each mechanism that the engine has is checked as it would work there. Each says "violation" only where no choice of moments within
 * the intervals explains what was seen, so an engine that has the mechanisms gives no alarm.
 *
 * Cost: per operation the versions and locks of its rows that something open may still conflict with. Memory: those, the latest version of every
 * row with the operations of its transaction, and the transactions that overlap with open ones or depend on such. All of it is in columns.
 */
import { assert } from '../base/index.ts';
import type { RowImage, TraceOperation } from '../trace/index.ts';
import { SerializationCertifier } from './certifier.ts';
import { toImage } from './image.ts';
import { installVersions, relateVersions } from './install.ts';
import { Lifetimes } from './lifetimes.ts';
import type { Mechanisms } from './mechanisms.ts';
import { type Mirror, noCounts, type VerifierCounts } from './mirror.ts';
import { databaseKey, isConsistentRead, verifyLocks } from './mutual-exclusion.ts';
import { kindCode, lockCode, OperationTable } from './operation-table.ts';
import { relatePhantoms } from './phantoms.ts';
import { PredicateReaders } from './predicate-readers.ts';
import { PredicateLocks } from './predicate-locks.ts';
import { Reads } from './reads.ts';
import { RowTable } from './row-table.ts';
import { undo, writeOwn } from './savepoints.ts';
import { none } from './slots.ts';
import { noteRenewal } from './same-writes.ts';
import { takeSnapshot } from './snapshots.ts';
import { forgetSuspicions, reportSuspicions } from './suspicions.ts';
import { UndoneWrites } from './undone-writes.ts';
import { fateCode, stateCode, TransactionTable } from './transaction-table.ts';
import type { Violation } from './violation.ts';

export interface VerifierOptions {
  readonly mechanisms: Mechanisms;
  readonly initial?: ReadonlyMap<string, RowImage>;
  readonly onViolation: (violation: Violation) => void;
  /** What is added to times where they are shown. */
  readonly base?: () => bigint;
  /** How far clocks may be off: intervals are made wider by so much on both sides. Default 0. */
  readonly clockError?: number;
  /** Where the operations of `pushAt` are. Default: one of its own. */
  readonly operations?: OperationTable;
}

export class Verifier {
  readonly counts: VerifierCounts = noCounts();
  readonly #mechanisms: Mechanisms;
  readonly #clockError: number;
  readonly #operations: OperationTable;
  readonly #transactions = new TransactionTable();
  readonly #rows: RowTable;
  readonly #mirror: Mirror;
  readonly #certifier: SerializationCertifier;
  readonly #predicateLocks: PredicateLocks;
  readonly #lifetimes: Lifetimes;
  readonly #reads: Reads;
  readonly #databaseRow: number;
  readonly #onWriter = (writer: number): void => this.#lifetimes.dereference(writer);

  constructor(options: VerifierOptions) {
    const { mechanisms, initial = new Map(), onViolation, base = () => 0n, clockError = 0 } = options;
    this.#mechanisms = mechanisms;
    this.#clockError = clockError;
    this.#operations = options.operations ?? new OperationTable();
    const { keys, emptyShape } = this.#operations;
    for (const key of initial.keys()) keys.of(key);
    this.#databaseRow = mechanisms.lockedUnit === 'database' ? keys.of(databaseKey) : none;
    this.#rows = new RowTable(keys, this.#transactions, (key) => {
      const image = initial.get(key);
      return image === undefined ? undefined : toImage(image, emptyShape);
    });
    this.#rows.meet(keys.size - 1);
    this.#mirror = {
      mechanisms,
      counts: this.counts,
      base,
      report: (violation) => {
        this.counts.violations += 1;
        // With what is known now: later it may be gone.
        onViolation({ ...violation });
      },
      depend: (from, to, relation, row) => {
        if (from === to) return;
        this.counts.deduced += 1;
        this.#certifier.depend(from, to, relation, row);
      },
      operations: this.#operations,
      transactions: this.#transactions,
      rows: this.#rows,
      undone: new UndoneWrites(this.#operations),
      predicateReaders: new PredicateReaders(),
      horizon: () => this.#lifetimes.horizon(),
    };
    this.#certifier = new SerializationCertifier(this.#mirror, (transaction) => this.#lifetimes.release(transaction));
    this.#predicateLocks = new PredicateLocks(this.#mirror);
    this.#lifetimes = new Lifetimes(this.#mirror, this.#certifier, this.#predicateLocks);
    this.#reads = new Reads(this.#mirror, this.#lifetimes);
  }

  /** Transactions that are open, that are kept and that the dependency graph holds; rows, versions, locks and operations that are kept. */
  get sizes(): Readonly<
    Record<'open' | 'kept' | 'graph' | 'rows' | 'versions' | 'readers' | 'locks' | 'operations', number>
  > {
    return {
      open: this.#lifetimes.openCount,
      kept: this.#transactions.size,
      graph: this.#certifier.size,
      rows: this.#rows.size,
      versions: this.#rows.versions.size,
      readers: this.#rows.readers.size,
      locks: this.#rows.locks.size,
      operations: this.#operations.size,
    };
  }

  /** The next operation in order of starts. */
  push(operation: TraceOperation): void {
    this.pushAt(this.#operations.add(operation));
  }

  /** The next operation in order of starts, by its position in `operations`. It is the verifier's from now on. */
  pushAt(operation: number): void {
    const { start, end, kind, failed } = this.#operations;
    if (this.#clockError > 0) {
      start[operation] -= this.#clockError;
      end[operation] += this.#clockError;
    }
    const now = start[operation];
    assert(now >= this.#lifetimes.frontier, 'operations come in order of their starts');
    this.#lifetimes.frontier = now;
    this.counts.operations += 1;
    this.#rows.meet(this.#operations.keys.size - 1);
    this.#reads.verifyUpTo(now);
    if (kind[operation] === kindCode.end) {
      this.#abandonIn(this.#operations.session[operation]);
      this.#operations.remove(operation);
      return;
    }
    const transaction = this.#transactionOf(operation);
    this.#transactions.append(transaction, operation, this.#operations.next);
    takeSnapshot(this.#mirror, transaction, operation);
    const { releaseStart } = this.#transactions;
    if (failed[operation] === 1 && now < releaseStart[transaction]) releaseStart[transaction] = now;
    this.#count(operation);
    this.#apply(transaction, operation);
  }

  /** This session is not waited for any longer: what it has open is of unknown fate. */
  abandon(session: string): void {
    this.#abandonIn(this.#operations.sessions.of(session));
  }

  /**
   * An operation that comes after later ones were looked at: what it read is not checked, what it wrote may be seen from then on, or not.
   * Its transaction is of unknown fate.
   */
  takeLate(operation: number): void {
    const { session, start, transaction, reads, writes, entriesEnd } = this.#operations;
    this.counts.operations += 1;
    this.#rows.meet(this.#operations.keys.size - 1);
    this.counts.skipped += writes[operation] - reads[operation];
    this.#abandonIn(session[operation]);
    const from = start[operation];
    const writer = this.#transactions.open(transaction[operation], session[operation], from);
    this.#transactions.isAbandoned[writer] = 1;
    this.#transactions.fate[writer] = fateCode.unknown;
    this.#transactions.append(writer, operation, this.#operations.next);
    if (writes[operation] !== entriesEnd[operation] || this.#operations.mayWriteOf(operation) !== undefined)
      this.#write(writer, operation);
    installVersions(this.#mirror, writer, from, Infinity, this.#onWriter);
    this.#lifetimes.giveUp(writer);
  }

  /**
   * Nothing more will come.
   * @param cut from here on operations may be missing: reads that end later are not checked
   * @returns how many these are
   */
  finish(cut = Infinity): number {
    this.#reads.verifyUpTo(cut);
    for (const transaction of this.#lifetimes.open()) {
      if (this.#transactions.isAbandoned[transaction] === 0) this.counts.unknown += 1;
      forgetSuspicions(this.#mirror, transaction);
    }
    this.#lifetimes.leaveAll();
    return this.#reads.waiting;
  }

  #abandonIn(session: number): void {
    const transaction = this.#lifetimes.openIn(session);
    const { isAbandoned, lastOperation } = this.#transactions;
    if (transaction === none || isAbandoned[transaction] === 1) return;
    this.counts.unknown += 1;
    forgetSuspicions(this.#mirror, transaction);
    const last = lastOperation[transaction];
    const from = last === none ? this.#lifetimes.frontier : this.#operations.start[last];
    // Its commit may have been on its way: from now on others may see what it wrote, or not.
    installVersions(this.#mirror, transaction, from, Infinity, this.#onWriter);
    isAbandoned[transaction] = 1;
    this.#lifetimes.dropLocks(transaction);
  }

  #transactionOf(operation: number): number {
    const session = this.#operations.session[operation];
    const name = this.#operations.transaction[operation];
    const open = this.#lifetimes.openIn(session);
    if (open !== none) {
      if (this.#transactions.name[open] === name) return open;
      this.#abandonIn(session);
      this.#lifetimes.leave(session);
      this.#lifetimes.giveUp(open);
    }
    this.counts.transactions += 1;
    return this.#lifetimes.begin(name, session, this.#operations.start[operation]);
  }

  #count(operation: number): void {
    if (this.#operations.isOpaque(operation)) this.counts.opaque += 1;
    if (this.#operations.failed[operation] === 0 && this.#operations.namesRows(operation)) this.counts.named += 1;
  }

  #apply(transaction: number, operation: number): void {
    const { kind, failed, end } = this.#operations;
    const isAnswered = end[operation] !== Infinity;
    switch (kind[operation]) {
      case kindCode.commit:
        if (failed[operation] === 1) this.#end(transaction, operation, fateCode.aborted);
        else this.#end(transaction, operation, isAnswered ? fateCode.committed : fateCode.unknown);
        return;
      case kindCode.abort:
        this.#end(transaction, operation, fateCode.aborted);
        return;
      case kindCode.read:
        if (failed[operation] === 1 || !isAnswered) return;
        this.#reads.add(transaction, operation);
        this.#lockReads(transaction, operation);
        return;
      case kindCode.write:
        if (this.#mechanisms.consistentRead === 'uncommitted') this.#mirror.undone.note(operation);
        if (failed[operation] === 1) return;
        if (isAnswered) {
          this.#reads.add(transaction, operation);
          noteRenewal(this.#mirror, transaction, operation);
        }
        this.#write(transaction, operation);
        return;
      case kindCode['rollback-to']:
      case kindCode.release:
        if (failed[operation] === 0) this.#undo(transaction, operation);
        return;
      default:
    }
  }

  #undo(transaction: number, operation: number): void {
    const undone = undo(this.#mirror, transaction, operation);
    const { isUncertified, snapshotStart, name, session } = this.#transactions;
    if (undone === 'goes-on') {
      // What was read under locks that are gone may be overwritten: it is no promise of the engine's any more.
      const { savepointLocks, certifier } = this.#mechanisms;
      if (savepointLocks === 'released' && certifier === 'cycle') isUncertified[transaction] = 1;
      return;
    }
    const [known, of, start] = [name[transaction], session[transaction], this.#operations.start[operation]];
    const snapshot = undone === 'perhaps' ? snapshotStart[transaction] : NaN;
    this.#end(transaction, operation, fateCode.aborted);
    const anew = this.#lifetimes.begin(known, of, start);
    this.#transactions.snapshotFrom[anew] = Number.isNaN(snapshot) ? Infinity : snapshot;
  }

  #write(transaction: number, operation: number): void {
    const tables = this.#operations.mayWriteOf(operation);
    if (tables !== undefined) this.#rows.cloud(transaction, tables);
    const { entries, writes, entriesEnd } = this.#operations;
    const writesEnd = entriesEnd[operation];
    writeOwn(this.#mirror, transaction, operation);
    const isLocking = this.#transactions.isAbandoned[transaction] === 0;
    if (isLocking)
      for (let entry = writes[operation]; entry < writesEnd; entry += 1)
        this.#rows.lock(entries.row[entry], transaction, operation, true, entries.image[entry]);
    if (writes[operation] === writesEnd) return;
    const { isWriter } = this.#transactions;
    if (this.#databaseRow !== none && isWriter[transaction] === 0 && isLocking)
      this.#rows.lock(this.#databaseRow, transaction, operation, true, undefined);
    isWriter[transaction] = 1;
  }

  #lockReads(transaction: number, operation: number): void {
    const { mutualExclusion, predicateLocks } = this.#mechanisms;
    const { entries, reads, writes, lock, hasExtra } = this.#operations;
    if (mutualExclusion === 'none' || this.#transactions.isAbandoned[transaction] === 1) return;
    if (lock[operation] === lockCode.none && mutualExclusion === 'writes') return;
    const isExclusive = lock[operation] === lockCode.update;
    const readsEnd = writes[operation];
    if (hasExtra[operation] === 1 && predicateLocks) this.#predicateLocks.add(transaction, operation);
    for (let entry = reads[operation]; entry < readsEnd; entry += 1) {
      // A row that is not there has no lock, but for the gap in which it would be: others may lock that too, and insert nothing.
      const isAbsent = entries.image[entry] === null;
      if (isAbsent && !predicateLocks) continue;
      this.#rows.lock(entries.row[entry], transaction, operation, isExclusive && !isAbsent, undefined);
    }
  }

  #end(transaction: number, operation: number, fate: number): void {
    const transactions = this.#transactions;
    const { start, end } = this.#operations;
    const from = start[operation];
    this.#lifetimes.leave(transactions.session[transaction]);
    transactions.state[transaction] = stateCode.ending;
    transactions.fate[transaction] = fate;
    transactions.endStart[transaction] = from;
    transactions.endEnd[transaction] = end[operation];
    this.#rows.endClouds(transaction, end[operation]);
    if (from < transactions.releaseStart[transaction]) transactions.releaseStart[transaction] = from;
    if (fate === fateCode.unknown) {
      transactions.isAbandoned[transaction] = 1;
      this.counts.unknown += 1;
      forgetSuspicions(this.#mirror, transaction);
    }
    reportSuspicions(this.#mirror, transaction);
    if (fate === fateCode.committed && transactions.isUncertified[transaction] === 0)
      this.#certifier.commit(transaction);
    if (fate !== fateCode.aborted) installVersions(this.#mirror, transaction, from, end[operation], this.#onWriter);
    if (this.#mechanisms.mutualExclusion !== 'none' && transactions.isAbandoned[transaction] === 0)
      this.#verifyLocks(transaction, operation);
    if (fate === fateCode.committed) {
      this.counts.committed += 1;
      relateVersions(this.#mirror, transaction);
      relatePhantoms(this.#mirror, transaction);
    }
    if (fate === fateCode.unknown) this.#lifetimes.giveUp(transaction);
    else this.#lifetimes.end(transaction);
    this.#lifetimes.retire();
  }

  #verifyLocks(transaction: number, ending: number): void {
    if (isConsistentRead(this.#mirror, transaction, ending)) {
      this.#lifetimes.dropLocks(transaction);
      return;
    }
    verifyLocks(this.#mirror, transaction);
    if (!this.#predicateLocks.isEmpty) this.#predicateLocks.verify(transaction, this.#lifetimes.ended);
  }
}
