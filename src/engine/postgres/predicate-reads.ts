/**
 * What serializable transactions have read of a table: by version on the version itself, by range of an index, and the whole table. Writers ask who
 * has read what they change.
 */
import type { SqlValue } from '../../sql/model/index.ts';
import type { KeyBounds } from '../index-tree.ts';
import type { Watched } from './serializable.ts';

interface RangeRead {
  readonly reader: Watched;
  readonly bounds: KeyBounds;
}

export class PredicateReads {
  readonly #whole = new Set<Watched>();
  readonly #ranges = new Map<number, Set<RangeRead>>();

  readTable(reader: Watched): void {
    if (this.#whole.has(reader)) return;
    this.#whole.add(reader);
    reader.reads.push(() => this.#whole.delete(reader));
  }

  readRange(reader: Watched, index: number, bounds: KeyBounds): void {
    let ranges = this.#ranges.get(index);
    if (ranges === undefined) this.#ranges.set(index, (ranges = new Set()));
    const range = { reader, bounds };
    const { size } = ranges.add(range);
    if (size > 0) reader.reads.push(() => ranges.delete(range));
  }

  /** Those who have read the whole table. */
  tableReaders(): Iterable<Watched> {
    return this.#whole;
  }

  /** Those who have read a range that a new key falls into. */
  *rangeReaders(index: number, key: readonly SqlValue[]): Iterable<Watched> {
    for (const { reader, bounds } of this.#ranges.get(index) ?? [])
      if (!bounds.isBelow(key) && !bounds.isAbove(key)) yield reader;
  }
}
