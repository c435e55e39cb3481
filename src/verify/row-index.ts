/**
 * Rows of tables that predicates ask for, by what their versions hold in the columns that the conditions name: a predicate looks only at rows
 * of which some version that is kept may satisfy one of its conditions. What is found is too much, never too little.
 *
 * Cost: O(log rows) for each column of a version that comes or goes; the first predicate on a column looks at all rows of the table.
 */
import { isOf } from './clouds.ts';
import { type Image, isColumns } from './image.ts';
import { SortedRows } from './sorted-rows.ts';
import type { Condition, Scalar } from '../trace/index.ts';

/** What the index has to know of rows. */
interface Rows {
  readonly size: number;
  key(row: number): string;
  /** What its versions hold. */
  imagesOf(row: number): readonly (Image | undefined)[];
  /** Does one of its versions hold the value in the column? */
  holds(row: number, column: string, value: Scalar): boolean;
}

export class RowIndex {
  readonly #rows: Rows;
  readonly #tables = new Map<string, TableIndex>();
  /** By row: the tables that it is of: mostly one; `a/b/1` is of `a` and of `a/b`. */
  readonly #ofRow: (readonly TableIndex[])[] = [];

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Has nothing been asked for? Then nothing is kept. */
  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  /** A new row, with its first version. */
  meet(row: number, image: Image | undefined): void {
    const key = this.#rows.key(row);
    for (const [table, index] of this.#tables) if (isOf(key, table)) this.#put(row, index);
    this.add(row, image);
  }

  /** A version of the row holds this. */
  add(row: number, image: Image | undefined): void {
    if (isColumns(image)) for (const index of this.#ofRow[row] ?? noTables) index.add(row, image);
  }

  /** A version of the row that held this is gone from it. */
  remove(row: number, image: Image | undefined): void {
    if (!isColumns(image)) return;
    for (const index of this.#ofRow[row] ?? noTables)
      for (const [column, values] of index.columns) {
        const value = image.get(column);
        if (isKept(value) && !this.#rows.holds(row, column, value)) values.remove(value, row);
      }
  }

  /** Rows of the table of which some version may satisfy the conditions, each once, in order. */
  find(table: string, where: readonly Condition[]): readonly number[] {
    const index = this.#tables.get(table) ?? this.#addTable(table);
    let [best, fewest] = [null as Wanted | null, index.rows.length];
    for (const wanted of wantedOf(where)) {
      const count = this.#columnOf(index, wanted.column).count(wanted, fewest);
      if (count < fewest) [best, fewest] = [wanted, count];
    }
    return best === null ? index.rows : this.#columnOf(index, best.column).find(best);
  }

  #addTable(table: string): TableIndex {
    const index = new TableIndex();
    this.#tables.set(table, index);
    for (let row = 0; row < this.#rows.size; row += 1) if (isOf(this.#rows.key(row), table)) this.#put(row, index);
    return index;
  }

  #put(row: number, index: TableIndex): void {
    index.rows.push(row);
    this.#ofRow[row] = [...(this.#ofRow[row] ?? noTables), index];
  }

  #columnOf(index: TableIndex, column: string): RowsByValue {
    const known = index.columns.get(column);
    if (known !== undefined) return known;
    const values = new RowsByValue();
    index.columns.set(column, values);
    for (const row of index.rows)
      for (const image of this.#rows.imagesOf(row)) {
        const value = isColumns(image) ? image.get(column) : undefined;
        if (isKept(value)) values.add(value, row);
      }
    return values;
  }
}

const noTables: readonly TableIndex[] = [];

class TableIndex {
  /** All of them, in order. */
  readonly rows: number[] = [];
  readonly columns = new Map<string, RowsByValue>();

  add(row: number, image: Image): void {
    if (!isColumns(image)) return;
    for (const [column, values] of this.columns) {
      const value = image.get(column);
      if (isKept(value)) values.add(value, row);
    }
  }
}

type Kept = Exclude<Scalar, null>;

/** No condition holds for what is NULL or not known. */
function isKept(value: Scalar | undefined): value is Kept {
  return value !== undefined && value !== null;
}

/** What the conditions want of a column: a value that is no number, or a number from `low` to `high`. */
interface Wanted {
  readonly column: string;
  readonly value: Exclude<Kept, number> | null;
  readonly low: number;
  readonly high: number;
}

/** One for each condition, but for those of one column on numbers, which are taken together. */
function wantedOf(where: readonly Condition[]): readonly Wanted[] {
  const ranges = new Map<string, Wanted>();
  const values: Wanted[] = [];
  for (const { column, comparison, value } of where) {
    if (typeof value === 'number') {
      const { low, high } = ranges.get(column) ?? { low: -Infinity, high: Infinity };
      const hasLow = comparison === '=' || comparison === '>' || comparison === '>=';
      const hasHigh = comparison === '=' || comparison === '<' || comparison === '<=';
      if (!hasLow && !hasHigh) continue;
      const [from, to] = [hasLow ? Math.max(low, value) : low, hasHigh ? Math.min(high, value) : high];
      ranges.set(column, { column, value: null, low: from, high: to });
    } else if (comparison === '=' && value !== null) values.push({ column, value, low: 0, high: 0 });
  }
  return [...values, ...ranges.values()];
}

class RowsByValue {
  readonly #numbers = new SortedRows();
  readonly #others = new Map<Exclude<Kept, number>, Set<number>>();

  add(value: Kept, row: number): void {
    if (typeof value === 'number') {
      this.#numbers.add(value, row);
      return;
    }
    const rows = this.#others.get(value);
    if (rows === undefined) this.#others.set(value, new Set([row]));
    else rows.add(row);
  }

  remove(value: Kept, row: number): void {
    if (typeof value === 'number') {
      this.#numbers.remove(value, row);
      return;
    }
    const rows = this.#others.get(value);
    rows?.delete(row);
    if (rows?.size === 0) this.#others.delete(value);
  }

  /** From `most` on it may say less. */
  count({ value, low, high }: Wanted, most: number): number {
    return value === null ? this.#numbers.count(low, high, most) : (this.#others.get(value)?.size ?? 0);
  }

  find({ value, low, high }: Wanted): readonly number[] {
    const found = value === null ? new Set(this.#numbers.between(low, high)) : this.#others.get(value);
    return [...(found ?? [])].toSorted((a, b) => a - b);
  }
}
