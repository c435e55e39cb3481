/** Transactions while they matter: those that are open, that overlap with open ones, that the dependency graph or a row's version needs. */
import { grownBytes, grownFloats, grownInts, none, Slots } from './slots.ts';
import type { Violation } from './violation.ts';

/** `unknown`: no client has the answer. */
const fates = ['open', 'committed', 'aborted', 'unknown'] as const;
export type Fate = (typeof fates)[number];
export const fateCode = { open: 0, committed: 1, aborted: 2, unknown: 3 } as const;

/**
 * From its first operation until nothing names it. `ending`: its end is being verified, and what overlaps with it is still needed; `ended`:
 * something open overlaps with it; `retired`: nothing does, or it was given up on for good.
 */
export const stateCode = { open: 0, ending: 1, ended: 2, retired: 3 } as const;

/** The snapshot of the transaction, one moment between its first operation and the read's end, one of the operation, or one for each row. */
export const snapshotCode = { transaction: 0, window: 1, operation: 2, rows: 3 } as const;

/** Of one snapshot: transactions (by serial number) that had committed before it, and that had not, as what it read shows. */
export interface View {
  readonly seen: Set<number>;
  readonly unseen: Set<number>;
}

export class TransactionTable extends Slots {
  readonly name: string[] = [];
  session = new Int32Array();
  /** Different for all transactions of a trace: what holds a position without keeping it alive compares this too. */
  serial = new Float64Array();
  fate = new Uint8Array();
  state = new Uint8Array();
  /** Start of its first operation. */
  first = new Float64Array();
  /** Its operations: a list by `OperationTable.next`. */
  firstOperation = new Int32Array();
  lastOperation = new Int32Array();
  /** The moment of its snapshot lies here; NaN as long as it has none. What reads saw makes it smaller. */
  snapshotStart = new Float64Array();
  snapshotEnd = new Float64Array();
  /** Its snapshot may be as early as this, though it is taken later; Infinity: it is not. */
  snapshotFrom = new Float64Array();
  /** Until here it may have made later versions its own, without a change, and the trace does not say of which rows; NaN: it has not. */
  renewedUntil = new Float64Array();
  /** The moment of its commit or abort lies here. */
  endStart = new Float64Array();
  endEnd = new Float64Array();
  /** Locks go no earlier than this: an error may end the transaction inside the database before its client says so. */
  releaseStart = new Float64Array();
  pendingReads = new Int32Array();
  /** What it wrote last, by row, and its locks: lists by `OwnTable.next`, `LockTable.next`. */
  firstOwn = new Int32Array();
  lastOwn = new Int32Array();
  firstLock = new Int32Array();
  lastLock = new Int32Array();
  /** Versions of rows that it wrote, and its place in the queue of active ones: as long as there is one, its position is not given out again. */
  references = new Int32Array();
  /** Was it given up on, with locks and snapshot forgotten? */
  isAbandoned = new Uint8Array();
  isWriter = new Uint8Array();
  /** Is it kept out of the dependency graph? */
  isUncertified = new Uint8Array();
  /** Position in the topological order of the dependency graph; -1: not in it. */
  order = new Float64Array();
  /** For searches of the graph. */
  mark = new Float64Array();
  /** Dependencies: lists by `EdgeTable.nextOut`, `nextIn`. */
  firstOut = new Int32Array();
  firstIn = new Int32Array();
  outs = new Int32Array();
  ins = new Int32Array();
  /** Those that wait for its commit, by `nextOut`. */
  firstWaiting = new Int32Array();
  lastWaiting = new Int32Array();
  readonly view: (View | null)[] = [];
  /** Others read what it had not committed: violations, unless it turns out that its fate is unknown. */
  readonly suspicions: (Violation[] | null)[] = [];
  /** What counts only if it commits: until then an engine without locks may let it read what does not fit together. */
  readonly ifCommitted: (Violation[] | null)[] = [];
  #serials = 0;

