/** What transactions hold on rows: locks, and writes of their own that others may not see yet. */
import type { Image } from './image.ts';
import { RowLists } from './row-lists.ts';
import { grownBytes, grownFloats, grownInts, none, Slots } from './slots.ts';

/** Locks of transactions that something open may still conflict with. */
export class LockTable extends Slots {
  row = new Int32Array();
  transaction = new Int32Array();
  operation = new Int32Array();
  isExclusive = new Uint8Array();
  /** Where it was released by ROLLBACK TO, and what was written under it undone; Infinity: neither. */
  releaseStart = new Float64Array();
  releaseEnd = new Float64Array();
  /** What was written under it; undefined for reads. */
  readonly image: (Image | undefined)[] = [];
  readonly ofRow = new RowLists();
  /** Those of a transaction, in the order of its operations. */
  next = new Int32Array();

  add(row: number, transaction: number, operation: number, isExclusive: boolean, image: Image | undefined): number {
    const lock = this.take();
    this.row[lock] = row;
    this.transaction[lock] = transaction;
    this.operation[lock] = operation;
    this.isExclusive[lock] = isExclusive ? 1 : 0;
    this.image[lock] = image;
    this.releaseStart[lock] = Infinity;
    this.releaseEnd[lock] = Infinity;
    this.next[lock] = none;
    return lock;
  }

  remove(lock: number): void {
    this.image[lock] = undefined;
    this.give(lock);
  }

  protected override grow(capacity: number): void {
    this.row = grownInts(this.row, capacity);
    this.transaction = grownInts(this.transaction, capacity);
    this.operation = grownInts(this.operation, capacity);
    this.isExclusive = grownBytes(this.isExclusive, capacity);
    this.releaseStart = grownFloats(this.releaseStart, capacity);
    this.releaseEnd = grownFloats(this.releaseEnd, capacity);
    this.ofRow.growRecords(capacity);
    this.next = grownInts(this.next, capacity);
  }
}

/** What a transaction has written to a row, all of its writes there together. */
export class OwnTable extends Slots {
  row = new Int32Array();
  transaction = new Int32Array();
  /** The first that wrote the row. */
  operation = new Int32Array();
  /** Of the last that did. */
  end = new Float64Array();
  readonly image: Image[] = [];
  /** Did it delete the row at some time, perhaps to insert another? */
  isDeleter = new Uint8Array();
  /** The version that it became at the commit. */
  version = new Int32Array();
  next = new Int32Array();
  readonly ofRow = new RowLists();

  add(row: number, transaction: number, operation: number, end: number, image: Image): number {
    const own = this.take();
    this.row[own] = row;
    this.transaction[own] = transaction;
    this.operation[own] = operation;
    this.end[own] = end;
    this.image[own] = image;
    this.isDeleter[own] = image === null ? 1 : 0;
    this.version[own] = none;
    this.next[own] = none;
    return own;
  }

  remove(own: number): void {
    this.image[own] = null;
    this.give(own);
  }

  protected override grow(capacity: number): void {
    this.row = grownInts(this.row, capacity);
    this.transaction = grownInts(this.transaction, capacity);
    this.operation = grownInts(this.operation, capacity);
    this.end = grownFloats(this.end, capacity);
    this.isDeleter = grownBytes(this.isDeleter, capacity);
    this.version = grownInts(this.version, capacity);
    this.next = grownInts(this.next, capacity);
    this.ofRow.growRecords(capacity);
  }
}
