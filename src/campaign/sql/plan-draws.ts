/**
 * `moirai test --plans all`: each run draws an access path for every place where a statement reads a table and a server may take another. Which
 * places there are is known from the runs before; the first run takes the likely paths, as a place does the first time.
 */
import type { Chooser } from '../../base/index.ts';
import { accessKey, type AssumedAccess, type Ways } from '../../database/index.ts';

interface Place {
  readonly table: string;
  ways: number;
  /** Paths that some run took, as texts: `by index accounts_owner`. */
  readonly taken: Set<string>;
}

export class PlanDraws {
  /** In the order in which runs came to them. */
  readonly #places = new Map<string, Place>();

  draw(chooser: Chooser): Ways {
    const drawn = [...this.#places].map(([key, { ways }]) => [key, chooser.choose(ways)] as const);
    return Object.fromEntries(drawn.filter(([, way]) => way !== 0));
  }

  /** Where a run came to choose. */
  add(accesses: readonly AssumedAccess[]): void {
    for (const access of accesses) {
      const { table, ways, taken } = access;
      const place = this.#places.get(accessKey(access)) ?? { table, ways, taken: new Set() };
      place.ways = Math.max(place.ways, ways);
      place.taken.add(taken);
      this.#places.set(accessKey(access), place);
    }
  }

  /** One clause for each table of which not every path was drawn. */
  assumed(): readonly string[] {
    const clauses = [...this.#places.values()]
      .filter(({ ways, taken }) => taken.size < ways)
      .map(
        ({ table, taken }) => `the server reads ${table} ${[...taken].toSorted().join(' or ')}, and in no other way`,
      );
    return [...new Set(clauses)].toSorted();
  }
}
