/** Versions of rows, and who read them. */
import type { Image } from './image.ts';
import { RowLists } from './row-lists.ts';
import { grownBytes, grownFloats, grownInts, none, Slots } from './slots.ts';

/** What rows are from commits on. Points in time are known as intervals only; "surely before" means that the intervals do not touch. */
export class VersionTable extends Slots {
  row = new Int32Array();
  /** A transaction that lives as long as its versions do; `none`: the initial state. */
  writer = new Int32Array();
  operation = new Int32Array();
  serial = new Float64Array();
  /** The moment from which it can be seen lies here. */
  start = new Float64Array();
  end = new Float64Array();
  /** undefined: an initial state that is not known. */
  readonly image: (Image | undefined)[] = [];
  /** Did its transaction surely commit? */
  isDefinite = new Uint8Array();
  /** Has its transaction deleted the row before it? The version is of another row then, with the same key. */
  isNew = new Uint8Array();
  /** By start. */
  readonly ofRow = new RowLists();
  /** The earliest end of those that surely come after it although the intervals overlap, as locks or snapshots show. */
  overwrittenBy = new Float64Array();
  hasSuccessors = new Uint8Array();
  firstReader = new Int32Array();
  readers = new Int32Array();
  /** So many readers are taken before those that no longer matter are looked for. */
  readersMax = new Int32Array();
  /** By version, the serial numbers of what comes after it. */
  readonly #successors = new Map<number, number[]>();
  #serials = 0;

  add(row: number, writer: number, operation: number, start: number, end: number, image: Image | undefined): number {
    const version = this.take();
    this.row[version] = row;
    this.writer[version] = writer;
    this.operation[version] = operation;
    this.serial[version] = this.#serials;
    this.#serials += 1;
    this.start[version] = start;
    this.end[version] = end;
    this.image[version] = image;
    this.isDefinite[version] = end === Infinity ? 0 : 1;
    this.isNew[version] = 0;
    this.overwrittenBy[version] = Infinity;
    this.hasSuccessors[version] = 0;
    this.firstReader[version] = none;
    this.readers[version] = 0;
    this.readersMax[version] = 16;
    return version;
  }

  remove(version: number): void {
    this.image[version] = undefined;
    if (this.hasSuccessors[version] === 1) this.#successors.delete(version);
    this.give(version);
  }

  /** Is `later` surely a version after `earlier`? */
  isSurelyAfter(later: number, earlier: number): boolean {
    if (this.end[earlier] < this.start[later]) return true;
    if (this.hasSuccessors[earlier] === 0) return false;
    return this.#successors.get(earlier)?.includes(this.serial[later]) === true;
  }

  /** `later` comes after `earlier`, although the intervals may not show it. */
  follow(earlier: number, later: number): void {
    if (this.end[earlier] < this.start[later]) return;
    const serial = this.serial[later];
    const known = this.#successors.get(earlier);
    if (known === undefined) this.#successors.set(earlier, [serial]);
    else if (!known.includes(serial)) known.push(serial);
    this.hasSuccessors[earlier] = 1;
    const end = this.end[later];
    if (this.isDefinite[later] === 1 && end < this.overwrittenBy[earlier]) this.overwrittenBy[earlier] = end;
  }

  protected override grow(capacity: number): void {
    this.row = grownInts(this.row, capacity);
    this.writer = grownInts(this.writer, capacity);
    this.operation = grownInts(this.operation, capacity);
    this.serial = grownFloats(this.serial, capacity);
    this.start = grownFloats(this.start, capacity);
    this.end = grownFloats(this.end, capacity);
    this.isDefinite = grownBytes(this.isDefinite, capacity);
    this.isNew = grownBytes(this.isNew, capacity);
    this.ofRow.growRecords(capacity);
    this.overwrittenBy = grownFloats(this.overwrittenBy, capacity);
    this.hasSuccessors = grownBytes(this.hasSuccessors, capacity);
    this.firstReader = grownInts(this.firstReader, capacity);
    this.readers = grownInts(this.readers, capacity);
    this.readersMax = grownInts(this.readersMax, capacity);
  }
}

/** Who read a version: transactions by position and serial number, for they may be gone. */
export class ReaderTable extends Slots {
  transaction = new Int32Array();
  serial = new Float64Array();
  /** That read the version; kept as long as the transaction. */
  operation = new Int32Array();
  next = new Int32Array();

  add(transaction: number, serial: number, operation: number, next: number): number {
    const reader = this.take();
    this.operation[reader] = operation;
    this.transaction[reader] = transaction;
    this.serial[reader] = serial;
    this.next[reader] = next;
    return reader;
  }

  remove(reader: number): void {
    this.give(reader);
  }

  protected override grow(capacity: number): void {
    this.transaction = grownInts(this.transaction, capacity);
    this.serial = grownFloats(this.serial, capacity);
    this.operation = grownInts(this.operation, capacity);
    this.next = grownInts(this.next, capacity);
  }
}
