/** An index of a table: its entries in order of key, and its rows by whole key. */
import type { AccessPath, IndexShape, SqlValue } from '../../sql/model/index.ts';
import { type IndexPath, IndexTree } from '../index-tree.ts';
import { KeyRows } from './key-rows.ts';
import type { IndexRow, StoredRow } from './table.ts';

export class TableIndex {
  readonly tree: IndexTree<IndexRow>;
  /** Where whole keys can be hashed. */
  readonly #byKey: KeyRows | null;

  constructor({ compare, hashOf }: IndexShape) {
    this.tree = new IndexTree(compare);
    this.#byKey = hashOf === undefined ? null : new KeyRows(hashOf);
  }

  insert(key: readonly SqlValue[], row: StoredRow): void {
    if (this.tree.insert({ key, id: row.id, row })) this.#byKey?.add(key, row);
  }

  remove(key: readonly SqlValue[], row: StoredRow): void {
    if (this.tree.remove(key, row.id)) this.#byKey?.remove(key, row);
  }

  /** The rows with a whole key, in order of row number; valid until the next change. */
  rowsWith(key: readonly SqlValue[]): readonly StoredRow[] {
    return this.#byKey?.with(key) ?? this.tree.allWith(key).map(({ row }) => row);
  }

  /** The rows of a path that is a whole key, found without a cursor; valid until the next change. `null`: it is none. */
  point(path: AccessPath): readonly StoredRow[] | null {
    return this.tree.isPoint(path) ? this.rowsWith(path.prefix) : null;
  }

  /** The row of a path that is a whole key; `undefined`: none, `null`: `point` has to say. */
  only(path: IndexPath): StoredRow | undefined | null {
    return this.#byKey !== null && this.tree.isPoint(path) ? this.#byKey.only(path.prefix) : null;
  }
}
