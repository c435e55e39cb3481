/** Transactions that read all rows for which conditions hold, by the table that they read: `phantoms.ts` relates them to later writers. */
import type { PredicateRead } from '../trace/index.ts';

export interface PredicateReader {
  readonly transaction: number;
  /** Of the transaction, whose position may be another's by now. */
  readonly serial: number;
  readonly predicate: PredicateRead;
  readonly returned: ReadonlySet<number>;
  /** Its snapshot is not later. */
  readonly end: number;
}

interface TableReaders {
  readers: PredicateReader[];
  /** So many are kept before those that no longer matter are looked for. */
  max: number;
}

export class PredicateReaders {
  readonly #tables = new Map<string, TableReaders>();

  /** @param matters may a later writer still be related to this reader? Others are dropped now and then */
  add(reader: PredicateReader, matters: (kept: PredicateReader) => boolean): void {
    const { table } = reader.predicate;
    const known = this.#tables.get(table) ?? { readers: [], max: 16 };
    this.#tables.set(table, known);
    if (known.readers.length >= known.max) {
      known.readers = known.readers.filter(matters);
      known.max = Math.max(16, 2 * known.readers.length);
    }
    known.readers.push(reader);
  }

  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  get byTable(): ReadonlyMap<string, { readonly readers: readonly PredicateReader[] }> {
    return this.#tables;
  }
}
