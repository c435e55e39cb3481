/**
 * The entries of one index in order of key, then of row. Two levels of sorted arrays: a search is two binary searches, an insertion moves
 * a few hundred pointers at most. Cursors survive changes between their steps: they look for their place again.
 */
import type { AccessPath, PathBound, SqlValue } from '../sql/model/index.ts';

export interface IndexEntry {
  readonly key: readonly SqlValue[];
  /** A row's number; breaks ties between equal keys unless an option says otherwise. */
  readonly id: number;
}

export type CompareKeys = (a: readonly SqlValue[], b: readonly SqlValue[]) => number;
export type IndexPath = Extract<AccessPath, { kind: 'index' }>;

const blockEntriesMax = 256;

export class IndexTree<E extends IndexEntry> {
  readonly compareKeys: CompareKeys;
  /** Between entries with equal keys. */
  readonly #compareTies: (a: E, b: E) => number;
  /** Never empty blocks but for the first. */
  readonly #blocks: E[][] = [[]];
  /** Changes with every change, so that cursors notice. */
  #edition = 0;
  #size = 0;
  /** The block that the last search ended in. */
  #recent = 0;

  constructor(compareKeys: CompareKeys, compareTies: (a: E, b: E) => number = (a, b) => a.id - b.id) {
    this.compareKeys = compareKeys;
    this.#compareTies = compareTies;
  }

