/**
 * Mechanism-mirrored verification (Leopard, ICDE 2023, V): operations in order of their starts move a mirror of the database's inside,
 * and each mechanism that the engine has is checked as it would work there. Each says "violation" only where no choice of moments within
 * the intervals explains what was seen, so an engine that has the mechanisms gives no alarm.
 *
 * Cost: per operation the versions and locks of its rows that something open may still meet. Memory: those, the latest version of every
 * row, and the transactions that overlap with open ones or depend on such.
 */
import { assert } from '../base/assert.ts';
import { SerializationCertifier } from './certifier.ts';
import { type PendingRead, splitOwn, verifyRead } from './consistent-read.ts';
import type { Mechanisms } from './mechanisms.ts';
import { MinHeap } from './min-heap.ts';
import { type Mirror, Rows, type VerifierCounts } from './mirror.ts';
import { databaseKey, verifyLocks } from './mutual-exclusion.ts';
import { installVersions, relateVersions } from './install.ts';
import { dropLocks, type Lock, merged, type Row, VerifiedTransaction } from './state.ts';
import type { RowImage, TraceOperation } from './trace.ts';
import type { Violation } from './violation.ts';

export interface VerifierOptions {
  readonly mechanisms: Mechanisms;
  readonly initial?: ReadonlyMap<string, RowImage>;
  readonly onViolation: (violation: Violation) => void;
  /** What is added to times where they are shown. */
  readonly base?: () => bigint;
  /** How far clocks may be off: intervals are made wider by so much on both sides. Default 0. */
  readonly clockError?: number;
}

export class Verifier {
  readonly counts: VerifierCounts = {
    operations: 0,
    transactions: 0,
    violations: 0,
    deduced: 0,
    uncertain: 0,
    skipped: 0,
    unknown: 0,
  };
  readonly #mechanisms: Mechanisms;
  readonly #clockError: number;
  readonly #mirror: Mirror;
  readonly #certifier: SerializationCertifier;
  readonly #open = new Map<string, VerifiedTransaction>();
  /** In order of their first operations; those before `#activeFrom` are over. */
  #active: VerifiedTransaction[] = [];
  #activeFrom = 0;
  /** Over, in order of their ends, until nothing open overlaps with them. */
  #ended: VerifiedTransaction[] = [];
  #endedFrom = 0;
  readonly #pending = new MinHeap<PendingRead>();
  #frontier = -Infinity;

