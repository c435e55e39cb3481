/** An index of a table: its entries in order of key, and its rows by whole key. */
import type { AccessPath, IndexShape, RowId, SqlValue } from '../../sql/model/index.ts';
import { type IndexPath, IndexTree } from '../index-tree.ts';

/** A row of a table, as far as its indexes know it. */
interface Indexed {
  readonly id: RowId;
}

export interface IndexRow<Of extends Indexed> {
  readonly key: readonly SqlValue[];
  readonly id: RowId;
  readonly row: Of;
}

export class TableIndex<Of extends Indexed> {
  readonly tree: IndexTree<IndexRow<Of>>;
  /** Where whole keys can be hashed. */
  readonly #byKey: RowsByKey<Of> | null;

  constructor({ compare, hashOf }: IndexShape) {
    this.tree = new IndexTree(compare);
    this.#byKey = hashOf === undefined ? null : new RowsByKey(hashOf);
  }

  /** @param into is empty @param rowOf the copy of a row */
  copyTo(into: TableIndex<Of>, rowOf: (row: Of) => Of): void {
    this.tree.mapped(({ key, id, row }) => ({ key, id, row: rowOf(row) }), into.tree);
    if (into.#byKey !== null) this.#byKey?.copyTo(into.#byKey, rowOf);
  }

  insert(key: readonly SqlValue[], row: Of): void {
    if (this.tree.insert({ key, id: row.id, row })) this.#byKey?.add(key, row);
  }

  remove(key: readonly SqlValue[], row: Of): void {
    if (this.tree.remove(key, row.id)) this.#byKey?.remove(key, row);
  }

  /** The rows with a whole key, in order of row number; valid until the next change. */
  rowsWith(key: readonly SqlValue[]): readonly Of[] {
    return this.#byKey?.with(key) ?? this.tree.allWith(key).map(({ row }) => row);
  }

  /** The rows of a path that is a whole key, found without a cursor; valid until the next change. `null`: it is none. */
  point(path: AccessPath): readonly Of[] | null {
    return this.tree.isPoint(path) ? this.rowsWith(path.prefix) : null;
  }

  /** A row with this value as its whole key, if there is one and values of its kind are hashed as they are. */
  firstWith(value: SqlValue | undefined): Of | undefined {
    const isPlain = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string';
    return isPlain ? this.#byKey?.first(value) : undefined;
  }

  /** The row of a path that is a whole key; `undefined`: none, `null`: `point` has to say. */
  only(path: IndexPath): Of | undefined | null {
    return this.#byKey !== null && this.tree.isPoint(path) ? this.#byKey.only(path.prefix) : null;
  }
}

/** Rows by their whole key: a lookup is one access, where the tree has to search. */
class RowsByKey<Of extends Indexed> {
  readonly #hashOf: (key: readonly SqlValue[]) => unknown;
  /** Most keys have one row, which stands for itself. */
  readonly #byKey = new Map<unknown, Of | Of[]>();

  constructor(hashOf: (key: readonly SqlValue[]) => unknown) {
    this.#hashOf = hashOf;
  }

  copyTo(into: RowsByKey<Of>, rowOf: (row: Of) => Of): void {
    for (const [hash, rows] of this.#byKey) into.#byKey.set(hash, Array.isArray(rows) ? rows.map(rowOf) : rowOf(rows));
  }

  /** In order of row number; valid until the next change. */
  with(key: readonly SqlValue[]): readonly Of[] {
    const found = this.#byKey.get(this.#hashOf(key));
    if (found === undefined) return none;
    return Array.isArray(found) ? found : [found];
  }

  /** The row with a key; `undefined`: none, `null`: there are several. */
  only(key: readonly SqlValue[]): Of | undefined | null {
    const found = this.#byKey.get(this.#hashOf(key));
    return Array.isArray(found) ? (found.length > 1 ? null : found[0]) : found;
  }

  first(hash: unknown): Of | undefined {
    const found = this.#byKey.get(hash);
    return Array.isArray(found) ? found[0] : found;
  }

  add(key: readonly SqlValue[], row: Of): void {
    const hash = this.#hashOf(key);
    const found = this.#byKey.get(hash);
    if (found === undefined) this.#byKey.set(hash, row);
    else if (Array.isArray(found)) found.splice(placeOf(found, row.id), 0, row);
    else this.#byKey.set(hash, found.id < row.id ? [found, row] : [row, found]);
  }

  remove(key: readonly SqlValue[], row: Of): void {
    const hash = this.#hashOf(key);
    const found = this.#byKey.get(hash);
    if (Array.isArray(found) && found.length > 1) found.splice(placeOf(found, row.id), 1);
    else this.#byKey.delete(hash);
  }
}

const none: readonly never[] = [];

/** Of the first row whose number is not smaller. New rows have the greatest. */
function placeOf(rows: readonly Indexed[], id: RowId): number {
  let low = 0;
  let high = rows.length;
  if (high > 0 && (rows[high - 1] as Indexed).id < id) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] as Indexed).id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
