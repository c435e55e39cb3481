/**
 * Tables of which any row may have been written, by statements that do not say which (`UPDATE t SET n = 0 WHERE name LIKE 'a%'`): until when. What a
 * row holds is not known from then on, until something definite is written to it by a transaction that surely ends later.
 * Cost: O(1) for a statement, O(tables that were ever clouded) for a row.
 */
export class Clouds {
  readonly #tables = new Map<string, { open: number; until: number }>();
  /** Of transactions that are open. */
  readonly #open = new Map<number, Set<string>>();

  /** @returns the tables that are new; `*` stands for all */
  add(transaction: number, tables: readonly string[]): readonly string[] {
    const own = this.#open.get(transaction) ?? new Set();
    this.#open.set(transaction, own);
    return tables.filter((table) => {
      const known = this.#tables.get(table);
      const cloud = known ?? { open: 0, until: -Infinity };
      if (known === undefined) this.#tables.set(table, cloud);
      if (!own.has(table)) cloud.open += 1;
      own.add(table);
      return known === undefined;
    });
  }

  /** @param end of the transaction, committed or not: others may have seen it before; Infinity where that is unknown */
  end(transaction: number, end: number): void {
    for (const table of this.#open.get(transaction) ?? []) {
      const cloud = this.#tables.get(table);
      if (cloud === undefined) continue;
      cloud.open -= 1;
      cloud.until = Math.max(cloud.until, end);
    }
    this.#open.delete(transaction);
  }

  /** The latest time at which the row may have been written; -Infinity: its table was never clouded. */
  until(key: string): number {
    let latest = -Infinity;
    for (const [table, { open, until }] of this.#tables)
      if (table === '*' || isOf(key, table)) latest = Math.max(latest, open > 0 ? Infinity : until);
    return latest;
  }
}

/** Does the key of a row begin with the table's name and a slash? */
export function isOf(key: string, table: string): boolean {
  return key.startsWith(table) && key.charCodeAt(table.length) === slash;
}

const slash = 0x2f;