  constructor({ mechanisms, initial = new Map(), onViolation, base = () => 0n, clockError = 0 }: VerifierOptions) {
    this.#mechanisms = mechanisms;
    this.#clockError = clockError;
    const report = (violation: Violation): void => {
      this.counts.violations += 1;
      onViolation(violation);
    };
    this.#certifier = new SerializationCertifier(mechanisms.certifier, report);
    this.#mirror = {
      mechanisms,
      counts: this.counts,
      base,
      report,
      depend: (from, to, relation, key) => {
        if (from === to) return;
        this.counts.deduced += 1;
        this.#certifier.depend(from, to, relation, key);
      },
      rows: new Rows(initial),
      horizon: () => this.#horizon(),
    };
  }

  /** Transactions that are open, and those that the dependency graph holds. */
  get sizes(): { readonly open: number; readonly graph: number; readonly rows: number } {
    return { open: this.#open.size, graph: this.#certifier.size, rows: this.#mirror.rows.size };
  }

  /** The next operation in order of starts. */
  push(given: TraceOperation): void {
    const error = this.#clockError;
    const operation = error === 0 ? given : { ...given, start: given.start - error, end: given.end + error };
    assert(operation.start >= this.#frontier, 'operations come in order of their starts');
    this.#frontier = operation.start;
    this.counts.operations += 1;
    this.#verifyUpTo(operation.start);
    if (operation.kind === 'end') return this.abandon(operation.session);
    const transaction = this.#transactionOf(operation);
    transaction.operations.push(operation);
    this.#takeSnapshot(transaction, operation);
    if (operation.failed) transaction.releaseStart = Math.min(transaction.releaseStart, operation.start);
    this.#apply(transaction, operation);
  }

  /** Nobody waits for this session any longer: what it has open is of unknown fate. */
  abandon(session: string): void {
    const transaction = this.#open.get(session);
    if (transaction === undefined || transaction.isAbandoned) return;
    transaction.isAbandoned = true;
    this.counts.unknown += 1;
    this.#forgetSuspicions(transaction);
    const last = transaction.operations.at(-1);
    if (last === undefined) return;
    // Its commit may have been on its way: from now on others may see what it wrote, or not.
    installVersions(this.#mirror, transaction, { ...last, end: Infinity });
    transaction.versions.length = 0;
  }

  /**
   * An operation that comes after later ones were looked at: what it read is not checked, what it wrote may be seen from then on, or not.
   * Its transaction is of unknown fate.
   */
  takeLate(operation: TraceOperation): void {
    this.counts.operations += 1;
    this.counts.skipped += operation.reads.length;
    this.abandon(operation.session);
    if (operation.mayWrite !== undefined) this.#mirror.rows.cloud(operation.mayWrite);
    const writer = new VerifiedTransaction(operation.transaction, operation.session, operation.start);
    writer.isAbandoned = true;
    writer.fate = 'unknown';
    for (const { key, image } of operation.writes)
      writer.own.set(this.#mirror.rows.get(key), { image, end: operation.end, operation });
    installVersions(this.#mirror, writer, { ...operation, end: Infinity });
  }

  /**
   * Nothing more will come.
   * @param cut from here on operations may be missing: reads that end later are not checked
   * @returns how many these are
   */
  finish(cut = Infinity): number {
    this.#verifyUpTo(cut);
    const skipped = this.#pending.size;
    for (const transaction of this.#open.values()) {
      if (!transaction.isAbandoned) this.counts.unknown += 1;
      this.#forgetSuspicions(transaction);
    }
    this.#open.clear();
    return skipped;
  }

  #transactionOf({ session, transaction: name, start }: TraceOperation): VerifiedTransaction {
    const open = this.#open.get(session);
    if (open !== undefined && open.name === name) return open;
    if (open !== undefined) this.abandon(session);
    const transaction = new VerifiedTransaction(name, session, start);
    this.counts.transactions += 1;
    this.#open.set(session, transaction);
    this.#active.push(transaction);
    return transaction;
  }

  #apply(transaction: VerifiedTransaction, operation: TraceOperation): void {
    const { kind, failed, end } = operation;
    if (kind === 'commit' && !failed)
      return this.#end(transaction, operation, end === Infinity ? 'unknown' : 'committed');
    if (kind === 'commit' || kind === 'abort') return this.#end(transaction, operation, 'aborted');
    if (failed || kind === 'begin') return;
    if (end !== Infinity) this.#read(transaction, operation);
    if (kind === 'write') this.#write(transaction, operation);
    else if (end !== Infinity) this.#lockReads(transaction, operation);
  }

  #takeSnapshot(transaction: VerifiedTransaction, operation: TraceOperation): void {
    if (!Number.isNaN(transaction.snapshotStart)) return;
    const { kind, lock, start, end } = operation;
    const { consistentRead, lockingReads } = this.#mechanisms;
    if (consistentRead === 'transaction') {
      transaction.snapshotStart = transaction.first;
      transaction.snapshotEnd = Infinity;
      return;
    }
    const takes =
      consistentRead === 'begin' ||
      (consistentRead === 'first-statement' && kind !== 'begin') ||
      (consistentRead === 'first-read' && kind === 'read' && (lock === null || lockingReads === 'as-plain'));
    if (!takes) return;
    transaction.snapshotStart = start;
    transaction.snapshotEnd = end;
  }

  #read(transaction: VerifiedTransaction, operation: TraceOperation): void {
    const { reads, predicates } = operation;
    if ((reads.length === 0 && predicates.length === 0) || this.#mechanisms.consistentRead === 'none') return;
    const own = splitOwn(this.#mirror, transaction, operation);
    if (own.rows.length === 0 && own.beside.length === 0 && predicates.length === 0) return;
    const snapshot = this.#snapshotOf(transaction, operation);
    const ready = snapshot === 'transaction' ? transaction.snapshotEnd : operation.end;
    const pending: PendingRead = { transaction, operation, ...own, predicates, snapshot };
    if (ready < this.#frontier && own.beside.length === 0) return verifyRead(this.#mirror, pending);
    transaction.pendingReads += 1;
    this.#pending.push(own.beside.length === 0 ? ready : operation.end, pending);
  }

  #snapshotOf({ snapshotStart }: VerifiedTransaction, { kind, lock }: TraceOperation): PendingRead['snapshot'] {
    const { consistentRead, lockingReads } = this.#mechanisms;
    if ((kind === 'write' || lock !== null) && lockingReads === 'latest') return 'rows';
    switch (consistentRead) {
      case 'none':
      case 'row':
        return 'rows';
      case 'statement':
        return 'operation';
      case 'transaction':
        return 'window';
      case 'begin':
      case 'first-statement':
        return 'transaction';
      case 'first-read':
        // What a writing statement reads before the first read has no snapshot to be held to.
        return Number.isNaN(snapshotStart) ? 'rows' : 'transaction';
    }
  }

  #verifyUpTo(time: number): void {
    for (;;) {
      if (this.#pending.size === 0 || (this.#pending.minKey >= time && time !== Infinity)) break;
      const pending = this.#pending.pop();
      assert(pending !== undefined, 'a read is pending');
      pending.transaction.pendingReads -= 1;
      verifyRead(this.#mirror, pending);
    }
  }

  #write(transaction: VerifiedTransaction, operation: TraceOperation): void {
    if (operation.mayWrite !== undefined) this.#mirror.rows.cloud(operation.mayWrite);
    for (const { key, image } of operation.writes) {
      const row = this.#mirror.rows.get(key);
      const own = transaction.own.get(row);
      if (own === undefined) transaction.own.set(row, { image, end: operation.end, operation });
      else {
        own.image = merged(own.image, image);
        own.end = operation.end;
      }
      this.#lock(transaction, operation, row, true, image);
    }
    if (operation.writes.length === 0) return;
    const { lockedUnit } = this.#mechanisms;
    if (lockedUnit === 'database' && !transaction.isWriter)
      this.#lock(transaction, operation, this.#mirror.rows.get(databaseKey), true, undefined);
    transaction.isWriter = true;
  }

  #lockReads(transaction: VerifiedTransaction, operation: TraceOperation): void {
    const { mutualExclusion } = this.#mechanisms;
    if (mutualExclusion === 'none' || (operation.lock === null && mutualExclusion === 'writes')) return;
    for (const { key } of operation.reads)
      this.#lock(transaction, operation, this.#mirror.rows.get(key), operation.lock === 'update', undefined);
  }

  #lock(
    transaction: VerifiedTransaction,
    operation: TraceOperation,
    row: Row,
    isExclusive: boolean,
    image: RowImage | undefined,
  ): void {
    const lock: Lock = { row, transaction, operation, isExclusive, start: operation.start, end: operation.end, image };
    row.locks.push(lock);
    if (row.locks.length % 16 === 0) dropLocks(row, this.#horizon());
    transaction.locks.push(lock);
  }

  #end(transaction: VerifiedTransaction, operation: TraceOperation, fate: 'committed' | 'aborted' | 'unknown'): void {
    this.#open.delete(transaction.session);
    transaction.isEnding = true;
    transaction.fate = fate;
    transaction.endStart = operation.start;
    transaction.endEnd = operation.end;
    transaction.releaseStart = Math.min(transaction.releaseStart, operation.start);
    if (fate === 'unknown') {
      transaction.isAbandoned = true;
      this.counts.unknown += 1;
      this.#forgetSuspicions(transaction);
    } else {
      for (const violation of transaction.suspicions) this.#mirror.report(violation);
    }
    if (fate === 'committed') for (const violation of transaction.ifCommitted) this.#mirror.report(violation);
    transaction.suspicions.length = 0;
    if (fate === 'committed') this.#certifier.commit(transaction);
    if (fate !== 'aborted') installVersions(this.#mirror, transaction, operation);
    if (this.#mechanisms.mutualExclusion !== 'none' && !transaction.isAbandoned)
      verifyLocks(this.#mirror, transaction, (row, earlier, later) => this.#relate(row, earlier, later));
    if (fate === 'committed') relateVersions(this.#mirror, transaction);
    if (fate === 'aborted') transaction.waiting.length = 0;
    transaction.isEnding = false;
    if (fate !== 'unknown') this.#ended.push(transaction);
    this.#retire();
  }

  /** The order of two locks is an order of what was done under them. */
  #relate(row: Row, earlier: Lock, later: Lock): void {
    const [first, second] = [earlier.transaction, later.transaction];
    if (first.fate !== 'committed' || second.fate !== 'committed') return;
    if (earlier.isExclusive && later.isExclusive) {
      const versions = [first, second].map((writer) => row.versions.find((version) => version.writer === writer));
      const [before, after] = versions;
      if (before === undefined || after === undefined || before.end < after.start) return;
      before.successors ??= [];
      if (!before.successors.includes(after)) before.successors.push(after);
    } else if (this.#mechanisms.mutualExclusion === 'reads-and-writes') {
      this.#mirror.depend(first, second, earlier.isExclusive ? 'wr' : 'rw', row.key);
    }
  }

  #forgetSuspicions(transaction: VerifiedTransaction): void {
    this.counts.uncertain += transaction.suspicions.length;
    transaction.suspicions.length = 0;
  }

  /** The first operation of the oldest transaction that is open or has reads to verify. */
  #horizon(): number {
    let oldest = this.#active[this.#activeFrom];
    while (oldest !== undefined && !oldest.isActive) {
      this.#activeFrom += 1;
      oldest = this.#active[this.#activeFrom];
    }
    if (this.#activeFrom > 1_024 && this.#activeFrom > this.#active.length >> 1) {
      this.#active = this.#active.slice(this.#activeFrom);
      this.#activeFrom = 0;
    }
    return oldest === undefined ? this.#frontier : Math.min(oldest.first, this.#frontier);
  }

  #retire(): void {
    const horizon = this.#horizon();
    for (;;) {
      const transaction = this.#ended[this.#endedFrom];
      if (transaction === undefined || transaction.endEnd >= horizon) break;
      this.#endedFrom += 1;
      transaction.isRetired = true;
      transaction.own.clear();
      transaction.locks.length = 0;
      transaction.versions.length = 0;
      transaction.view.seen.clear();
      transaction.view.unseen.clear();
      this.#certifier.retire(transaction);
    }
    if (this.#endedFrom <= 1_024 || this.#endedFrom <= this.#ended.length >> 1) return;
    this.#ended = this.#ended.slice(this.#endedFrom);
    this.#endedFrom = 0;
  }
}
