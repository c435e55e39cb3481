/**
 * An index over all versions. Readers see different versions of one row, even a row mixed from several: a row has an entry for every key
 * that its cells can make up. Rows that are found may thus not match; a row that can match is found.
 */
import { type IndexShape, type RowId, SqlError, type SqlValue } from '../../sql/model/index.ts';
import { boundsOf, type IndexEntry, type IndexPath, IndexTree } from '../index-tree.ts';

export type Key = readonly SqlValue[];

/** A row of a table, as far as its indexes know it. */
interface Indexed {
  readonly id: RowId;
}

export interface RowEntry<Of extends Indexed> extends IndexEntry {
  readonly row: Of;
}

/** Keys that open transactions have given a row. */
interface PendingEntry<Of extends Indexed> extends RowEntry<Of> {
  readonly by: Set<object>;
}

/** A row whose cells make up more keys than this is taken to have any key. */
const combinationsMax = 256;

export class RowIndex<Of extends Indexed> {
  readonly shape: IndexShape;
  readonly committed: IndexTree<RowEntry<Of>>;
  readonly pending: IndexTree<PendingEntry<Of>>;
  /** Rows with too many keys. */
  readonly wide = new Set<Of>();
  /** The columns that keys were computed from so far. */
  readonly #columns = new Set<number>();
  #target: Key = [];
  readonly #noting = new Proxy([] as SqlValue[], {
    get: (_, name) => {
      const column = typeof name === 'string' ? Number(name) : Number.NaN;
      if (column >= 0) this.#columns.add(column);
      return this.#target[name as keyof Key];
    },
  });

  constructor(shape: IndexShape) {
    this.shape = shape;
    this.committed = new IndexTree(shape.compare);
    this.pending = new IndexTree(shape.compare);
  }

  /** The key of one row, noting which columns it was computed from. */
  keyOf(values: Key): Key | null {
    this.#target = values;
    return this.shape.keyOf(this.#noting);
  }

  dependsOn(columns: readonly number[]): boolean {
    return columns.some((column) => this.#columns.has(column));
  }

  /** Every key that a row may have whose columns hold any of `choices`; `null`: too many. */
  keysOf(choices: readonly (readonly SqlValue[])[]): Key[] | null {
    const keys: Key[] = [];
    for (let columns = -1; columns !== this.#columns.size; ) {
      columns = this.#columns.size;
      const open = [...this.#columns].filter((column) => (choices[column]?.length ?? 0) > 1);
      const combinations = open.reduce((product, column) => product * (choices[column]?.length ?? 1), 1);
      if (combinations > combinationsMax) return null;
      keys.length = 0;
      for (let i = 0; i < combinations; i += 1) {
        const key = this.#keyOfCombination(choices, open, i);
        if (key === undefined) return null;
        if (key !== null && !keys.some((other) => this.shape.compare(other, key) === 0)) keys.push(key);
      }
    }
    return keys;
  }

  /** `undefined` where a mixed row makes the index's expression fail. */
  #keyOfCombination(choices: readonly Key[], open: readonly number[], combination: number): Key | null | undefined {
    const values = choices.map((choice) => choice[0] as SqlValue);
    let left = combination;
    for (const column of open) {
      const choice = choices[column] as Key;
      values[column] = choice[left % choice.length] as SqlValue;
      left = Math.floor(left / choice.length);
    }
    try {
      return this.keyOf(values);
    } catch (error) {
      if (error instanceof SqlError) return undefined;
      throw error;
    }
  }

  /** The rows to look at for `path`, in order of the keys: the listed ones, and those to which `reader` (`null`: anyone) has given a key. */
  rows(path: IndexPath, reader: object | null): Set<Of> {
    const own = [...this.pending.range(path)].filter(({ by }) => reader === null || by.has(reader));
    const step = path.isDescending ? -1 : 1;
    const rows = new Set<Of>();
    let next = 0;
    for (const { key, row } of this.committed.range(path)) {
      for (; next < own.length && this.shape.compare((own[next] as PendingEntry<Of>).key, key) * step < 0; next += 1)
        rows.add((own[next] as PendingEntry<Of>).row);
      rows.add(row);
    }
    for (; next < own.length; next += 1) rows.add((own[next] as PendingEntry<Of>).row);
    for (const row of this.wide) rows.add(row);
    return rows;
  }

  /** Is a row with this key on the path? */
  covers(path: IndexPath, key: Key): boolean {
    const { isBelow, isAbove } = boundsOf(path, this.shape.compare);
    return !isBelow(key) && !isAbove(key);
  }

  addPending(row: Of, key: Key, by: object): void {
    const there = this.pending.get(key, row.id);
    if (there === undefined) this.pending.insert({ key, id: row.id, row, by: new Set([by]) });
    else there.by.add(by);
  }

  removePending(row: Of, key: Key, by: object): void {
    const there = this.pending.get(key, row.id);
    if (there?.by.delete(by) === true && there.by.size === 0) this.pending.remove(key, row.id);
  }

  /** A unique index does not compare keys that have a NULL, unless it says so. */
  isChecked(key: Key | null): key is Key {
    return this.shape.isUnique && key !== null && (this.shape.nullsAreEqual || !key.includes(null));
  }
}
