/**
 * What a level demands of the commit order besides so and wr: because of a read of x by t3 that saw the write of t1, another writer t2 of
 * x that is visible to the read must come before t1.
 */
import { INITIAL, Int32Column, type TransactionIndex } from '../history/index.ts';

export class ForcedEdges {
  readonly from = new Int32Column();
  readonly to = new Int32Column();
  /** The read that demands it: a position in `Reads.readKey`. */
  readonly read = new Int32Column();
  /** The position of an edge that no commit order has, because it leads to the initial state; -1: none. */
  toInitial = -1;

  get count(): number {
    return this.from.length;
  }

  add(from: TransactionIndex, to: TransactionIndex, read: number): void {
    if (to === INITIAL && this.toInitial < 0) this.toInitial = this.count;
    this.from.push(from);
    this.to.push(to);
    this.read.push(read);
  }
}
