/** The records of each row in an order: a doubly linked list for each row, in columns like the records. */
import { grownInts, none } from './slots.ts';

export class RowLists {
  /** By row: its first and last record, or `none`. */
  first = new Int32Array();
  last = new Int32Array();
  /** By record: its neighbours in the list of its row, or `none`. */
  next = new Int32Array();
  previous = new Int32Array();

  clear(row: number): void {
    this.first[row] = none;
    this.last[row] = none;
  }

  append(row: number, record: number): void {
    this.insertAfter(this.last[row], row, record);
  }

  /** @param before a record of the row; `none`: the record becomes the first */
  insertAfter(before: number, row: number, record: number): void {
    const after = before === none ? this.first[row] : this.next[before];
    this.previous[record] = before;
    this.next[record] = after;
    this.#link(row, before, record);
    if (after === none) this.last[row] = record;
    else this.previous[after] = record;
  }

  remove(row: number, record: number): void {
    const [before, after] = [this.previous[record], this.next[record]];
    this.#link(row, before, after);
    if (after === none) this.last[row] = before;
    else this.previous[after] = before;
  }

  #link(row: number, before: number, after: number): void {
    if (before === none) this.first[row] = after;
    else this.next[before] = after;
  }

  growRows(capacity: number): void {
    this.first = grownInts(this.first, capacity);
    this.last = grownInts(this.last, capacity);
  }

  growRecords(capacity: number): void {
    this.next = grownInts(this.next, capacity);
    this.previous = grownInts(this.previous, capacity);
  }
}