  /** Another tree with an entry for each of these, in the same order. @param entryOf keeps key and number */
  mapped<F extends IndexEntry>(entryOf: (entry: E) => F, into: IndexTree<F>): IndexTree<F> {
    into.#blocks.splice(0, 1, ...this.#blocks.map((block) => block.map(entryOf)));
    into.#size = this.#size;
    return into;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns false when it was there already. O(log n). */
  insert(entry: E): boolean {
    const { b, at } = this.#seek(entry, 0);
    const block = this.#blocks[b] as E[];
    const there = block[at];
    if (there !== undefined && this.#compare(there, entry) === 0) return false;
    block.splice(at, 0, entry);
    this.#edition++;
    this.#size++;
    if (block.length > blockEntriesMax) {
      // Ascending loads leave full blocks behind them.
      const isLast = b === this.#blocks.length - 1 && at === block.length - 1;
      this.#blocks.splice(b + 1, 0, block.splice(isLast ? blockEntriesMax : blockEntriesMax / 2));
    }
    return true;
  }

  /** @returns was it there? For trees with ties by row number. */
  remove(key: readonly SqlValue[], id: number): boolean {
    return this.removeEntry({ key, id } as E);
  }

  removeEntry(probe: E): boolean {
    const { b, at } = this.#seek(probe, 0);
    const block = this.#blocks[b] as E[];
    const there = block[at];
    if (there === undefined || this.#compare(there, probe) !== 0) return false;
    block.splice(at, 1);
    this.#edition++;
    this.#size--;
    if (block.length === 0 && this.#blocks.length > 1) this.#blocks.splice(b, 1);
    return true;
  }

  /** For trees with ties by row number. */
  get(key: readonly SqlValue[], id: number): E | undefined {
    return this.getEntry({ key, id } as E);
  }

  /** The entry with this whole key and the smallest row number. */
  firstWith(key: readonly SqlValue[]): E | undefined {
    const found = this.first((entry) => this.compareKeys(entry.key, key) >= 0);
    return found !== undefined && this.compareKeys(found.key, key) === 0 ? found : undefined;
  }

  getEntry(probe: E): E | undefined {
    const { b, at } = this.#seek(probe, 0);
    const found = this.#blocks[b]?.[at];
    return found !== undefined && this.#compare(found, probe) === 0 ? found : undefined;
  }

  /** Entries whose key equals `key` as far as that goes; valid until the next change. */
  allWith(key: readonly SqlValue[]): readonly E[] {
    const entries: E[] = [];
    let b = this.#blockOf((entry) => this.compareKeys(entry.key, key) >= 0);
    let at = lowerBound(this.#blocks[b] as E[], (entry) => this.compareKeys(entry.key, key) >= 0);
    for (;;) {
      const entry = this.#blocks[b]?.[at];
      if (entry === undefined) {
        if (++b >= this.#blocks.length) return entries;
        at = 0;
      } else if (this.compareKeys(entry.key, key) === 0) {
        entries.push(entry);
        at++;
      } else return entries;
    }
  }

  /** The entries of a path that is a whole key, found without a cursor; valid until the next change. */
  point(path: AccessPath): readonly E[] | null {
    return this.isPoint(path) ? this.allWith(path.prefix) : null;
  }

  /** Is it a whole key? */
  isPoint(path: AccessPath): path is IndexPath {
    if (path.kind === 'all' || path.from !== undefined || path.to !== undefined) return false;
    const first = this.#blocks[0]?.[0];
    return first === undefined || first.key.length === path.prefix.length;
  }

  /** The first entry for which `isAfter` holds; it must be false, then true along the index. */
  first(isAfter: (entry: E) => boolean): E | undefined {
    const block = this.#blocks[this.#blockOf(isAfter)] as E[];
    return block[lowerBound(block, isAfter)];
  }

  /** The last entry for which `isAfter` does not hold. */
  lastBefore(isAfter: (entry: E) => boolean): E | undefined {
    const b = this.#blockOf(isAfter);
    const at = lowerBound(this.#blocks[b] as E[], isAfter);
    return at > 0 ? this.#blocks[b]?.[at - 1] : this.#blocks[b - 1]?.at(-1);
  }

  next(entry: E): E | undefined {
    const { b, at } = this.#seek(entry, 1);
    return this.#blocks[b]?.[at];
  }

  previous(entry: E): E | undefined {
    const { b, at } = this.#seek(entry, 0);
    return at > 0 ? this.#blocks[b]?.[at - 1] : this.#blocks[b - 1]?.at(-1);
  }

  /** The entries within a path's bounds, in its direction. The index may change between two steps. */
  *range(path: IndexPath): Generator<E, void, void> {
    const next = this.cursor(path);
    for (let entry = next(); entry !== undefined; entry = next()) yield entry;
  }

  /** The same, one entry a call, without a generator; `undefined` ends it. */
  cursor(path: IndexPath): () => E | undefined {
    const { compareKeys } = this;
    const { isDescending } = path;
    const { low, high, includesLow, includesHigh } = endsOf(path);
    // A descending cursor begins before the first entry above the range, and ends before the range.
    let { b, at } = isDescending
      ? placeBefore(this.#firstAbove(high, !includesHigh))
      : this.#firstAbove(low, includesLow);
    const step = isDescending ? -1 : 1;
    const end = isDescending ? low : high;
    const includesEnd = isDescending ? includesLow : includesHigh;
    let edition = this.#edition;
    let last: E | undefined;
    return () => {
      if (last !== undefined && edition === this.#edition) at += step;
      else if (last !== undefined) {
        edition = this.#edition;
        ({ b, at } = this.#placeAfter(last, isDescending));
      }
      let entry = this.#blocks[b]?.[at];
      while (entry === undefined) {
        b += step;
        at = step === 1 ? 0 : (this.#blocks[b]?.length ?? 0) - 1;
        if ((this.#blocks[b]?.length ?? 0) === 0) return undefined;
        entry = this.#blocks[b]?.[at];
      }
      last = entry;
      if (end.length === 0) return entry;
      const order = step * compareKeys(entry.key, end);
      return order > 0 || (order === 0 && !includesEnd) ? undefined : entry;
    };
  }

  *[Symbol.iterator](): Generator<E, void, void> {
    for (const block of this.#blocks) yield* block;
  }

  /** The place of the first entry whose key is above `key`, or `orEqual` to it. */
  #firstAbove(key: readonly SqlValue[], orEqual: boolean): Place {
    const { compareKeys } = this;
    const isAfter = (entry: E): boolean => {
      const order = compareKeys(entry.key, key);
      return order > 0 || (order === 0 && orEqual);
    };
    const b = this.#blockOf(isAfter);
    return { b, at: lowerBound(this.#blocks[b] as E[], isAfter) };
  }

  #placeAfter(entry: E, isDescending: boolean): Place {
    return isDescending ? placeBefore(this.#seek(entry, 0)) : this.#seek(entry, 1);
  }

  /** The place of the first entry that is not before `probe` (0), or that is after it (1). */
  #seek(probe: E, least: 0 | 1): Place {
    const blocks = this.#blocks;
    let b = this.#recent;
    if (!this.#isSeekIn(b, probe, least)) {
      b = 0;
      for (let high = blocks.length - 1; b < high; ) {
        const middle = (b + high) >>> 1;
        const block = blocks[middle] as E[];
        if (this.#compare(block[block.length - 1] as E, probe) >= least) high = middle;
        else b = middle + 1;
      }
      this.#recent = b;
    }
    const block = blocks[b] as E[];
    let at = 0;
    for (let high = block.length; at < high; ) {
      const middle = (at + high) >>> 1;
      if (this.#compare(block[middle] as E, probe) >= least) high = middle;
      else at = middle + 1;
    }
    return { b, at };
  }

  #isSeekIn(b: number, probe: E, least: 0 | 1): boolean {
    const last = this.#blocks[b]?.at(-1);
    if (last === undefined || (b < this.#blocks.length - 1 && this.#compare(last, probe) < least)) return false;
    const before = this.#blocks[b - 1]?.at(-1);
    return before === undefined || this.#compare(before, probe) < least;
  }

  /** The first block whose last entry holds, or the last block. */
  #blockOf(isAfter: (entry: E) => boolean): number {
    if (this.#isBlockOf(this.#recent, isAfter)) return this.#recent;
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle] as E[];
      if (isAfter(block[block.length - 1] as E)) high = middle;
      else low = middle + 1;
    }
    this.#recent = low;
    return low;
  }

  /** Searches come in groups, for a key and its neighbours. */
  #isBlockOf(b: number, isAfter: (entry: E) => boolean): boolean {
    const last = this.#blocks[b]?.at(-1);
    if (last === undefined || (b < this.#blocks.length - 1 && !isAfter(last))) return false;
    const before = this.#blocks[b - 1]?.at(-1);
    return before === undefined || !isAfter(before);
  }

  #compare(a: E, b: E): number {
    const order = this.compareKeys(a.key, b.key);
    return order === 0 ? this.#compareTies(a, b) : order;
  }
}

interface Place {
  readonly b: number;
  readonly at: number;
}

export interface KeyBounds {
  /** Before the range, in index order. */
  readonly isBelow: (key: readonly SqlValue[]) => boolean;
  readonly isAbove: (key: readonly SqlValue[]) => boolean;
}

export function boundsOf(path: IndexPath, compare: CompareKeys): KeyBounds {
  const { low, high, includesLow, includesHigh } = endsOf(path);
  return {
    isBelow: includesLow ? (key) => compare(key, low) < 0 : (key) => compare(key, low) <= 0,
    isAbove: includesHigh ? (key) => compare(key, high) > 0 : (key) => compare(key, high) >= 0,
  };
}

/** The keys, or prefixes of keys, between which a range is. */
function endsOf({ prefix, from, to }: IndexPath) {
  return {
    low: from === undefined ? prefix : endOf(prefix, from),
    high: to === undefined ? prefix : endOf(prefix, to),
    includesLow: from?.isInclusive ?? true,
    includesHigh: to?.isInclusive ?? true,
  };
}

function endOf(prefix: readonly SqlValue[], { value, behind }: PathBound): readonly SqlValue[] {
  return behind === undefined ? [...prefix, value] : [...prefix, value, ...behind];
}

function placeBefore({ b, at }: Place): Place {
  return { b, at: at - 1 };
}

function lowerBound<T>(sorted: readonly T[], isAfter: (item: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAfter(sorted[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
