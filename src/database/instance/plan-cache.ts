/** Plans of statements by their text, kept until the catalog changes. */
import { type Catalog, prepareStatement, type Statement } from '../../sql/index.ts';
import type { Dialect, SqlType } from '../../sql/model/index.ts';
import { wayOf, type Ways } from '../assumptions/index.ts';

const plansMax = 5_000;
/** Characters. Longer texts load data: each comes once, and its plan is large. */
const textMax = 10_000;

/** What names mean to the session that asks. */
interface PlanningSession {
  readonly database: string;
  readonly searchPath: readonly string[];
}

export class PlanCache {
  readonly #ways: Ways | undefined;
  readonly #plans = new Map<string, Statement>();
  #catalog: Catalog | null = null;
  #version = 0;

  /** @param ways to the rows of a table, where they are not the likely ones */
  constructor(ways: Ways | undefined) {
    this.#ways = ways;
  }

  /** @throws SqlError */
  plan(
    sql: string,
    parameterTypes: readonly (SqlType | undefined)[],
    { database, searchPath }: PlanningSession,
    { catalog, dialect }: { readonly catalog: Catalog; readonly dialect: Dialect },
  ): Statement {
    if (this.#catalog !== catalog || this.#version !== catalog.version || this.#plans.size >= plansMax) {
      this.#plans.clear();
      this.#catalog = catalog;
      this.#version = catalog.version;
    }
    const key = `${database}\0${searchPath.join()}\0${parameterTypes.map((type) => type?.oid ?? '').join()}\0${sql}`;
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const statement = prepareStatement(sql, {
      catalog,
      dialect,
      parameterTypes,
      searchPath,
      wayOf: (table, ways) => Math.min(wayOf(this.#ways, { table, statement: sql }), ways - 1),
      database,
    });
    if (sql.length <= textMax) this.#plans.set(key, statement);
    return statement;
  }
}
