/**
 * A scan of all rows of a table that has not been written since another scan read it to its end: every snapshot from then on sees the same versions.
 *
 * The rows of a large table lie scattered in memory, so most of a scan's time is the first access to each object. A processor waits for many accesses at
 * once where they stand close together in the program. So the walk touches the values of some rows, and the rows that a join will look up for them,
 * before it gives the first of them. What it gives does not depend on that.
 */
import { assert } from '../../base/index.ts';
import type { LookUp, RowCondition, SqlValue } from '../../sql/model/index.ts';
import type { PostgresTable, StoredRow, Version } from './table.ts';
import type { TableIndex } from './table-index.ts';

/** Of fewer rows no list is kept: they are in the processor's cache. */
export const settledRowsMin = 256;

const rowsAhead = 32;

export type ScanCondition = Pick<RowCondition, 'matches' | 'cells' | 'lookUps'>;

export class SettledWalk implements IterableIterator<Version, undefined> {
  readonly #versions: readonly Version[];
  readonly #matches: RowCondition['matches'];
  readonly #ahead: ReadAhead;
  #taken = 0;
  #touchedTo = 0;

  constructor(versions: readonly Version[], { matches, cells, lookUps }: ScanCondition, ahead: FindTable) {
    this.#versions = versions;
    this.#matches = matches;
    this.#ahead = new ReadAhead([...(cells ?? [])], lookUps ?? [], ahead);
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Version, undefined> {
    const versions = this.#versions;
    while (this.#taken < versions.length) {
      if (this.#taken === this.#touchedTo) {
        this.#touchedTo = Math.min(this.#taken + rowsAhead, versions.length);
        const sum = this.#ahead.touch(versions, this.#taken, this.#touchedTo);
        assert(sum >= 0, 'lengths are not negative');
      }
      const value = versions[this.#taken++] as Version;
      if (this.#matches(value)) return { done: false, value };
    }
    return finished;
  }

  return(): IteratorResult<Version, undefined> {
    this.#taken = this.#versions.length;
    return finished;
  }
}

const finished = { done: true, value: undefined } as const;

type FindTable = (table: LookUp['table']) => PostgresTable;

interface IndexAhead {
  readonly cell: number;
  readonly index: TableIndex<StoredRow>;
  readonly cells: readonly number[];
}

class ReadAhead {
  readonly #cells: readonly number[];
  readonly #lookUps: readonly IndexAhead[];
  readonly #rows: (StoredRow | undefined)[] = [];

  constructor(cells: readonly number[], lookUps: readonly LookUp[], tableOf: FindTable) {
    this.#cells = cells;
    this.#lookUps = lookUps.map(({ cell, table: id, index, cells: found }) => {
      const table = tableOf(id);
      return { cell, index: table.index(table.indexPosition(index)), cells: [...found] };
    });
  }

  /**
   * One loop for each step from object to object, so that its accesses do not wait for each other.
   * @returns a sum of what was read: the compiler leaves out reads that nothing depends on
   */
  touch(versions: readonly Version[], from: number, to: number): number {
    let sum = 0;
    for (let i = from; i < to; i++) sum += (versions[i] as Version).values.length;
    for (const cell of this.#cells) {
      for (let i = from; i < to; i++) sum += touchedBy((versions[i] as Version).values[cell]);
    }
    for (const lookUp of this.#lookUps) sum += this.#touchRows(lookUp, versions, from, to);
    return sum;
  }

  #touchRows({ cell, index, cells }: IndexAhead, versions: readonly Version[], from: number, to: number): number {
    const rows = this.#rows;
    const count = to - from;
    let sum = 0;
    for (let i = 0; i < count; i++) rows[i] = index.firstWith((versions[from + i] as Version).values[cell]);
    for (let i = 0; i < count; i++) if (rows[i]?.newest?.isDeleted === true) sum++;
    for (let i = 0; i < count; i++) sum += rows[i]?.newest?.values.length ?? 0;
    for (const read of cells) for (let i = 0; i < count; i++) sum += touchedBy(rows[i]?.newest?.values[read]);
    return sum;
  }
}

/** Reads the value itself, not only the reference to it. */
function touchedBy(value: SqlValue | undefined): number {
  return typeof value === 'string' ? 1 : 0;
}
