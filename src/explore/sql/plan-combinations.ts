/**
 * Combinations of access paths: every place where a statement reads a table has its path, the same in all schedules. The likely paths come
 * first, then those that differ from them in one place, in two, and so on. Which places there are is known only when a combination has been
 * explored: under another path a program may send other statements. Changing one place of an explored combination at a time leaves nothing
 * out: two combinations whose places have the same paths, as far as the program comes to them, are the same exploration.
 */
import { assert } from '../../base/index.ts';
import { accessKey, type AssumedAccess, type Ways } from '../../database/index.ts';

export class PlanCombinations {
  readonly #queue: Ways[] = [{}];
  readonly #known = new Set([textOf({})]);
  /** How many paths each place has. */
  readonly #counts = new Map<string, number>();

  /** Combinations are left that were not taken. */
  get hasNext(): boolean {
    return this.#queue.length > 0;
  }

  /** At most so many combinations there are, of the places that are known. */
  get countMax(): number {
    return [...this.#counts.values()].reduce((product, count) => product * count, 1);
  }

  take(): Ways | null {
    return this.#queue.shift() ?? null;
  }

  /** Where the exploration of `taken` came to choose. */
  add(taken: Ways, accesses: readonly AssumedAccess[]): void {
    const counts = new Map(accesses.map((access) => [accessKey(access), access.ways]));
    for (const [key, count] of counts) {
      this.#counts.set(key, Math.max(count, this.#counts.get(key) ?? 1));
      for (let way = 0; way < count; way += 1) this.#enqueue(withWay(taken, key, way));
    }
    for (const access of accesses) {
      const asked = taken[accessKey(access)] ?? 0;
      assert(
        access.way === Math.min(asked, access.ways - 1),
        `${access.table} was read by path ${access.way}, not ${asked}`,
      );
    }
  }

  #enqueue(ways: Ways): void {
    const text = textOf(ways);
    if (this.#known.has(text)) return;
    this.#known.add(text);
    this.#queue.push(ways);
  }
}

function withWay(ways: Ways, key: string, way: number): Ways {
  const { [key]: _, ...others } = ways;
  return way === 0 ? others : { ...others, [key]: way };
}

function textOf(ways: Ways): string {
  return JSON.stringify(Object.entries(ways).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
