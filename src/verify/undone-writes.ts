/**
 * Statements that undid what they had written, at read uncommitted: others could see it, and the trace does not say what it was. They
 * failed, or are an INSERT IGNORE that hit a second unique key and names no row.
 */
import type { OperationTable } from './operation-table.ts';

export interface UndoneWrite {
  readonly session: number;
  readonly start: number;
  readonly end: number;
}

export class UndoneWrites {
  readonly #operations: OperationTable;
  #all: UndoneWrite[] = [];

  constructor(operations: OperationTable) {
    this.#operations = operations;
  }

  /** @param operation that writes, and may be one of them */
  note(operation: number): void {
    const { session, start, end, failed, mayReadMore, writes, entriesEnd } = this.#operations;
    const namesNothing = mayReadMore[operation] === 1 && writes[operation] === entriesEnd[operation];
    if (failed[operation] === 0 && !namesNothing) return;
    this.#all.push({ session: session[operation], start: start[operation], end: end[operation] });
  }

  /** Nothing will be asked about times before the horizon. */
  forget(horizon: number): void {
    if (this.#all.some(({ end }) => end < horizon)) this.#all = this.#all.filter(({ end }) => end >= horizon);
  }

  some(isOne: (write: UndoneWrite) => boolean): boolean {
    return this.#all.some(isOne);
  }
}
