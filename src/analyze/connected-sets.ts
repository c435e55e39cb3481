/** Transactions that a cycle of conflicts may go through: those that are joined by tables in common. */

/** Which transactions, by number, have a table in common. */
export class SharedTables {
  readonly #joined: readonly (readonly number[])[];
  /** Those that tables join, directly or through others; ascending, the one with the smallest number first. Between two of them there is no conflict. */
  readonly components: readonly (readonly number[])[];

  /** @param tables by transaction. O(n * tables + joined pairs) */
  constructor(tables: readonly ReadonlySet<number>[]) {
    const users = new Map<number, number[]>();
    for (const [at, own] of tables.entries())
      for (const table of own) users.set(table, [...(users.get(table) ?? []), at]);
    this.#joined = tables.map((own, at) => {
      const others = new Set([...own].flatMap((table) => users.get(table) ?? []));
      others.delete(at);
      return ascending(others);
    });
    this.components = this.#findComponents();
  }

  /** Of one, two and three transactions, the smaller ones first; only where enough of their pairs are joined to connect them. O(pairs of a component + connected sets) */
  *sets(): Iterable<readonly number[]> {
    for (const a of this.#joined.keys()) yield [a];
    for (const [a, joined] of this.#joined.entries()) for (const b of after(a, joined)) yield [a, b];
    const componentOf = new Map(this.components.flatMap((all) => all.map((each) => [each, all] as const)));
    for (const [a, joined] of this.#joined.entries()) {
      const ofA = new Set(after(a, joined));
      for (const b of after(a, componentOf.get(a) ?? [])) {
        const ofB = after(b, this.#joined[b] ?? []);
        const thirds = ofA.has(b) ? new Set([...after(b, [...ofA]), ...ofB]) : ofB.filter((each) => ofA.has(each));
        for (const c of ascending(thirds)) yield [a, b, c];
      }
    }
  }

  #findComponents(): readonly (readonly number[])[] {
    const seen = new Set<number>();
    return [...this.#joined.keys()].flatMap((start) => {
      if (seen.has(start)) return [];
      const component = new Set([start]);
      for (const each of component) for (const other of this.#joined[each] ?? []) component.add(other);
      for (const each of component) seen.add(each);
      return [ascending(component)];
    });
  }
}

function after(from: number, which: readonly number[]): readonly number[] {
  return which.filter((each) => each > from);
}

function ascending(numbers: Iterable<number>): readonly number[] {
  return [...numbers].toSorted((one, other) => one - other);
}
