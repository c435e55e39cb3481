/** The rows of an index by their whole key: a lookup is one access, where the tree has to search. */
import type { SqlValue } from '../../sql/model/index.ts';
import type { StoredRow } from './table.ts';

export class KeyRows {
  readonly #hashOf: (key: readonly SqlValue[]) => unknown;
  /** Most keys have one row, which stands for itself. */
  readonly #byKey = new Map<unknown, StoredRow | StoredRow[]>();

  constructor(hashOf: (key: readonly SqlValue[]) => unknown) {
    this.#hashOf = hashOf;
  }

  /** In order of row number; valid until the next change. */
  with(key: readonly SqlValue[]): readonly StoredRow[] {
    const found = this.#byKey.get(this.#hashOf(key));
    if (found === undefined) return none;
    return Array.isArray(found) ? found : [found];
  }

  /** The row with a key; `undefined`: none, `null`: there are several. */
  only(key: readonly SqlValue[]): StoredRow | undefined | null {
    const found = this.#byKey.get(this.#hashOf(key));
    return Array.isArray(found) ? (found.length > 1 ? null : found[0]) : found;
  }

  add(key: readonly SqlValue[], row: StoredRow): void {
    const hash = this.#hashOf(key);
    const found = this.#byKey.get(hash);
    if (found === undefined) this.#byKey.set(hash, row);
    else if (Array.isArray(found)) found.splice(placeOf(found, row.id), 0, row);
    else this.#byKey.set(hash, found.id < row.id ? [found, row] : [row, found]);
  }

  remove(key: readonly SqlValue[], row: StoredRow): void {
    const hash = this.#hashOf(key);
    const found = this.#byKey.get(hash);
    if (Array.isArray(found) && found.length > 1) found.splice(placeOf(found, row.id), 1);
    else this.#byKey.delete(hash);
  }
}

const none: readonly never[] = [];

/** Of the first row whose number is not smaller. New rows have the greatest. */
function placeOf(rows: readonly StoredRow[], id: number): number {
  let low = 0;
  let high = rows.length;
  if (high > 0 && (rows[high - 1] as StoredRow).id < id) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] as StoredRow).id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
