/** The entries of an index by their whole key: a lookup is one access, where the tree has to search. */
import type { SqlValue } from '../sql/model/index.ts';
import type { IndexEntry } from './index-tree.ts';

export class KeyEntries<E extends IndexEntry> {
  readonly #hashOf: (key: readonly SqlValue[]) => unknown;
  /** Most keys have one entry, which stands for itself. */
  readonly #byKey = new Map<unknown, E | E[]>();

  constructor(hashOf: (key: readonly SqlValue[]) => unknown) {
    this.#hashOf = hashOf;
  }

  /** In order of row number; valid until the next change. */
  with(key: readonly SqlValue[]): readonly E[] {
    const found = this.#byKey.get(this.#hashOf(key));
    if (found === undefined) return none;
    return Array.isArray(found) ? found : [found];
  }

  /** The entry with a key; `undefined`: none, `null`: there are several. */
  only(key: readonly SqlValue[]): E | undefined | null {
    const found = this.#byKey.get(this.#hashOf(key));
    return Array.isArray(found) ? (found.length > 1 ? null : found[0]) : found;
  }

  add(entry: E): void {
    const hash = this.#hashOf(entry.key);
    const found = this.#byKey.get(hash);
    if (found === undefined) this.#byKey.set(hash, entry);
    else if (Array.isArray(found)) found.splice(placeOf(found, entry.id), 0, entry);
    else this.#byKey.set(hash, found.id < entry.id ? [found, entry] : [entry, found]);
  }

  remove(entry: E): void {
    const hash = this.#hashOf(entry.key);
    const found = this.#byKey.get(hash);
    if (Array.isArray(found) && found.length > 1) found.splice(placeOf(found, entry.id), 1);
    else this.#byKey.delete(hash);
  }
}

const none: readonly never[] = [];

/** Of the first entry whose row number is not smaller. New rows have the greatest. */
function placeOf(entries: readonly IndexEntry[], id: number): number {
  let low = 0;
  let high = entries.length;
  if (high > 0 && (entries[high - 1] as IndexEntry).id < id) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] as IndexEntry).id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