  open(name: string, session: number, first: number): number {
    const transaction = this.take();
    this.name[transaction] = name;
    this.session[transaction] = session;
    this.serial[transaction] = this.#serials;
    this.#serials += 1;
    this.fate[transaction] = fateCode.open;
    this.state[transaction] = stateCode.open;
    this.first[transaction] = first;
    this.firstOperation[transaction] = none;
    this.lastOperation[transaction] = none;
    this.firstOwn[transaction] = none;
    this.lastOwn[transaction] = none;
    this.firstLock[transaction] = none;
    this.lastLock[transaction] = none;
    this.firstOut[transaction] = none;
    this.firstIn[transaction] = none;
    this.firstWaiting[transaction] = none;
    this.lastWaiting[transaction] = none;
    this.pendingReads[transaction] = 0;
    this.references[transaction] = 0;
    this.isAbandoned[transaction] = 0;
    this.isWriter[transaction] = 0;
    this.isUncertified[transaction] = 0;
    this.mark[transaction] = 0;
    this.outs[transaction] = 0;
    this.ins[transaction] = 0;
    this.snapshotStart[transaction] = NaN;
    this.snapshotEnd[transaction] = NaN;
    this.snapshotFrom[transaction] = Infinity;
    this.renewedUntil[transaction] = NaN;
    this.endStart[transaction] = Infinity;
    this.endEnd[transaction] = Infinity;
    this.releaseStart[transaction] = Infinity;
    this.order[transaction] = -1;
    this.view[transaction] = null;
    this.suspicions[transaction] = null;
    this.ifCommitted[transaction] = null;
    return transaction;
  }

  remove(transaction: number): void {
    this.name[transaction] = '';
    this.view[transaction] = null;
    this.suspicions[transaction] = null;
    this.ifCommitted[transaction] = null;
    this.serial[transaction] = -1;
    this.give(transaction);
  }

  /** Is it open, or has it reads that are still to be verified? */
  isActive(transaction: number): boolean {
    const state = this.state[transaction];
    if (this.pendingReads[transaction] > 0 || state === stateCode.ending) return true;
    return state === stateCode.open && this.isAbandoned[transaction] === 0;
  }

  isRetired(transaction: number): boolean {
    return this.state[transaction] === stateCode.retired;
  }

  /** Appends to its operations. */
  append(transaction: number, operation: number, next: Int32Array): void {
    const last = this.lastOperation[transaction];
    if (last === none) this.firstOperation[transaction] = operation;
    else next[last] = operation;
    this.lastOperation[transaction] = operation;
    next[operation] = none;
  }

  protected override grow(capacity: number): void {
    this.session = grownInts(this.session, capacity);
    this.serial = grownFloats(this.serial, capacity);
    this.fate = grownBytes(this.fate, capacity);
    this.state = grownBytes(this.state, capacity);
    this.first = grownFloats(this.first, capacity);
    this.firstOperation = grownInts(this.firstOperation, capacity);
    this.lastOperation = grownInts(this.lastOperation, capacity);
    this.snapshotStart = grownFloats(this.snapshotStart, capacity);
    this.renewedUntil = grownFloats(this.renewedUntil, capacity);
    this.snapshotEnd = grownFloats(this.snapshotEnd, capacity);
    this.snapshotFrom = grownFloats(this.snapshotFrom, capacity);
    this.endStart = grownFloats(this.endStart, capacity);
    this.endEnd = grownFloats(this.endEnd, capacity);
    this.releaseStart = grownFloats(this.releaseStart, capacity);
    this.pendingReads = grownInts(this.pendingReads, capacity);
    this.firstOwn = grownInts(this.firstOwn, capacity);
    this.lastOwn = grownInts(this.lastOwn, capacity);
    this.firstLock = grownInts(this.firstLock, capacity);
    this.lastLock = grownInts(this.lastLock, capacity);
    this.references = grownInts(this.references, capacity);
    this.isAbandoned = grownBytes(this.isAbandoned, capacity);
    this.isWriter = grownBytes(this.isWriter, capacity);
    this.isUncertified = grownBytes(this.isUncertified, capacity);
    this.order = grownFloats(this.order, capacity);
    this.mark = grownFloats(this.mark, capacity);
    this.firstOut = grownInts(this.firstOut, capacity);
    this.firstIn = grownInts(this.firstIn, capacity);
    this.outs = grownInts(this.outs, capacity);
    this.ins = grownInts(this.ins, capacity);
    this.firstWaiting = grownInts(this.firstWaiting, capacity);
    this.lastWaiting = grownInts(this.lastWaiting, capacity);
  }
}
