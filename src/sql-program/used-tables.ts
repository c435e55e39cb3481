/** Which tables statements use, by name: those that they name, and those that a write could reach by foreign keys. */
import type { StatementEvent } from '../database/index.ts';
import type { Catalog, Table } from '../sql/index.ts';

export class UsedTables {
  readonly #catalog: Catalog;
  readonly #all = new Set<number>();
  readonly #written = new Set<number>();
  #isAny = false;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  add({ tables }: StatementEvent): void {
    if (tables === null) this.#isAny = true;
    for (const { table, mode } of tables ?? []) {
      this.#all.add(table);
      if (mode !== 'access share' && mode !== 'row share') this.#written.add(table);
    }
  }

  /** `null`: any. */
  get all(): readonly string[] | null {
    return this.#isAny ? null : this.#names(new Set([...this.#all, ...this.#related]));
  }

  get written(): readonly string[] {
    return this.#names(this.#related);
  }

  /** Tables that are written to, with all that refer to them or that they refer to: a cascade may write there. */
  get #related(): ReadonlySet<number> {
    const related = new Set(this.#written);
    const links = this.#tables.flatMap(({ id, foreignKeys }) => foreignKeys.map(({ parent }) => [id, parent] as const));
    for (const each of related)
      for (const [child, parent] of links) {
        if (child === each) related.add(parent);
        if (parent === each) related.add(child);
      }
    return related;
  }

  #names(ids: ReadonlySet<number>): readonly string[] {
    return this.#tables.filter(({ id }) => ids.has(id)).map(({ name }) => name);
  }

  get #tables(): Table[] {
    return this.#catalog.tables();
  }
}
